// The contact manifolds of one pair: more than one, so that a pair may have more than four points, and matched from step to
// step by the stable feature numbers of the contacts instead of by their distance. Knows nothing of shapes.
#ifndef VOXSHELL_BULLET_MANIFOLD_SET_H
#define VOXSHELL_BULLET_MANIFOLD_SET_H

#include <cstdint>

#include <BulletCollision/BroadphaseCollision/btCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btManifoldResult.h>
#include <BulletCollision/NarrowPhaseCollision/btPersistentManifold.h>

class btDispatcher;

namespace voxshell_bullet
{
/// Manifolds are created when first needed, always in the order (body0, body1), and released with the set. They are
/// never released in the dispatch that created them, which the multithreaded dispatcher does not allow.
///
/// Points are put into groups: a manifold holds points of one group only, and a group may have several manifolds.
class ManifoldSet
{
public:
	static const int kMaxManifolds = 8;
	/// Limit for a pair that has one manifold for each segment of a level.
	static const int kMaxSegments = 256;

	/// @param max_manifolds  for all groups together
	ManifoldSet(btDispatcher* dispatcher, const btCollisionObject* body0, const btCollisionObject* body1, int max_manifolds);
	~ManifoldSet();
	ManifoldSet(const ManifoldSet&) = delete;
	ManifoldSet& operator=(const ManifoldSet&) = delete;

	const btCollisionObject* body0() const { return m_body0; }
	const btCollisionObject* body1() const { return m_body1; }
	int max_manifolds() const { return m_max; }
	int capacity() const { return m_max * MANIFOLD_CACHE_SIZE; }

	/// Starts a step: drops the points that Bullet or the user removed since, and marks the rest as not seen yet.
	void begin();
	/// Returns the point that a feature had in the step before; null when there is none. Valid between `begin` and
	/// `end`.
	const btManifoldPoint* find(uint32_t feature) const;
	/// Keeps or adds the point of a feature. A kept point keeps its impulses (unless told to replace them by those of
	/// `point`), age and user data; a point that changes its group takes impulses and age along. The groups of a step
	/// must fit into `max_manifolds()`.
	void put(uint32_t feature, uint32_t group, const btManifoldPoint& point, bool forget_impulse);
	/// Ends the step: adds the new points, first in the slots of points that were not seen again, and removes the rest
	/// of these.
	void end();
	/// Ends a step without points: removes every point.
	void clear();

	void append_to(btManifoldArray& manifolds) const;

private:
	struct Slot
	{
		uint32_t feature = 0;
		bool seen = false;
		btVector3 local_a, local_b;  // to recognise the point after Bullet moved it within the manifold
	};
	struct Held
	{
		btPersistentManifold* manifold;
		uint32_t group;
		bool started = false;  // in this step
		Slot slots[MANIFOLD_CACHE_SIZE];

		void remember(int i, uint32_t feature, const btManifoldPoint& point);
	};
	struct New
	{
		uint32_t feature, group;
		bool placed;
		btManifoldPoint point;
	};

	New* next_of(uint32_t group);
	Held* room_for(uint32_t group);
	void add_new();

	btDispatcher* m_dispatcher;
	const btCollisionObject* m_body0;
	const btCollisionObject* m_body1;
	int m_max;
	uint64_t m_filter = 0;  // bit (feature mod 64) is set for every feature that `find` can find
	btAlignedObjectArray<Held> m_held;
	btAlignedObjectArray<New> m_new;
};

/// Makes a btManifoldResult create a point (combined friction and restitution, the user's callback, child indices)
/// without letting it choose where to store it.
///
/// The result gets a manifold of our own that contains one far point: then it never merges points, and never reports a
/// new collision.
class PointMaker
{
public:
	PointMaker(const btCollisionObject* body0, const btCollisionObject* body1);

	/// @param normal  on body1, world, unit
	/// @param point   on body1, world
	/// @return the point, or null when the result only reports (contactTest) and stores nothing
	btManifoldPoint* make(btManifoldResult* result, const btVector3& normal, const btVector3& point, btScalar distance);

private:
	btPersistentManifold m_scratch;
};
}  // namespace voxshell_bullet

#endif
