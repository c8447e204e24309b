// Picking with the mouse: which body is under the cursor, everything along the ray, and dragging what was picked.
#include <cstdio>
#include <stdexcept>

#include <btBulletDynamicsCommon.h>
#include <voxshell/bullet.h>
#include <voxshell/voxshell.hpp>

/// A ring in the xy plane, 1 m wide with a hole of 0.6 m: its axis is turned from y to z.
const btTransform kUpright(btQuaternion(btVector3(1, 0, 0), SIMD_HALF_PI));

int main()
try
{
	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher(&configuration);
	btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
	btDbvtBroadphase broadphase;
	btSequentialImpulseConstraintSolver solver;
	btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
	world.setGravity(btVector3(0, 0, 0));

	// Two rings, one behind the other, and a wall behind both.
	voxshell::Primitive what(VXS_PRIMITIVE_TORUS);
	what.size[0] = 0.4;
	what.size[1] = 0.1;
	btVoxShellShape ring(voxshell::Shape::create_primitive(what).c_handle());
	btVector3 inertia;
	ring.calculateLocalInertia(1, inertia);
	btRigidBody near_ring(1, nullptr, &ring, inertia), far_ring(1, nullptr, &ring, inertia);
	btBoxShape slab(btVector3(2, 2, btScalar(0.1)));
	btRigidBody wall(0, nullptr, &slab);
	btTransform at = kUpright;
	near_ring.setWorldTransform(at);
	at.setOrigin(btVector3(0, 0, -1));
	far_ring.setWorldTransform(at);
	wall.setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(0, 0, -3)));
	for (btRigidBody* body : {&near_ring, &far_ring, &wall})
		world.addRigidBody(body);
	const auto name = [&](const btCollisionObject* object) { return object == &near_ring ? "near ring" : object == &far_ring ? "far ring" : "wall"; };

	// Through the hole: nothing of the rings is in the way.
	const btVector3 eye(0, 0, 5);
	btCollisionWorld::ClosestRayResultCallback through(eye, btVector3(0, 0, -5));
	world.rayTest(through.m_rayFromWorld, through.m_rayToWorld, through);
	if (!through.hasHit())
		return 1;
	std::printf("through the holes: %s at z = %.3f m\n", name(through.m_collisionObject), through.m_hitPointWorld.z());

	// At the rim: the near ring, where and with which normal.
	const btVector3 from(btScalar(0.4), btScalar(0.03), 5), to(btScalar(0.4), btScalar(0.03), -5);
	btCollisionWorld::ClosestRayResultCallback rim(from, to);
	world.rayTest(from, to, rim);
	if (!rim.hasHit())
		return 1;
	const btVector3 hit = rim.m_hitPointWorld, normal = rim.m_hitNormalWorld;
	std::printf("at the rim: %s at (%.3f %.3f %.3f), normal (%.3f %.3f %.3f)\n", name(rim.m_collisionObject), hit.x(), hit.y(), hit.z(), normal.x(), normal.y(), normal.z());

	// Everything along the same ray, in no order: where it enters and where it leaves.
	btCollisionWorld::AllHitsRayResultCallback all(from, to);
	world.rayTest(from, to, all);
	bool rings = false;
	for (int i = 0; i < all.m_collisionObjects.size(); ++i)
	{
		std::printf("  also hit: %s at z = %.3f m\n", name(all.m_collisionObjects[i]), all.m_hitPointWorld[i].z());
		rings = rings || all.m_collisionObjects[i] == &far_ring;
	}

	// Drag the near ring by the point that was hit: a constraint between it and the cursor, which moves up and to the right.
	btPoint2PointConstraint grip(near_ring, near_ring.getWorldTransform().inverse()(hit));
	near_ring.setActivationState(DISABLE_DEACTIVATION);
	near_ring.setDamping(btScalar(0.5), btScalar(0.5));
	world.addConstraint(&grip, true);
	btVector3 cursor = hit;
	for (int i = 0; i < 400; ++i)
	{
		if (i < 200)
			cursor += btVector3(btScalar(0.002), btScalar(0.004), 0);
		grip.setPivotB(cursor);
		world.stepSimulation(btScalar(1) / 200, 0);
	}
	const btScalar off = (near_ring.getWorldTransform()(grip.getPivotInA()) - cursor).length();
	std::printf("dragged by (0.4 0.8 0) m: the grip is %.1f mm from the cursor\n", 1e3 * off);
	world.removeConstraint(&grip);
	for (btRigidBody* body : {&near_ring, &far_ring, &wall})
		world.removeRigidBody(body);

	const bool picked = through.m_collisionObject == &wall && rim.m_collisionObject == &near_ring && btFabs(hit.z() - btScalar(0.1)) < btScalar(0.002) && normal.z() > btScalar(0.99);
	return picked && rings && off < btScalar(0.01) ? 0 : 1;
}
catch (const std::exception& error)
{
	std::printf("%s\n", error.what());
	return 1;
}
