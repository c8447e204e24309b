// When two shapes that move hit each other: continuous collision detection for pairs of which at least one is ours. Knows no
// body, velocity or world.
#ifndef VOXSHELL_BULLET_MOTION_PAIR_H
#define VOXSHELL_BULLET_MOTION_PAIR_H

#include <vector>

#include <LinearMath/btTransform.h>

#include "concave_patch.h"
#include "forms.h"

namespace voxshell_bullet
{
/// Scratch of such queries: one per thread.
class MotionPair
{
public:
	/// A shape's way from transform to transform, to world: a screw motion of at most half a turn.
	struct Path
	{
		btTransform from, to;
	};

	/// When and where two shapes hit.
	struct Hit
	{
		double time = 1;           // the part of the way; 1: they do not hit
		Vec point = {0, 0, 0};     // world, m
		Vec normal = {0, 0, 0};    // unit, from the first shape to the second
	};

	/// How deep a hit may be, as a fraction of the pair's resolution. Resting and sliding bodies are less deep in each other than
	/// this and so are never stopped.
	static constexpr double kAllowed = 0.1;

	/// Depth in metres from which on a pair hits; infinite when neither shape is ours.
	static double allowed_depth(const btCollisionShape* first, const btCollisionShape* second);

	MotionPair();

	/// The part of the way, 0 to 1, after which the shapes are in each other by their allowed depth; what is deeper than that from
	/// the start is left to the solver. Time 1 when they do not hit, and for pairs that do not collide at all.
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

	// Of the call under way.
	double m_allowed = 0;
	Hit m_first;
};
}  // namespace voxshell_bullet

#endif
