// Making shapes inside Bullet: from Bullet meshes, from files, from handles of the C API; bounds, inertia, triangles,
// errors.
#include <cmath>
#include <cstdio>
#include <functional>

#include <voxshell/voxshell.hpp>

#include "check.h"
#include "log_lines.h"
#include "scene.h"

namespace
{
vxs_cook_options coarse()
{
	vxs_cook_options options;
	must(vxs_cook_options_init(&options, sizeof options));
	options.resolution = 24;
	options.sample_count = 400;
	return options;
}

bool throws(const char* word, const std::function<void()>& action)
{
	try
	{
		action();
	}
	catch (const std::runtime_error& error)
	{
		if (std::string(error.what()).find(word) != std::string::npos)
			return true;
		std::printf("unexpected message: %s\n", error.what());
		return false;
	}
	return false;
}

void from_a_triangle_mesh_with_inertia_and_bounds()
{
	btTriangleMesh mesh;
	add_box(mesh, btVector3(btScalar(0.5), btScalar(0.3), btScalar(0.2)));
	const vxs_cook_options options = coarse();
	btVoxShellShape shape(mesh, &options);
	CHECK(shape.hasField() && shape.hasPointShell());
	CHECK_NEAR(shape.getMargin(), 0.001, 1e-7);

	btVector3 inertia;
	shape.calculateLocalInertia(6, inertia);
	// m / 3 (b² + c²)
	CHECK_NEAR(inertia.x(), 2 * (0.09 + 0.04), rounding(1e-5));
	CHECK_NEAR(inertia.y(), 2 * (0.25 + 0.04), rounding(1e-5));
	CHECK_NEAR(inertia.z(), 2 * (0.25 + 0.09), rounding(1e-5));

	btVector3 low, high;
	shape.setMargin(0);
	shape.getAabb(btTransform::getIdentity(), low, high);
	CHECK_NEAR((high - btVector3(btScalar(0.5), btScalar(0.3), btScalar(0.2))).length(), 0, 1e-3);
	CHECK_NEAR((low + btVector3(btScalar(0.5), btScalar(0.3), btScalar(0.2))).length(), 0, 1e-3);
	// Conservative when rotated, and no larger than the rotated box's own bounds.
	const btTransform turned(btQuaternion(btVector3(1, 2, 3).normalized(), btScalar(0.8)), btVector3(5, 6, 7));
	shape.getAabb(turned, low, high);
	btVector3 corner_low(1e9f, 1e9f, 1e9f), corner_high = -corner_low;
	for (int i = 0; i < 8; ++i)
	{
		const btVector3 corner = turned(btVector3(btScalar(i & 1 ? 0.5 : -0.5), btScalar(i & 2 ? 0.3 : -0.3), btScalar(i & 4 ? 0.2 : -0.2)));
		corner_low.setMin(corner);
		corner_high.setMax(corner);
	}
	for (int axis = 0; axis < 3; ++axis)
	{
		CHECK(low[axis] <= corner_low[axis] + btScalar(rounding(1e-5)));
		CHECK(high[axis] >= corner_high[axis] - btScalar(rounding(1e-5)));
		CHECK_NEAR(high[axis] - low[axis], corner_high[axis] - corner_low[axis], 2e-3);
	}
}

void a_mesh_is_moved_to_its_principal_frame()
{
	// A box of 1 x 0.6 x 0.4 far from the origin and rotated.
	const btTransform placed(btQuaternion(btVector3(3, 1, 2).normalized(), btScalar(0.6)), btVector3(2, -1, 4));
	btTriangleMesh mesh;
	add_box(mesh, btVector3(btScalar(0.5), btScalar(0.3), btScalar(0.2)), placed);
	const vxs_cook_options options = coarse();
	btTransform frame;
	btVoxShellShape shape(mesh, &options, &frame);
	CHECK_NEAR((frame.getOrigin() - placed.getOrigin()).length(), 0, rounding(1e-4));
	CHECK_NEAR(frame.getBasis().determinant(), 1, rounding(1e-4));
	vxs_mass_properties mass;
	CHECK(shape.getMassProperties(mass));
	CHECK_NEAR(mass.volume, 0.24, rounding(1e-4));
	CHECK_NEAR(mass.center_of_mass.x * mass.center_of_mass.x + mass.center_of_mass.y * mass.center_of_mass.y + mass.center_of_mass.z * mass.center_of_mass.z, 0, 1e-8);
	for (int i = 3; i < 6; ++i)
		CHECK_NEAR(mass.inertia[i], 0, rounding(1e-4));
	// With the returned frame applied, the box is at its original place.
	btVector3 low, high, expected_low(1e9f, 1e9f, 1e9f), expected_high = -expected_low;
	shape.setMargin(0);
	shape.getAabb(frame, low, high);
	for (int i = 0; i < 8; ++i)
	{
		const btVector3 corner = placed(btVector3(btScalar(i & 1 ? 0.5 : -0.5), btScalar(i & 2 ? 0.3 : -0.3), btScalar(i & 4 ? 0.2 : -0.2)));
		expected_low.setMin(corner);
		expected_high.setMax(corner);
	}
	CHECK_NEAR((low - expected_low).length(), 0, 2e-3);
	CHECK_NEAR((high - expected_high).length(), 0, 2e-3);
}

/// Writes a box of 1 x 0.6 x 0.4 m with its centre at `center`.
void write_box(const std::string& path, const btVector3& center)
{
	btTriangleMesh mesh;
	add_box(mesh, btVector3(btScalar(0.5), btScalar(0.3), btScalar(0.2)), btTransform(btQuaternion::getIdentity(), center));
	const unsigned char *vertices = nullptr, *indices = nullptr;
	int vertex_count = 0, vertex_stride = 0, triangle_stride = 0, triangle_count = 0;
	PHY_ScalarType vertex_type, index_type;
	mesh.getLockedReadOnlyVertexIndexBase(&vertices, vertex_count, vertex_type, vertex_stride, &indices, triangle_stride, triangle_count, index_type);
	std::FILE* file = std::fopen(path.c_str(), "w");
	for (int v = 0; v < vertex_count; ++v)
	{
		const btScalar* at = reinterpret_cast<const btScalar*>(vertices + v * vertex_stride);
		std::fprintf(file, "v %.17g %.17g %.17g\n", double(at[0]), double(at[1]), double(at[2]));
	}
	for (int t = 0; t < triangle_count; ++t)
	{
		const int* corners = reinterpret_cast<const int*>(indices + t * triangle_stride);
		std::fprintf(file, "f %d %d %d\n", corners[0] + 1, corners[1] + 1, corners[2] + 1);
	}
	std::fclose(file);
}

void a_mesh_file_is_moved_to_its_principal_frame()
{
	// Without the frame the box, whose centre is 2 m beside its origin, would hang in the air on one edge, or tip over.
	const std::string obj = "bullet_shapes_principal.obj", asset = "bullet_shapes_principal.vxs";
	write_box(obj, btVector3(2, 0, 1));
	vxs_cook_options options = coarse();
	options.weld_tolerance = 1e-6;
	const Log log;
	btTransform frame;
	btVoxShellShape shape(obj.c_str(), &options, &frame);
	CHECK_NEAR((frame.getOrigin() - btVector3(2, 0, 1)).length(), 0, 1e-5);
	vxs_mass_properties mass;
	CHECK(shape.getMassProperties(mass));
	CHECK_NEAR(btVector3(btScalar(mass.center_of_mass.x), btScalar(mass.center_of_mass.y), btScalar(mass.center_of_mass.z)).length(), 0, 1e-5);

	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	Scene scene;
	scene.add(&plane, 0, btVector3(0, 0, 0));
	const btTransform start(btQuaternion::getIdentity(), btVector3(0, btScalar(0.31), 0));
	const btRigidBody* body = scene.add(&shape, 1, start * frame);
	scene.step(200);
	const btTransform now = body->getWorldTransform() * frame.inverse();
	CHECK_NEAR(now.getOrigin().y(), 0.3, 1e-3);
	CHECK_NEAR(now.getBasis()[1][1], 1, 1e-4);
	CHECK(log.lines.empty());

	shape.saveAsset(asset.c_str());
	CHECK(throws("principal frame", [&] { btVoxShellShape refused(asset.c_str(), nullptr, &frame); }));
	CHECK(throws("no_such_mesh", [&] { btPointShellShape refused("no_such_mesh.stl", nullptr, &frame); }));
	std::remove(obj.c_str());
	std::remove(asset.c_str());
}

void a_centre_of_mass_off_the_origin_is_reported_once()
{
	const std::string obj = "bullet_shapes_offset.obj";
	const vxs_cook_options options = coarse();
	const Log log;
	btVector3 inertia;
	// The largest extent is 1 m.
	for (const double offset : {0.009, 0.011})
	{
		write_box(obj, btVector3(0, btScalar(offset), 0));
		btVoxShellShape shape(obj.c_str(), &options);
		CHECK(log.lines.empty());  // scenery may have any frame
		shape.calculateLocalInertia(1, inertia);
		shape.calculateLocalInertia(2, inertia);
	}
	CHECK(log.lines.size() == 1 && log.count("warning: calculateLocalInertia") == 1 && log.count("0.011") == 1);
	std::remove(obj.c_str());
}

void cracks_of_rounding_do_not_open_a_mesh()
{
	// Each triangle has corners of its own, which differ by the last bit. A compiler that fuses multiplication and addition in
	// some of the triangles makes such meshes (GCC for ARM does, of `add_box`).
	btTriangleMesh whole, cracked;
	const btTransform placed(btQuaternion(btVector3(3, 1, 2).normalized(), btScalar(0.6)), btVector3(2, -1, 4));
	add_box(whole, btVector3(btScalar(0.5), btScalar(0.3), btScalar(0.2)), placed);
	const unsigned char *vertices = nullptr, *indices = nullptr;
	int vertex_count = 0, vertex_stride = 0, triangle_stride = 0, triangle_count = 0;
	PHY_ScalarType vertex_type, index_type;
	whole.getLockedReadOnlyVertexIndexBase(&vertices, vertex_count, vertex_type, vertex_stride, &indices, triangle_stride, triangle_count, index_type);
	unsigned seed = 1;
	for (int t = 0; t < triangle_count; ++t)
	{
		btVector3 corners[3];
		for (int c = 0; c < 3; ++c)
		{
			const int index = reinterpret_cast<const int*>(indices + t * triangle_stride)[c];
			const btScalar* at = reinterpret_cast<const btScalar*>(vertices + index * vertex_stride);
			for (int axis = 0; axis < 3; ++axis)
			{
				seed = seed * 1664525u + 1013904223u;
				const int direction = int(seed >> 16) % 3 - 1;
				corners[c][axis] = direction == 0 ? at[axis] : std::nextafter(at[axis], btScalar(direction * 1000));
			}
		}
		cracked.addTriangle(corners[0], corners[1], corners[2]);
	}
	const vxs_cook_options options = coarse();
	btTransform frame;
	btVoxShellShape shape(cracked, &options, &frame);
	vxs_mass_properties mass;
	CHECK(shape.getMassProperties(mass));
	// The field of 24 cells alone is wrong by a hundredth.
	CHECK_NEAR(mass.volume, 0.24, rounding(1e-4));
	CHECK_NEAR((frame.getOrigin() - placed.getOrigin()).length(), 0, rounding(1e-4));
}

void any_storage_of_a_mesh_is_read()
{
	static const double vertices[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
	static const unsigned short faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
	btIndexedMesh part;
	part.m_numTriangles = 12;
	part.m_triangleIndexBase = reinterpret_cast<const unsigned char*>(faces);
	part.m_triangleIndexStride = sizeof faces[0];
	part.m_numVertices = 8;
	part.m_vertexBase = reinterpret_cast<const unsigned char*>(vertices);
	part.m_vertexStride = sizeof vertices[0];
	part.m_vertexType = PHY_DOUBLE;
	btTriangleIndexVertexArray mesh;
	mesh.addIndexedMesh(part, PHY_SHORT);
	part.m_vertexType = PHY_DOUBLE;
	mesh.setScaling(btVector3(2, 1, 1));
	const vxs_cook_options options = coarse();
	btVoxelmapShape shape(mesh, &options);
	CHECK_NEAR((shape.getLocalCenter() - btVector3(1, btScalar(0.5), btScalar(0.5))).length(), 0, 1e-3);
	vxs_mass_properties mass;
	CHECK(shape.getMassProperties(mass));
	CHECK_NEAR(mass.volume, 2, 1e-3);
}

void from_an_asset_and_from_a_mesh_file()
{
	const std::string asset = "bullet_shapes_test.vxs", obj = "bullet_shapes_test.OBJ";
	const Handle made = primitive(VXS_PRIMITIVE_TORUS, {0.4, 0.1}, {}, 500, 32);
	must(vxs_shape_save(made.get(), asset.c_str()));
	{
		btVoxShellShape both(asset.c_str());
		btVoxelmapShape field(asset.c_str());
		btPointShellShape shell(asset.c_str());
		CHECK(both.hasField() && both.hasPointShell());
		CHECK(field.hasField() && !field.hasPointShell());
		CHECK(!shell.hasField() && shell.hasPointShell());
		vxs_shape_info info;
		must(vxs_shape_info_init(&info, sizeof info));
		must(vxs_shape_get_info(field.getQueryShape(), &info));
		CHECK(info.forms == VXS_FORM_FIELD);
		must(vxs_shape_get_info(shell.getQueryShape(), &info));
		CHECK(info.forms == VXS_FORM_POINTSHELL);
	}
	std::FILE* file = std::fopen(obj.c_str(), "w");
	std::fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", file);
	std::fclose(file);
	const vxs_cook_options options = coarse();
	btVoxShellShape tetrahedron(obj.c_str(), &options);
	vxs_mass_properties mass;
	CHECK(tetrahedron.getMassProperties(mass));
	CHECK_NEAR(mass.volume, 1.0 / 6, 1e-6);
	std::remove(asset.c_str());
	std::remove(obj.c_str());
}

void the_three_classes_pair_as_documented()
{
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.5, 0.5, 0.5}, {}, 600, 24);
	btVoxelmapShape field(made.get());
	btPointShellShape shell(made.get());
	btVoxShellShape both(made.get());
	btBoxShape box(btVector3(btScalar(0.5), btScalar(0.5), btScalar(0.5)));
	const auto touch = [&](btCollisionShape* below, btCollisionShape* above) {
		Scene scene;
		scene.add(below, 0, btVector3(0, 0, 0));
		scene.add(above, 1, btVector3(0, btScalar(0.999), 0));
		scene.step();
		return scene.contacts() > 0;
	};
	CHECK(touch(&field, &shell));
	CHECK(touch(&shell, &field));
	CHECK(touch(&field, &both));
	CHECK(touch(&both, &field));
	CHECK(touch(&shell, &both));
	CHECK(touch(&both, &both));
	CHECK(touch(&box, &shell));
	CHECK(touch(&shell, &box));
	CHECK(touch(&box, &both));
	CHECK(!touch(&shell, &shell));
	CHECK(touch(&field, &field));  // one of them is sampled by the plugin
}

