// Bodies too fast for their step: with btVoxShellMotionClamp none passes through a plate of two voxels, a wire or a
// bowl, whichever body is the Voxshell shape, and bounces keep their speed.
#include <random>

#include "check.h"
#include "scene.h"

namespace
{
/// Target of the shots, body frame, and the test for a centre that has passed it.
struct Target
{
	const char* name;
	std::unique_ptr<btVoxShellShape> shape;
	btVector3 aim;  // half extents of the box of aim points
	bool hollow;    // some shots come from inside
	/// Returns true if a ball of radius r cannot have moved from p to q without passing through.
	bool (*passed)(const btVector3& p, const btVector3& q, btScalar r);
};

/// Cooks with voxels and sample spacing of `voxel`.
std::unique_ptr<btVoxShellShape> cook(uint32_t kind, std::initializer_list<double> size, double extent, double voxel)
{
	const Handle made = primitive(kind, size, {}, 0, uint32_t(extent / voxel + 0.5));
	return std::unique_ptr<btVoxShellShape>(new btVoxShellShape(made.get()));
}

std::unique_ptr<btVoxShellShape> cook_plate() { return cook(VXS_PRIMITIVE_BOX, {0.25, 0.01, 0.25}, 0.5, 0.01); }

// A plate of 0.5 x 0.02 x 0.5 m, two voxels thick.
bool through_plate(const btVector3& p, const btVector3& q, btScalar)
{
	if ((p.y() > 0) == (q.y() > 0))
		return false;
	const btVector3 at = p.lerp(q, p.y() / (p.y() - q.y()));
	return btFabs(at.x()) < btScalar(0.25) && btFabs(at.z()) < btScalar(0.25);
}

// A wire along y, 6 mm thick: its axis in the inner half of a ball.
bool through_wire(const btVector3& p, const btVector3& q, btScalar r)
{
	const btVector3 way(q.x() - p.x(), 0, q.z() - p.z()), from(p.x(), 0, p.z());
	const btScalar t = way.length2() > 0 ? btClamped(-from.dot(way) / way.length2(), btScalar(0), btScalar(1)) : btScalar(0);
	const btVector3 nearest = p.lerp(q, t);
	return btFabs(nearest.y()) < btScalar(0.24) && btVector3(nearest.x(), 0, nearest.z()).length() < btScalar(0.5) * r;
}

// A half-spherical bowl of radii 0.3 and 0.28, open upwards.
bool through_bowl(const btVector3& p, const btVector3& q, btScalar)
{
	const btScalar middle = btScalar(0.29);
	if ((p.length() < middle) == (q.length() < middle))
		return false;
	const btVector3 way = q - p;
	const btScalar a = way.length2(), b = p.dot(way), c = p.length2() - middle * middle;
	const btScalar root = btSqrt(btMax(btScalar(0), b * b - a * c));
	for (const btScalar t : {(-b - root) / a, (-b + root) / a})
		if (t >= 0 && t <= 1 && p.lerp(q, t).y() < btScalar(-0.02))
			return true;
	return false;
}

struct Count
{
	int shots = 0, passed = 0, hit = 0;
};

/// Shoots from all directions at up to 300 m/s, spinning, in steps of 1/200 s.
Count shoot(const Target& target, btCollisionShape* bullet, btScalar radius, int shots, bool clamped, uint32_t seed)
{
	std::mt19937 random(seed);
	const auto uniform = [&](double low, double high) { return btScalar(low + (high - low) * (random() / 4294967296.0)); };
	const auto direction = [&] {
		for (;;)
		{
			const btVector3 d(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1));
			if (d.length2() > btScalar(0.01) && d.length2() < 1)
				return d.normalized();
		}
	};
	Scene scene;
	btVoxShellMotionClamp clamp;
	if (clamped)
		scene.world.addAction(&clamp);
	scene.add(target.shape.get(), 0, btVector3(0, 0, 0), btScalar(0.5));
	btRigidBody* body = scene.add(bullet, btScalar(0.01), btVector3(0, 5, 0), btScalar(0.5));
	Count count;
	for (int i = 0; i < shots; ++i)
	{
		const bool inside = target.hollow && i % 4 == 0;
		const btVector3 start = inside ? btVector3(0, btScalar(0.05), 0) + direction() * btScalar(0.1) : direction() * uniform(0.6, 2);
		const btVector3 aim = target.aim * btVector3(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1));
		body->setCenterOfMassTransform(btTransform(btQuaternion(direction(), uniform(0, 3)), start));
		body->setLinearVelocity((aim - start).normalized() * uniform(20, 300));
		body->setAngularVelocity(direction() * uniform(0, 200));
		body->clearForces();
		bool passed = false, hit = false;
		for (int step = 0; step < 12 && !passed; ++step)
		{
			const btVector3 before = body->getWorldTransform().getOrigin();
			scene.step();
			passed = target.passed(before, body->getWorldTransform().getOrigin(), radius);
			hit = hit || clamp.getNumStopped() > 0;
		}
		++count.shots;
		count.passed += passed;
		count.hit += hit;
	}
	if (clamped)
		scene.world.removeAction(&clamp);
	return count;
}

