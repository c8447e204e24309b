// A hand with a spring pushes bodies of a Bullet world, in a closed loop: momentum balance, energy, depth, picking.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "check.h"
#include "scene.h"

namespace
{
const double kServo = 1e-3;
const unsigned kRenderers[] = {VXS_RENDERER_GOD_OBJECT, VXS_RENDERER_PENALTY, VXS_RENDERER_CONTINUOUS_PENALTY, VXS_RENDERER_IMPULSE, VXS_RENDERER_VPS};
const char* const kNames[] = {"vps", "penalty", "continuous penalty", "god-object", "impulse"};

vxs_device_state hand_at(const vxs_vec3& position, const vxs_vec3& velocity)
{
	vxs_device_state state = {};
	state.pose = {position, 0, 0, 0, 1};
	state.twist.linear = velocity;
	state.engaged = 1;
	return state;
}

/// The world and the tool, in turn on one thread: some steps of the servo for each step of the world.
struct Loop
{
	Scene scene;
	btVoxShellHapticTool tool;
	double step, time = 0;
	int servo_steps;
	/// Integral of the force on the bodies, and the impulse that `body` got in the world, N s.
	btVector3 felt{0, 0, 0}, given{0, 0, 0};
	btRigidBody* body = nullptr;
	vxs_haptics_output output = {};

	Loop(const btVoxShellBaseShape& shape, const vxs_haptics_settings& settings, double world_step)
		: tool(shape, settings), step(world_step), servo_steps(int(std::lround(world_step / kServo)))
	{
		scene.world.addAction(&tool);
		scene.world.setInternalTickCallback(before, this, true);
	}
	~Loop() { scene.world.removeAction(&tool); }

	static void before(btDynamicsWorld* world, btScalar dt)
	{
		Loop& loop = *static_cast<Loop*>(world->getWorldUserInfo());
		const btVector3 was = loop.body ? loop.body->getLinearVelocity() : btVector3(0, 0, 0);
		loop.tool.beforeTick(dt);
		if (loop.body)
			loop.given += (loop.body->getLinearVelocity() - was) / loop.body->getInvMass();
	}

