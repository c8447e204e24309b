#include "drift.h"

#include <limits>

namespace voxshell_bullet
{
Instant::Instant(const vxs_pose& pose, const Motion& smaller, double extent, const vxs_pose& other_pose, const Motion& other_motion, double reach, double dt)
	: own(pose), other(other_pose), relative(other.inverse() * own), center(own.inverse()(smaller.center)), radius(extent + reach), approach(smaller, other_motion, dt)
{
}

double Instant::moved_since(const Frame& then) const
{
	return length2(plane) > 0 ? displacement(then, relative, center, radius, plane) : displacement(then, relative, center, radius);
}

void Drift::remember(const Instant& now, double margin, double asked, double dt, const Face& face)
{
	m_known = true;
	m_then = now;
	m_margin = margin;
	m_asked = asked;
	m_dt = dt;
	m_face = face;
}

double Drift::since(const Instant& now, double slope, double margin, double asked, double dt) const
{
	if (!m_known || m_margin != margin || m_asked != asked || m_dt != dt)
		return std::numeric_limits<double>::infinity();
	const Vec velocity = now.approach.velocity - m_then.approach.velocity, spin = now.approach.spin - m_then.approach.spin;
	const Face face = length2(now.plane) > 0 ? Face{now.plane, true} : m_face;
	const Frame &holder = face.of_other ? now.other : now.own, &holder_then = face.of_other ? m_then.other : m_then.own;
	const Vec up = holder.rotate(face.normal);
	// Valid only while the face does not tilt.
	if (!face.is_known() || length2(up - holder_then.rotate(face.normal)) > 0)
		return slope * displacement(m_then.relative, now.relative, now.center, now.radius) + (length(velocity) + length(spin) * now.radius) * dt;
	const double moved = face.of_other ? displacement(m_then.relative, now.relative, now.center, now.radius, face.normal)
									   : displacement(m_then.relative.inverse(), now.relative.inverse(), now.relative(now.center), now.radius, face.normal);
	return slope * moved + (std::abs(dot(up, velocity)) + length(cross(up, spin)) * now.radius) * dt;
}
}  // namespace voxshell_bullet
