// A character walks over hills: Bullet's kinematic controller, a capsule on a ghost object, on a terrain that is a distance
// field. Nothing of it knows Voxshell but the line that registers the algorithm and the one that makes the terrain.
#include <cstdio>

#include <BulletCollision/CollisionDispatch/btGhostObject.h>
#include <BulletDynamics/Character/btKinematicCharacterController.h>
#include <btBulletDynamicsCommon.h>
#include <voxshell/bullet.h>

#include "terrain.h"

int main()
{
	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher(&configuration);
	btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
	btDbvtBroadphase broadphase;
	btSequentialImpulseConstraintSolver solver;
	btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);

	// The ground: a field of 10 cm voxels. It never moves, so it needs no samples of its own.
	btTriangleMesh hills;
	build_terrain(hills);
	vxs_cook_options options;
	vxs_cook_options_init(&options, sizeof options);
	options.voxel_size = 0.1;
	btVoxelmapShape terrain(hills, &options);
	terrain.setMargin(btScalar(0.04));  // what the meshes of Bullet have: sweeps, by which the controller steps, stop that far away
	btRigidBody ground(0, nullptr, &terrain);
	world.addRigidBody(&ground);

	// The character: a capsule 1.8 m tall. The ghost object keeps the pairs that the controller asks about.
	const btScalar radius = btScalar(0.3), height = btScalar(1.2);
	btCapsuleShape capsule(radius, height);
	btPairCachingGhostObject ghost;
	btGhostPairCallback pairs;
	broadphase.getOverlappingPairCache()->setInternalGhostPairCallback(&pairs);
	ghost.setCollisionShape(&capsule);
	ghost.setCollisionFlags(btCollisionObject::CF_CHARACTER_OBJECT);
	world.addCollisionObject(&ghost, btBroadphaseProxy::CharacterFilter, btBroadphaseProxy::StaticFilter | btBroadphaseProxy::DefaultFilter);
	btKinematicCharacterController character(&ghost, &capsule, btScalar(0.3), btVector3(0, 1, 0));
	character.setGravity(btVector3(0, -10, 0));
	ghost.setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(-9, 2, 0)));  // now: the controller's constructor turns it
	world.addAction(&character);

	// Let it land, then walk 1.5 m/s along x for twelve seconds.
	const btScalar step = btScalar(1) / 60;
	btScalar lowest = 1, highest = -1;  // of the capsule over the ground
	for (int i = 0; i < 60 + 720; ++i)
	{
		character.setWalkDirection(i < 60 ? btVector3(0, 0, 0) : btVector3(btScalar(1.5) * step, 0, 0));
		world.stepSimulation(step, 0);
		const btVector3 at = ghost.getWorldTransform().getOrigin();
		const btScalar over = at.y() - height / 2 - radius - terrain_height(at.x(), at.z());
		if (i >= 60)
			lowest = btMin(lowest, over), highest = btMax(highest, over);
		if (i % 120 == 59)
			std::printf("%4.1f s: x %5.2f m, y %5.2f m, %s\n", (i + 1) / 60.0, at.x(), at.y(), character.onGround() ? "on the ground" : "in the air");
	}
	const btScalar walked = ghost.getWorldTransform().getOrigin().x() + 9;
	std::printf("walked %.2f m; the capsule's lowest point stayed %.0f to %.0f mm over the ground below it\n", walked, 1e3 * lowest, 1e3 * highest);

	world.removeAction(&character);
	world.removeCollisionObject(&ghost);
	world.removeRigidBody(&ground);
	// On a slope a round foot stands beside its lowest point, which then hangs some centimetres over the ground.
	return walked > 15 && lowest > btScalar(-0.02) && highest < btScalar(0.15) ? 0 : 1;
}