void triangles_serve_rays()
{
	btTriangleMesh mesh;
	add_box(mesh, btVector3(btScalar(0.5), btScalar(0.3), btScalar(0.2)));
	const vxs_cook_options options = coarse();
	btVoxShellShape shape(mesh, &options);
	struct Count : btTriangleCallback
	{
		int count = 0;
		void processTriangle(btVector3*, int, int) override { ++count; }
	} all, top, none;
	shape.processAllTriangles(&all, btVector3(-1, -1, -1), btVector3(1, 1, 1));
	CHECK(all.count == 12);
	shape.processAllTriangles(&top, btVector3(btScalar(-0.1), btScalar(0.29), btScalar(-0.1)), btVector3(btScalar(0.1), btScalar(0.31), btScalar(0.1)));
	CHECK(top.count == 2);
	shape.processAllTriangles(&none, btVector3(2, 2, 2), btVector3(3, 3, 3));
	CHECK(none.count == 0);

	Scene scene;
	scene.add(&shape, 1, btVector3(0, 1, 0));
	const btVector3 from(btScalar(0.1), 3, 0), to(btScalar(0.1), -3, 0);
	btCollisionWorld::ClosestRayResultCallback ray(from, to);
	scene.world.rayTest(from, to, ray);
	CHECK(ray.hasHit());
	CHECK_NEAR(ray.m_hitPointWorld.y(), 1.3, 1e-4);  // by the field, in either precision of Bullet
	CHECK_NEAR(ray.m_hitNormalWorld.y(), 1, 1e-4);
}

