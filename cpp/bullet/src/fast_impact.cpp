#include "fast_impact.h"

#include <algorithm>

#include "motion_pair.h"

namespace voxshell_bullet
{
namespace
{
/// Bodies that turn by more than this in a step, rad, are left to btVoxShellMotionClamp: their velocities are other ones at the hit.
const double kMostTurn = 2;

const btCollisionShape* shape_of(const Side& side)
{
	return side.voxshell ? side.voxshell : side.stock;
}

/// Returns a point of a body after a part of its motion, from where it is now.
Vec moved(const Side& side, const MotionPair::Path& path, double time, const Vec& point)
{
	const vxs_motion motion = {to_pose(path.from), to_pose(path.to)};
	vxs_pose then;
	if (vxs_motion_pose(&motion, time, &then) != VXS_OK)
		return point;
	return Frame(then)(Frame(side.pose).inverse()(point));
}
}  // namespace

bool find_fast_impact(const Side& first, const Side& second, double dt, Candidate& contact)
{
	const auto turns = [dt](const Motion& motion) { return length(motion.angular + motion.angular_acceleration * dt) * dt; };
	if (std::max(turns(first.motion), turns(second.motion)) > kMostTurn)
		return false;
	// A world has thousands of pairs, few of which are fast.
	thread_local MotionPair pair;
	const auto path = [dt](const Side& side) -> MotionPair::Path {
		return {to_transform(side.pose), to_transform(Approach(side.motion, dt).moved(side.pose, dt))};
	};
	const MotionPair::Path first_path = path(first), second_path = path(second);
	const MotionPair::Hit hit = pair.first_hit(shape_of(first), first_path, shape_of(second), second_path);
	if (!(hit.time < 1))
		return false;
	contact = Candidate();
	contact.feature = kFastImpact;
	contact.touch = Candidate::kMeshEdge;
	contact.normal = -hit.normal;
	// In the line of the centre of mass, that of the smaller body if it can move: pushed at a corner, a body would turn by so much
	// in the same step that its other side goes through the surface.
	const bool takes_first = second.motion.inverse_mass <= 0 || (first.motion.inverse_mass > 0 && first.extent < second.extent);
	const Vec center = takes_first ? first.motion.center : second.motion.center;
	contact.point = center + contact.normal * dot(contact.normal, hit.point - center);
	// The bodies may come nearer by as much as until the hit.
	contact.distance = dot(contact.normal, moved(second, second_path, hit.time, contact.point) - moved(first, first_path, hit.time, contact.point));
	return contact.distance > 0;
}
}  // namespace voxshell_bullet
