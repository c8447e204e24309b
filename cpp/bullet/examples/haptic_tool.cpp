// A haptic tool in a Bullet world: a hand pushes a ring over the ground, picks it up, lifts it and lets it fall. The device is
// simulated: a spring between a path and the handle, at 1 kHz.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include <btBulletDynamicsCommon.h>
#include <voxshell/bullet.h>
#include <voxshell/voxshell.hpp>

namespace
{
const double kServo = 0.001;      // the period of the device's loop, seconds
const int kServoStepsPerTick = 5; // so the world runs at 200 Hz

/// A handle of 0.1 kg that a hand leads along a path by a spring and a damper, and the tool's force pushes back.
struct SimulatedDevice
{
	btVector3 position, velocity{0, 0, 0};

	vxs_device_state state() const
	{
		vxs_device_state s = {};
		s.pose = {{position.x(), position.y(), position.z()}, 0, 0, 0, 1};
		s.twist.linear = {velocity.x(), velocity.y(), velocity.z()};
		s.engaged = 1;
		return s;
	}
	void move(const btVector3& path, const vxs_vec3& force)
	{
		const btVector3 pull = (path - position) * 300 - velocity * 8 + btVector3(btScalar(force.x), btScalar(force.y), btScalar(force.z));
		velocity += pull * btScalar(kServo / 0.1);
		position += velocity * btScalar(kServo);
	}
};

/// Returns the path of the hand: to the ring, along the ground, up, and a rest there.
btVector3 path(double t)
{
	const double x = -0.25 + 0.1 * std::min(t, 3.0), y = 0.03 + 0.1 * std::min(std::max(t - 3.5, 0.0), 1.5);
	return btVector3(btScalar(x), btScalar(y), 0);
}

voxshell::Shape cook(uint32_t kind, double first, double second)
{
	voxshell::Primitive what(kind);
	what.size[0] = first;
	what.size[1] = second;
	voxshell::CookOptions options;
	options.resolution = 64;
	return voxshell::Shape::create_primitive(what, options);
}
}  // namespace

int main()
try
{
	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher(&configuration);
	btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
	btDbvtBroadphase broadphase;
	btSequentialImpulseConstraintSolver solver;
	btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);

	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	btRigidBody ground(0, nullptr, &plane);
	world.addRigidBody(&ground);
	btVoxShellShape ring_shape(cook(VXS_PRIMITIVE_TORUS, 0.08, 0.03).c_handle());
	btVector3 inertia;
	ring_shape.calculateLocalInertia(btScalar(0.3), inertia);
	btRigidBody ring(btScalar(0.3), nullptr, &ring_shape, inertia);
	ring.setWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(0, btScalar(0.03), 0)));
	world.addRigidBody(&ring);

	// The tool: a ball of 2 cm, for a device that bears 8 N.
	const btVoxShellShape ball(cook(VXS_PRIMITIVE_SPHERE, 0.02, 0).c_handle());
	const vxs_haptics_limits device_limits = {8, 0.5, {2000, 20}, {20, 0.2}};
	btVoxShellHapticTool tool(ball, btVoxShellHapticTool::settings(ball, 0.1, VXS_RENDERER_GOD_OBJECT, &device_limits));
	tool.addBody(&ground);
	tool.addBody(&ring);
	world.addAction(&tool);
	const auto before_tick = [](btDynamicsWorld* w, btScalar dt) { static_cast<btVoxShellHapticTool*>(w->getWorldUserInfo())->beforeTick(dt); };
	world.setInternalTickCallback(before_tick, &tool, true);

	// In an application the first two calls are in loops of threads of their own: `step` in that of the device, `simulate` in
	// one that runs as fast as it can. Here they take turns with the world.
	SimulatedDevice device = {path(0)};
	double largest = 0, pushed = 0, lifted = 0;
	for (int i = 0; i < 1400; ++i)
	{
		for (int k = 0; k < kServoStepsPerTick; ++k)
		{
			const vxs_haptics_output output = tool.step(device.state(), kServo);
			tool.simulate();
			device.move(path(kServo * (i * kServoStepsPerTick + k)), output.wrench.force);
			const vxs_vec3& force = output.wrench.force;
			largest = std::max(largest, std::sqrt(force.x * force.x + force.y * force.y + force.z * force.z));
		}
		world.stepSimulation(btScalar(kServo * kServoStepsPerTick), 0);
		if (i == 660)  // 3.3 s
		{
			pushed = double(ring.getWorldTransform().getOrigin().x());
			tool.pick(&ring);
		}
		if (i == 1100)  // 5.5 s
		{
			lifted = double(ring.getWorldTransform().getOrigin().y());
			tool.drop();
		}
	}
	const vxs_haptics_rates rates = tool.getRates();
	const double fallen = double(ring.getWorldTransform().getOrigin().y());
	std::printf("the hand pushed the ring by %.0f mm with up to %.1f N, lifted it to %.0f mm, and let it fall to %.0f mm\n", pushed * 1e3, largest, lifted * 1e3, fallen * 1e3);
	std::printf("servo %.0f Hz, simulation %.0f Hz\n", rates.servo, rates.simulation);
	world.removeAction(&tool);
	world.removeRigidBody(&ring);
	world.removeRigidBody(&ground);
	return pushed > 0.12 && lifted > 0.15 && fallen < 0.04 && largest < 8 ? 0 : 1;
}
catch (const std::exception& error)
{
	std::printf("%s\n", error.what());
	return 1;
}