void nothing_gets_through()
{
	std::vector<Target> targets;
	targets.push_back({"plate", cook_plate(), btVector3(btScalar(0.2), btScalar(0.01), btScalar(0.2)), false, through_plate});
	targets.push_back({"wire", cook(VXS_PRIMITIVE_CYLINDER, {0.003, 0.25}, 0.5, 0.003), btVector3(btScalar(0.01), btScalar(0.2), btScalar(0.01)), false, through_wire});
	targets.push_back({"bowl", cook(VXS_PRIMITIVE_BOWL, {0.3, 0.02}, 0.6, 0.01), btVector3(btScalar(0.22), btScalar(0.22), btScalar(0.22)), true, through_bowl});
	const btScalar radius = btScalar(0.02);
	btSphereShape ball(radius);
	btBoxShape box(btVector3(radius, radius, radius));
	const std::unique_ptr<btVoxShellShape> gear = cook(VXS_PRIMITIVE_GEAR, {0.03, 0.025, 0.03, 0.005}, 0.06, 0.001);
	btCompoundShape compound;
	compound.addChildShape(btTransform::getIdentity(), gear.get());
	const struct
	{
		const char* name;
		btCollisionShape* shape;
	} bullets[] = {{"ball", &ball}, {"box", &box}, {"gear", gear.get()}, {"compound", &compound}};
	const char* wanted = std::getenv("VOXSHELL_SHOTS");
	const int shots = wanted ? std::atoi(wanted) : on_valgrind() ? 4 : 30;
	int passed_without = 0;
	for (const Target& target : targets)
		for (const auto& bullet : bullets)
		{
			const Count with = shoot(target, bullet.shape, radius, shots, true, 7), without = shoot(target, bullet.shape, radius, shots, false, 7);
			std::printf("%s at %s: %d of %d got through, %d stopped on the way; without the clamp %d got through\n", bullet.name, target.name, with.passed, with.shots, with.hit, without.passed);
			CHECK(with.passed == 0);
			passed_without += without.passed;
		}
	CHECK(on_valgrind() || passed_without > 0);
}

/// A body that hits at full speed leaves at e times that speed, as if it had been slow.
void bounces_keep_their_speed()
{
	const std::unique_ptr<btVoxShellShape> plate = cook_plate();
	btSphereShape stock(btScalar(0.02));
	const std::unique_ptr<btVoxShellShape> ours = cook(VXS_PRIMITIVE_SPHERE, {0.02}, 0.04, 0.0005);
	for (btCollisionShape* ball : {static_cast<btCollisionShape*>(&stock), static_cast<btCollisionShape*>(ours.get())})
		for (const double e : {0.0, 0.5, 0.9})
		{
			Scene scene;
			scene.world.setGravity(btVector3(0, 0, 0));
			btVoxShellMotionClamp clamp;
			scene.world.addAction(&clamp);
			scene.add(plate.get(), 0, btVector3(0, 0, 0), 1);
			btRigidBody* body = scene.add(ball, btScalar(0.1), btVector3(btScalar(0.01), 1, btScalar(0.02)), btScalar(e));
			body->setFriction(0);
			body->setLinearVelocity(btVector3(0, -200, 0));
			scene.step(6);
			CHECK_NEAR(body->getLinearVelocity().y(), 200 * e, 0.02 * 200);
			CHECK(body->getWorldTransform().getOrigin().y() > btScalar(0.029 - 0.0011));
			scene.world.removeAction(&clamp);
		}
}

/// Two bodies head-on, each at 150 m/s: both stop where they meet, and momentum is conserved.
void two_fast_bodies_meet()
{
	const std::unique_ptr<btVoxShellShape> plate = cook_plate(), gear = cook(VXS_PRIMITIVE_GEAR, {0.03, 0.025, 0.03, 0.005}, 0.06, 0.001);
	Scene scene;
	scene.world.setGravity(btVector3(0, 0, 0));
	btVoxShellMotionClamp clamp;
	scene.world.addAction(&clamp);
	btRigidBody *flying = scene.add(plate.get(), 1, btVector3(0, btScalar(0.4), 0)), *shot = scene.add(gear.get(), 1, btVector3(0, btScalar(-0.4), 0));
	flying->setLinearVelocity(btVector3(0, -150, 0));
	shot->setLinearVelocity(btVector3(0, 150, 0));
	scene.step();
	CHECK(clamp.getNumStopped() == 2);
	CHECK(flying->getWorldTransform().getOrigin().y() > shot->getWorldTransform().getOrigin().y());
	scene.step(5);
	CHECK(flying->getWorldTransform().getOrigin().y() > shot->getWorldTransform().getOrigin().y());
	CHECK_NEAR((flying->getLinearVelocity() + shot->getLinearVelocity()).y(), 0, 0.5);
	scene.world.removeAction(&clamp);
}

