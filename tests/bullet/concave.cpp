// Voxshell bodies on Bullet's concave shapes: meshes of every kind, heightfields, GImpact, and a user-defined one. All
// are two-sided sheets: the winding of their triangles does not matter, nor whether they are closed.
#include <functional>

#include <BulletCollision/CollisionShapes/btHeightfieldTerrainShape.h>
#include <BulletCollision/CollisionShapes/btMultimaterialTriangleMeshShape.h>
#include <BulletCollision/CollisionShapes/btScaledBvhTriangleMeshShape.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>

#include "check.h"
#include "scene.h"

namespace
{
/// A grid of triangles over [-2, 2]², `height` above y = 0.
void add_grid(btTriangleMesh& mesh, int cells, const std::function<double(double, double)>& height, bool from_below = false)
{
	const auto at = [&](int i, int k) {
		const double x = 4.0 * i / cells - 2, z = 4.0 * k / cells - 2;
		return btVector3(btScalar(x), btScalar(height(x, z)), btScalar(z));
	};
	for (int i = 0; i < cells; ++i)
		for (int k = 0; k < cells; ++k)
		{
			const btVector3 a = at(i, k), b = at(i + 1, k), c = at(i, k + 1), d = at(i + 1, k + 1);
			mesh.addTriangle(a, from_below ? b : c, from_below ? c : b, true);
			mesh.addTriangle(b, from_below ? d : c, from_below ? c : d, true);
		}
}

/// A user-defined shape: triangles without a tree.
struct OwnShape : btConcaveShape
{
	std::vector<btVector3> corners;
	OwnShape() { m_shapeType = CUSTOM_CONCAVE_SHAPE_TYPE; }
	void getAabb(const btTransform& t, btVector3& low, btVector3& high) const override
	{
		low = high = t(corners[0]);
		for (const btVector3& c : corners)
		{
			low.setMin(t(c));
			high.setMax(t(c));
		}
	}
	void processAllTriangles(btTriangleCallback* callback, const btVector3&, const btVector3&) const override
	{
		for (size_t i = 0; i < corners.size(); i += 3)
		{
			btVector3 triangle[3] = {corners[i], corners[i + 1], corners[i + 2]};
			callback->processTriangle(triangle, 0, int(i / 3));
		}
	}
	void calculateLocalInertia(btScalar, btVector3& inertia) const override { inertia.setZero(); }
	void setLocalScaling(const btVector3&) override {}
	const btVector3& getLocalScaling() const override
	{
		static const btVector3 one(1, 1, 1);
		return one;
	}
	const char* getName() const override { return "OwnShape"; }
};

struct Ground
{
	const char* name;
	std::shared_ptr<btCollisionShape> shape;
};

/// Returns every kind of shape that can be a flat floor at y = 0.
std::vector<Ground> floors()
{
	static btTriangleMesh up, down, coarse, half;
	static bool made = false;
	if (!made)
	{
		const auto flat = [](double, double) { return 0.0; };
		add_grid(up, 40, flat);
		add_grid(down, 40, flat, true);
		add_grid(coarse, 1, flat);
		for (int i = 0; i < 40; ++i)
			for (int k = 0; k < 40; ++k)
			{
				const auto at = [](int x, int z) { return btVector3(btScalar(0.05 * x - 1), 0, btScalar(0.025 * z - 0.5)); };
				half.addTriangle(at(i, k), at(i, k + 1), at(i + 1, k), true);
				half.addTriangle(at(i + 1, k), at(i, k + 1), at(i + 1, k + 1), true);
			}
		made = true;
	}
	static std::vector<btScalar> heights(41 * 41, btScalar(0));
	std::vector<Ground> all;
	all.push_back({"triangle mesh", std::make_shared<btBvhTriangleMeshShape>(&up, true)});
	all.push_back({"mesh from below", std::make_shared<btBvhTriangleMeshShape>(&down, true)});
	all.push_back({"two triangles", std::make_shared<btBvhTriangleMeshShape>(&coarse, true)});
	all.push_back({"multi-material", std::make_shared<btMultimaterialTriangleMeshShape>(&up, true)});
	static btBvhTriangleMeshShape inner(&half, true);
	all.push_back({"scaled mesh", std::make_shared<btScaledBvhTriangleMeshShape>(&inner, btVector3(2, 3, 4))});
	auto gimpact = std::make_shared<btGImpactMeshShape>(&up);
	gimpact->updateBound();
	all.push_back({"GImpact", gimpact});
	auto field = std::make_shared<btHeightfieldTerrainShape>(41, 41, heights.data(), btScalar(1), btScalar(-1), btScalar(1), 1, sizeof(btScalar) == 8 ? PHY_DOUBLE : PHY_FLOAT, false);
	field->setLocalScaling(btVector3(btScalar(0.1), 1, btScalar(0.1)));
	all.push_back({"heightfield", field});
	auto own = std::make_shared<OwnShape>();
	for (const int corner : {0, 2, 1, 1, 2, 3})
		own->corners.push_back(btVector3(corner & 1 ? 2 : -2, 0, corner & 2 ? 2 : -2));
	all.push_back({"own shape", own});
	return all;
}

/// Drops a rotated shape onto a floor and checks that it comes to rest on it.
void comes_to_rest_on(const Ground& ground, btVoxShellBaseShape& shape, btScalar half_height, bool upside_down)
{
	Scene scene;
	if (upside_down)
		scene.world.setGravity(btVector3(0, 10, 0));  // lands on the other side
	const btScalar up = upside_down ? btScalar(-1) : btScalar(1);
	scene.add(ground.shape.get(), 0, btVector3(0, 0, 0));
	btRigidBody* body = scene.add(&shape, 1, btTransform(btQuaternion(btVector3(btScalar(0.3), 1, btScalar(0.2)).normalized(), btScalar(0.7)), btVector3(btScalar(0.03), up * (half_height + btScalar(0.35)), btScalar(0.02))));
	double deepest = 1e30, late_energy = 0;
	for (int i = 0; i < (on_valgrind() ? 70 : 500); ++i)
	{
		scene.step();
		deepest = std::min(deepest, scene.deepest());
		if (i >= 400)
			late_energy = std::max(late_energy, kinetic_energy(*body));
	}
	CHECK(up * body->getWorldTransform().getOrigin().y() > 0);
	if (on_valgrind())
		return;
	std::printf("%-16s %-5s deepest %.4f mm, energy %.2e J, height %.5f m, %d contacts\n", ground.name, upside_down ? "below" : "above", -1e3 * deepest, late_energy,
				double(up * body->getWorldTransform().getOrigin().y()), scene.contacts());
	CHECK(deepest > -0.001);
	CHECK(late_energy < 1e-6);
	CHECK_NEAR(up * body->getWorldTransform().getOrigin().y(), half_height, 5e-4);
	CHECK(scene.contacts() >= 3 && scene.contacts() <= 16);
}

void bodies_rest_on_both_sides_of_every_concave_shape()
{
	const Handle made = primitive(VXS_PRIMITIVE_HOLE, {0.3, 0.2, 0.25, 0.1}, {}, 3000, 64);
	btVoxShellShape both(made.get());
	btPointShellShape samples(made.get());
	btVoxelmapShape field(made.get());
	for (const Ground& ground : floors())
	{
		comes_to_rest_on(ground, both, btScalar(0.2), false);
		if (on_valgrind())
			continue;
		// Bullet draws the boxes of a heightfield from above only; its surface has two sides like the others.
		comes_to_rest_on(ground, both, btScalar(0.2), true);
	}
	// A field alone is sampled by the plugin; a shape with samples alone uses the winding.
	comes_to_rest_on(floors()[0], field, btScalar(0.2), false);
	comes_to_rest_on(floors()[0], samples, btScalar(0.2), false);
	comes_to_rest_on(floors()[1], samples, btScalar(0.2), true);
}

/// A body that slides and rolls over a bumpy terrain stays on it and never catches on inner edges.
void rolls_over_a_terrain()
{
	static btTriangleMesh mesh;
	add_grid(mesh, 60, [](double x, double z) { return 0.1 * std::sin(3 * x) * std::cos(2 * z); });
	btBvhTriangleMeshShape terrain(&mesh, true);
	const Handle made = primitive(VXS_PRIMITIVE_BLOB, {0.3}, {}, 2000, 64);
	btVoxShellShape blob(made.get());
	for (int seed = 0; seed < (on_valgrind() ? 1 : 6); ++seed)
	{
		Scene scene;
		scene.add(&terrain, 0, btVector3(0, 0, 0));
		btRigidBody* body = scene.add(&blob, 1, btVector3(btScalar(-0.6 + 0.2 * seed), btScalar(0.5), btScalar(0.3 - 0.1 * seed)));
		body->setLinearVelocity(btVector3(btScalar(1.5 - 0.5 * seed), 0, btScalar(0.5)));
		double deepest = 0;
		for (int i = 0; i < (on_valgrind() ? 60 : 800); ++i)
		{
			scene.step();
			deepest = std::min(deepest, scene.deepest());
		}
		std::printf("terrain %d: deepest %.4f mm, energy %.2e J, height %.3f m\n", seed, -1e3 * deepest, kinetic_energy(*body), double(body->getWorldTransform().getOrigin().y()));
		CHECK(deepest > -0.002);
		CHECK(body->getWorldTransform().getOrigin().y() > btScalar(-0.1));
		if (!on_valgrind())
			CHECK(kinetic_energy(*body) < 1e-3);
	}
}

/// A flat floor of many triangles is as smooth as one triangle: bodies do not catch on inner edges.
void slides_over_inner_edges()
{
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.2, 0.1, 0.2}, {}, 1500, 48);
	btVoxShellShape box(made.get());
	const std::vector<Ground> all = floors();
	double stopped[2];
	for (int i = 0; i < 2; ++i)
	{
		Scene scene;
		scene.add(all[i == 0 ? 0 : 2].shape.get(), 0, btVector3(0, 0, 0));
		btRigidBody* body = scene.add(&box, 1, btVector3(btScalar(-1.2), btScalar(0.1), 0));
		body->setLinearVelocity(btVector3(3, 0, 0));
		double lifted = 0;
		for (int step = 0; step < (on_valgrind() ? 20 : 250); ++step)
		{
			scene.step();
			lifted = std::max(lifted, double(body->getWorldTransform().getOrigin().y()) - 0.1);
		}
		stopped[i] = double(body->getWorldTransform().getOrigin().x());
		CHECK(lifted < 1e-4);
	}
	if (!on_valgrind())
	{
		// μ = 0.5 · 0.5 (Bullet multiplies), v² / 2 μ g
		CHECK_NEAR(stopped[0], -1.2 + 9 / (2 * 0.25 * 10), 0.03);
		CHECK_NEAR(stopped[1], stopped[0], 0.01);
	}
}

