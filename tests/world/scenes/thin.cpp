// W3, thin things: plates from 1/20 to 1/2,000 of their extent are not pierced, and lie where they fall.
#include "scenes.h"

namespace
{
/// A plate of any orientation that is hit in the middle by a ball, or a small box, at up to 20 m/s.
Complaints hits(Random& random)
{
	Complaints complaints;
	const double extent = random.decade(0.2, 2), thickness = extent / random.decade(20, 2000), speed = random.between(0.5, 20);
	Part plate(box(0.5 * extent, 0.5 * thickness, 0.5 * extent * random.between(0.5, 1)));
	const double radius = extent * random.between(0.03, 0.15);
	Part cube(box(radius, radius * random.between(0.5, 1), radius));
	btSphereShape ball{btScalar(radius)};
	const bool is_ball = random.coin();
	Scene scene;
	scene.world.setGravity(at(0, 0, 0));
	const btQuaternion turn = random.coin() ? btQuaternion::getIdentity() : random.turn();
	const btTransform place(turn, at(0, 0, 0));
	scene.add(plate.shape(), 0, plate.placed(place));
	const btVector3 from = at(random.between(-0.15, 0.15) * extent, 2 * radius + speed * random.between(0.03, 0.1), random.between(-0.1, 0.1) * extent);
	const btVector3 aside = at(random.between(-0.2, 0.2), 0, random.between(-0.2, 0.2));
	btRigidBody* const body = is_ball ? scene.add(&ball, 1, btTransform(btQuaternion::getIdentity(), place(from))) : scene.add(cube.shape(), 1, cube.placed(btTransform(random.turn(), place(from))));
	body->setLinearVelocity(quatRotate(turn, at(0, -1, 0) + 0.2 * aside) * btScalar(speed));
	double least = 1;
	for (int i = 0; i < 20; ++i)
	{
		step(scene);
		const btVector3 now = place.inverse()(body->getWorldTransform().getOrigin());
		least = std::min(least, double(now.y()));
	}
	complaints.at_most("way of the middle through the plate", -least, 0);
	return complaints;
}

/// Plates that fall on the ground, flat or on an edge.
Complaints falls(Random& random)
{
	Complaints complaints;
	const double extent = random.decade(0.1, 2), thickness = extent / random.decade(20, 2000);
	Part plate(box(0.5 * extent, 0.5 * thickness, 0.5 * extent * random.between(0.3, 1)));
	Part ground(box(3 * extent, 0.2 * extent, 3 * extent));
	Scene scene;
	const bool is_plane = random.coin();
	btStaticPlaneShape plane(at(0, 1, 0), 0);
	if (is_plane)
		scene.add(&plane, 0, at(0, 0, 0));
	else
		scene.add(ground.shape(), 0, ground.placed(btTransform(btQuaternion::getIdentity(), at(0, -0.2 * extent, 0))));
	const btQuaternion turn = about(at(1, 0, random.between(-1, 1)), random.coin() ? random.between(-0.2, 0.2) : random.between(-1.5, 1.5));
	btRigidBody* const body = scene.add(plate.shape(), 1, plate.placed(btTransform(turn, at(0, 0.6 * extent, 0))));
	double deepest = 0;
	const int steps = 240 + int(120 * std::sqrt(extent));
	for (int i = 0; i < steps; ++i)
	{
		step(scene);
		deepest = std::max(deepest, plate.depth_below(body->getWorldTransform()));
	}
	complaints.at_most("depth in the ground", deepest, 0.06 * extent + 1e-3);
	complaints.at_most("depth in the ground at the end", plate.depth_below(body->getWorldTransform()), 1e-3 * extent + 1e-4);
	complaints.near("height at rest", double(body->getWorldTransform().getOrigin().y()), 0.5 * thickness, 2e-3 * extent);
	complaints.at_most("speed at rest", double(body->getLinearVelocity().length() + body->getAngularVelocity().length() * btScalar(extent)), 0.05);
	return complaints;
}

/// Tiles on each other, each 4 to 10 mm thick. (Boxes of Bullet that are as thin go through each other.)
Complaints stacks(Random& random)
{
	Complaints complaints;
	const int count = random.whole(2, 3);
	const double extent = random.decade(0.1, 0.6), thickness = random.decade(4e-3, 10e-3);
	std::vector<std::unique_ptr<Part>> parts;
	std::vector<btRigidBody*> bodies;
	Scene scene;
	btStaticPlaneShape plane(at(0, 1, 0), 0);
	scene.add(&plane, 0, at(0, 0, 0));
	for (int i = 0; i < count; ++i)
	{
		const double size = extent * random.between(0.7, 1);
		parts.emplace_back(new Part(box(0.5 * size, 0.5 * thickness, 0.5 * size * random.between(0.5, 1))));
		const btTransform place(about(at(0, 1, 0), random.between(-0.5, 0.5)), at(0, thickness * (i + 0.5) + 2e-4 * (i + 1), 0));
		bodies.push_back(scene.add(parts.back()->shape(), btScalar(0.1), parts.back()->placed(place)));
	}
	for (int i = 0; i < 180; ++i)
		step(scene);
	for (size_t i = 0; i < bodies.size(); ++i)
	{
		complaints.near("height at rest", double(bodies[i]->getWorldTransform().getOrigin().y()), thickness * (double(i) + 0.5), 2e-4 + 1e-3 * double(i + 1));
		complaints.at_most("speed at rest", double(bodies[i]->getLinearVelocity().length()), 0.05);
	}
	return complaints;
}
}  // namespace

int main()
{
	run_class("hits", 12, hits);
	run_class("falls", 6, falls);
	run_class("stacks", 6, stacks);
	return finish();
}
