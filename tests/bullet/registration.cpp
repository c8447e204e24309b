// The dispatcher's tables, the algorithm pool, and the order of destruction.
#include <memory>
#include <typeinfo>

#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>
#include <LinearMath/btPoolAllocator.h>

#include "check.h"
#include "scene.h"

namespace
{
btVoxShellShape* block()
{
	static const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.5, 0.5, 0.5}, {}, 500, 24);
	return new btVoxShellShape(made.get());
}

bool is_ours(btCollisionDispatcher& dispatcher, btCollisionShape* a, btCollisionShape* b, ebtDispatcherQueryType type)
{
	btCollisionObject object_a, object_b;
	object_a.setCollisionShape(a);
	object_b.setCollisionShape(b);
	btCollisionObjectWrapper wrap_a(nullptr, a, &object_a, object_a.getWorldTransform(), -1, -1);
	btCollisionObjectWrapper wrap_b(nullptr, b, &object_b, object_b.getWorldTransform(), -1, -1);
	btCollisionAlgorithm* algorithm = find_algorithm(dispatcher, wrap_a, wrap_b, type);
	const bool ours = dynamic_cast<btVoxShellCollisionAlgorithm*>(algorithm) != nullptr;
	algorithm->~btCollisionAlgorithm();
	dispatcher.freeCollisionAlgorithm(algorithm);
	return ours;
}

void both_tables_in_both_orders()
{
	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher(&configuration);
	btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
	const std::unique_ptr<btVoxShellShape> ours(block());

	btConvexHullShape hull;
	for (int i = 0; i < 4; ++i)
		hull.addPoint(btVector3(i == 1, i == 2, i == 3));
	btTriangleMesh mesh;
	add_box(mesh, btVector3(1, 1, 1));
	btConvexTriangleMeshShape convex(&mesh);
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	btBoxShape box(btVector3(1, 1, 1));
	btSphereShape sphere(1);
	btCapsuleShape capsule(1, 1);
	btCapsuleShapeX capsule_x(1, 1);
	btCapsuleShapeZ capsule_z(1, 1);
	btCylinderShape cylinder(btVector3(1, 1, 1));
	btCylinderShapeX cylinder_x(btVector3(1, 1, 1));
	btCylinderShapeZ cylinder_z(btVector3(1, 1, 1));
	btConeShape cone(1, 1);
	btConeShapeX cone_x(1, 1);
	btConeShapeZ cone_z(1, 1);
	for (const ebtDispatcherQueryType type : {BT_CONTACT_POINT_ALGORITHMS, BT_CLOSEST_POINT_ALGORITHMS})
	{
		for (btCollisionShape* other : {static_cast<btCollisionShape*>(ours.get()), static_cast<btCollisionShape*>(&plane), static_cast<btCollisionShape*>(&box), static_cast<btCollisionShape*>(&sphere),
										static_cast<btCollisionShape*>(&capsule), static_cast<btCollisionShape*>(&capsule_x), static_cast<btCollisionShape*>(&capsule_z), static_cast<btCollisionShape*>(&cylinder),
										static_cast<btCollisionShape*>(&cylinder_x), static_cast<btCollisionShape*>(&cylinder_z), static_cast<btCollisionShape*>(&cone), static_cast<btCollisionShape*>(&cone_x),
										static_cast<btCollisionShape*>(&cone_z), static_cast<btCollisionShape*>(&hull), static_cast<btCollisionShape*>(&convex)})
		{
			CHECK(is_ours(dispatcher, ours.get(), other, type));
			CHECK(is_ours(dispatcher, other, ours.get(), type));
		}
		// Pairs without a Voxshell shape keep Bullet's algorithm.
		CHECK(!is_ours(dispatcher, &box, &sphere, type));
		CHECK(!is_ours(dispatcher, &hull, &plane, type));
	}
}

/// A foreign shape with the same proxy type as Voxshell's.
struct Stranger : btConcaveShape
{
	Stranger() { m_shapeType = FAST_CONCAVE_MESH_PROXYTYPE; }
	void getAabb(const btTransform& t, btVector3& low, btVector3& high) const override
	{
		low = t.getOrigin() - btVector3(1, 1, 1);
		high = t.getOrigin() + btVector3(1, 1, 1);
	}
	void processAllTriangles(btTriangleCallback*, const btVector3&, const btVector3&) const override {}
	void calculateLocalInertia(btScalar, btVector3& inertia) const override { inertia.setValue(1, 1, 1); }
	void setLocalScaling(const btVector3&) override {}
	const btVector3& getLocalScaling() const override
	{
		static const btVector3 one(1, 1, 1);
		return one;
	}
	const char* getName() const override { return "Stranger"; }
};

