// W6, grips: fingers press a tube, a cup or a crate from two or three sides, lift it and hold it for two seconds. Bodies of 15 cm
// and more, and fingers of up to 30 times their mass: at 60 Hz the solver of Bullet loses smaller ones, its own cylinders and
// boxes more often (VOXSHELL_SHOW prints what they do in the same hand).
#include "scenes.h"

namespace
{
/// A body, and how a hand holds it.
struct Held
{
	btCollisionShape* shape;
	btTransform start;
	double mass, friction, force, finger_mass, finger, wall;
	/// Places that fingers touch, and the directions in which they press.
	std::vector<std::array<btVector3, 2>> touches;
};

/// The end of a grip: how far the body sank and turned in the hand from its lift on, and where both are.
struct Grip
{
	double sunk = 0, turned = 0;
	btTransform pose;
	std::vector<btTransform> fingers;
};

const double kLift = 0.2;

/// Presses a body for half a second on the ground, lifts for one second, and holds for two.
Grip grip(const Held& held)
{
	Scene scene;
	btStaticPlaneShape ground(at(0, 1, 0), 0);
	scene.add(&ground, 0, at(0, 0, 0));
	btRigidBody* const body = scene.add(held.shape, btScalar(held.mass), held.start);
	body->setFriction(btScalar(held.friction));
	std::vector<std::unique_ptr<btBoxShape>> shapes;
	std::vector<btRigidBody*> fingers;
	const btScalar half = btScalar(held.finger);
	for (const auto& touch : held.touches)
	{
		shapes.emplace_back(new btBoxShape(btVector3(half, half, half)));
		// The x axis of a finger points inwards.
		const btVector3 x = touch[1], y(0, 1, 0), z = x.cross(y);
		const btTransform place(btMatrix3x3(x.x(), y.x(), z.x(), x.y(), y.y(), z.y(), x.z(), y.z(), z.z()), touch[0] - x * half);
		fingers.push_back(scene.add(shapes.back().get(), btScalar(held.finger_mass), place));
		fingers.back()->setFriction(1);
		fingers.back()->setGravity(btVector3(0, 0, 0));
		fingers.back()->setAngularFactor(0);
		// Moved up by the hand whatever it carries; the first finger stays where it is, and the others press towards it.
		const btScalar is_pressed = fingers.size() > 1 ? 1 : 0;
		fingers.back()->setLinearFactor(btVector3(is_pressed, 0, is_pressed));
	}
	Grip found;
	btTransform lifted;
	for (int i = 0; i < 210; ++i)
	{
		const double speed = i < 30 || i >= 90 ? 0 : kLift;
		for (size_t k = 0; k < fingers.size(); ++k)
		{
			const btVector3& in = held.touches[k][1];
			fingers[k]->setLinearVelocity(in * in.dot(fingers[k]->getLinearVelocity()) + at(0, speed, 0));
			fingers[k]->applyCentralForce(in * btScalar(held.force));
		}
		step(scene);
		const btTransform& pose = body->getWorldTransform();
		if (i == 29)
			lifted = pose;
		if (i < 29)
			continue;
		const double raised = kLift * std::min(i - 29, 60) / 60;
		found.sunk = std::max(found.sunk, raised - double(pose.getOrigin().y() - lifted.getOrigin().y()));
		found.turned = std::max(found.turned, double(pose.getRotation().angleShortestPath(lifted.getRotation())));
	}
	found.pose = body->getWorldTransform();
	for (const btRigidBody* finger : fingers)
		found.fingers.push_back(finger->getWorldTransform());
	return found;
}

/// Checks a grip of a part; `stock` is of the same size.
Complaints check(const Held& held, const Part& part, btCollisionShape& stock, double height)
{
	Complaints complaints;
	const Grip ours = grip(held);
	double deepest = 0;
	const btScalar finger = btScalar(held.finger);
	for (const btTransform& place : ours.fingers)
		deepest = std::max(deepest, part.depth_in_box(ours.pose, place, btVector3(finger, finger, finger)));
	if (std::getenv("VOXSHELL_SHOW"))
	{
		Held other = held;
		other.shape = &stock;
		other.start = btTransform(btQuaternion::getIdentity(), at(0, 0.5 * height, 0));
		const Grip theirs = grip(other);
		std::printf("sunk %.1f mm, turned %.2f, %.2f mm deep; stock sunk %.1f mm, turned %.2f; %.2f kg, fingers %.1f times, %.2f m high, wall %.1f mm\n", 1e3 * ours.sunk, ours.turned, 1e3 * deepest, 1e3 * theirs.sunk, theirs.turned, held.mass, held.finger_mass / held.mass, height, 1e3 * held.wall);
	}
	complaints.at_most("sunk in the hand", ours.sunk, 0.02 + 0.02 * height);
	complaints.at_most("turned in the hand", ours.turned, 0.5);
	complaints.at_most("depth of a finger", deepest, 3e-3);
	return complaints;
}

/// Draws the mass, the friction and the force with which a body between some fingers must hold.
Held drawn(Random& random, double size, size_t fingers)
{
	Held held;
	held.mass = 1000 * size * size * size * random.decade(0.03, 1);
	held.finger_mass = held.mass * random.decade(1, 30);
	held.friction = random.between(0.3, 1);
	held.force = random.between(2, 5) * 10 * held.mass / (double(fingers) * held.friction);
	held.finger = 0.2 * size;
	return held;
}

/// Returns the touches of fingers around an axis at a radius and a height.
std::vector<std::array<btVector3, 2>> around(int count, double radius, double height)
{
	std::vector<std::array<btVector3, 2>> touches;
	for (int i = 0; i < count; ++i)
	{
		const double angle = 2 * double(SIMD_PI) * i / count;
		const btVector3 out = at(std::cos(angle), 0, std::sin(angle));
		touches.push_back({out * btScalar(radius) + at(0, height, 0), -out});
	}
	return touches;
}

/// A tube or a cup of any wall.
Complaints grip_of_round(Random& random)
{
	const double size = random.decade(0.15, 0.6), radius = 0.5 * size, height = size * random.between(0.5, 1.5);
	const double wall = radius * random.decade(0.02, 0.4);
	const int n = random.whole(12, 48), fingers = random.whole(2, 3);
	Triangles made;
	if (random.coin())
		made.add(tube(radius - wall, radius, 0.5 * height, n), btTransform(btQuaternion::getIdentity(), at(0, 0.5 * height, 0)));
	else
		made = cup(radius, radius, height, wall, n);
	Part part(made);
	Held held = drawn(random, size, size_t(fingers));
	held.shape = part.shape();
	held.start = part.placed(btTransform::getIdentity());
	held.wall = wall;
	held.touches = around(fingers, radius, height * random.between(0.6, 0.85));
	btCylinderShape stock(at(radius, 0.5 * height, radius));
	return check(held, part, stock, height);
}

/// A crate between its outer walls.
Complaints grip_of_crate(Random& random)
{
	const double size = random.decade(0.15, 0.6), height = size * random.between(0.3, 1.2);
	const double depth = size * random.between(0.5, 1.5), wall = size * random.decade(0.01, 0.2);
	Part part(crate({0.5 * size, 0.5 * depth}, {0.5 * size, 0.5 * depth}, height, wall));
	Held held = drawn(random, size, 2);
	held.shape = part.shape();
	held.start = part.placed(btTransform::getIdentity());
	held.wall = wall;
	held.touches = around(2, 0.5 * size, height * random.between(0.6, 0.85));
	btBoxShape stock(at(0.5 * size, 0.5 * height, 0.5 * depth));
	return check(held, part, stock, height);
}
}  // namespace

int main()
{
	run_class("grip of a round body", 6, grip_of_round);
	run_class("grip of a crate", 6, grip_of_crate);
	return finish();
}
