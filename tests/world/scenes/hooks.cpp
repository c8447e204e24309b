// W5, hooks and chains: rings on pegs and links in each other hold for ten seconds, do not sink through each other, and gain no
// energy.
#include "scenes.h"

namespace
{
double energy_of(const std::vector<btRigidBody*>& bodies)
{
	double energy = 0;
	for (const btRigidBody* body : bodies)
		energy += kinetic_energy(*body) + 10 / double(body->getInvMass()) * double(body->getWorldTransform().getOrigin().y());
	return energy;
}

/// A ring that swings on a bar, which is round or square.
Complaints ring_on_bar(Random& random)
{
	Complaints complaints;
	const double radius = random.decade(0.05, 0.5), thick = radius * random.between(0.1, 0.3), inner = radius - thick;
	const double bar_radius = inner * random.between(0.1, 0.6), length = radius * random.between(1, 3);
	Part made(ring(radius, thick, random.whole(16, 40), random.whole(8, 16)));
	Part bar(random.coin() ? cylinder(bar_radius, length, random.whole(12, 32)) : box(bar_radius / 1.5, length, bar_radius / 1.5));
	Scene scene;
	btRigidBody* const held = scene.add(bar.shape(), 0, bar.placed(btTransform(about(at(1, 0, 0), 0.5 * SIMD_PI), at(0, 0, 0))));
	const btTransform start(about(at(1, 0, 0), 0.5 * SIMD_PI + random.between(-0.3, 0.3)), at(random.between(-0.3, 0.3) * (inner - bar_radius), -0.7 * (inner - bar_radius), 0));
	btRigidBody* const body = scene.add(made.shape(), 1, made.placed(start));
	const double before = energy_of({body}), low = -(inner - bar_radius) - radius * 0.05;
	double deepest = 0, gained = 0, lowest = 0, aside = 0;
	for (int i = 0; i < 600; ++i)
	{
		step(scene);
		if (i % 20 == 19)
			deepest = std::max(deepest, depth(made, *body, bar, *held));
		gained = std::max(gained, energy_of({body}) - before);
		lowest = std::min(lowest, double(body->getWorldTransform().getOrigin().y()));
		aside = std::max(aside, std::fabs(double(body->getWorldTransform().getOrigin().z())));
	}
	complaints.at_most("way below the bar", -lowest, -low + 0.06 * radius + 1e-3);
	complaints.at_most("way along the bar", aside, length);
	complaints.at_most("depth", deepest, 0.02 * radius + 1e-3);
	complaints.at_most("energy gained", gained, 0.02 * 10 * radius);
	return complaints;
}

/// An oval link of a chain in the plane of x and y, round in section.
Triangles link(double half, double radius, double thick, int n, int m)
{
	Triangles made;
	const int bend = n / 2;
	std::vector<std::array<double, 4>> path;  // middle, and direction outwards
	for (int end = 0; end < 2; ++end)
		for (int i = 0; i <= bend; ++i)
		{
			const double angle = double(SIMD_PI) * (i / double(bend) + end);
			path.push_back({radius * std::cos(angle), (end == 0 ? half : -half) + radius * std::sin(angle), std::cos(angle), std::sin(angle)});
		}
	const int count = int(path.size());
	for (const auto& p : path)
		for (int k = 0; k < m; ++k)
		{
			const double angle = 2 * double(SIMD_PI) * k / m, out = thick * std::cos(angle), side = thick * std::sin(angle);
			made.corner(p[0] + out * p[2], p[1] + out * p[3], side);
		}
	for (int i = 0; i < count; ++i)
		for (int k = 0; k < m; ++k)
		{
			const int j = (i + 1) % count, l = (k + 1) % m;
			made.quad(i * m + k, j * m + k, j * m + l, i * m + l);
		}
	return made;
}

/// A chain of links that hangs from the first.
Complaints chain(Random& random)
{
	Complaints complaints;
	const double radius = random.decade(0.03, 0.3), thick = radius * random.between(0.2, 0.4), half = radius * random.between(0.5, 2);
	Part part(link(half, radius, thick, random.whole(12, 24), random.whole(6, 12)));
	const int count = random.whole(2, 6);
	// The inner ends of two links touch where they are this far apart.
	const double pitch = 2 * (half + radius - thick);
	Scene scene;
	std::vector<btRigidBody*> all, moving;
	for (int i = 0; i < count; ++i)
	{
		const btTransform place(about(at(0, 1, 0), i % 2 == 0 ? 0 : 0.5 * SIMD_PI), at(0, -(pitch - 0.05 * thick) * i, 0));
		all.push_back(scene.add(part.shape(), i == 0 ? 0 : btScalar(1), part.placed(place)));
		if (i > 0)
			moving.push_back(all.back());
	}
	moving.back()->setLinearVelocity(at(random.between(-0.5, 0.5), 0, random.between(-0.5, 0.5)) * btScalar(std::sqrt(radius)));
	const double before = energy_of(moving);
	double deepest = 0, gained = 0;
	for (int i = 0; i < 600; ++i)
	{
		step(scene);
		gained = std::max(gained, energy_of(moving) - before);
		for (size_t k = 1; i % 20 == 19 && k < all.size(); ++k)
			deepest = std::max(deepest, depth(part, *all[k - 1], part, *all[k]));
	}
	for (int i = 1; i < count; ++i)
		complaints.at_most("way below its place", -double(all[size_t(i)]->getWorldTransform().getOrigin().y()) - pitch * i, 0.15 * thick * i + 1e-3 * i);
	complaints.at_most("depth", deepest, 0.1 * thick + 1e-3);
	complaints.at_most("energy gained", gained, 0.02 * 10 * pitch * count);
	return complaints;
}
}  // namespace

int main()
{
	run_class("ring on a bar", 4, ring_on_bar);
	run_class("chain", 4, chain);
	return finish();
}