/// Ridges do not sink into a body between its samples: the mesh's edge is tested against the body's field.
void a_ridge_does_not_sink_in_between_samples()
{
	static btTriangleMesh mesh;
	add_grid(mesh, 2, [](double x, double) { return -1.5 * std::fabs(x); });
	btBvhTriangleMeshShape ridge(&mesh, true);
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.3, 0.05, 0.3}, {}, 60, 64);  // 60 samples, 15 cm apart
	btVoxShellShape plate(made.get());
	Scene scene;
	scene.add(&ridge, 0, btVector3(0, 0, 0));
	btRigidBody* body = scene.add(&plate, 1, btVector3(0, btScalar(0.06), 0));
	body->setLinearFactor(btVector3(0, 1, 0));
	body->setAngularFactor(btVector3(0, 0, 0));
	scene.step(on_valgrind() ? 30 : 200);
	CHECK_NEAR(body->getWorldTransform().getOrigin().y(), 0.05, 3e-4);
}

/// Triangles with non-finite vertices do not affect the others.
void what_is_not_finite_is_left_out()
{
	struct Bounded : OwnShape
	{
		void getAabb(const btTransform&, btVector3& low, btVector3& high) const override
		{
			low.setValue(-2, -1, -2);
			high.setValue(2, 1, 2);
		}
	} bounded;
	for (const int corner : {0, 2, 1, 1, 2, 3})
		bounded.corners.push_back(btVector3(corner & 1 ? 2 : -2, 0, corner & 2 ? 2 : -2));
	bounded.corners.insert(bounded.corners.end(), {btVector3(0, 0, 0), btVector3(1, btScalar(NAN), 0), btVector3(0, 0, 1)});
	bounded.corners.insert(bounded.corners.end(), {btVector3(0, 0, 0), btVector3(1, btScalar(1e30), 0), btVector3(0, 0, 1)});
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.2, 0.1, 0.2}, {}, 500, 32);
	btVoxShellShape box(made.get());
	Scene scene;
	scene.add(&bounded, 0, btVector3(0, 0, 0));
	btRigidBody* body = scene.add(&box, 1, btVector3(0, btScalar(0.11), 0));
	scene.step(on_valgrind() ? 20 : 100);
	CHECK_NEAR(body->getWorldTransform().getOrigin().y(), 0.1, 1e-3);
}