	/// One step of the world.
	void run(const std::function<vxs_device_state(double)>& hand)
	{
		for (int i = 0; i < servo_steps; ++i)
		{
			time += kServo;
			output = tool.step(hand(time), kServo);
			felt -= btVector3(btScalar(output.contact.force.x), btScalar(output.contact.force.y), btScalar(output.contact.force.z)) * btScalar(kServo);
			tool.simulate();
		}
		scene.world.stepSimulation(btScalar(step), 0);
	}
};

vxs_haptics_limits device() { return {10, 1, {2000, 20}, {50, 0.5}}; }

/// A hand pushes a box over a floor against friction.
void pushes_a_box_against_friction(unsigned renderer, const btVoxShellShape& ball, btVoxShellShape& box)
{
	const vxs_haptics_limits limits = device();
	Loop loop(ball, btVoxShellHapticTool::settings(ball, 0.1, renderer, &limits), 0.004);
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	loop.scene.add(&plane, 0, btVector3(0, 0, 0));
	loop.body = loop.scene.add(&box, btScalar(0.5), btVector3(0, btScalar(0.05), 0));
	loop.tool.addBody(loop.body);
	// The hand is a little below the middle of the box, comes from the left, and goes on to the right for 2 s.
	const double speed = 0.05, from = -0.09;
	double deepest = 0, half = 0;
	for (int i = 0; i < 500; ++i)
	{
		if (i == 250)
			half = double(loop.felt.x());
		loop.run([&](double t) { return hand_at({from + speed * t, 0.04, 0}, {speed, 0, 0}); });
		const double gap = double(loop.body->getWorldTransform().getOrigin().x()) - 0.05 - (double(loop.tool.getToolTransform().getOrigin().x()) + 0.02);
		deepest = std::max(deepest, -gap);
	}
	const double x = double(loop.body->getWorldTransform().getOrigin().x()), hand = from + speed * 2;
	const double friction = 0.25 * 0.5 * 10;
	std::printf("%s: box at %.2f mm, hand %.2f mm, force %.3f N, mean %.3f, friction %.3f N, at most %.3f mm deep; impulse given %.5f, felt %.5f N s\n", kNames[renderer], x * 1e3, hand * 1e3,
				loop.output.wrench.force.x, double(loop.felt.x()) - half, friction, deepest * 1e3, double(loop.given.x()), double(loop.felt.x()));
	// The box is ahead of the hand by the radius and half its edge, less the spring's deflection; voxels keep their distance.
	const double ahead = hand + 0.02 + 0.05 - friction / 1000;
	CHECK_NEAR(x, ahead, renderer == VXS_RENDERER_VPS ? 0.012 : 0.002);
	// The mean force of the last second is the friction.
	CHECK_NEAR(double(loop.felt.x()) - half, friction, 0.02 * friction);
	CHECK_NEAR(loop.given.x(), loop.felt.x(), 1e-4);
	CHECK_NEAR(loop.given.y(), loop.felt.y(), 1e-4);
	CHECK_NEAR(loop.given.z(), loop.felt.z(), 1e-4);
	CHECK(loop.felt.x() > 1);
	CHECK(deepest < 3e-4);
}

/// A free box bounces between the tool, which a resting hand holds, and a wall. Returns its largest energy after the start, as
/// a part of that at the start.
double bounces(unsigned renderer, const btVoxShellShape& ball, btVoxShellShape& box, double step, bool damped)
{
	const vxs_haptics_limits limits = device();
	vxs_haptics_settings settings = btVoxShellHapticTool::settings(ball, 0.1, renderer, &limits);
	if (!damped)
		settings.coupling.damping[0] = settings.coupling.damping[1] = settings.contact.damping = 0;
	Loop loop(ball, settings, step);
	loop.scene.world.setGravity(btVector3(0, 0, 0));
	btBoxShape slab(btVector3(btScalar(0.05), 1, 1));
	btRigidBody* wall = loop.scene.add(&slab, 0, btVector3(btScalar(0.16), 0, 0), 1);
	btRigidBody* body = loop.scene.add(&box, btScalar(0.2), btVector3(0, 0, 0), 1);
	wall->setFriction(0);
	body->setFriction(0);
	body->setDamping(0, 0);
	loop.body = body;
	loop.tool.addBody(body);
	const auto hand = [](double) { return hand_at({-0.1, 0, 0}, {0, 0, 0}); };
	// The ramp after the start.
	for (double t = 0; t < 0.3; t += step)
		loop.run(hand);
	body->setLinearVelocity(btVector3(btScalar(-0.25), 0, 0));
	const double start = kinetic_energy(*body);
	double most = 0, last = 0;
	int turns = 0;
	for (double t = 0; t < 4; t += step)
	{
		const double before = double(body->getLinearVelocity().x());
		loop.run(hand);
		const double after = double(body->getLinearVelocity().x());
		turns += before < 0 && after > 0;
		last = kinetic_energy(*body) / start;
		most = std::max(most, last);
	}
	std::printf("%s, steps of %.0f ms%s: %d bounces off the tool, at most %.4f of the energy, %.4f at the end\n", kNames[renderer], step * 1e3, damped ? "" : ", no damping", turns, most, last);
	CHECK(turns >= 1);
	return most;
}

void pick_and_drop(const btVoxShellShape& ball, btVoxShellShape& box)
{
	const vxs_haptics_limits limits = device();
	Loop loop(ball, btVoxShellHapticTool::settings(ball, 0.1, VXS_RENDERER_GOD_OBJECT, &limits), 0.004);
	loop.scene.world.setGravity(btVector3(0, 0, 0));
	btRigidBody* held = loop.scene.add(&box, btScalar(0.5), btVector3(0, 0, 0));
	btRigidBody* other = loop.scene.add(&box, btScalar(0.5), btVector3(btScalar(0.12), 0, 0));
	loop.tool.addBody(held);
	loop.tool.addBody(other);
	loop.body = other;
	const vxs_vec3 start = {-0.2, 0.1, 0};
	for (int i = 0; i < 50; ++i)
		loop.run([&](double) { return hand_at(start, {0, 0, 0}); });
	loop.tool.pick(held);
	CHECK(loop.tool.getPicked() == held);
	for (int i = 0; i < 50; ++i)
		loop.run([&](double) { return hand_at(start, {0, 0, 0}); });
	CHECK(held->getWorldTransform().getOrigin().length() < 1e-4);
	CHECK_NEAR(loop.output.wrench.force.x, 0, 1e-9);
	// The hand moves to the right by 6 cm in 0.6 s: the held box pushes the other one.
	const double from = loop.time, speed = 0.1;
	for (int i = 0; i < 150; ++i)
	{
		loop.run([&](double t) { return hand_at({start.x + speed * (t - from), start.y, start.z}, {speed, 0, 0}); });
		const double gap = double(other->getWorldTransform().getOrigin().x() - held->getWorldTransform().getOrigin().x()) - 0.1;
		CHECK(gap > -2e-4);
	}
	std::printf("picked: the held box is at %.2f mm, the other at %.2f mm with %.3f m/s; impulse %.4f N s\n", double(held->getWorldTransform().getOrigin().x()) * 1e3, double(other->getWorldTransform().getOrigin().x()) * 1e3,
				double(other->getLinearVelocity().x()), double(loop.given.x()));
	CHECK_NEAR(held->getWorldTransform().getOrigin().x(), 0.06, 2e-3);
	CHECK(other->getLinearVelocity().x() > 0.09);
	CHECK_NEAR(loop.given.x(), loop.felt.x(), 1e-4);
	CHECK_NEAR(loop.given.x(), 0.5 * double(other->getLinearVelocity().x()), 1e-4);
	loop.tool.drop();
	CHECK(!loop.tool.getPicked() && !held->isKinematicObject());
	CHECK_NEAR(held->getLinearVelocity().x(), speed, 0.02);
	const double end = loop.time;
	for (int i = 0; i < 50; ++i)
		loop.run([&](double) { return hand_at({start.x + speed * (end - from), start.y, start.z}, {0, 0, 0}); });
	// It goes on, and the hand is empty: 0.02 m in 0.2 s.
	CHECK_NEAR(held->getWorldTransform().getOrigin().x(), 0.06 + speed * 0.2, 4e-3);
	CHECK_NEAR(loop.tool.getToolTransform().getOrigin().x(), start.x + speed * (end - from), 1e-6);
}

/// The three loops on threads of their own, while bodies come and go: what the body got is what the tool gave.
void three_threads(const btVoxShellShape& ball, btVoxShellShape& box)
{
	const vxs_haptics_limits limits = device();
	Loop loop(ball, btVoxShellHapticTool::settings(ball, 0.1, VXS_RENDERER_PENALTY, &limits), 0.01);
	loop.servo_steps = 0;
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	btRigidBody* ground = loop.scene.add(&plane, 0, btVector3(0, 0, 0));
	loop.body = loop.scene.add(&box, btScalar(0.5), btVector3(0, btScalar(0.05), 0));
	loop.tool.addBody(loop.body);
	std::atomic<bool> on{true};
	std::thread servo([&] {
		for (double t = 0; on; t += kServo)
		{
			loop.tool.step(hand_at({-0.08 + 0.03 * std::min(t, 2.0), 0.05, 0}, {0, 0, 0}), kServo);
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		}
	});
	std::thread rounds([&] {
		while (on)
			loop.tool.simulate();
	});
	for (int i = 0; i < 120; ++i)
	{
		loop.run({});
		if (i % 10 == 4)
			loop.tool.addBody(ground);
		if (i % 10 == 9)
			loop.tool.removeBody(ground);
		std::this_thread::sleep_for(std::chrono::milliseconds(10));
	}
	on = false;
	servo.join();
	rounds.join();
	// The rest of the impulses.
	for (int i = 0; i < 60; ++i)
		loop.run({});
	const vxs_haptics_load load = loop.tool.getLoad(loop.body);
	const vxs_haptics_rates rates = loop.tool.getRates();
	std::printf("three threads: impulse given %.5f, of %.5f N s; %.0f steps, %.0f rounds\n", double(loop.given.x()), load.impulse.force.x, double(rates.steps), double(rates.rounds));
	CHECK(load.impulse.force.x > 0.05);
	CHECK_NEAR(loop.given.x(), load.impulse.force.x, 1e-4);
	CHECK_NEAR(loop.given.y(), load.impulse.force.y, 1e-4);
}

/// Returns whether a call throws a message with a text in it.
template <class Call>
bool refused(Call call, const char* text)
{
	try
	{
		call();
	}
	catch (const std::runtime_error& error)
	{
		return std::string(error.what()).find(text) != std::string::npos;
	}
	return false;
}

void what_cannot_be_is_refused(const btVoxShellShape& ball, btVoxShellShape& box)
{
	const vxs_haptics_limits limits = device();
	const vxs_haptics_settings settings = btVoxShellHapticTool::settings(ball, 0.1, VXS_RENDERER_PENALTY, &limits);
	CHECK(refused([&] { btVoxShellHapticTool none(ball, settings, 0); }, "capacity is 0"));
	Scene scene;
	btVoxShellHapticTool tool(ball, settings, 1);
	btCompoundShape compound;
	btRigidBody* many = scene.add(&compound, 0, btVector3(0, 0, 0));
	CHECK(refused([&] { tool.addBody(many); }, "does not touch a Compound"));
	btBoxShape stock(btVector3(1, 1, 1));
	btRigidBody* first = scene.add(&stock, 1, btVector3(0, 0, 0));
	btRigidBody* second = scene.add(&box, 1, btVector3(0, 0, 0));
	tool.addBody(first);
	tool.addBody(first);
	CHECK(refused([&] { tool.addBody(second); }, "all 1 places"));
	CHECK(refused([&] { tool.setFeel(second, 1, 0); }, "was not added"));
	CHECK(refused([&] { tool.pick(first); }, "Voxshell shape"));
	tool.removeBody(first);
	tool.step(hand_at({3, 0, 0}, {0, 0, 0}), kServo);
	tool.simulate();
	tool.addBody(second);
	tool.pick(second);
	CHECK(refused([&] { tool.pick(second); }, "in the hand already"));
	CHECK(refused([&] { tool.removeBody(second); }, "in the hand"));
	tool.drop();
}
}  // namespace

int main()
{
	const Handle ball_shape = primitive(VXS_PRIMITIVE_SPHERE, {0.02}, {}, 600, 40), box_shape = primitive(VXS_PRIMITIVE_BOX, {0.05, 0.05, 0.05}, {}, 1000, 64);
	const btVoxShellShape ball(ball_shape.get());
	btVoxShellShape box(box_shape.get());
	for (const unsigned renderer : kRenderers)
		pushes_a_box_against_friction(renderer, ball, box);
	for (const unsigned renderer : kRenderers)
		for (const double step : {0.004, 0.016})
			for (const bool damped : {true, false})
				CHECK(bounces(renderer, ball, box, step, damped) < 1.01);
	pick_and_drop(ball, box);
	if (!on_valgrind())
		three_threads(ball, box);
	what_cannot_be_is_refused(ball, box);
	return finish();
}