void balls_rest_on_a_torus_or_fall_through_its_hole()
{
	const voxshell::Shape made = voxshell::Shape::create_torus(0.5, 0.1, 1);
	btVoxelmapShape torus(made.c_handle());
	btSphereShape large(btScalar(0.55)), small(btScalar(0.3));
	Scene scene;
	scene.add(&torus, 0, btTransform::getIdentity());
	scene.add(&torus, 0, btTransform(btQuaternion::getIdentity(), btVector3(5, 0, 0)));
	const btRigidBody* rests = scene.add(&large, 1, btTransform(btQuaternion::getIdentity(), btVector3(0, btScalar(0.45), 0)));
	const btRigidBody* falls = scene.add(&small, 1, btTransform(btQuaternion::getIdentity(), btVector3(5, btScalar(0.45), 0)));
	for (int step = 0; step < 200; ++step)
		scene.world.stepSimulation(kStep, 0);
	// The ball's centre is 0.65 m from the circle in the tube.
	CHECK_NEAR(rests->getWorldTransform().getOrigin().y(), std::sqrt(0.65 * 0.65 - 0.5 * 0.5), 3e-3);
	CHECK_NEAR(falls->getWorldTransform().getOrigin().y(), 0.45 - 5, 0.1);
}

void errors_say_what_is_wrong()
{
	CHECK(throws("no_such_file", [] { btVoxShellShape shape("no_such_file.vxs"); }));
	CHECK(throws("no_such_mesh", [] { btVoxShellShape shape("no_such_mesh.stl"); }));
	CHECK(throws("voxshell", [] { btVoxShellShape shape(static_cast<const char*>(nullptr)); }));
	CHECK(throws("voxshell", [] { btVoxShellShape shape(static_cast<const vxs_shape*>(nullptr)); }));
	CHECK(throws("voxshell", [] {
		btTriangleMesh empty;
		btVoxShellShape shape(empty);
	}));
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.5, 0.5, 0.5}, {}, 100, 16);
	btVoxelmapShape field(made.get());
	CHECK(throws("pointshell", [&] { btPointShellShape shape(field.getQueryShape()); }));
}
}  // namespace

int main()
{
	from_a_triangle_mesh_with_inertia_and_bounds();
	a_mesh_is_moved_to_its_principal_frame();
	a_mesh_file_is_moved_to_its_principal_frame();
	a_centre_of_mass_off_the_origin_is_reported_once();
	cracks_of_rounding_do_not_open_a_mesh();
	any_storage_of_a_mesh_is_read();
	from_an_asset_and_from_a_mesh_file();
	the_three_classes_pair_as_documented();
	triangles_serve_rays();
	balls_rest_on_a_torus_or_fall_through_its_hole();
	errors_say_what_is_wrong();
	return finish();
}
