#include "drift.h"

#include <limits>

namespace voxshell_bullet
{
Instant::Instant(const vxs_pose& pose, const Motion& smaller, double extent, const vxs_pose& other_pose, const Motion& other, double reach, double dt)
	: relative(Frame(other_pose).inverse() * Frame(pose)), center(Frame(pose).inverse()(smaller.center)), radius(extent + reach), approach(smaller, other, dt)
{
}

void Instant::on_plane(const Vec& normal, const vxs_pose& other_pose)
{
	plane = normal;
	plane_in_world = Frame(other_pose).rotate(normal);
}

double Instant::moved_since(const Frame& then) const
{
	return is_on_plane() ? displacement(then, relative, center, radius, plane) : displacement(then, relative, center, radius);
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
	const Vec velocity = now.approach.velocity - m_then.approach.velocity, spin = now.approach.spin - m_then.approach.spin;
	const Vec& up = now.plane_in_world;
	// While the plane stands still.
	const bool only_up = now.is_on_plane() && length2(up - m_then.plane_in_world) == 0;
	const double faster = only_up ? std::abs(dot(up, velocity)) + length(cross(up, spin)) * now.radius : length(velocity) + length(spin) * now.radius;
	return slope * now.moved_since(m_then.relative) + faster * dt;
}
}  // namespace voxshell_bullet