/// A body stops in front of another one that would have been out of the way if it had not been stopped itself, and the
/// reverse.
void what_a_stopped_body_blocks_is_looked_at_again()
{
	const std::unique_ptr<btVoxShellShape> plate = cook_plate();
	btSphereShape ball(btScalar(0.02));
	// No contact ahead of time, which slows the plate down instead of stopping it on its way.
	btVoxShellSettings settings;
	settings.m_lookahead = 0;
	Scene scene(settings);
	scene.world.setGravity(btVector3(0, 0, 0));
	btVoxShellMotionClamp clamp;
	scene.world.addAction(&clamp);
	// A plate flies past sideways with a fixed obstacle in its path: the ball comes to where the plate must stop.
	scene.add(plate.get(), 0, btVector3(1, 0, 0));
	btRigidBody* flying = scene.add(plate.get(), 1, btVector3(-1, 0, 0));
	btRigidBody* shot = scene.add(&ball, 1, btVector3(btScalar(0.6), 1, 0));
	flying->setLinearVelocity(btVector3(400, 0, 0));
	shot->setLinearVelocity(btVector3(0, -400, 0));
	scene.step();
	// The plate is stopped with its edge at 0.75 after 1.5 m of 2 m, so it lies below the ball. The ball reaches y = 0
	// after 1 m of 2 m, when the plate's edge is at 0.25: it passes in front of the plate and meets nothing.
	CHECK_NEAR(flying->getWorldTransform().getOrigin().x(), 0.5, 0.01);
	CHECK_NEAR(shot->getWorldTransform().getOrigin().y(), -1, 0.01);
	// A little later, the ball lands on the stopped plate.
	flying->setCenterOfMassTransform(btTransform(btQuaternion::getIdentity(), btVector3(-1, 0, 0)));
	shot->setCenterOfMassTransform(btTransform(btQuaternion::getIdentity(), btVector3(btScalar(0.6), btScalar(1.7), 0)));
	flying->setLinearVelocity(btVector3(400, 0, 0));
	flying->setAngularVelocity(btVector3(0, 0, 0));
	shot->setLinearVelocity(btVector3(0, -400, 0));
	scene.step();
	CHECK(clamp.getNumStopped() == 2);
	CHECK_NEAR(flying->getWorldTransform().getOrigin().x(), 0.5, 0.01);
	CHECK_NEAR(shot->getWorldTransform().getOrigin().y(), 0.03, 0.002);
	scene.world.removeAction(&clamp);
}

/// Blades at 30 turns per second stop at a peg in their path.
void blades_stop_at_a_peg()
{
	const std::unique_ptr<btVoxShellShape> blade = cook(VXS_PRIMITIVE_BOX, {0.5, 0.05, 0.005}, 1, 0.005);
	btCylinderShape peg(btVector3(btScalar(0.01), btScalar(0.2), btScalar(0.01)));
	Scene scene;
	scene.world.setGravity(btVector3(0, 0, 0));
	btVoxShellMotionClamp clamp;
	scene.world.addAction(&clamp);
	// The peg along y stands in the plane of rotation, x and z.
	scene.add(&peg, 0, btVector3(btScalar(0.35), 0, btScalar(0.1)));
	btRigidBody* fan = scene.add(blade.get(), 1, btVector3(0, 0, 0));
	btHingeConstraint hinge(*fan, btVector3(0, 0, 0), btVector3(0, 1, 0));
	scene.world.addConstraint(&hinge);
	// Turns away from the peg: the other wing meets it after nearly half a turn.
	fan->setAngularVelocity(btVector3(0, btScalar(60 * SIMD_PI), 0));
	double turned = 0;
	for (int step = 0; step < 40; ++step)
	{
		const btQuaternion before = fan->getWorldTransform().getRotation();
		scene.step();
		const btQuaternion delta = fan->getWorldTransform().getRotation() * before.inverse();
		turned += 2 * std::atan2(double(delta.y()), double(delta.w()));
	}
	std::printf("blades turned by %.3f rad, those that meet nothing by %.3f\n", turned, 40 * 60 * SIMD_PI / 200);
	CHECK(turned > 1 && turned < SIMD_PI);
	scene.world.removeConstraint(&hinge);
	scene.world.removeAction(&clamp);
}

