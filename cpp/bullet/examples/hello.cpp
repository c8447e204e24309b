// A torus knot falls onto Bullet's own ground plane and comes to rest: Voxshell in a stock Bullet world.
#include <cstdio>

#include <btBulletDynamicsCommon.h>
#include <voxshell/bullet.h>

int main()
{
	// A shape with a hole through it, made by the library.
	vxs_primitive primitive;
	vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_TORUS_KNOT);
	vxs_shape* cooked = nullptr;
	if (vxs_shape_create_primitive(&primitive, nullptr, &cooked) != VXS_OK)
	{
		std::printf("%s\n", vxs_last_error());
		return 1;
	}

	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher(&configuration);
	btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);  // the rest of the world is stock
	btDbvtBroadphase broadphase;
	btSequentialImpulseConstraintSolver solver;
	btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
	world.setGravity(btVector3(0, -10, 0));

	btVoxShellShape knot(cooked);  // from a file: btVoxShellShape knot("knot.obj", nullptr, &frame);
	btVector3 inertia;
	knot.calculateLocalInertia(1, inertia);
	btRigidBody body(1, nullptr, &knot, inertia);
	world.addRigidBody(&body);

	vxs_shape_release(cooked);  // the Bullet shape keeps its own share
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	btRigidBody ground(0, nullptr, &plane);
	world.addRigidBody(&ground);
	body.setWorldTransform(btTransform(btQuaternion(btVector3(1, 0, 0), btScalar(0.4)), btVector3(0, 1, 0)));

	for (int step = 0; step <= 600; ++step)
	{
		if (step % 100 == 0)
			std::printf("%.1f s: height %.4f m, speed %.6f m/s\n", step / 200.0, body.getWorldTransform().getOrigin().y(), body.getLinearVelocity().length());
		world.stepSimulation(btScalar(1) / 200, 0);
	}
	const int contacts = dispatcher.getNumManifolds() ? dispatcher.getManifoldByIndexInternal(0)->getNumContacts() : 0;
	std::printf("contacts in the first manifold: %d\n", contacts);
	world.removeRigidBody(&body);
	world.removeRigidBody(&ground);
	return contacts > 0 ? 0 : 1;
}