/// A mesh whose vertices are changed in place collides at its new position, as in Bullet.
void a_mesh_may_move_its_vertices()
{
	std::vector<btVector3> vertices = {btVector3(-2, 0, -2), btVector3(2, 0, -2), btVector3(-2, 0, 2), btVector3(2, 0, 2)};
	std::vector<int> indices = {0, 2, 1, 1, 2, 3};
	btTriangleIndexVertexArray mesh(2, indices.data(), 3 * sizeof(int), 4, &vertices[0][0], sizeof(btVector3));
	btBvhTriangleMeshShape floor(&mesh, true, btVector3(-3, -1, -3), btVector3(3, 2, 3));
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.2, 0.1, 0.2}, {}, 500, 32);
	btVoxShellShape box(made.get());
	Scene scene;
	btRigidBody* ground = scene.add(&floor, 0, btVector3(0, 0, 0));
	ground->setCollisionFlags(ground->getCollisionFlags() | btCollisionObject::CF_KINEMATIC_OBJECT);
	btRigidBody* body = scene.add(&box, 1, btVector3(0, btScalar(0.1), 0));
	for (int step = 0; step < (on_valgrind() ? 20 : 200); ++step)
	{
		for (btVector3& v : vertices)
			v.setY(btScalar(0.001 * step));
		btVector3 low(-3, -1, -3), high(3, 2, 3);
		floor.refitTree(low, high);
		scene.step();
		// As always in Bullet, a step resolves a fifth of the depth, so the body follows 4 mm behind a floor without
		// velocity.
		CHECK_NEAR(body->getWorldTransform().getOrigin().y(), 0.1 + 0.001 * step, 0.0045);
	}
}
}  // namespace

int main()
{
	bodies_rest_on_both_sides_of_every_concave_shape();
	rolls_over_a_terrain();
	slides_over_inner_edges();
	a_ridge_does_not_sink_in_between_samples();
	what_is_not_finite_is_left_out();
	a_mesh_may_move_its_vertices();
	return finish();
}
