// The whole pair table: each of Bullet's types is registered or left alone, impossible pairs log one message, and forms
// that a pair lacks are derived where possible.
#include <cstdio>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include <LinearMath/btPoolAllocator.h>

#include "check.h"
#include "log_lines.h"
#include "pair_table.h"
#include "scene.h"

using voxshell_bullet::find_pair;
using voxshell_bullet::kPairRows;
using voxshell_bullet::kPairTable;
using voxshell_bullet::Treatment;

namespace
{
Handle block() { return primitive(VXS_PRIMITIVE_BOX, {0.2, 0.1, 0.2}, {}, 1000, 32); }

void the_table_has_every_type_once()
{
	std::set<int> types;
	for (size_t i = 0; i < kPairRows; ++i)
		CHECK(types.insert(kPairTable[i].type).second);
	for (int type = 0; type < MAX_BROADPHASE_COLLISION_TYPES; ++type)
		if (type != IMPLICIT_CONVEX_SHAPES_START_HERE && type != CONCAVE_SHAPES_START_HERE && type != CONCAVE_SHAPES_END_HERE)
			CHECK(find_pair(type) != nullptr);
	CHECK(find_pair(MAX_BROADPHASE_COLLISION_TYPES) == nullptr);
	CHECK(find_pair(-1) == nullptr);
}

void the_dispatcher_is_entered_for_all_but_what_is_left_to_bullet()
{
	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher(&configuration);
	btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
	const Handle made = block();
	btVoxShellShape ours(made.get());
	for (size_t i = 0; i < kPairRows; ++i)
	{
		struct Typed : btEmptyShape
		{
			explicit Typed(int type) { m_shapeType = type; }
		} other(kPairTable[i].type);
		btCollisionObject a, b;
		btCollisionObjectWrapper wrap_a(nullptr, &ours, &a, a.getWorldTransform(), -1, -1), wrap_b(nullptr, &other, &b, b.getWorldTransform(), -1, -1);
		if (kPairTable[i].treatment == Treatment::STOCK)
			continue;  // Bullet's algorithms would cast these to wrong types
		for (const ebtDispatcherQueryType query : {BT_CONTACT_POINT_ALGORITHMS, BT_CLOSEST_POINT_ALGORITHMS})
			for (int order = 0; order < 2; ++order)
			{
				btCollisionAlgorithm* algorithm = find_algorithm(dispatcher, order ? wrap_b : wrap_a, order ? wrap_a : wrap_b, query);
				CHECK(dynamic_cast<btVoxShellCollisionAlgorithm*>(algorithm) != nullptr);
				algorithm->~btCollisionAlgorithm();
				dispatcher.freeCollisionAlgorithm(algorithm);
			}
	}
}

void what_cannot_collide_says_so_once_and_does_no_harm()
{
	struct Fluid : btSphereShape
	{
		Fluid() : btSphereShape(1) { m_shapeType = HFFLUID_SHAPE_PROXYTYPE; }
	} fluid;
	btEmptyShape empty;
	btConvexHullShape flat;
	for (int i = 0; i < 4; ++i)
		flat.addPoint(btVector3(i & 1 ? 1 : -1, 0, i & 2 ? 1 : -1));
	const Handle made = block();
	btPointShellShape samples(made.get());
	btVoxShellShape both(made.get());
	Log log;
	Scene scene;
	scene.add(&fluid, 0, btVector3(0, 0, 0));
	scene.add(&empty, 0, btVector3(0, 0, 0));
	scene.add(&flat, 0, btVector3(0, 0, 0));
	scene.add(&samples, 1, btVector3(0, btScalar(0.05), 0));
	scene.add(&samples, 1, btVector3(0, btScalar(0.1), 0));
	scene.add(&both, 1, btVector3(0, btScalar(0.4), 0));
	scene.step(20);
	for (const std::string& line : log.lines)
		std::printf("%s\n", line.c_str());
	CHECK(log.count("a fluid") == 1);
	CHECK(log.count("two pointshell shapes") == 1);
	CHECK(log.count("a convex hull that has no volume") == 1);
	CHECK(log.count("an empty shape") == 0);
}

/// Drops one shape onto the other; returns the resting height of the upper one.
double height_at_rest(btCollisionShape& lower, const btVector3& lower_at, btCollisionShape& upper, btScalar start)
{
	Scene scene;
	scene.add(&lower, 0, lower_at);
	btRigidBody* body = scene.add(&upper, 1, btVector3(0, start, 0));
	scene.step(on_valgrind() ? 20 : 300);
	return double(body->getWorldTransform().getOrigin().y());
}

void a_voxelmap_brings_samples_where_nothing_else_can()
{
	const Handle made = block();
	btVoxelmapShape field(made.get());
	CHECK(!field.hasPointShell());
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	CHECK_NEAR(height_at_rest(plane, btVector3(0, 0, 0), field, btScalar(0.101)), 0.1, 5e-4);
	CHECK_NEAR(height_at_rest(field, btVector3(0, btScalar(-0.1), 0), field, btScalar(0.101)), 0.1, 5e-4);
	// The same from a mesh cooked as a field only, whose shape has no samples to fall back on.
	vxs_cook_options options;
	must(vxs_cook_options_init(&options, sizeof options));
	options.resolution = 32;
	btTriangleMesh mesh;
	add_box(mesh, btVector3(btScalar(0.2), btScalar(0.1), btScalar(0.2)));
	btVoxelmapShape own(mesh, &options);
	CHECK_NEAR(height_at_rest(plane, btVector3(0, 0, 0), own, btScalar(0.101)), 0.1, 5e-4);
	CHECK_NEAR(height_at_rest(own, btVector3(0, btScalar(-0.1), 0), own, btScalar(0.101)), 0.1, 5e-4);

	// And a shape that has neither samples nor triangles.
	vxs_field* bare = nullptr;
	must(vxs_shape_get_field(own.getShape(), &bare));
	vxs_shape* only = nullptr;
	must(vxs_shape_create(bare, nullptr, &only));
	vxs_field_release(bare);
	const Handle kept(only);
	btVoxelmapShape mute(only);
	Log log;
	CHECK(mute.getSampledShape() == nullptr);
	Scene scene;
	scene.add(&plane, 0, btVector3(0, 0, 0));
	scene.add(&mute, 1, btVector3(0, btScalar(0.05), 0));
	scene.step(3);
	CHECK(scene.contacts() == 0);
	CHECK(log.count("a voxelmap shape without triangles does not collide with a static plane") == 1);
}

/// A box's corner does not sink in between samples that are far apart.
void sharp_features_of_stock_shapes_do_not_sink_in()
{
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.5, 0.1, 0.5}, {}, 100, 64);
	btVoxShellShape slab(made.get());
	const auto check = [&](const char* name, btCollisionShape& shape, const btQuaternion& turn, double below) {
		Scene scene;
		scene.add(&slab, 0, btVector3(0, btScalar(-0.1), 0));
		btRigidBody* body = scene.add(&shape, 1, btTransform(turn, btVector3(btScalar(0.053), btScalar(below + 0.05), btScalar(0.037))));
		body->setAngularFactor(btVector3(0, 0, 0));
		double lowest = 1e30;
		for (int i = 0; i < (on_valgrind() ? 40 : 200); ++i)
		{
			scene.step();
			lowest = std::min(lowest, double(body->getWorldTransform().getOrigin().y()));
		}
		std::printf("%-20s lowest %.4f mm, at rest %.4f mm\n", name, 1e3 * (lowest - below), 1e3 * (double(body->getWorldTransform().getOrigin().y()) - below));
		CHECK(lowest > below - 3e-4);
		if (!on_valgrind())
			CHECK_NEAR(body->getWorldTransform().getOrigin().y(), below, 3e-4);
	};
	btBoxShape box(btVector3(btScalar(0.05), btScalar(0.05), btScalar(0.05)));
	const btVector3 diagonal = btVector3(1, 1, 1).normalized();
	check("box on its corner", box, btQuaternion(diagonal.cross(btVector3(0, -1, 0)).normalized(), btAcos(-diagonal.y())), 0.05 * std::sqrt(3.0));
	check("box on its edge", box, btQuaternion(btVector3(0, 0, 1), SIMD_PI / 4), 0.05 * std::sqrt(2.0));
	btConeShape cone(btScalar(0.03), btScalar(0.1));
	cone.setMargin(btScalar(0.002));
	check("cone on its tip", cone, btQuaternion(btVector3(1, 0, 0), SIMD_PI), 0.052);
	btCylinderShape cylinder(btVector3(btScalar(0.05), btScalar(0.05), btScalar(0.05)));
	check("cylinder on its rim", cylinder, btQuaternion(btVector3(0, 0, 1), SIMD_PI / 4), 0.05 * std::sqrt(2.0));
	btConvexHullShape hull;
	for (const btVector3& p : {btVector3(0, btScalar(-0.05), 0), btVector3(btScalar(0.05), btScalar(0.05), 0), btVector3(btScalar(-0.05), btScalar(0.05), btScalar(0.05)), btVector3(btScalar(-0.05), btScalar(0.05), btScalar(-0.05))})
		hull.addPoint(p);
	hull.setMargin(btScalar(0.001));
	check("hull on its vertex", hull, btQuaternion::getIdentity(), 0.051);
}

