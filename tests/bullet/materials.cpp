// Triangles of manifold points, and friction and restitution of their materials, against closed forms.
#include "check.h"
#include "scene.h"

namespace
{
enum : unsigned
{
	ICE = 4,
	RUBBER = 9,
	PLAIN = 20
};

/// A sledge of 1 x 0.3 x 1 m on two runners at x = -0.45 and x = 0.45, 0.02 m wide, moved to its principal frame.
struct Sledge
{
	btTriangleMesh mesh;
	std::unique_ptr<btVoxShellShape> shape;
	btTransform frame;
	double bottom;  // height of the runners' lower side, in the frame of the shape

	explicit Sledge(const std::vector<unsigned>& materials)
	{
		add_box(mesh, btVector3(btScalar(0.46), btScalar(0.02), btScalar(0.5)), btTransform(btQuaternion::getIdentity(), btVector3(0, btScalar(0.05), 0)));
		for (const int side : {-1, 1})
			add_box(mesh, btVector3(btScalar(0.01), btScalar(0.04), btScalar(0.5)), btTransform(btQuaternion::getIdentity(), btVector3(btScalar(0.45 * side), 0, 0)));
		vxs_cook_options options;
		must(vxs_cook_options_init(&options, sizeof options));
		options.resolution = 128;
		options.sample_count = 4000;
		// Not moved to the principal frame: that is the frame of the boxes, up to a shift along y.
		shape.reset(new btVoxShellShape(mesh, &options));
		if (!materials.empty())
			shape->setTriangleMaterials(materials.data(), materials.size());
		bottom = -0.04;
	}
};

/// Twelve triangles of plain material, then those of the runners.
std::vector<unsigned> runners(unsigned left, unsigned right)
{
	std::vector<unsigned> all(12, PLAIN);
	all.insert(all.end(), 12, left);
	all.insert(all.end(), 12, right);
	return all;
}

/// So fast, m/s, that the turning changes the direction of friction by less than 1%.
const btScalar kSpeed = 20;

/// One runner of ice and one of rubber: friction brakes with mu m g / 2 at the rubber runner, and so turns the sledge.
void ice_and_rubber_slide_and_turn_as_the_closed_form_says()
{
	for (const int rubber_side : {-1, 1})
	{
		Sledge sledge(rubber_side > 0 ? runners(ICE, RUBBER) : runners(RUBBER, ICE));
		sledge.shape->setMaterial(ICE, 0, 0);
		sledge.shape->setMaterial(RUBBER, btScalar(0.8), 0);
		btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
		Scene scene;
		scene.add(&plane, 0, btVector3(0, 0, 0));  // friction 0.5
		btRigidBody* body = scene.add(sledge.shape.get(), 2, btVector3(0, btScalar(-sledge.bottom), 0));
		scene.step(100);
		body->setLinearVelocity(btVector3(0, 0, kSpeed));
		body->setAngularVelocity(btVector3(0, 0, 0));
		const int steps = 20;
		scene.step(steps);
		const double t = steps / 200.0, mu = 0.8 * 0.5, force = mu * 2 * 10 / 2;
		// The centre of mass is in the middle. The force acts at the rubber runner, against the motion.
		const double inertia = 1 / double(body->getInvInertiaTensorWorld()[1][1]);
		const double slowed = double(kSpeed) - double(body->getLinearVelocity().z()), turned = double(body->getAngularVelocity().y());
		std::printf("rubber on side %d: slowed by %.4f m/s, expected %.4f; turns at %.4f rad/s, expected %.4f\n", rubber_side, slowed, force / 2 * t, turned, rubber_side * 0.45 * force * t / inertia);
		CHECK_NEAR(slowed, force / 2 * t, 0.02 * force / 2 * t);
		CHECK_NEAR(turned, rubber_side * 0.45 * force * t / inertia, 0.02 * 0.45 * force * t / inertia);
	}
	// All ice: nothing slows it. All rubber, and without a table the body's own friction: twice the force, and no turn.
	for (const double friction : {0.0, 0.8, -1.0})
	{
		Sledge sledge(runners(ICE, ICE));
		if (friction >= 0)
			sledge.shape->setMaterial(ICE, btScalar(friction), 0);
		btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
		Scene scene;
		scene.add(&plane, 0, btVector3(0, 0, 0));
		btRigidBody* body = scene.add(sledge.shape.get(), 2, btVector3(0, btScalar(-sledge.bottom), 0));
		scene.step(100);
		body->setLinearVelocity(btVector3(0, 0, kSpeed));
		scene.step(20);
		const double mu = (friction >= 0 ? friction : 0.5) * 0.5;
		CHECK_NEAR(double(kSpeed) - double(body->getLinearVelocity().z()), mu * 10 * 0.1, 0.01 * mu * 10 * 0.1 + 1e-3);
		CHECK_NEAR(body->getAngularVelocity().y(), 0, 2e-3);
	}
}

/// A ball of one material rebounds at the product of both restitutions.
void restitution_of_a_material_decides_the_rebound()
{
	const Handle made = primitive(VXS_PRIMITIVE_SPHERE, {0.5}, {4}, 4000, 64);
	for (const double e : {0.0, 0.6, 1.0})
	{
		btVoxShellShape ball(made.get());
		size_t vertices = 0, indices = 0;
		vxs_shape_get_triangles(made.get(), nullptr, 0, &vertices, nullptr, 0, &indices);
		const std::vector<unsigned> all(indices / 3, RUBBER);
		ball.setTriangleMaterials(all.data(), all.size());
		ball.setMaterial(RUBBER, btScalar(0.5), btScalar(e));
		btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
		Scene scene;
		scene.add(&plane, 0, btVector3(0, 0, 0), 1);
		btRigidBody* body = scene.add(&ball, 1, btVector3(0, btScalar(1.5), 0), btScalar(0.3));
		double fastest = 0;
		for (int i = 0; i < 150; ++i)
		{
			scene.step();
			fastest = std::max(fastest, double(body->getLinearVelocity().y()));
		}
		const double impact = std::sqrt(2 * 10 * 1.0);
		CHECK_NEAR(fastest, e * impact, 0.02 * impact);
	}
}

/// Arguments that Bullet's callback of added contacts has received.
struct Told
{
	int calls = 0, wrong = 0;
	btScalar friction = -1;
	const btVoxShellShape* shape = nullptr;
	const btTriangleMesh* mesh = nullptr;
	int parts = 1;
} told;

bool on_triangle(const btVector3& p, const btVector3* corners)
{
	const btVector3 n = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalized();
	if (btFabs(n.dot(p - corners[0])) > btScalar(1e-3))
		return false;
	for (int i = 0; i < 3; ++i)
		if ((corners[(i + 1) % 3] - corners[i]).cross(p - corners[i]).dot(n) < btScalar(-1e-3))
			return false;
	return true;
}

/// Checks that a point is on the triangle that it names.
bool names_its_triangle(const btManifoldPoint& point, bool first)
{
	const int part = first ? point.m_partId0 : point.m_partId1, index = first ? point.m_index0 : point.m_index1;
	if (part < 0 || part >= told.parts || index < 0)
		return false;
	const unsigned char *vertices, *indices;
	int vertex_count, vertex_stride, triangle_stride, triangle_count;
	PHY_ScalarType vertex_type, index_type;
	told.mesh->getLockedReadOnlyVertexIndexBase(&vertices, vertex_count, vertex_type, vertex_stride, &indices, triangle_stride, triangle_count, index_type, part);
	if (index >= triangle_count)
		return false;
	btVector3 corners[3];
	for (int i = 0; i < 3; ++i)
		corners[i] = *reinterpret_cast<const btVector3*>(vertices + reinterpret_cast<const int*>(indices + index * triangle_stride)[i] * vertex_stride);
	return on_triangle(first ? point.m_localPointA : point.m_localPointB, corners);
}

bool added(btManifoldPoint& point, const btCollisionObjectWrapper* wrap0, int, int, const btCollisionObjectWrapper*, int, int)
{
	++told.calls;
	told.wrong += !names_its_triangle(point, wrap0->getCollisionShape() == told.shape);
	if (told.friction >= 0)
		point.m_combinedFriction = told.friction;
	return false;
}

/// Returns all points of a scene.
std::vector<const btManifoldPoint*> points_of(const Scene& scene)
{
	std::vector<const btManifoldPoint*> all;
	for (int m = 0; m < scene.dispatcher.getNumManifolds(); ++m)
	{
		const btPersistentManifold* manifold = scene.dispatcher.getManifoldByIndexInternal(m);
		for (int i = 0; i < manifold->getNumContacts(); ++i)
			all.push_back(&manifold->getContactPoint(i));
	}
	return all;
}

void callbacks_get_the_triangle_and_decide_the_friction()
{
	Sledge sledge(runners(ICE, RUBBER));
	sledge.shape->setMaterial(ICE, 0, 0);
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	told = Told();
	told.shape = sledge.shape.get();
	told.mesh = &sledge.mesh;
	gContactAddedCallback = added;
	for (const bool sledge_first : {false, true})
		for (const double own : {-1.0, 0.3})
		{
			told.friction = btScalar(own);
			Scene scene;
			btRigidBody* body = nullptr;
			if (sledge_first)
				body = scene.add(sledge.shape.get(), 2, btVector3(0, btScalar(-sledge.bottom), 0));
			scene.add(&plane, 0, btVector3(0, 0, 0));
			if (!sledge_first)
				body = scene.add(sledge.shape.get(), 2, btVector3(0, btScalar(-sledge.bottom), 0));
			body->setCollisionFlags(body->getCollisionFlags() | btCollisionObject::CF_CUSTOM_MATERIAL_CALLBACK);
			scene.step(30);
			int on_ice = 0, on_rubber = 0;
			for (const btManifoldPoint* point : points_of(scene))
			{
				const bool first = point->m_localPointA.length() < 1 && sledge_first;
				CHECK(names_its_triangle(*point, first));
				const bool ice = (first ? point->m_localPointA : point->m_localPointB).x() < 0;
				(ice ? on_ice : on_rubber)++;
				// Ice has a place in the table; rubber has not, and the body's friction is 0.5 like the plane's.
				CHECK_NEAR(point->m_combinedFriction, own >= 0 ? own : (ice ? 0.0 : 0.25), 1e-6);
			}
			CHECK(on_ice >= 2 && on_rubber >= 2);
		}
	gContactAddedCallback = nullptr;
	CHECK(told.calls > 100 && told.wrong == 0);
}

/// Without materials the triangles are told if the settings ask for them, with parts and after scaling; in sweeps as in contacts.
void settings_ask_for_triangles()
{
	btTriangleMesh box;
	add_box(box, btVector3(btScalar(0.5), btScalar(0.5), btScalar(0.5)));
	vxs_cook_options options;
	must(vxs_cook_options_init(&options, sizeof options));
	options.resolution = 32;
	options.sample_count = 800;
	btVoxShellShape shape(box, &options);
	CHECK(!shape.hasTriangleMaterials());
	told = Told();
	told.shape = &shape;
	told.mesh = &box;
	btVoxShellSettings settings;
	settings.m_triangles = true;
	Scene scene(settings);
	btStaticPlaneShape plane(btVector3(0, 1, 0), 0);
	scene.add(&plane, 0, btVector3(0, 0, 0));
	scene.add(&shape, 1, btVector3(0, btScalar(0.5), 0));
	scene.add(&shape, 1, btVector3(btScalar(0.2), btScalar(1.5), 0));
	scene.step(10);
	int between = 0;
	for (const btManifoldPoint* point : points_of(scene))
	{
		const bool lower = point->getPositionWorldOnB().y() < btScalar(0.5);
		CHECK(names_its_triangle(*point, false));
		if (!lower)
		{
			++between;
			CHECK(names_its_triangle(*point, true));
		}
	}
	CHECK(between >= 3);

	// Parts of a mesh.
	btTriangleIndexVertexArray two;
	const unsigned char *vertices, *indices;
	int vertex_count, vertex_stride, triangle_stride, triangle_count;
	PHY_ScalarType vertex_type, index_type;
	box.getLockedReadOnlyVertexIndexBase(&vertices, vertex_count, vertex_type, vertex_stride, &indices, triangle_stride, triangle_count, index_type, 0);
	for (int part = 0; part < 2; ++part)
	{
		btIndexedMesh half;
		half.m_numTriangles = part == 0 ? 5 : 7;
		half.m_triangleIndexBase = indices + (part == 0 ? 0 : 5) * triangle_stride;
		half.m_triangleIndexStride = triangle_stride;
		half.m_numVertices = vertex_count;
		half.m_vertexBase = vertices;
		half.m_vertexStride = vertex_stride;
		half.m_vertexType = vertex_type;
		two.addIndexedMesh(half);
	}
	btVoxShellShape parted(two, &options);
	for (unsigned triangle = 0; triangle < 12; ++triangle)
	{
		int part = -1, index = -1;
		parted.getPartAndIndex(triangle, part, index);
		CHECK(part == (triangle < 5 ? 0 : 1) && index == int(triangle < 5 ? triangle : triangle - 5));
	}
	struct Count : btTriangleCallback
	{
		int of_part[2] = {0, 0};
		void processTriangle(btVector3*, int part, int) override { ++of_part[part]; }
	} count;
	parted.processAllTriangles(&count, btVector3(-1, -1, -1), btVector3(1, 1, 1));
	CHECK(count.of_part[0] == 5 && count.of_part[1] == 7);

	// Materials follow the scale.
	std::vector<unsigned> all(12);
	for (unsigned i = 0; i < 12; ++i)
		all[i] = i;
	parted.setLocalScaling(btVector3(2, 2, 2));
	parted.setTriangleMaterials(all.data(), all.size());
	parted.setLocalScaling(btVector3(3, 3, 3));
	CHECK(parted.hasTriangleMaterials());
	std::vector<unsigned> kept(12, 99);
	size_t material_count = 0;
	must(vxs_shape_get_materials(parted.getShape(), kept.data(), kept.size(), &material_count));
	CHECK(material_count == 12 && kept == all);
	bool refused = false;
	try
	{
		parted.setTriangleMaterials(all.data(), 11);
	}
	catch (const std::runtime_error&)
	{
		refused = true;
	}
	CHECK(refused && parted.hasTriangleMaterials());
	btScalar friction = 0, restitution = 0;
	CHECK(!parted.getMaterial(3, friction, restitution));
	parted.setMaterial(3, 1, 0);
	parted.setMaterial(1, 2, 0);
	parted.setMaterial(3, btScalar(0.25), btScalar(0.75));
	CHECK(parted.getMaterial(3, friction, restitution) && friction == btScalar(0.25) && restitution == btScalar(0.75));
	CHECK(parted.getMaterial(1, friction, restitution) && friction == 2);
}
}  // namespace

int main()
{
	ice_and_rubber_slide_and_turn_as_the_closed_form_says();
	restitution_of_a_material_decides_the_rebound();
	callbacks_get_the_triangle_and_decide_the_friction();
	settings_ask_for_triangles();
	return finish();
}
