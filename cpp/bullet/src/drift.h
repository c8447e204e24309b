// How much has changed between two bodies since a step that is remembered: as long as it is next to nothing, what was chosen then
// is what would be chosen now. Knows no Bullet type.
#ifndef VOXSHELL_BULLET_DRIFT_H
#define VOXSHELL_BULLET_DRIFT_H

#include "contact_policy.h"

namespace voxshell_bullet
{
/// Two bodies in a step, as seen from the smaller one.
struct Instant
{
	Frame relative;  // from the smaller body's shape to the other's
	Vec center;      // of the smaller body, in its shape's frame
	double radius;   // around it, of all that matters, m
	Approach approach;
	/// Of the other body if its surface is a plane: to slide along it changes nothing. Unit, in its shape's frame and in the world, or 0.
	Vec plane = {0, 0, 0}, plane_in_world = {0, 0, 0};

	Instant() = default;
	/// @param reach  how far around the smaller body contacts are looked for, m
	Instant(const vxs_pose& pose, const Motion& smaller, double extent, const vxs_pose& other_pose, const Motion& other, double reach, double dt);

	/// The surface of the other body is a plane with this unit normal in its shape's frame.
	void on_plane(const Vec& normal, const vxs_pose& other_pose);
	bool is_on_plane() const { return length2(plane) > 0; }
	/// How far any point that matters has moved since the bodies were placed so, m; on a plane, up or down.
	double moved_since(const Frame& then) const;
};

/// What a choice of contacts depended on.
class Drift
{
public:
	/// Remembers a step.
	/// @param margin, asked, dt  must be the same for anything to be known
	void remember(const Instant& now, double margin, double asked, double dt);
	void forget() { m_known = false; }
	/// How much the gap of any contact can have changed since, m, but for what its normal has turned; infinite when nothing is
	/// remembered.
	/// @param slope  no two points of the fields differ by more than this per metre
	double since(const Instant& now, double slope, double margin, double asked, double dt) const;

private:
	bool m_known = false;
	Instant m_then;
	double m_margin = 0, m_asked = 0, m_dt = 0;
};
}  // namespace voxshell_bullet

#endif
