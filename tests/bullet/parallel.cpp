// btVoxShellDispatcher: the same bytes as with Bullet's own dispatcher for any number of threads, and callbacks on the caller's
// thread. `-V` prints the time of the narrowphase.
#include <chrono>
#include <cstring>
#include <thread>

#include "check.h"
#include "scene.h"

namespace
{
using Clock = std::chrono::steady_clock;

/// FNV-1a over the bytes of what a simulation left behind.
struct Hash
{
	uint64_t value = 0xcbf29ce484222325u;

	void add(const void* data, size_t size)
	{
		for (size_t i = 0; i < size; ++i)
			value = (value ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
	}
	void add(const btVector3& v)
	{
		for (int k = 0; k < 3; ++k)
			add(&v[k], sizeof v[k]);
	}
};

std::thread::id caller;
int added = 0, elsewhere = 0;

bool on_added(btManifoldPoint&, const btCollisionObjectWrapper*, int, int, const btCollisionObjectWrapper*, int, int)
{
	++added;
	elsewhere += std::this_thread::get_id() != caller;
	return false;
}

/// Leaves out the pairs of every third body.
void picky(btBroadphasePair& pair, btCollisionDispatcher& dispatcher, const btDispatcherInfo& info)
{
	const auto number = [](const btBroadphaseProxy* proxy) { return static_cast<const btCollisionObject*>(proxy->m_clientObject)->getUserIndex(); };
	if (number(pair.m_pProxy0) % 3 != 2 && number(pair.m_pProxy1) % 3 != 2)
		btCollisionDispatcher::defaultNearCallback(pair, dispatcher, info);
}

struct Options
{
	int threads = 0;  // 0: Bullet's own dispatcher
	bool has_callback = false, has_budget = false, is_soft = false;
	int count = 16, steps = 40;
};

struct Result
{
	uint64_t hash = 0;
	double seconds = 0;  // of all dispatches
	int parallel_pairs = 0;
};

Result simulate(const Options& options)
{
	const Handle bowl = primitive(VXS_PRIMITIVE_BOWL, {1.2, 0.06}, {}, 8000, 96);
	const Handle kinds[3] = {primitive(VXS_PRIMITIVE_TORUS_KNOT, {0.12, 0.03}, {}, 1000, 48), primitive(VXS_PRIMITIVE_GEAR, {0.14, 0.11, 0.06, 0.04}, {}, 1000, 48),
							 primitive(VXS_PRIMITIVE_BOWL, {0.14, 0.025}, {}, 1000, 48)};
	btVoxShellShape container(bowl.get());
	std::vector<std::unique_ptr<btCollisionShape>> shapes;
	for (const Handle& kind : kinds)
	{
		std::unique_ptr<btVoxShellShape> shape(new btVoxShellShape(kind.get()));
		if (options.is_soft)
			shape->setStiffness(btScalar(1e6));
		shapes.push_back(std::move(shape));
	}
	// Shapes that are searched on the threads, one that is not, and a compound.
	shapes.emplace_back(new btBoxShape(btVector3(btScalar(0.1), btScalar(0.08), btScalar(0.06))));
	shapes.emplace_back(new btSphereShape(btScalar(0.09)));
	btCompoundShape* const dumbbell = new btCompoundShape;
	dumbbell->addChildShape(btTransform(btQuaternion::getIdentity(), btVector3(btScalar(-0.12), 0, 0)), shapes[0].get());
	dumbbell->addChildShape(btTransform(btQuaternion::getIdentity(), btVector3(btScalar(0.12), 0, 0)), shapes[4].get());
	shapes.emplace_back(dumbbell);
	btTriangleMesh triangles;
	add_box(triangles, btVector3(3, btScalar(0.1), 3));
	btBvhTriangleMeshShape floor(&triangles, true);

	btVoxShellBudget budget(4000);
	btVoxShellSettings settings;
	if (options.has_budget)
		settings.m_budget = &budget;
	btDefaultCollisionConfiguration configuration;
	std::unique_ptr<btCollisionDispatcher> dispatcher;
	btVoxShellDispatcher* parallel = nullptr;
	if (options.threads > 0)
		dispatcher.reset(parallel = new btVoxShellDispatcher(&configuration, options.threads, settings));
	else
		dispatcher.reset(new btCollisionDispatcher(&configuration));
	btVoxShellCollisionAlgorithm::registerAlgorithm(dispatcher.get(), settings);
	if (options.has_callback)
		dispatcher->setNearCallback(picky);
	btDbvtBroadphase broadphase;
	btSequentialImpulseConstraintSolver solver;
	btDiscreteDynamicsWorld world(dispatcher.get(), &broadphase, &solver, &configuration);
	world.setGravity(btVector3(0, -10, 0));

	std::vector<std::unique_ptr<btRigidBody>> bodies;
	const auto add = [&](btCollisionShape* shape, btScalar mass, const btTransform& at) {
		btVector3 inertia(0, 0, 0);
		if (mass > 0)
			shape->calculateLocalInertia(mass, inertia);
		btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
		info.m_startWorldTransform = at;
		bodies.emplace_back(new btRigidBody(info));
		bodies.back()->setActivationState(DISABLE_DEACTIVATION);
		bodies.back()->setUserIndex(int(bodies.size()) - 1);
		bodies.back()->setCollisionFlags(bodies.back()->getCollisionFlags() | btCollisionObject::CF_CUSTOM_MATERIAL_CALLBACK);
		world.addRigidBody(bodies.back().get());
	};
	add(&container, 0, btTransform::getIdentity());
	add(&floor, 0, btTransform(btQuaternion::getIdentity(), btVector3(0, btScalar(-1.3), 0)));

	Result result;
	Hash hash;
	for (int i = 0; i < options.steps; ++i)
	{
		// All at once, in layers: many pairs from the start.
		for (int n = 0; i == 0 && n < options.count; ++n)
		{
			const btVector3 axis(btScalar(n % 3 - 1), btScalar(n % 5 - 2), 1);
			add(shapes[size_t(n) % shapes.size()].get(), 1,
				btTransform(btQuaternion(axis.normalized(), btScalar(0.7 * n)), btVector3(btScalar(0.3 * std::cos(2.4 * n)), btScalar(-0.9 + 0.09 * (n / 4)), btScalar(0.3 * std::sin(2.4 * n)))));
		}
		if (i == options.steps / 2)
		{
			world.removeRigidBody(bodies[3].get());
			world.removeRigidBody(bodies[5].get());
		}
		if (options.has_budget)
			budget.beginStep();
		world.stepSimulation(kStep, 0);
		const auto start = Clock::now();
		if (i % 10 == 9)
			world.performDiscreteCollisionDetection();
		result.seconds += std::chrono::duration<double>(Clock::now() - start).count();
		result.parallel_pairs = std::max(result.parallel_pairs, parallel ? parallel->getNumParallelPairs() : 0);
		for (const auto& body : bodies)
		{
			hash.add(body->getWorldTransform().getOrigin());
			for (int k = 0; k < 3; ++k)
				hash.add(body->getWorldTransform().getBasis()[k]);
			hash.add(body->getAngularVelocity());
		}
		const int manifolds = dispatcher->getNumManifolds();
		hash.add(&manifolds, sizeof manifolds);
		for (int m = 0; m < manifolds; ++m)
		{
			const btPersistentManifold* manifold = dispatcher->getManifoldByIndexInternal(m);
			for (int p = 0; p < manifold->getNumContacts(); ++p)
			{
				hash.add(manifold->getContactPoint(p).getPositionWorldOnB());
				hash.add(manifold->getContactPoint(p).m_normalWorldOnB);
				const btScalar impulse = manifold->getContactPoint(p).getAppliedImpulse();
				hash.add(&impulse, sizeof impulse);
			}
		}
	}
	for (size_t i = 0; i < bodies.size(); ++i)
		if (i != 3 && i != 5)
			world.removeRigidBody(bodies[i].get());
	result.hash = hash.value;
	return result;
}

void the_bytes_do_not_depend_on_threads()
{
	for (int kind = 0; kind < 4; ++kind)
	{
		Options options;
		options.has_callback = kind == 1;
		options.has_budget = kind == 2;
		options.is_soft = kind == 3;
		if (on_valgrind())
		{
			options.count = 6;
			options.steps = 6;
		}
		const Result serial = simulate(options);
		for (const int threads : {1, 2, 5})
		{
			if (threads == 1 && kind > 0)
				continue;
			options.threads = threads;
			const Result parallel = simulate(options);
			CHECK(parallel.hash == serial.hash);
			CHECK((parallel.parallel_pairs >= 4) == (threads > 1));
		}
	}
	CHECK(added > 0 && elsewhere == 0);
}

/// The time of the narrowphase in a dense pile: printed, not tested.
void speed()
{
	Options options;
	options.count = 60;
	options.steps = 40;
	double seconds[2];
	for (int round = 0; round < 2; ++round)
	{
		options.threads = round + 1;
		const Result result = simulate(options);
		seconds[round] = result.seconds;
		std::printf("%d threads: %.2f ms a dispatch, %d pairs searched on the threads\n", options.threads, 1e3 * result.seconds / (options.steps / 10), result.parallel_pairs);
	}
	std::printf("%.2f times as fast on two threads\n", seconds[0] / seconds[1]);
}

void threads_are_counted()
{
	btDefaultCollisionConfiguration configuration;
	CHECK(btVoxShellDispatcher(&configuration, 3).getNumThreads() == 3);
	CHECK(btVoxShellDispatcher(&configuration).getNumThreads() >= 1);
	CHECK(btVoxShellDispatcher(&configuration, -5).getNumThreads() >= 1);
	CHECK(btVoxShellDispatcher(&configuration, 100000).getNumThreads() <= 256);
}
}  // namespace

int main()
{
	caller = std::this_thread::get_id();
	gContactAddedCallback = on_added;
	threads_are_counted();
	the_bytes_do_not_depend_on_threads();
	if (!on_valgrind())
		speed();
	return finish();
}
