// btVoxShellMotionClamp with kinematic bodies that their owners move fast: bodies in their path are pushed, not passed.
// Also blades that turn by more than a right angle per step.
#include <utility>

#include "check.h"
#include "scene.h"

namespace
{
const btScalar kRadius = btScalar(0.03);

std::unique_ptr<btVoxShellShape> cook(uint32_t kind, std::initializer_list<double> size, double extent, double voxel)
{
	const Handle made = primitive(kind, size, {}, 0, uint32_t(extent / voxel + 0.5));
	return std::unique_ptr<btVoxShellShape>(new btVoxShellShape(made.get()));
}

std::unique_ptr<btVoxShellShape> cook_plate() { return cook(VXS_PRIMITIVE_BOX, {0.25, 0.01, 0.25}, 0.5, 0.01); }

struct Swept
{
	Scene scene;
	btVoxShellMotionClamp clamp;
	btRigidBody* mover;

	Swept(btCollisionShape* shape, const btTransform& at, bool clamped = true)
	{
		scene.world.setGravity(btVector3(0, 0, 0));
		if (clamped)
			scene.world.addAction(&clamp);
		mover = scene.add(shape, 0, at, 1);
		mover->setCollisionFlags(mover->getCollisionFlags() | btCollisionObject::CF_KINEMATIC_OBJECT);
		scene.step();
	}
	~Swept() { scene.world.removeAction(&clamp); }

