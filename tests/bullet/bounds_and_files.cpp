// Uses of a shape by a world other than collision: bounds, margin, user data, and serialisation to .bullet files.
#include <cstring>
#include <string>

#ifdef VOXSHELL_TEST_IMPORTER  // defined if libbullet-extras is available
#include <BulletWorldImporter/btBulletWorldImporter.h>
#endif

#include "scene.h"
#include "table.h"

namespace
{
/// Without rotation the box is that of the vertices plus the margin; with rotation it contains all of them plus the
/// margin.
void bounds_are_tight_and_conservative(const std::vector<btVector3>& vertices, btVoxShellBaseShape& shape)
{
	Random random(11);
	for (const btScalar margin : {btScalar(0), btScalar(0.01)})
	{
		shape.setMargin(margin);
		for (int i = 0; i < (on_valgrind() ? 5 : 200); ++i)
		{
			const btTransform pose(i == 0 ? btQuaternion::getIdentity() : random.rotation(), random.direction() * 10);
			btVector3 low(1e9f, 1e9f, 1e9f), high = -low, found_low, found_high;
			for (const btVector3& v : vertices)
			{
				const btVector3 p = pose(v);
				low.setMin(p);
				high.setMax(p);
			}
			shape.getAabb(pose, found_low, found_high);
			for (int axis = 0; axis < 3; ++axis)
			{
				const double rounding = 5e-6;
				CHECK(found_low[axis] <= low[axis] - margin + rounding);
				CHECK(found_high[axis] >= high[axis] + margin - rounding);
				if (i == 0)
				{
					CHECK_NEAR(found_low[axis], low[axis] - margin, rounding);
					CHECK_NEAR(found_high[axis], high[axis] + margin, rounding);
				}
			}
			if (failures() > 10)
				return;
		}
	}
}

/// Contacts begin at the margin; the body still rests at distance 0.
void the_margin_is_where_contacts_begin_and_not_where_bodies_rest()
{
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.2, 0.2, 0.2}, {}, 1000, 32);
	btVoxShellShape box(made.get());
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	for (const btScalar margin : {btScalar(0.001), btScalar(0.03)})
	{
		box.setMargin(margin);
		CHECK(box.getMargin() == margin);
		for (const double gap : {0.5 * double(margin), 1.5 * double(margin)})
		{
			Scene scene;
			scene.world.setGravity(btVector3(0, 0, 0));
			scene.add(&plane, 0, btVector3(0, 0, 0));
			scene.add(&box, 1, btVector3(0, btScalar(0.2 + gap), 0));
			scene.step();
			CHECK((scene.contacts() > 0) == (gap < double(margin)));
		}
		Scene scene;
		scene.add(&plane, 0, btVector3(0, 0, 0));
		btRigidBody* body = scene.add(&box, 1, btVector3(0, btScalar(0.25), 0));
		scene.step(300);
		CHECK_NEAR(body->getWorldTransform().getOrigin().y(), 0.2, 1e-4);
	}
	box.setMargin(btScalar(-1));
	CHECK(box.getMargin() >= 0);
}

/// User data of a shape is kept.
void user_data_is_kept()
{
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.2, 0.2, 0.2}, {}, 200, 16);
	btVoxShellShape box(made.get());
	int mine = 0;
	box.setUserPointer(&mine);
	box.setUserIndex(7);
	Scene scene;
	scene.add(&box, 1, btVector3(0, 0, 0));
	scene.step(3);
	CHECK(box.getUserPointer() == &mine && box.getUserIndex() == 7);
	CHECK(box.isConcave() && !box.isConvex() && !box.isCompound() && !box.isInfinite());
}

/// A world with Voxshell shapes is written, and everything that Bullet can read is read back.
void a_world_is_written_and_the_rest_of_it_read_again()
{
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.2, 0.2, 0.2}, {}, 200, 16);
	btVoxShellShape box(made.get());
	btVoxelmapShape field(made.get());
	btSphereShape sphere(btScalar(0.3));
	btDefaultSerializer serializer;
	{
		Scene scene;
		scene.add(&box, 1, btVector3(0, 1, 0));
		scene.add(&field, 0, btVector3(0, -1, 0));
		scene.add(&sphere, 2, btVector3(5, 6, 7));
		scene.world.serialize(&serializer);
	}
	CHECK(serializer.getCurrentBufferSize() > 100);
	CHECK(std::memcmp(serializer.getBufferPointer(), "BULLET", 6) == 0);
#ifdef VOXSHELL_TEST_IMPORTER
	Scene loaded;
	btBulletWorldImporter importer(&loaded.world);
	std::vector<char> file(serializer.getBufferPointer(), serializer.getBufferPointer() + serializer.getCurrentBufferSize());
	CHECK(importer.loadFileFromMemory(file.data(), int(file.size())));
	const btRigidBody* ball = nullptr;
	for (int i = 0; i < loaded.world.getNumCollisionObjects(); ++i)
	{
		const btCollisionObject* object = loaded.world.getCollisionObjectArray()[i];
		if (object->getCollisionShape()->getShapeType() == SPHERE_SHAPE_PROXYTYPE)
			ball = btRigidBody::upcast(object);
	}
	CHECK(ball != nullptr);
	if (ball)
	{
		CHECK_NEAR((ball->getWorldTransform().getOrigin() - btVector3(5, 6, 7)).length(), 0, 1e-6);
		CHECK_NEAR(ball->getInvMass(), 0.5, 1e-6);
	}
	loaded.world.stepSimulation(kStep, 0);
	importer.deleteAllData();
#else
	std::printf("skipped: reading a .bullet file again; Bullet's importer (libbullet-extras-dev) is not there\n");
#endif
}
}  // namespace

int main()
{
	btTriangleMesh mesh;
	add_primitive(mesh, VXS_PRIMITIVE_GEAR, {0.5, 0.4, 0.2, 0.1}, {14});
	const std::vector<btVector3> vertices = vertices_of(mesh);
	vxs_cook_options options;
	must(vxs_cook_options_init(&options, sizeof options));
	options.resolution = 48;
	options.sample_count = 1000;
	btVoxShellShape both(mesh, &options);
	btVoxelmapShape field(mesh, &options);
	btPointShellShape shell(mesh, &options);
	for (btVoxShellBaseShape* shape : {static_cast<btVoxShellBaseShape*>(&both), static_cast<btVoxShellBaseShape*>(&field), static_cast<btVoxShellBaseShape*>(&shell)})
		bounds_are_tight_and_conservative(vertices, *shape);
	the_margin_is_where_contacts_begin_and_not_where_bodies_rest();
	user_data_is_kept();
	a_world_is_written_and_the_rest_of_it_read_again();
	return finish();
}
