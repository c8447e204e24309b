// Two hundred bodies in a box for a million steps of Bullet: neither memory nor energy grows, and no body is lost.
//
//   world [--steps N]      prints a row for each hundredth of the run, then a result; the status is 0 if nothing grew
//
// Every 10,000 steps each body gets a kick of up to 1 m/s, so that contacts come and go, and then comes to rest. Energy
// grows if a body gains more than the kick gave, or if the bodies at rest move more and more. Memory grows if the heap has
// more in use at the end than after a tenth of the run, each time without a body in the world, or if the process holds much
// more. (It may hold a little more: the number of pairs that overlap changes.)
#include <chrono>
#include <cstdint>
#include <cstring>

#include <unistd.h>

#include "../bullet/check.h"
#include "../bullet/heap.h"
#include "../bullet/scene.h"

static const int kBodies = 200, kPeriod = 10000;
/// Half the distance between opposite walls, metres.
static const double kHalf = 1.3;

/// Returns the resident memory of the process, MiB.
static double resident()
{
	long pages = 0, skipped = 0;
	std::FILE* file = std::fopen("/proc/self/statm", "r");
	if (!file || std::fscanf(file, "%ld %ld", &skipped, &pages) != 2)
		pages = 0;
	if (file)
		std::fclose(file);
	return double(pages) * double(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// Returns the memory of the heap's blocks in use, MiB.
static double in_use() { return heap_in_use() / (1 << 20); }

/// Returns the memory of the heap's blocks in use while no body is in the world, MiB.
static double in_use_without_bodies(Scene& scene)
{
	for (const auto& body : scene.bodies)
		scene.world.removeRigidBody(body.get());
	const double without = in_use();
	for (const auto& body : scene.bodies)
		scene.world.addRigidBody(body.get());
	return without;
}

/// Returns a number in [-1, 1): SplitMix64.
static double uniform(uint64_t& state)
{
	uint64_t z = state += 0x9E3779B97F4A7C15u;
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return double((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

struct Energy
{
	double kinetic = 0, total = 0;
};

static Energy energy_of(const Scene& scene)
{
	Energy energy;
	for (const auto& body : scene.bodies)
	{
		if (body->getInvMass() == 0)
			continue;
		const double kinetic = kinetic_energy(*body);
		energy.kinetic += kinetic;
		energy.total += kinetic + 10 / double(body->getInvMass()) * double(body->getWorldTransform().getOrigin().y());
	}
	return energy;
}

int main(int count, char** arguments)
{
	long steps = 1000000;
	if (count == 3 && std::strcmp(arguments[1], "--steps") == 0)
		steps = std::atol(arguments[2]);
	else if (count != 1)
	{
		std::fprintf(stderr, "usage: world [--steps N]\n");
		return 2;
	}
	const Handle kinds[4] = {primitive(VXS_PRIMITIVE_BOX, {0.05, 0.03, 0.04}, {}, 40, 12), primitive(VXS_PRIMITIVE_TORUS, {0.05, 0.02}, {16, 8}, 80, 16),
							 primitive(VXS_PRIMITIVE_SPHERE, {0.04}, {2}, 60, 12), primitive(VXS_PRIMITIVE_BOX, {0.06, 0.02, 0.03}, {}, 40, 12)};
	std::vector<std::unique_ptr<btVoxShellShape>> shapes;
	for (const Handle& kind : kinds)
		shapes.emplace_back(new btVoxShellShape(kind.get()));
	// A floor, and four walls whose boxes overlap those of few bodies.
	btStaticPlaneShape floor(btVector3(0, 1, 0), 0);
	btBoxShape wall(btVector3(btScalar(kHalf + 0.2), 1, btScalar(0.1)));

	Scene scene;
	scene.add(&floor, 0, btVector3(0, 0, 0));
	for (int i = 0; i < 4; ++i)
	{
		const btQuaternion turn(btVector3(0, 1, 0), btScalar(0.5 * 3.14159265358979 * i));
		scene.add(&wall, 0, btTransform(turn, quatRotate(turn, btVector3(0, 1, btScalar(kHalf + 0.1)))));
	}
	uint64_t random = 1;
	int poured = 0;
	double held_early = 0, held = 0, empty_early = 0, empty = 0, gained = 0, rest_early = 0, rest_late = 0, before = 0;
	long rests_early = 0, rests_late = 0;
	const auto start = std::chrono::steady_clock::now();
	std::printf("%10s %9s %7s %9s %9s %12s %12s %10s %9s\n", "step", "contacts", "pairs", "MiB", "in_use", "kinetic_J", "total_J", "deepest_mm", "ms/step");
	for (long i = 0; i < steps; ++i)
	{
		if (poured < kBodies)
		{
			const int n = poured++;
			const btVector3 axis(btScalar(n % 3 - 1), btScalar(n % 5 - 2), 1);
			scene.add(shapes[size_t(n % 4)].get(), 1, btTransform(btQuaternion(axis.normalized(), btScalar(0.7 * n)), btVector3(btScalar(0.17 * (n % 14 - 6.5)), btScalar(0.1), btScalar(0.17 * (n / 14 - 7)))));
		}
		if (i > 0 && i % kPeriod == 0)
		{
			const double rest = energy_of(scene).kinetic;
			if (i > kPeriod && i <= steps / 2)
				rest_early += rest, ++rests_early;
			else if (i > steps / 2)
				rest_late += rest, ++rests_late;
			for (const auto& body : scene.bodies)
			{
				if (body->getInvMass() == 0)
					continue;
				const double x = 0.5 * uniform(random), y = 0.7 + 0.3 * uniform(random), z = 0.5 * uniform(random);
				body->setLinearVelocity(body->getLinearVelocity() + btVector3(btScalar(x), btScalar(y), btScalar(z)));
			}
			before = energy_of(scene).total;
		}
		scene.step();
		// After the kick the energy falls.
		if (i > kPeriod && i % 100 == 0)
			gained = std::max(gained, energy_of(scene).total - before);
		if (i == std::max(steps / 10, 1l))
			held_early = resident(), empty_early = in_use_without_bodies(scene);
		if ((i + 1) % std::max(steps / 100, 1l) == 0)
		{
			const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
			const Energy energy = energy_of(scene);
			std::printf("%10ld %9d %7d %9.1f %9.1f %12.3e %12.4f %10.3f %9.3f\n", i + 1, scene.contacts(), scene.broadphase.getOverlappingPairCache()->getNumOverlappingPairs(), resident(), in_use(), energy.kinetic, energy.total, std::max(0.0, -1e3 * scene.deepest()), 1e3 * seconds / double(i + 1));
			std::fflush(stdout);
		}
	}
	held = resident(), empty = in_use_without_bodies(scene);
	int lost = 0;
	for (const auto& body : scene.bodies)
	{
		const btVector3 p = body->getWorldTransform().getOrigin();
		if (body->getInvMass() > 0 && !(std::max(std::fabs(p.x()), std::fabs(p.z())) < kHalf && p.y() > 0))
			++lost;
	}
	rest_early /= double(std::max(rests_early, 1l)), rest_late /= double(std::max(rests_late, 1l));
	std::printf("world: %d bodies, %ld steps, %d lost, memory %.1f MiB after a tenth and %.1f MiB at the end, %.2f and %.2f MiB in use without the bodies, kinetic energy at rest %.2e J in the first half and %.2e J in the second, at most %.2e J above the kick\n",
				kBodies, steps, lost, held_early, held, empty_early, empty, rest_early, rest_late, gained);
	CHECK(lost == 0);
	CHECK(held <= 1.2 * held_early);
	// Bullet's lists keep their length.
	CHECK(empty > 0 && empty <= empty_early + 0.5);
	CHECK(rest_late <= 2 * rest_early + 1e-3);
	CHECK(gained <= 0.01);
	return finish();
}