	void step(const btTransform& to)
	{
		mover->setWorldTransform(to);
		scene.step();
	}
};

btTransform lifted(double y) { return btTransform(btQuaternion::getIdentity(), btVector3(0, btScalar(y), 0)); }

/// Half a metre per step, which is many times the thickness of both.
void a_plate_bats_a_ball()
{
	const std::unique_ptr<btVoxShellShape> plate = cook_plate(), ours = cook(VXS_PRIMITIVE_SPHERE, {double(kRadius)}, 2 * double(kRadius), 0.001);
	btSphereShape stock(kRadius);
	btCompoundShape compound;
	compound.addChildShape(lifted(0), ours.get());
	for (btCollisionShape* shape : {static_cast<btCollisionShape*>(&stock), static_cast<btCollisionShape*>(ours.get()), static_cast<btCollisionShape*>(&compound)})
		for (const double e : {0.0, 0.5})
			for (const bool clamped : {true, false})
			{
				Swept swept(plate.get(), lifted(-1.13), clamped);
				btRigidBody* ball = swept.scene.add(shape, btScalar(0.1), btVector3(btScalar(0.01), 0, btScalar(0.02)), btScalar(e));
				ball->setFriction(0);
				// A sleeping body in the path is woken.
				ball->forceActivationState(ISLAND_SLEEPING);
				bool behind = false;
				for (int step = 1; step <= 6; ++step)
				{
					const double y = -1.13 + 0.5 * step;
					swept.step(lifted(y));
					behind = behind || double(ball->getWorldTransform().getOrigin().y()) < y + 0.01 + double(kRadius) - 0.0015;
				}
				// Without the clamp the contact that stops the ball may come a step late.
				CHECK(!clamped || !behind);
				if (clamped)
					CHECK_NEAR(ball->getLinearVelocity().y(), (1 + e) * 100, 0.02 * 100);
			}
}

/// The owner moves the body once for four steps of the world.
void several_steps_at_once()
{
	const std::unique_ptr<btVoxShellShape> plate = cook_plate();
	btSphereShape stock(kRadius);
	Swept swept(plate.get(), lifted(-1.13));
	btRigidBody* ball = swept.scene.add(&stock, btScalar(0.1), btVector3(0, 0, 0));
	for (int frame = 1; frame <= 3; ++frame)
	{
		const double y = -1.13 + 0.9 * frame;
		swept.mover->setWorldTransform(lifted(y));
		swept.scene.world.stepSimulation(4 * kStep, 4, kStep);
		CHECK(double(ball->getWorldTransform().getOrigin().y()) > y + 0.01 + double(kRadius) - 0.0015);
	}
}

/// A row of balls is pushed together; a ball in front of a wall is caught there but not pushed through it.
void rows_and_walls()
{
	const std::unique_ptr<btVoxShellShape> plate = cook_plate(), ours = cook(VXS_PRIMITIVE_SPHERE, {double(kRadius)}, 2 * double(kRadius), 0.001);
	{
		Swept swept(plate.get(), lifted(-0.3));
		btRigidBody* first = swept.scene.add(ours.get(), btScalar(0.1), btVector3(0, 0, 0));
		btRigidBody* second = swept.scene.add(ours.get(), btScalar(0.1), btVector3(0, btScalar(0.1), 0));
		swept.step(lifted(0.2));
		const double low = double(first->getWorldTransform().getOrigin().y()), high = double(second->getWorldTransform().getOrigin().y());
		CHECK_NEAR(low, 0.2 + 0.01 + double(kRadius), 0.0005);
		CHECK_NEAR(high, low + 2 * double(kRadius), 0.0005);
		CHECK(swept.clamp.getNumStopped() == 2);
	}
	{
		Swept swept(plate.get(), lifted(-0.3));
		btRigidBody* ball = swept.scene.add(ours.get(), btScalar(0.1), btVector3(0, 0, 0));
		swept.scene.add(plate.get(), 0, lifted(0.2));
		for (int step = 1; step <= 4; ++step)
		{
			swept.step(lifted(-0.3 + 0.5 * step));
			CHECK(double(ball->getWorldTransform().getOrigin().y()) < 0.2 - 0.01 - double(kRadius) + 0.0015);
		}
	}
}

/// Returns the distance of a ball's surface from a blade (a box) at its pose, m.
double gap_to_blade(const btTransform& blade, const btVector3& half, const btVector3& center)
{
	const btVector3 p = blade.inverse() * center;
	const btVector3 nearest(btClamped(p.x(), -half.x(), half.x()), btClamped(p.y(), -half.y(), half.y()), btClamped(p.z(), -half.z(), half.z()));
	return double((p - nearest).length()) - double(kRadius);
}

/// A fan blade that its owner turns about y, and a ball at rest in its plane: alone, and as part of a compound.
void blades_bat_a_ball()
{
	const btVector3 half(btScalar(0.5), btScalar(0.05), btScalar(0.005));
	const std::unique_ptr<btVoxShellShape> blade = cook(VXS_PRIMITIVE_BOX, {0.5, 0.05, 0.005}, 1, 0.005);
	const btTransform local(btQuaternion(btVector3(0, 1, 0), btScalar(0.4)), btVector3(0, btScalar(-0.1), 0));
	btCompoundShape compound;
	compound.addChildShape(local, blade.get());
	btSphereShape stock(kRadius);
	const std::pair<btCollisionShape*, btTransform> movers[] = {{blade.get(), btTransform::getIdentity()}, {&compound, local}};
	for (const auto& mover : movers)
		for (const double degrees : {15.0, 40.0, 100.0, 170.0})
		{
			const double turn = degrees * double(SIMD_PI) / 180;
			const auto turned = [&](double angle) { return btTransform(btQuaternion(btVector3(0, 1, 0), btScalar(angle))) * mover.second.inverse(); };
			Swept swept(mover.first, turned(0));
			// The wing along +x comes from behind the ball: turning about y takes x towards -z.
			const btVector3 at(btScalar(0.35 * std::cos(0.2)), 0, btScalar(-0.35 * std::sin(0.2)));
			btRigidBody* ball = swept.scene.add(&stock, btScalar(0.1), at);
			ball->setFriction(0);
			bool pushed = false;
			for (int step = 1; step <= 3; ++step)
			{
				swept.step(turned(turn * step));
				pushed = pushed || swept.clamp.getNumStopped() > 0;
				CHECK(gap_to_blade(turned(turn * step) * mover.second, half, ball->getWorldTransform().getOrigin()) > -0.001);
				if (step == 1)
				{
					// In front of the wing, and as fast as the wing.
					const btVector3 p = turned(turn).inverse() * ball->getWorldTransform().getOrigin();
					const btVector3 q = mover.second.inverse() * p;
					CHECK(q.x() > btScalar(0.3) && q.z() < 0);
					CHECK_NEAR(ball->getLinearVelocity().length(), 0.35 * turn * 200, 0.04 * 0.35 * turn * 200);
				}
			}
			CHECK(pushed);
		}
}

/// Commanded to turn 54 to 400 degrees per step, of which Bullet allows up to 180; a peg is in the path.
void dynamic_blades_of_more_than_a_right_angle_stop_at_a_peg()
{
	const std::unique_ptr<btVoxShellShape> blade = cook(VXS_PRIMITIVE_BOX, {0.5, 0.05, 0.005}, 1, 0.005);
	btCompoundShape compound;
	compound.addChildShape(btTransform(btQuaternion(btVector3(0, 1, 0), btScalar(0.3))), blade.get());
	btCylinderShape peg(btVector3(btScalar(0.01), btScalar(0.2), btScalar(0.01)));
	for (btCollisionShape* shape : {static_cast<btCollisionShape*>(blade.get()), static_cast<btCollisionShape*>(&compound)})
		for (const double degrees : {54.0, 100.0, 200.0, 400.0})
		{
			Scene scene;
			scene.world.setGravity(btVector3(0, 0, 0));
			btVoxShellMotionClamp clamp;
			scene.world.addAction(&clamp);
			scene.add(&peg, 0, btVector3(btScalar(0.35), 0, btScalar(0.1)));
			btRigidBody* fan = scene.add(shape, 1, btTransform(btQuaternion(btVector3(0, 1, 0), btScalar(shape == blade.get() ? 0 : -0.3))));
			btHingeConstraint hinge(*fan, btVector3(0, 0, 0), btVector3(0, 1, 0));
			scene.world.addConstraint(&hinge);
			fan->setAngularVelocity(btVector3(0, btScalar(degrees * double(SIMD_PI) / 180 * 200), 0));
			double turned = 0, most = 0;
			for (int step = 0; step < 30; ++step)
			{
				const btQuaternion before = fan->getWorldTransform().getRotation();
				scene.step();
				const btQuaternion delta = fan->getWorldTransform().getRotation() * before.inverse();
				const double by = 2 * std::atan2(double(delta.y()), double(delta.w()));
				turned += by > double(SIMD_PI) ? by - double(SIMD_2_PI) : by < -double(SIMD_PI) ? by + double(SIMD_2_PI) : by;
				most = std::max(most, turned);
				// The peg is 0.28 rad behind one wing and 2.86 rad ahead of the other.
				CHECK(turned > -0.28 && turned < 2.86);
			}
			std::printf("%g degrees per step: turned by %.3f rad at most\n", degrees, most);
			CHECK(most > 2);
			scene.world.removeConstraint(&hinge);
			scene.world.removeAction(&clamp);
		}
}

/// The clamp does not disturb a kinematic platform that carries a ball up and along.
void platforms_are_as_without()
{
	const std::unique_ptr<btVoxShellShape> plate = cook_plate();
	btSphereShape stock(kRadius);
	double end[2][2] = {};
	for (const bool clamped : {false, true})
	{
		Swept swept(plate.get(), lifted(0), clamped);
		swept.scene.world.setGravity(btVector3(0, -10, 0));
		btRigidBody* ball = swept.scene.add(&stock, btScalar(0.1), btVector3(0, btScalar(0.01) + kRadius, 0));
		swept.scene.step(50);
		// Speeds up to 4 m/s, 20 mm per step.
		double y = 0;
		for (int step = 0; step < 80; ++step)
			swept.step(lifted(y += 0.02 * std::min(1.0, step / 40.0)));
		end[clamped][0] = double(ball->getWorldTransform().getOrigin().y()) - y;
		end[clamped][1] = double(ball->getLinearVelocity().y());
	}
	CHECK_NEAR(end[1][0], end[0][0], 1e-4);
	CHECK_NEAR(end[1][1], end[0][1], 1e-2);
}

/// A body that arrives at 100 m/s and is stopped in mid-step leaves at half of that speed, also as part of a compound
/// and off the ground's middle.
void bounces_right_after_a_stop()
{
	const std::unique_ptr<btVoxShellShape> plate = cook_plate(), ours = cook(VXS_PRIMITIVE_SPHERE, {double(kRadius)}, 2 * double(kRadius), 0.001);
	btSphereShape stock(kRadius);
	btStaticPlaneShape plane(btVector3(0, 1, 0), btScalar(0.01));
	btCompoundShape compound;
	compound.addChildShape(lifted(0), ours.get());
	for (btCollisionShape* ground : {static_cast<btCollisionShape*>(plate.get()), static_cast<btCollisionShape*>(&plane)})
		for (btCollisionShape* shape : {static_cast<btCollisionShape*>(&stock), static_cast<btCollisionShape*>(ours.get()), static_cast<btCollisionShape*>(&compound)})
			for (const double height : {1.0, 1.1, 1.3})
			{
				if (ground == &plane && shape == &stock)
					continue;  // neither is a Voxshell shape
				Scene scene;
				scene.world.setGravity(btVector3(0, 0, 0));
				btVoxShellMotionClamp clamp;
				scene.world.addAction(&clamp);
				scene.add(ground, 0, lifted(0), 1);
				btRigidBody* ball = scene.add(shape, btScalar(0.1), btVector3(btScalar(0.1), btScalar(height), btScalar(-0.07)), btScalar(0.5));
				ball->setFriction(0);
				ball->setLinearVelocity(btVector3(0, -100, 0));
				scene.step(6);
				CHECK_NEAR(ball->getLinearVelocity().y(), 50, 0.03 * 50);
				scene.world.removeAction(&clamp);
			}
}
}  // namespace

int main()
{
	rows_and_walls();
	if (on_valgrind())
		return finish();
	a_plate_bats_a_ball();
	several_steps_at_once();
	blades_bat_a_ball();
	dynamic_blades_of_more_than_a_right_angle_stop_at_a_peg();
	platforms_are_as_without();
	bounces_right_after_a_stop();
	return finish();
}