void a_stranger_of_the_same_proxy_type_is_left_alone()
{
	const std::unique_ptr<btVoxShellShape> ours(block());
	Stranger stranger;
	btBoxShape box(btVector3(1, 1, 1));
	Scene scene;
	scene.add(&stranger, 1, btVector3(0, 0, 0));
	scene.add(ours.get(), 1, btVector3(0, btScalar(0.2), 0));
	scene.add(&box, 0, btVector3(0, btScalar(-0.1), 0));
	scene.step(2);
	CHECK(!is_ours(scene.dispatcher, &stranger, &box, BT_CONTACT_POINT_ALGORITHMS));
	CHECK(!is_ours(scene.dispatcher, &box, &stranger, BT_CLOSEST_POINT_ALGORITHMS));
	for (int m = 0; m < scene.dispatcher.getNumManifolds(); ++m)
		for (const btCollisionObject* body : {scene.dispatcher.getManifoldByIndexInternal(m)->getBody0(), scene.dispatcher.getManifoldByIndexInternal(m)->getBody1()})
			CHECK(body->getCollisionShape() != &stranger || scene.dispatcher.getManifoldByIndexInternal(m)->getNumContacts() == 0);
}

/// Neighbours in Bullet's pool of 192-byte elements must not overlap, and all elements must be returned.
void the_pool_survives_many_pairs()
{
	const std::unique_ptr<btVoxShellShape> ours(block());
	btDefaultCollisionConstructionInfo info;
	info.m_defaultMaxCollisionAlgorithmPoolSize = 64;
	btDefaultCollisionConfiguration configuration(info);
	CHECK(configuration.getCollisionAlgorithmPool()->getElementSize() >= int(sizeof(btVoxShellCollisionAlgorithm)));
	const int free_before = configuration.getCollisionAlgorithmPool()->getFreeCount();
	{
		btCollisionDispatcher dispatcher(&configuration);
		btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
		btDbvtBroadphase broadphase;
		btSequentialImpulseConstraintSolver solver;
		btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
		std::vector<std::unique_ptr<btRigidBody>> bodies;
		const int count = on_valgrind() ? 6 : 16;  // the larger number makes more pairs than the pool holds
		for (int i = 0; i < count; ++i)
		{
			bodies.emplace_back(new btRigidBody(1, nullptr, ours.get(), btVector3(1, 1, 1)));
			bodies.back()->getWorldTransform().setOrigin(btVector3(btScalar(0.05 * (i % 4)), btScalar(0.05 * (i / 4)), 0));
			world.addRigidBody(bodies.back().get());
		}
		for (int i = 0; i < 3; ++i)
			world.stepSimulation(kStep, 0);
		CHECK(broadphase.getOverlappingPairCache()->getNumOverlappingPairs() == count * (count - 1) / 2);
		for (auto& body : bodies)
			world.removeRigidBody(body.get());
	}
	CHECK(configuration.getCollisionAlgorithmPool()->getFreeCount() == free_before);
}

void settings_apply_per_dispatcher()
{
	const std::unique_ptr<btVoxShellShape> ours(block());
	for (const int manifolds : {1, 3})
	{
		btVoxShellSettings settings;
		settings.m_maxManifolds = manifolds;
		// On a plane, and of flat faces by their edges, only the four corners would count.
		settings.m_coverage = VXS_COVERAGE_SAMPLES;
		Scene scene(settings);
		scene.add(ours.get(), 0, btVector3(0, btScalar(-0.5), 0));
		scene.add(ours.get(), 1, btVector3(0, btScalar(0.4999), 0));
		scene.step(3);
		CHECK(scene.contacts() == 4 * manifolds);
		CHECK(scene.dispatcher.getNumManifolds() == manifolds);
	}
}

void shapes_may_outlive_the_dispatcher_and_the_handle_may_go_first()
{
	std::unique_ptr<btVoxShellShape> ours;
	{
		Handle made = primitive(VXS_PRIMITIVE_BOX, {0.5, 0.5, 0.5}, {}, 100, 16);
		ours.reset(new btVoxShellShape(made.get()));
	}
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	for (int i = 0; i < 2; ++i)
	{
		Scene scene;
		scene.add(&plane, 0, btVector3(0, 0, 0));
		scene.add(ours.get(), 1, btVector3(0, btScalar(0.4999), 0));
		scene.step(2);
		CHECK(scene.contacts() > 0);
		// Removing a body removes its contacts.
		scene.world.removeRigidBody(scene.bodies.back().get());
		scene.bodies.pop_back();
		CHECK(scene.dispatcher.getNumManifolds() == 0);
		scene.step(1);
	}
	static_assert(sizeof(btVoxShellCollisionAlgorithm) <= 192, "Bullet's pool elements");
}
}  // namespace

int main()
{
	both_tables_in_both_orders();
	a_stranger_of_the_same_proxy_type_is_left_alone();
	the_pool_survives_many_pairs();
	settings_apply_per_dispatcher();
	shapes_may_outlive_the_dispatcher_and_the_handle_may_go_first();
	return finish();
}
