#include "drift.h"

#include <limits>

namespace voxshell_bullet
{
Instant::Instant(const vxs_pose& pose, const Motion& smaller, double extent, const vxs_pose& other_pose, const Motion& other, double reach, double dt)
	: relative(Frame(other_pose).inverse() * Frame(pose)), center(Frame(pose).inverse()(smaller.center)), radius(extent + reach), approach(smaller, other, dt)
{
}

void Drift::remember(const Instant& now, double margin, double asked, double dt)
{
	m_known = true;
	m_then = now;
	m_margin = margin;
	m_asked = asked;
	m_dt = dt;
}

double Drift::since(const Instant& now, double slope, double margin, double asked, double dt) const
{
	if (!m_known || m_margin != margin || m_asked != asked || m_dt != dt)
		return std::numeric_limits<double>::infinity();
	const double moved = displacement(m_then.relative, now.relative, now.center, now.radius);
	return slope * moved + (length(now.approach.velocity - m_then.approach.velocity) + length(now.approach.spin - m_then.approach.spin) * now.radius) * dt;
}
}  // namespace voxshell_bullet
