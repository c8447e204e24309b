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
	Frame own, other;  // from the smaller body's shape to the world, and from the other's
	Frame relative;    // from the smaller body's shape to the other's
	Vec center;        // of the smaller body, in its shape's frame
	double radius;     // around it, of all that matters, m
	Approach approach;
	/// Outward normal of the other body if its surface is a plane, unit, in its shape's frame; else 0.
	Vec plane = {0, 0, 0};

	Instant() = default;
	/// @param reach  how far around the smaller body contacts are looked for, m
	Instant(const vxs_pose& pose, const Motion& smaller, double extent, const vxs_pose& other_pose, const Motion& other_motion, double reach, double dt);

	/// How far any point that matters has moved since the bodies were placed so, m; on a plane, up or down.
	double moved_since(const Frame& then) const;
};

/// A face of one of the two bodies, which is convex, that all contacts are on. What is beyond the face is no deeper than it is below the
/// face's plane: to slide along it makes no gap smaller.
struct Face
{
	Vec normal = {0, 0, 0};  // unit, outward or inward, in the frame of its body's shape; 0: there is none
	bool of_other = false;   // and not of the smaller body

	bool is_known() const { return length2(normal) > 0; }
};

/// What a choice of contacts depended on.
class Drift
{
public:
	/// Remembers a step.
	/// @param margin, asked, dt  must be the same for anything to be known
	void remember(const Instant& now, double margin, double asked, double dt, const Face& face);
	void forget() { m_known = false; }
	/// Whether all contacts of the step that is remembered are on a face.
	bool is_on_face() const { return m_known && m_face.is_known(); }
	/// How much the gap of any contact can have changed since, m, or on a face become smaller, but for what its normal has turned;
	/// infinite when nothing is remembered.
	/// @param slope  no two points of the fields differ by more than this per metre
	double since(const Instant& now, double slope, double margin, double asked, double dt) const;

private:
	bool m_known = false;
	Instant m_then;
	double m_margin = 0, m_asked = 0, m_dt = 0;
	Face m_face;
};
}  // namespace voxshell_bullet

#endif
