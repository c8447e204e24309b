// Computes when two moving shapes hit each other: continuous collision detection for pairs of which at least one shape
// is ours. Knows no body, velocity or world.
#ifndef VOXSHELL_BULLET_MOTION_PAIR_H
#define VOXSHELL_BULLET_MOTION_PAIR_H

#include <vector>

#include <LinearMath/btTransform.h>

#include "concave_patch.h"
#include "forms.h"

namespace voxshell_bullet
{
/// Scratch memory of these queries: one per thread.
class MotionPair
{
public:
	/// Motion of a shape from one world transform to another: a screw motion of at most half a turn.
	struct Path
	{
		btTransform from, to;
	};

	/// When and where two shapes hit.
	struct Hit
	{
		double time = 1;           // fraction of the motion; 1: the shapes do not hit
		Vec point = {0, 0, 0};     // world, m
		Vec normal = {0, 0, 0};    // unit, from the first shape to the second
	};

	/// Depth at which a hit counts, as a fraction of the pair's resolution. Resting and sliding bodies penetrate less
	/// than this, so they are never stopped.
	static constexpr double kAllowed = 0.1;

	/// Returns the depth at which a pair hits, metres; infinite when neither shape is ours.
	static double allowed_depth(const btCollisionShape* first, const btCollisionShape* second);

	MotionPair();

	/// Returns the fraction of the motion, 0 to 1, after which the shapes penetrate by their allowed depth. Contacts
	/// that are deeper than that from the start are left to the solver. Time 1 when the shapes do not hit, and for
	/// pairs that do not collide at all.
	Hit first_hit(const btCollisionShape* first, const Path& first_path, const btCollisionShape* second, const Path& second_path);

private:
	struct Body
	{
		Form form;
		vxs_motion motion;
	};

	void against_stock(const btVoxShellBaseShape& ours, const Path& our_path, const btCollisionShape* stock, const Path& stock_path);
	void against_patch(const btVoxShellBaseShape& ours, const Path& our_path, const btConcaveShape* shape, const Path& path);
	void run(const Body& first, const Body& second, uint32_t roles);
	void hit_at(const vxs_contact& contact);
	bool find_known(const Body& first, const Body& second, uint32_t roles, double level);

	Workspace m_workspace;
	StockShape m_field, m_samples;
	ConcavePatch m_patch;
	std::vector<vxs_contact> m_contacts;
	std::vector<vxs_motion_contact> m_lasting;
	std::vector<uint32_t> m_known;

	// State of the current call.
	double m_allowed = 0;
	Hit m_first;
};
}  // namespace voxshell_bullet

#endif
