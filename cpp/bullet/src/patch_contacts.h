// Contact patches of a pair, and the few points that stand for each of them in Bullet's solver. Knows no Bullet type.
#ifndef VOXSHELL_BULLET_PATCH_CONTACTS_H
#define VOXSHELL_BULLET_PATCH_CONTACTS_H

#include <vector>

#include <voxshell/bullet/btVoxShellCollisionAlgorithm.h>

#include "contact_policy.h"
#include "handle.h"
#include "side.h"

namespace voxshell_bullet
{
/// One point of a patch: a spring with a damper along its normal.
struct PatchPoint
{
	/// Place, normal and distance of the point; `segment` is the number of the patch.
	Candidate contact;
	double force;      // in this pose at rest, N
	double stiffness;  // N/m
	double damping;    // N s/m
};

/// Finds the patches of a pair, and divides each of them into points.
///
/// The points of a patch have its force, its centre of pressure, its stiffness along the normal, and the centre and the moments of
/// that stiffness: together they resist approach and tilting as the patch does. One of them is in the middle, the others are around
/// it. Each has a part of the force, and so does its friction: the parts are chosen so that the points resist spinning with the
/// friction arm of the patch.
class PatchContacts
{
public:
	/// Number of points of a patch.
	static const uint32_t kPoints = 4;

	/// Returns whether contacts of these sides are patches: both have an inside, and one has a stiffness.
	static bool can_find(const Side& first, const Side& second);

	/// Fills `points` with those of all patches, that with the largest force first; false when the query failed.
	/// @param most  largest number of patches
	bool find(const Side& first, const Side& second, const btVoxShellSettings& settings, size_t most);
	std::vector<PatchPoint> points;

private:
	/// A patch of a step: its number, and its place and long axis in the frame of the second body.
	struct Known
	{
		uint32_t number;
		Vec center, axis;
		double radius;
		bool taken = false;
	};

	const Known* number_patch(const Vec& center, double radius);
	void add_points(const vxs_patch& patch, const Frame& second, double dissipation, Known& known);

	Workspace m_workspace;
	std::vector<vxs_patch> m_patches;
	std::vector<Known> m_known, m_last;
};
}  // namespace voxshell_bullet

#endif
