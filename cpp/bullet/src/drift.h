// Measures how much has changed between two bodies since a remembered step: while the change is negligible, the
// contacts chosen then are those that would be chosen now. Knows no Bullet type.
#ifndef VOXSHELL_BULLET_DRIFT_H
#define VOXSHELL_BULLET_DRIFT_H

#include "contact_policy.h"

namespace voxshell_bullet
{
/// Two bodies in a step, as seen from the smaller one.
struct Instant
{
	Frame own, other;  // from the shape's frame to the world, for the smaller body and for the other one
	Frame relative;    // from the smaller body's shape to the other's
	Vec center;        // of the smaller body, in its shape's frame
	double radius;     // around the centre, of all that matters, m
	Approach approach;
	/// Outward normal of the other body if its surface is a plane, unit, in that body's shape frame; else 0.
	Vec plane = {0, 0, 0};

	Instant() = default;
	/// @param reach  distance around the smaller body up to which contacts are searched, m
	Instant(const vxs_pose& pose, const Motion& smaller, double extent, const vxs_pose& other_pose, const Motion& other_motion, double reach, double dt);

	/// Returns the largest distance that any point that matters has moved since that placement, m; on a plane, up or
	/// down.
	double moved_since(const Frame& then) const;
};

/// A face of one of the two bodies, which is convex, on which all contacts lie. No point beyond the face is deeper than
/// its depth below the face's plane, so sliding along the face makes no gap smaller.
struct Face
{
	Vec normal = {0, 0, 0};  // unit, outward or inward, in the frame of its body's shape; 0: no face
	bool of_other = false;   // the face is of the other body, not of the smaller one

	bool is_known() const { return length2(normal) > 0; }
};

/// State on which a choice of contacts depended.
class Drift
{
public:
	/// Remembers a step.
	/// @param margin, asked, dt  must be unchanged for the remembered step to be usable
	void remember(const Instant& now, double margin, double asked, double dt, const Face& face);
	void forget() { m_known = false; }
	/// Returns whether all contacts of the remembered step are on a face.
	bool is_on_face() const { return m_known && m_face.is_known(); }
	/// Returns the largest change of any contact's gap since then, m; on a face, the largest decrease, except for the
	/// turning of its normal. Infinite when no step is remembered.
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
