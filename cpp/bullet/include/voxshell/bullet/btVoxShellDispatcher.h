/* A dispatcher that searches for the contacts of Voxshell pairs on several threads. */
#ifndef VOXSHELL_BULLET_DISPATCHER_H
#define VOXSHELL_BULLET_DISPATCHER_H

#include <memory>

#include <BulletCollision/CollisionDispatch/btCollisionDispatcher.h>
#include <voxshell/bullet/btVoxShellCollisionAlgorithm.h>

/// Takes the place of btCollisionDispatcher in any stock world, also with a Bullet that was built without BT_THREADSAFE.
///
/// In each step it first searches for the contacts of all Voxshell pairs on its threads, and then lets Bullet process the pairs in
/// its own order, on the caller's thread, where the contacts found are given to the solver. Only that second part writes manifolds
/// and runs the user's callbacks, so none of them needs to be thread-safe. The simulation is the same, to the last bit, for any
/// number of threads, and as with btCollisionDispatcher.
/// \code
/// btVoxShellDispatcher dispatcher(&configuration);  // registers the algorithm too
/// btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
/// \endcode
/// Searched on the threads are the pairs of two Voxshell shapes, and those with Bullet's convex shapes and its plane. Pairs with
/// Bullet's meshes and heightfields, and children of compounds, are searched on the caller's thread. Custom convex shapes must
/// allow calls of their support function from several threads. A near callback of the user must not move bodies.
///
/// It needs a Bullet with run-time type information, which is the default of its build.
class btVoxShellDispatcher : public btCollisionDispatcher
{
public:
	/// @param threads   with the caller's own; 0: one for each core
	/// @param settings  of the pairs, as in btVoxShellCollisionAlgorithm::registerAlgorithm
	explicit btVoxShellDispatcher(btCollisionConfiguration* configuration, int threads = 0, const btVoxShellSettings& settings = btVoxShellSettings());
	~btVoxShellDispatcher() override;

	int getNumThreads() const;
	/// Returns the number of pairs that the last step searched on the threads.
	int getNumParallelPairs() const;

	void dispatchAllCollisionPairs(btOverlappingPairCache * pairCache, const btDispatcherInfo& dispatchInfo, btDispatcher* dispatcher) override;

private:
	struct State;
	std::unique_ptr<State> m_state;
};

#endif
