// Compounds with Voxshell shapes in a pair: Bullet's own algorithm, which also looks ahead.
#ifndef VOXSHELL_BULLET_COMPOUND_ALGORITHM_H
#define VOXSHELL_BULLET_COMPOUND_ALGORITHM_H

#include <BulletCollision/CollisionDispatch/btCompoundCollisionAlgorithm.h>
#include <voxshell/bullet/btVoxShellCollisionAlgorithm.h>

namespace voxshell_bullet
{
/// Bullet's algorithm asks for the contacts of a child while its box overlaps that of the other shape at the start of the step. This
/// one asks as soon as the two can touch within the step, as for bodies of their own, if one of both is a Voxshell shape.
class CompoundAlgorithm : public btCompoundCollisionAlgorithm
{
public:
	/// @param is_swapped  the compound is the second body
	CompoundAlgorithm(const btCollisionAlgorithmConstructionInfo& info, const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, bool is_swapped, const btVoxShellSettings& settings);

	void processCollision(const btCollisionObjectWrapper* body0, const btCollisionObjectWrapper* body1, const btDispatcherInfo& info, btManifoldResult* result) override;

private:
	double ahead(const btCollisionObjectWrapper* compound, const btCollisionObjectWrapper* other, double dt) const;
	void process_child(int index, const btTransform& at, const btCollisionObjectWrapper* compound, const btCollisionObjectWrapper* other, const btDispatcherInfo& info, btManifoldResult* result);
	void refresh(int index, btManifoldResult* result);
	void drop(int index);

	double m_lookahead, m_fraction;
	btAlignedObjectArray<int> m_near;
	btManifoldArray m_refreshed;
};

/// Returns whether a shape is one of ours, or a compound with one.
bool has_voxshell(const btCollisionShape* shape);
}  // namespace voxshell_bullet

#endif
