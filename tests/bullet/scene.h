// A Bullet world with the standard settings of this project's figures: g = 10 m/s² along -y, friction 0.5, no sleeping,
// true steps of 1/200 s. Also the shapes of the tests.
#ifndef VOXSHELL_TEST_SCENE_H
#define VOXSHELL_TEST_SCENE_H

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <btBulletDynamicsCommon.h>
#include <voxshell/bullet.h>

const btScalar kStep = btScalar(1) / 200;

inline bool on_valgrind() { return std::getenv("VOXSHELL_VALGRIND") != nullptr; }

/// Returns a tolerance for values that are exact except for the rounding of btScalar: `in_float`, and a millionth of it
/// in double.
inline double rounding(double in_float) { return sizeof(btScalar) == sizeof(double) ? 1e-6 * in_float : in_float; }

struct Scene
{
	btDefaultCollisionConfiguration configuration;
	btCollisionDispatcher dispatcher{&configuration};
	btDbvtBroadphase broadphase;
	btSequentialImpulseConstraintSolver solver;
	btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
	std::vector<std::unique_ptr<btRigidBody>> bodies;

	explicit Scene(const btVoxShellSettings& settings = btVoxShellSettings())
	{
		btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher, settings);
		world.setGravity(btVector3(0, -10, 0));
	}
	~Scene()
	{
		for (auto& body : bodies)
			world.removeRigidBody(body.get());
	}

	/// Mass 0 means fixed.
	btRigidBody* add(btCollisionShape* shape, btScalar mass, const btTransform& at, btScalar restitution = 0)
	{
		btVector3 inertia(0, 0, 0);
		if (mass > 0)
			shape->calculateLocalInertia(mass, inertia);
		btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
		info.m_startWorldTransform = at;
		info.m_friction = btScalar(0.5);
		info.m_restitution = restitution;
		bodies.emplace_back(new btRigidBody(info));
		bodies.back()->setActivationState(DISABLE_DEACTIVATION);
		world.addRigidBody(bodies.back().get());
		return bodies.back().get();
	}
	btRigidBody* add(btCollisionShape* shape, btScalar mass, const btVector3& at, btScalar restitution = 0)
	{
		return add(shape, mass, btTransform(btQuaternion::getIdentity(), at), restitution);
	}

	void step(int count = 1)
	{
		for (int i = 0; i < count; ++i)
			world.stepSimulation(kStep, 0);
	}

	/// Returns the smallest distance over all contact points; 1e30 without any.
	double deepest() const
	{
		double least = 1e30;
		for (int m = 0; m < dispatcher.getNumManifolds(); ++m)
		{
			const btPersistentManifold* manifold = dispatcher.getManifoldByIndexInternal(m);
			for (int i = 0; i < manifold->getNumContacts(); ++i)
				least = std::min(least, double(manifold->getContactPoint(i).getDistance()));
		}
		return least;
	}
	int contacts() const
	{
		int count = 0;
		for (int m = 0; m < dispatcher.getNumManifolds(); ++m)
			count += dispatcher.getManifoldByIndexInternal(m)->getNumContacts();
		return count;
	}
};

/// Measures how stable the manifolds of a scene are. The points of one feature should keep their place and age.
class Calm
{
public:
	/// Call after each step.
	void look(const Scene& scene)
	{
		std::map<std::pair<const btPersistentManifold*, int>, Seen> now;
		for (int m = 0; m < scene.dispatcher.getNumManifolds(); ++m)
		{
			const btPersistentManifold* manifold = scene.dispatcher.getManifoldByIndexInternal(m);
			for (int i = 0; i < manifold->getNumContacts(); ++i)
			{
				const btManifoldPoint& point = manifold->getContactPoint(i);
				const Seen seen = {point.getLifeTime(), point.m_normalWorldOnB};
				const auto before = m_before.find({manifold, i});
				now[{manifold, i}] = seen;
				++m_points;
				if (before == m_before.end() || seen.age != before->second.age + 1)
					continue;
				++m_kept;
				m_turned += std::atan2(double(seen.normal.cross(before->second.normal).length()), double(seen.normal.dot(before->second.normal)));
			}
		}
		m_points -= m_before.empty() ? int(now.size()) : 0;
		m_before.swap(now);
	}
	/// Returns the mean angle between consecutive normals of the same feature, rad.
	double turned() const { return m_kept > 0 ? m_turned / m_kept : 0; }
	/// Returns the fraction of the points that existed in the previous step.
	double kept() const { return m_points > 0 ? double(m_kept) / m_points : 1; }

private:
	struct Seen
	{
		int age;
		btVector3 normal;
	};
	std::map<std::pair<const btPersistentManifold*, int>, Seen> m_before;
	int m_points = 0, m_kept = 0;
	double m_turned = 0;
};

