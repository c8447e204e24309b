// A truck drives over hills with a load: the chassis is a compound of a stock box and a hollow bowl, the load a torus knot that
// must stay in the bowl. Wheels are Bullet's ray-cast ones; their rays end on the terrain's distance field.
#include <cstdio>
#include <stdexcept>

#include <btBulletDynamicsCommon.h>
#include <voxshell/bullet.h>
#include <voxshell/voxshell.hpp>

#include "terrain.h"

/// A bowl 1.2 m wide, open upwards.
voxshell::Shape bowl()
{
	voxshell::Primitive what(VXS_PRIMITIVE_BOWL);
	what.size[0] = 0.6;
	what.size[1] = 0.08;
	return voxshell::Shape::create_primitive(what);
}

/// A torus knot 0.5 m wide.
voxshell::Shape knot()
{
	voxshell::Primitive what(VXS_PRIMITIVE_TORUS_KNOT);
	what.size[0] = 0.15;
	what.size[1] = 0.04;
	return voxshell::Shape::create_primitive(what);
}

int main()
try
{
	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher(&configuration);
	btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
	btDbvtBroadphase broadphase;
	btSequentialImpulseConstraintSolver solver;
	btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
	world.setGravity(btVector3(0, -10, 0));

	btTriangleMesh hills;
	build_terrain(hills);
	voxshell::CookOptions options;
	options.voxel_size = 0.1;
	btVoxelmapShape terrain(hills, &options);
	btRigidBody ground(0, nullptr, &terrain);
	ground.setFriction(1);
	world.addRigidBody(&ground);

	// The chassis: Voxshell shapes are children of a compound like any other.
	btBoxShape frame(btVector3(btScalar(0.9), btScalar(0.15), btScalar(0.5)));
	btVoxShellShape bed(bowl().c_handle());
	btCompoundShape chassis;
	chassis.addChildShape(btTransform::getIdentity(), &frame);
	chassis.addChildShape(btTransform(btQuaternion::getIdentity(), btVector3(0, btScalar(0.8), 0)), &bed);
	btVector3 inertia;
	chassis.calculateLocalInertia(400, inertia);
	btRigidBody truck(400, nullptr, &chassis, inertia);
	truck.setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(-9, btScalar(1.4), 0)));
	truck.setActivationState(DISABLE_DEACTIVATION);
	world.addRigidBody(&truck);

	// Four wheels, forward along x. (Bullet's vehicle heeds its own axes from 2.88 on; before it, only x right, y forward, z up.)
	btRaycastVehicle::btVehicleTuning tuning;
	tuning.m_suspensionStiffness = 40;
	tuning.m_suspensionDamping = 4;
	tuning.m_suspensionCompression = 3;
	btDefaultVehicleRaycaster rays(&world);
	btRaycastVehicle vehicle(tuning, &truck, &rays);
	vehicle.setCoordinateSystem(2, 1, 0);
	for (int wheel = 0; wheel < 4; ++wheel)
	{
		const btVector3 at(wheel < 2 ? btScalar(0.8) : btScalar(-0.8), btScalar(-0.05), wheel % 2 ? btScalar(0.65) : btScalar(-0.65));
		vehicle.addWheel(at, btVector3(0, -1, 0), btVector3(0, 0, 1), btScalar(0.35), btScalar(0.3), tuning, wheel < 2).m_rollInfluence = btScalar(0.1);
	}
	world.addVehicle(&vehicle);

	btVoxShellShape load_shape(knot().c_handle());
	load_shape.calculateLocalInertia(5, inertia);
	btRigidBody load(5, nullptr, &load_shape, inertia);
	load.setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(-9, btScalar(2), 0)));
	world.addRigidBody(&load);

	const btVector3 start = truck.getWorldTransform().getOrigin();
	int wheels_down = 0, steps = 0;
	for (; steps < 3000 && truck.getWorldTransform().getOrigin().x() < 9; ++steps)
	{
		const btScalar speed = vehicle.getCurrentSpeedKmHour() / btScalar(3.6);
		const btScalar heading = btAtan2(vehicle.getForwardVector().z(), vehicle.getForwardVector().x()), off = truck.getWorldTransform().getOrigin().z();
		for (int wheel = 0; wheel < 4; ++wheel)
		{
			vehicle.applyEngineForce(400 * ((steps < 200 ? 0 : 2) - speed), wheel);  // stands for a second, then 2 m/s
			if (wheel < 2)
				vehicle.setSteeringValue(btClamped(heading + btScalar(0.3) * off, btScalar(-0.5), btScalar(0.5)), wheel);  // back to the middle
		}
		world.stepSimulation(btScalar(1) / 200, 0);
		for (int wheel = 0; wheel < 4; ++wheel)
			wheels_down += vehicle.getWheelInfo(wheel).m_raycastInfo.m_isInContact;
		if (steps % 400 == 199)
			std::printf("%4.1f s: x %5.2f m, y %5.2f m, %.2f m/s\n", (steps + 1) / 200.0, truck.getWorldTransform().getOrigin().x(), truck.getWorldTransform().getOrigin().y(), speed);
	}

	const btScalar driven = truck.getWorldTransform().getOrigin().x() - start.x();
	const btVector3 in_bed = truck.getWorldTransform().inverse()(load.getWorldTransform().getOrigin()) - btVector3(0, btScalar(0.8), 0);
	const double down = double(wheels_down) / (4 * steps);
	std::printf("drove %.2f m in %.1f s, wheels on the ground %.0f%% of the time, load %.2f m from the middle of the bowl\n", driven, steps / 200.0, 100 * down, in_bed.length());
	world.removeVehicle(&vehicle);
	world.removeRigidBody(&load);
	world.removeRigidBody(&truck);
	world.removeRigidBody(&ground);
	return driven > 15 && down > 0.8 && in_bed.length() < btScalar(0.6) ? 0 : 1;
}
catch (const std::exception& error)
{
	std::printf("%s\n", error.what());
	return 1;
}
