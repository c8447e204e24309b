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

	Instant() = default;
	/// @param reach  how far around the smaller body contacts are looked for, m
	Instant(const vxs_pose& pose, const Motion& smaller, double extent, const vxs_pose& other_pose, const Motion& other, double reach, double dt);
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