// Bullet before 2.86 has one table of algorithms.
#if BT_BULLET_VERSION < 286
enum ebtDispatcherQueryType
{
	BT_CONTACT_POINT_ALGORITHMS = 1,
	BT_CLOSEST_POINT_ALGORITHMS = 2
};
#endif
inline btCollisionAlgorithm* find_algorithm(btDispatcher& dispatcher, const btCollisionObjectWrapper& a, const btCollisionObjectWrapper& b, ebtDispatcherQueryType table)
{
#if BT_BULLET_VERSION < 286
	(void)table;
	return dispatcher.findAlgorithm(&a, &b, nullptr);
#else
	return dispatcher.findAlgorithm(&a, &b, nullptr, table);
#endif
}

inline double kinetic_energy(const btRigidBody& body)
{
	const btVector3 w = body.getWorldTransform().getBasis().transpose() * body.getAngularVelocity();
	const btVector3 inverse = body.getInvInertiaDiagLocal();
	double energy = 0.5 / double(body.getInvMass()) * double(body.getLinearVelocity().length2());
	for (int i = 0; i < 3; ++i)
		energy += inverse[i] > 0 ? 0.5 * double(w[i] * w[i] / inverse[i]) : 0.0;
	return energy;
}

struct ReleaseShape
{
	void operator()(vxs_shape* shape) const { vxs_shape_release(shape); }
};
using Handle = std::unique_ptr<vxs_shape, ReleaseShape>;

inline void must(vxs_status status)
{
	if (status != VXS_OK)
		throw std::runtime_error(std::string(vxs_status_name(status)) + ": " + vxs_last_error());
}

/// Cooks a built-in primitive with `samples` samples (0: by voxel size) and voxels of 1/resolution of its extent.
inline Handle primitive(uint32_t kind, std::initializer_list<double> size, std::initializer_list<uint32_t> detail = {}, uint32_t samples = 2000, uint32_t resolution = 64)
{
	vxs_primitive p;
	must(vxs_primitive_init(&p, sizeof p, kind));
	size_t i = 0;
	for (const double s : size)
		p.size[i++] = s;
	i = 0;
	for (const uint32_t d : detail)
		p.detail[i++] = d;
	vxs_cook_options options;
	must(vxs_cook_options_init(&options, sizeof options));
	options.sample_count = samples;
	options.resolution = resolution;
	vxs_shape* shape = nullptr;
	must(vxs_shape_create_primitive(&p, &options, &shape));
	return Handle(shape);
}

/// Adds the triangles of a built-in primitive.
inline void add_primitive(btTriangleMesh& mesh, uint32_t kind, std::initializer_list<double> size, std::initializer_list<uint32_t> detail)
{
	const Handle made = primitive(kind, size, detail, 100, 16);
	size_t vertex_count = 0, index_count = 0;
	vxs_shape_get_triangles(made.get(), nullptr, 0, &vertex_count, nullptr, 0, &index_count);
	std::vector<vxs_vec3> vertices(vertex_count);
	std::vector<uint32_t> indices(index_count);
	must(vxs_shape_get_triangles(made.get(), vertices.data(), vertex_count, &vertex_count, indices.data(), index_count, &index_count));
	for (const vxs_vec3& v : vertices)
		mesh.findOrAddVertex(btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z)), false);
	for (size_t i = 0; i < index_count; i += 3)
		mesh.addTriangleIndices(int(indices[i]), int(indices[i + 1]), int(indices[i + 2]));
}