void scaling_is_uniform_and_exact()
{
	const Handle made = block();
	btVoxShellShape shape(made.get()), original(made.get());
	Log log;
	for (const btVector3& refused : {btVector3(1, 2, 1), btVector3(0, 0, 0), btVector3(-1, -1, -1), btVector3(btScalar(NAN), 1, 1)})
	{
		shape.setLocalScaling(refused);
		CHECK(shape.getLocalScaling() == btVector3(1, 1, 1));
	}
	CHECK(log.count("error: setLocalScaling") == 4);
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	for (const btScalar factor : {btScalar(2), btScalar(0.5), btScalar(3), btScalar(1)})  // relative to the original, not to the last
	{
		shape.setLocalScaling(btVector3(factor, factor, factor));
		CHECK(shape.getLocalScaling() == btVector3(factor, factor, factor));
		CHECK_NEAR((shape.getLocalHalfExtents() - original.getLocalHalfExtents() * factor).length(), 0, 1e-6 * factor);
		CHECK_NEAR(shape.getMargin(), btMin(original.getMargin() * factor, btScalar(0.001)), 1e-9);
		btVector3 inertia, unscaled;
		shape.calculateLocalInertia(1, inertia);
		original.calculateLocalInertia(1, unscaled);
		CHECK_NEAR((inertia - unscaled * factor * factor).length(), 0, 1e-6 * factor * factor);
		CHECK_NEAR(height_at_rest(plane, btVector3(0, 0, 0), shape, factor * btScalar(0.11)), 0.1 * factor, 2e-4 * factor);
	}
	CHECK(log.count("error") == 4);
	// An explicitly set margin is kept.
	shape.setMargin(btScalar(0.01));
	shape.setLocalScaling(btVector3(2, 2, 2));
	CHECK_NEAR(shape.getMargin(), 0.01, 1e-9);
	// Bodies that share the data keep their size.
	CHECK_NEAR((original.getLocalHalfExtents() - btVector3(btScalar(0.2), btScalar(0.1), btScalar(0.2))).length(), 0, 2e-3);
}

