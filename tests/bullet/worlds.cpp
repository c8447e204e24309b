// Worlds that step in parallel threads and share shapes, and the forms that the plugin derives from them: each world
// gives bit-identical results to running alone. tests/campaign runs this under ThreadSanitizer.
#include <thread>

#include "check.h"
#include "scene.h"

namespace
{
const int kWorlds = 4;

/// Data shared by the worlds: shapes of both kinds, the core's data behind them, and stock shapes.
struct Shared
{
	Handle gear = primitive(VXS_PRIMITIVE_GEAR, {}, {}, 600, 32);
	Handle block = primitive(VXS_PRIMITIVE_BOX, {0.3, 0.2, 0.25}, {}, 400, 24);
	btVoxShellShape gearShape{gear.get()};
	btVoxShellShape blockShape{block.get()};
	btStaticPlaneShape plane{btVector3(0, 1, 0), 0};
	btBoxShape box{btVector3(btScalar(0.4), btScalar(0.1), btScalar(0.4))};
	btConvexHullShape hull;
	btTriangleMesh triangles;
	btBvhTriangleMeshShape* ramp;

	Shared()
	{
		for (int i = 0; i < 8; ++i)
			hull.addPoint(btVector3(i & 1 ? 1 : -1, i & 2 ? btScalar(0.1) : btScalar(-0.1), i & 4 ? 1 : -1) * btScalar(0.4));
		add_box(triangles, btVector3(1, btScalar(0.1), 1));
		ramp = new btBvhTriangleMeshShape(&triangles, true);
	}
	~Shared() { delete ramp; }
};

/// Returns all poses after `steps`. The plugin derives its forms of the stock shapes meanwhile, at the first contact.
std::vector<btTransform> run(Shared& shared, int steps)
{
	Scene scene;
	scene.add(&shared.plane, 0, btVector3(0, 0, 0));
	scene.add(&shared.box, 0, btVector3(0, btScalar(0.1), 0));
	scene.add(shared.ramp, 0, btTransform(btQuaternion(btVector3(0, 0, 1), btScalar(0.2)), btVector3(3, 1, 0)));
	scene.add(&shared.gearShape, 1, btVector3(0, btScalar(0.6), 0));
	scene.add(&shared.blockShape, 1, btVector3(btScalar(0.1), btScalar(1.2), 0));
	scene.add(&shared.hull, 1, btVector3(0, btScalar(1.7), btScalar(0.1)));
	scene.add(&shared.blockShape, 1, btVector3(3, btScalar(1.6), 0));
	for (const auto& body : scene.bodies)
		body->setLinearVelocity(btVector3(0, body->getInvMass() > 0 ? -2 : 0, 0));
	scene.step(steps);
	CHECK(scene.contacts() > 0);
	std::vector<btTransform> poses;
	for (const auto& body : scene.bodies)
		poses.push_back(body->getWorldTransform());
	return poses;
}

/// Makes and destroys worlds beside the running ones: tests registration, and the caches of destroyed shapes.
void come_and_go(Shared& shared, int times)
{
	for (int i = 0; i < times; ++i)
	{
		const btVoxShellShape own(shared.block.get());
		btBoxShape stock(btVector3(1, btScalar(0.1) + btScalar(0.01) * i, 1));
		Scene scene;
		scene.add(&stock, 0, btVector3(0, 0, 0));
		scene.add(const_cast<btVoxShellShape*>(&own), 1, btVector3(0, btScalar(0.5), 0))->setLinearVelocity(btVector3(0, -2, 0));
		scene.step(40);
		CHECK(scene.contacts() > 0);
	}
}
}  // namespace

int main()
{
	const int steps = on_valgrind() ? 60 : 300;
	const int times = on_valgrind() ? 3 : 20;
	Shared shared;
	std::vector<btTransform> results[kWorlds];
	std::vector<std::thread> threads;
	for (auto& result : results)
		threads.emplace_back([&shared, &result, steps] { result = run(shared, steps); });
	threads.emplace_back([&shared, times] { come_and_go(shared, times); });
	for (std::thread& thread : threads)
		thread.join();

	// Runs last, so that the threads were the first to need forms of the stock shapes.
	const std::vector<btTransform> alone = run(shared, steps);
	for (const auto& result : results)
	{
		CHECK(result.size() == alone.size());
		for (size_t i = 0; i < result.size() && i < alone.size(); ++i)
			CHECK(result[i] == alone[i]);
	}
	return finish();
}