/// Returns the vertices of a mesh of one part, in its own frame.
inline std::vector<btVector3> vertices_of(const btTriangleMesh& mesh)
{
	const unsigned char *vertices, *indices;
	int vertex_count, vertex_stride, triangle_stride, triangle_count;
	PHY_ScalarType vertex_type, index_type;
	mesh.getLockedReadOnlyVertexIndexBase(&vertices, vertex_count, vertex_type, vertex_stride, &indices, triangle_stride, triangle_count, index_type, 0);
	std::vector<btVector3> all;
	for (int i = 0; i < vertex_count; ++i)
		all.push_back(*reinterpret_cast<const btVector3*>(vertices + i * vertex_stride));
	return all;
}

/// Returns the directory of the real meshes, with a slash; see tests/README or set VOXSHELL_MESHES.
inline std::string mesh_directory()
{
	if (const char* set = std::getenv("VOXSHELL_MESHES"))
		return std::string(set) + "/";
	const std::string here = __FILE__;
	return here.substr(0, here.find_last_of('/') + 1) + "../../../shared/meshes/";
}

/// Returns true if the mesh exists; otherwise prints that the test is skipped.
inline bool have_mesh(const std::string& name)
{
	if (std::ifstream(mesh_directory() + name))
		return true;
	std::printf("skipped: %s%s is not there\n", mesh_directory().c_str(), name.c_str());
	return false;
}

/// Loads an OBJ file of triangles, scaled to `extent` along its largest side.
inline void load_obj(const std::string& name, double extent, btTriangleMesh& mesh)
{
	std::ifstream file(mesh_directory() + name);
	std::vector<btVector3> vertices;
	std::vector<int> faces;
	std::string word;
	std::string line;
	btVector3 low(1e30f, 1e30f, 1e30f), high(-1e30f, -1e30f, -1e30f);
	while (std::getline(file, line))
	{
		if (line.compare(0, 2, "v ") == 0)
		{
			double x, y, z;
			if (std::sscanf(line.c_str() + 2, "%lf %lf %lf", &x, &y, &z) != 3)
				throw std::runtime_error("bad vertex: " + line);
			vertices.push_back(btVector3(btScalar(x), btScalar(y), btScalar(z)));
			low.setMin(vertices.back());
			high.setMax(vertices.back());
		}
		else if (line.compare(0, 2, "f ") == 0)
		{
			const char* at = line.c_str() + 2;
			for (int corner = 0; corner < 3; ++corner)
			{
				char* end;
				faces.push_back(int(std::strtol(at, &end, 10)) - 1);
				at = end;
				while (*at && *at != ' ')
					++at;
			}
		}
	}
	const btVector3 size = high - low;
	const btScalar scale = btScalar(extent) / size[size.maxAxis()];
	mesh.preallocateVertices(int(vertices.size()));
	mesh.preallocateIndices(int(faces.size()));
	for (const btVector3& v : vertices)
		mesh.findOrAddVertex(v * scale, false);
	for (size_t i = 0; i < faces.size(); i += 3)
		mesh.addTriangleIndices(faces[i], faces[i + 1], faces[i + 2]);
}

/// Adds a box of twelve triangles.
inline void add_box(btTriangleMesh& mesh, const btVector3& half, const btTransform& at = btTransform::getIdentity())
{
	const auto corner = [&](int i) { return at * btVector3(i & 1 ? half.x() : -half.x(), i & 2 ? half.y() : -half.y(), i & 4 ? half.z() : -half.z()); };
	static const int faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4}, {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
	for (const auto& f : faces)
		mesh.addTriangle(corner(f[0]), corner(f[1]), corner(f[2]), true);
}

#endif