/// A Bullet mesh, which is a surface without an inside, with steps of a tenth of a second.
void long_steps_onto_a_mesh_floor()
{
	btTriangleMesh mesh;
	for (int i = -4; i < 4; ++i)
		for (int k = -4; k < 4; ++k)
		{
			const btVector3 a(btScalar(i), 0, btScalar(k)), b(btScalar(i + 1), 0, btScalar(k)), c(btScalar(i + 1), 0, btScalar(k + 1)), d(btScalar(i), 0, btScalar(k + 1));
			mesh.addTriangle(a, c, b);
			mesh.addTriangle(a, d, c);
		}
	btBvhTriangleMeshShape floor(&mesh, true);
	const std::unique_ptr<btVoxShellShape> gear = cook(VXS_PRIMITIVE_GEAR, {0.1, 0.08, 0.04, 0.02}, 0.2, 0.004);
	for (const bool clamped : {true, false})
	{
		Scene scene;
		btVoxShellMotionClamp clamp;
		if (clamped)
			scene.world.addAction(&clamp);
		scene.add(&floor, 0, btVector3(0, 0, 0));
		btRigidBody* body = scene.add(gear.get(), 1, btTransform(btQuaternion(btVector3(1, 0, 0), btScalar(0.3)), btVector3(btScalar(0.3), 10, btScalar(0.4))));
		for (int step = 0; step < 40; ++step)
			scene.world.stepSimulation(btScalar(0.1), 0);
		const double height = double(body->getWorldTransform().getOrigin().y());
		std::printf("10 Hz onto a mesh, %s the clamp: at %.4f m\n", clamped ? "with" : "without", height);
		if (clamped)
		{
			CHECK(height > 0.015 && height < 0.12);
			scene.world.removeAction(&clamp);
		}
	}
}

/// Fast rolling and sliding bodies are not slowed.
void rolling_is_as_without()
{
	const std::unique_ptr<btVoxShellShape> ball = cook(VXS_PRIMITIVE_SPHERE, {0.1}, 0.2, 0.002);
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	btBoxShape slab(btVector3(20, 1, 20));
	double way[2] = {};
	int stopped = 0;
	for (const bool clamped : {true, false})
	{
		Scene scene;
		btVoxShellMotionClamp clamp;
		if (clamped)
			scene.world.addAction(&clamp);
		scene.add(&slab, 0, btVector3(0, -1, 0));
		btRigidBody* body = scene.add(ball.get(), 1, btVector3(-10, btScalar(0.1), 0));
		body->setLinearVelocity(btVector3(10, 0, 0));
		body->setAngularVelocity(btVector3(0, 0, -100));
		for (int step = 0; step < 200; ++step)
		{
			scene.step();
			stopped += clamped ? clamp.getNumStopped() : 0;
		}
		way[clamped] = double(body->getWorldTransform().getOrigin().x());
		if (clamped)
			scene.world.removeAction(&clamp);
	}
	CHECK(stopped == 0);
	CHECK_NEAR(way[1], way[0], 1e-4);
}

/// The time of impact that an engine gets on request.
void time_of_impact_of_the_algorithm()
{
	const std::unique_ptr<btVoxShellShape> plate = cook_plate();
	btSphereShape ball(btScalar(0.02));
	Scene scene;
	btRigidBody *fixed = scene.add(plate.get(), 0, btVector3(0, 0, 0)), *body = scene.add(&ball, 1, btVector3(0, 1, 0));
	const btCollisionObjectWrapper a(nullptr, fixed->getCollisionShape(), fixed, fixed->getWorldTransform(), -1, -1), b(nullptr, &ball, body, body->getWorldTransform(), -1, -1);
	btCollisionAlgorithm* algorithm = find_algorithm(scene.dispatcher, a, b, BT_CONTACT_POINT_ALGORITHMS);
	btManifoldResult result(&a, &b);
	body->setInterpolationWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(0, -1, 0)));
	const double time = double(algorithm->calculateTimeOfImpact(fixed, body, scene.world.getDispatchInfo(), &result));
	// A tenth of a voxel deep.
	CHECK_NEAR(time, (1 - 0.03 + 0.001) / 2, 2e-4);
	body->setInterpolationWorldTransform(btTransform(btQuaternion::getIdentity(), btVector3(0, 2, 0)));
	CHECK(algorithm->calculateTimeOfImpact(fixed, body, scene.world.getDispatchInfo(), &result) == 1);
	algorithm->~btCollisionAlgorithm();
	scene.dispatcher.freeCollisionAlgorithm(algorithm);
}
}  // namespace

int main()
{
	nothing_gets_through();
	bounces_keep_their_speed();
	two_fast_bodies_meet();
	what_a_stopped_body_blocks_is_looked_at_again();
	blades_stop_at_a_peg();
	long_steps_onto_a_mesh_floor();
	rolling_is_as_without();
	time_of_impact_of_the_algorithm();
	return finish();
}