/// The asset keeps the size that the shape was made with, and a shape loaded from it collides as the original.
void an_asset_brings_the_shape_back()
{
	const Handle made = block();
	btVoxShellShape original(made.get()), scaled(made.get());
	scaled.setLocalScaling(btVector3(2, 2, 2));
	const char* const path = "pairs_test.vxs";
	scaled.saveAsset(path);
	btVoxShellShape again(path);
	btVoxelmapShape field(path);
	std::remove(path);
	CHECK(again.getLocalScaling() == btVector3(1, 1, 1));
	CHECK(again.getLocalHalfExtents() == original.getLocalHalfExtents() && field.getLocalHalfExtents() == original.getLocalHalfExtents());
	CHECK(again.getMargin() == original.getMargin());
	btBoxShape floor(btVector3(1, 1, 1));
	CHECK(height_at_rest(floor, btVector3(0, -1, 0), again, btScalar(0.15)) == height_at_rest(floor, btVector3(0, -1, 0), original, btScalar(0.15)));
	bool refused = false;
	try
	{
		again.saveAsset("no such folder/asset.vxs");
	}
	catch (const std::runtime_error&)
	{
		refused = true;
	}
	CHECK(refused);
}

/// A pool whose elements are too small for the algorithm is not used; the pair works without it.
void a_pool_of_small_elements_is_left_alone()
{
	btPoolAllocator tiny(8, 64);
	btDefaultCollisionConstructionInfo info;
	info.m_collisionAlgorithmPool = &tiny;
	const int before = tiny.getFreeCount();
	{
		btDefaultCollisionConfiguration configuration(info);
		CHECK(configuration.getCollisionAlgorithmPool() == &tiny);
		btCollisionDispatcher dispatcher(&configuration);
		btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
		btDbvtBroadphase broadphase;
		btSequentialImpulseConstraintSolver solver;
		btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
		const Handle made = block();
		btVoxShellShape shape(made.get());
		btRigidBody a(1, nullptr, &shape, btVector3(1, 1, 1)), b(1, nullptr, &shape, btVector3(1, 1, 1));
		b.getWorldTransform().setOrigin(btVector3(0, btScalar(0.199), 0));
		world.addRigidBody(&a);
		world.addRigidBody(&b);
		world.stepSimulation(kStep, 0);
		CHECK(dispatcher.getNumManifolds() > 0);
		CHECK(tiny.getFreeCount() == before);
		world.removeRigidBody(&a);
		world.removeRigidBody(&b);
	}
	CHECK(tiny.getFreeCount() == before);
}
}  // namespace

int main()
{
	the_table_has_every_type_once();
	the_dispatcher_is_entered_for_all_but_what_is_left_to_bullet();
	what_cannot_collide_says_so_once_and_does_no_harm();
	a_voxelmap_brings_samples_where_nothing_else_can();
	sharp_features_of_stock_shapes_do_not_sink_in();
	scaling_is_uniform_and_exact();
	an_asset_brings_the_shape_back();
	a_pool_of_small_elements_is_left_alone();
	return finish();
}
