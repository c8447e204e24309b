// Fifty knots, gears and bowls poured into a bowl: no body passes through it in 8 simulated seconds, 20 with
// VOXSHELL_LONG.
#include <chrono>

#include "check.h"
#include "scene.h"

int main()
{
	const Handle bowl = primitive(VXS_PRIMITIVE_BOWL, {1.2, 0.06}, {}, 20000, 128);
	const Handle kinds[3] = {primitive(VXS_PRIMITIVE_TORUS_KNOT, {0.12, 0.03}, {}, 1000, 48), primitive(VXS_PRIMITIVE_GEAR, {0.14, 0.11, 0.06, 0.04}, {}, 1000, 48),
							 primitive(VXS_PRIMITIVE_BOWL, {0.14, 0.025}, {}, 1000, 48)};
	btVoxShellShape container(bowl.get());
	std::vector<std::unique_ptr<btVoxShellShape>> shapes;
	for (const Handle& kind : kinds)
		shapes.emplace_back(new btVoxShellShape(kind.get()));

	Scene scene;
	scene.add(&container, 0, btVector3(0, 0, 0));  // opens upwards, its rim at y = 0
	const int count = on_valgrind() ? 4 : 50, steps = on_valgrind() ? 40 : std::getenv("VOXSHELL_LONG") ? 4000 : 1600;
	std::vector<btRigidBody*> bodies;
	double energy = 0, deepest = 0, at_rest = 0;
	const auto start = std::chrono::steady_clock::now();
	for (int i = 0; i < steps; ++i)
	{
		if (i % 20 == 0 && int(bodies.size()) < count)
		{
			const int n = int(bodies.size());
			const btVector3 axis(btScalar(n % 3 - 1), btScalar(n % 5 - 2), 1);
			bodies.push_back(scene.add(shapes[size_t(n % 3)].get(), 1, btTransform(btQuaternion(axis.normalized(), btScalar(0.7 * n)), btVector3(btScalar(0.35 * std::cos(2.4 * n)), btScalar(0.4 + 0.02 * (n % 10)), btScalar(0.35 * std::sin(2.4 * n))))));
		}
		scene.step();
		deepest = std::min(deepest, scene.deepest());
		if (i >= steps - 200)
		{
			at_rest = std::min(at_rest, scene.deepest());
			energy = 0;
			for (const btRigidBody* body : bodies)
				energy += kinetic_energy(*body);
		}
	}
	const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
	int lost = 0;
	for (const btRigidBody* body : bodies)
	{
		const btVector3 p = body->getWorldTransform().getOrigin();
		if (p.length() > 1.2 || !(p.y() > -1.2))
			++lost;
	}
	std::printf("pile: %d lost, deepest contact ever %.2f mm, at the end %.2f mm, energy %.2e J, %d contacts, %.2f ms per step\n", lost, -1e3 * deepest, -1e3 * at_rest, energy,
				scene.contacts(), 1e3 * seconds / steps);
	CHECK(lost == 0);
	return finish();
}
