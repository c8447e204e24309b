// W10, piles: parts of any form and size are poured between walls, each from a little above the others. None leaves them or
// goes through another one, and most lie still in the end; a ring may still roll.
#include "scenes.h"

namespace
{
/// A part of about a size: a ring, a tube, a cup, a crate, a cross or a brick.
Triangles any_part(Random& random, double size)
{
	const double half = 0.5 * size;
	switch (random.whole(0, 5))
	{
	case 0:
		return ring(0.7 * half, random.between(0.15, 0.28) * half, random.whole(12, 32), random.whole(6, 12));
	case 1:
		return tube(half * random.between(0.5, 0.85), half, half * random.between(0.3, 1), random.whole(8, 32));
	case 2:
		return cup(half * random.between(0.6, 1), half, size * random.between(0.5, 1), half * random.between(0.08, 0.25), random.whole(8, 32));
	case 3:
		return crate({half, half * random.between(0.6, 1)}, {half, half}, size * random.between(0.3, 0.8), half * random.between(0.06, 0.2));
	case 4:
	{
		// Two bars across each other, as two closed parts.
		const double thick = half * random.between(0.15, 0.3);
		Triangles made = box(half, thick, thick);
		made.add(box(thick * 0.9, thick * 0.9, half * random.between(0.6, 1)));
		return made;
	}
	default:
		return box(half, half * random.between(0.2, 1), half * random.between(0.3, 1));
	}
}

Complaints pile(Random& random)
{
	Complaints complaints;
	const int count = random.whole(6, 18);
	const double size = random.decade(0.15, 0.8), half = size * 1.2;
	Scene scene;
	std::vector<std::unique_ptr<btStaticPlaneShape>> walls;
	for (const btVector3& normal : {at(0, 1, 0), at(1, 0, 0), at(-1, 0, 0), at(0, 0, 1), at(0, 0, -1)})
	{
		walls.emplace_back(new btStaticPlaneShape(normal, normal.y() > 0 ? 0 : btScalar(-half)));
		scene.add(walls.back().get(), 0, at(0, 0, 0));
	}
	std::vector<std::unique_ptr<Part>> parts;
	std::vector<btRigidBody*> bodies;
	for (int i = 0; i < count; ++i)
	{
		// From just above the pile.
		double top = 0;
		for (const btRigidBody* body : bodies)
			top = std::max(top, double(body->getWorldTransform().getOrigin().y()));
		parts.emplace_back(new Part(any_part(random, size * random.between(0.5, 1))));
		const btTransform place(random.turn(), at(random.between(-0.5, 0.5) * size, top + 1.5 * size, random.between(-0.5, 0.5) * size));
		bodies.push_back(scene.add(parts.back()->shape(), btScalar(random.between(0.5, 2)), place));
		for (int k = 0; k < 40; ++k)
			step(scene);
	}
	for (int i = 0; i < 180; ++i)
		step(scene);
	double deepest = 0, below = 0, beside = 0;
	std::vector<double> speeds(bodies.size());
	for (int i = 0; i < 60; ++i)
	{
		step(scene);
		for (size_t k = 0; k < bodies.size(); ++k)
			speeds[k] = std::max(speeds[k], double(bodies[k]->getLinearVelocity().length()));
		if (i % 20 != 0)
			continue;
		for (size_t k = 0; k < bodies.size(); ++k)
		{
			below = std::max(below, parts[k]->depth_below(bodies[k]->getWorldTransform()));
			const btVector3& middle = bodies[k]->getWorldTransform().getOrigin();
			beside = std::max({beside, std::fabs(double(middle.x())) - half, std::fabs(double(middle.z())) - half});
			for (size_t j = 0; j < k; ++j)
				if ((middle - bodies[j]->getWorldTransform().getOrigin()).length() < 2 * size)
					deepest = std::max(deepest, depth(*parts[k], *bodies[k], *parts[j], *bodies[j]));
		}
	}
	std::sort(speeds.begin(), speeds.end());
	if (std::getenv("VOXSHELL_SHOW"))
		std::printf("%d parts of up to %.2f m: %.2f mm deep, %.2f mm below, half faster than %.4f m/s, one %.3f m/s\n", count, size, 1e3 * deepest, 1e3 * below, speeds[speeds.size() / 2], speeds.back());
	complaints.at_most("way beyond a wall", beside, 0);
	complaints.at_most("depth in the ground", below, 0.01 * size + 1e-3);
	complaints.at_most("depth", deepest, 0.01 * size + 1e-3);
	complaints.at_most("speed of half of them", speeds[speeds.size() / 2], 0.1);
	return complaints;
}
}  // namespace

int main()
{
	run_class("pile", 3, pile);
	return finish();
}
