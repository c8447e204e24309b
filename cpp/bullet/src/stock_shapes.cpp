#include "stock_shapes.h"

#include <cstring>
#include <list>
#include <mutex>

#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btCapsuleShape.h>
#include <BulletCollision/CollisionShapes/btConeShape.h>
#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/CollisionShapes/btConvexTriangleMeshShape.h>
#include <BulletCollision/CollisionShapes/btCylinderShape.h>
#include <BulletCollision/CollisionShapes/btSphereShape.h>
#include <BulletCollision/CollisionShapes/btStaticPlaneShape.h>
#include <BulletCollision/CollisionShapes/btStridingMeshInterface.h>
#include <LinearMath/btConvexHullComputer.h>

#include "vec.h"

namespace voxshell_bullet
{
namespace
{
using Signature = StockShape::Signature;

/// One row of the table: how a shape of this type is told from a changed one, and how its forms are made.
struct Row
{
	int type;
	void (*describe)(const btCollisionShape*, Signature&);
	vxs_status (*field)(const Signature&, vxs_shape**);
	/// Its surface, for sampling; null: it has no end.
	bool (*surface)(const Signature&, Soup&);
	/// Bullet adds the margin outside (true), or the shape's size includes it (false).
	bool inflated;
};

template <typename T>
const T* as(const btCollisionShape* shape)
{
	return static_cast<const T*>(shape);
}

void put(Signature& s, const btVector3& v)
{
	for (int i = 0; i < 3; ++i)
		s.numbers[i] = double(v[i]);
}

/// The triangles of one of the library's round primitives, whose axis is y, turned to `axis`.
bool turned_primitive(uint32_t kind, double radius, double length, int axis, Soup& soup)
{
	vxs_primitive primitive;
	vxs_cook_options options;
	if (vxs_primitive_init(&primitive, sizeof primitive, kind) != VXS_OK || vxs_cook_options_init(&options, sizeof options) != VXS_OK)
		return false;
	primitive.size[0] = radius;
	primitive.size[1] = length;
	options.forms = VXS_FORM_POINTSHELL;
	options.sampling = VXS_SAMPLING_VERTICES;  // the cheapest: only the triangles are wanted
	vxs_shape* made = nullptr;
	if (vxs_shape_create_primitive(&primitive, &options, &made) != VXS_OK)
		return false;
	const Shape shape(made);
	size_t vertex_count = 0, index_count = 0;
	if (vxs_shape_get_triangles(made, nullptr, 0, &vertex_count, nullptr, 0, &index_count) != VXS_TRUNCATED)
		return false;
	soup.vertices.resize(vertex_count);
	soup.indices.resize(index_count);
	if (vxs_shape_get_triangles(made, soup.vertices.data(), vertex_count, &vertex_count, soup.indices.data(), index_count, &index_count) != VXS_OK)
		return false;
	for (vxs_vec3& v : soup.vertices)
		v = axis == 0 ? vxs_vec3{v.y, v.z, v.x} : (axis == 2 ? vxs_vec3{v.z, v.x, v.y} : v);
	return true;
}

// Static plane: n·x = c in its own frame; its margin plays no part in Bullet's collisions.

void describe_plane(const btCollisionShape* shape, Signature& s)
{
	put(s, as<btStaticPlaneShape>(shape)->getPlaneNormal());
	s.numbers[3] = double(as<btStaticPlaneShape>(shape)->getPlaneConstant());
}

vxs_status plane_field(const Signature& s, vxs_shape** out)
{
	return vxs_shape_create_half_space({s.numbers[0], s.numbers[1], s.numbers[2]}, s.numbers[3], out);
}

// Box: half extents with margin are the box that was asked for. Its edges are sharp here; Bullet rounds them by the margin
// against all shapes but another box.

void describe_box(const btCollisionShape* shape, Signature& s) { put(s, as<btBoxShape>(shape)->getHalfExtentsWithMargin()); }

vxs_status box_field(const Signature& s, vxs_shape** out) { return vxs_shape_create_box({s.numbers[0], s.numbers[1], s.numbers[2]}, out); }

bool box_surface(const Signature& s, Soup& soup)
{
	for (int i = 0; i < 8; ++i)
		soup.vertices.push_back({i & 1 ? s.numbers[0] : -s.numbers[0], i & 2 ? s.numbers[1] : -s.numbers[1], i & 4 ? s.numbers[2] : -s.numbers[2]});
	soup.indices = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
	return true;
}

// Sphere: the radius is the margin, and follows the x scaling.

void describe_sphere(const btCollisionShape* shape, Signature& s) { s.numbers[0] = double(as<btSphereShape>(shape)->getRadius()); }

vxs_status sphere_field(const Signature& s, vxs_shape** out) { return vxs_shape_create_sphere(s.numbers[0], out); }

bool sphere_surface(const Signature& s, Soup& soup) { return turned_primitive(VXS_PRIMITIVE_SPHERE, s.numbers[0], 0, 1, soup); }

// Capsule: the radius is the margin.

void describe_capsule(const btCollisionShape* shape, Signature& s)
{
	const btCapsuleShape* capsule = as<btCapsuleShape>(shape);
	s.numbers[0] = double(capsule->getRadius());
	s.numbers[1] = double(capsule->getHalfHeight());
	s.numbers[2] = capsule->getUpAxis();
}

vxs_status capsule_field(const Signature& s, vxs_shape** out)
{
	if (s.numbers[1] <= 0)
		return sphere_field(s, out);
	return vxs_shape_create_capsule(s.numbers[0], s.numbers[1], uint32_t(s.numbers[2]), out);
}

bool capsule_surface(const Signature& s, Soup& soup)
{
	if (s.numbers[1] <= 0)
		return sphere_surface(s, soup);
	return turned_primitive(VXS_PRIMITIVE_CAPSULE, s.numbers[0], s.numbers[1], int(s.numbers[2]), soup);
}

// Cylinder: half extents with margin, as for the box.

void describe_cylinder(const btCollisionShape* shape, Signature& s)
{
	const btCylinderShape* cylinder = as<btCylinderShape>(shape);
	const int axis = cylinder->getUpAxis();
	const btVector3 half = cylinder->getHalfExtentsWithMargin();
	s.numbers[0] = double(half[(axis + 1) % 3]);
	s.numbers[1] = double(half[axis]);
	s.numbers[2] = axis;
}

vxs_status cylinder_field(const Signature& s, vxs_shape** out) { return vxs_shape_create_cylinder(s.numbers[0], s.numbers[1], uint32_t(s.numbers[2]), out); }

bool cylinder_surface(const Signature& s, Soup& soup) { return turned_primitive(VXS_PRIMITIVE_CYLINDER, s.numbers[0], s.numbers[1], int(s.numbers[2]), soup); }

// Cone: Bullet adds the margin around the whole cone.

void describe_cone(const btCollisionShape* shape, Signature& s)
{
	const btConeShape* cone = as<btConeShape>(shape);
	s.numbers[0] = double(cone->getRadius());
	s.numbers[1] = double(cone->getHeight());
	s.numbers[2] = cone->getConeUpIndex();
}

vxs_status cone_field(const Signature& s, vxs_shape** out) { return vxs_shape_create_cone(s.numbers[0], s.numbers[1], uint32_t(s.numbers[2]), out); }

bool cone_surface(const Signature& s, Soup& soup) { return turned_primitive(VXS_PRIMITIVE_CONE, s.numbers[0], s.numbers[1], int(s.numbers[2]), soup); }

// Convex hull: Bullet adds the margin around it.

void describe_hull(const btCollisionShape* shape, Signature& s)
{
	const btConvexHullShape* hull = as<btConvexHullShape>(shape);
	for (int i = 0; i < hull->getNumPoints(); ++i)
		s.points.push_back(to_vec(hull->getScaledPoint(i)));
}

vxs_status hull_field(const Signature& s, vxs_shape** out) { return vxs_shape_create_convex_hull(s.points.data(), s.points.size(), out); }

bool hull_surface(const Signature& s, Soup& soup)
{
	btConvexHullComputer hull;
	hull.compute(&s.points[0].x, int(sizeof s.points[0]), int(s.points.size()), 0, 0);
	for (int i = 0; i < hull.vertices.size(); ++i)
		soup.vertices.push_back(to_vec(hull.vertices[i]));
	for (int i = 0; i < hull.faces.size(); ++i)
	{
		const btConvexHullComputer::Edge* const first = &hull.edges[hull.faces[i]];
		for (const btConvexHullComputer::Edge* edge = first->getNextEdgeOfFace(); edge->getTargetVertex() != first->getSourceVertex(); edge = edge->getNextEdgeOfFace())
			soup.indices.insert(soup.indices.end(), {uint32_t(first->getSourceVertex()), uint32_t(edge->getSourceVertex()), uint32_t(edge->getTargetVertex())});
	}
	return !soup.indices.empty();
}

// Convex triangle mesh: the hull of its vertices, with the margin around it.

void describe_convex_mesh(const btCollisionShape* shape, Signature& s)
{
	struct Collect : btInternalTriangleIndexCallback
	{
		std::vector<vxs_vec3>* points;
		void internalProcessTriangleIndex(btVector3* triangle, int, int) override
		{
			for (int i = 0; i < 3; ++i)
				points->push_back(to_vec(triangle[i]));
		}
	} collect;
	collect.points = &s.points;
	const btVector3 all(BT_LARGE_FLOAT, BT_LARGE_FLOAT, BT_LARGE_FLOAT);
	as<btConvexTriangleMeshShape>(shape)->getMeshInterface()->InternalProcessAllTriangles(&collect, -all, all);
}

/// The pair table: a Voxshell shape against each of these, in both orders.
const Row kTable[] = {
	{STATIC_PLANE_PROXYTYPE, describe_plane, plane_field, nullptr, false},
	{BOX_SHAPE_PROXYTYPE, describe_box, box_field, box_surface, false},
	{SPHERE_SHAPE_PROXYTYPE, describe_sphere, sphere_field, sphere_surface, false},
	{CAPSULE_SHAPE_PROXYTYPE, describe_capsule, capsule_field, capsule_surface, false},
	{CYLINDER_SHAPE_PROXYTYPE, describe_cylinder, cylinder_field, cylinder_surface, false},
	{CONE_SHAPE_PROXYTYPE, describe_cone, cone_field, cone_surface, true},
	{CONVEX_HULL_SHAPE_PROXYTYPE, describe_hull, hull_field, hull_surface, true},
	{CONVEX_TRIANGLEMESH_SHAPE_PROXYTYPE, describe_convex_mesh, hull_field, hull_surface, true},
};

const Row* find_row(int type)
{
	for (const Row& row : kTable)
		if (row.type == type)
			return &row;
	return nullptr;
}

Shape make(const Row& row, const Signature& s)
{
	vxs_shape* made = nullptr;
	if (s.form == StockShape::FIELD)
		return Shape(row.field(s, &made) == VXS_OK ? made : nullptr);
	Soup soup;
	vxs_cook_options options;
	if (!row.surface || !row.surface(s, soup) || vxs_cook_options_init(&options, sizeof options) != VXS_OK)
		return nullptr;
	options.forms = VXS_FORM_POINTSHELL;
	options.sampling = VXS_SAMPLING_UNIFORM;
	options.sample_count = StockShape::kSamples;
	const vxs_status status = vxs_shape_create_from_triangles(soup.vertices.data(), soup.vertices.size(), soup.indices.data(), soup.indices.size() / 3, &options, &made);
	return Shape(status == VXS_OK ? made : nullptr);
}

/// Pairs come and go much more often than shapes: the forms made last are kept, by what they depend on, so that fifty boxes of
/// one size cost one. Shared by all worlds; only a new or changed pair comes here.
std::shared_ptr<vxs_shape> make_or_share(const Row& row, const Signature& signature)
{
	struct Entry
	{
		Signature signature;
		std::shared_ptr<vxs_shape> shape;
	};
	const size_t keep = 64;
	static std::mutex mutex;
	static std::list<Entry> recent;  // the latest first
	const std::lock_guard<std::mutex> lock(mutex);
	for (auto entry = recent.begin(); entry != recent.end(); ++entry)
		if (entry->signature == signature)
		{
			recent.splice(recent.begin(), recent, entry);
			return entry->shape;
		}
	recent.push_front({signature, std::shared_ptr<vxs_shape>(make(row, signature))});
	if (recent.size() > keep)
		recent.pop_back();
	return recent.front().shape;
}
}  // namespace

const std::vector<int>& stock_proxy_types()
{
	static const std::vector<int> types = [] {
		std::vector<int> all;
		for (const Row& row : kTable)
			all.push_back(row.type);
		return all;
	}();
	return types;
}

bool StockShape::Signature::operator==(const Signature& other) const
{
	return type == other.type && form == other.form && points.size() == other.points.size() && std::memcmp(numbers, other.numbers, sizeof numbers) == 0 &&
		   (points.empty() || std::memcmp(points.data(), other.points.data(), points.size() * sizeof points[0]) == 0);
}

const vxs_shape* StockShape::of(const btCollisionShape* shape, Form form)
{
	const Row* row = find_row(shape->getShapeType());
	if (!row)
		return nullptr;
	m_next.type = row->type;
	m_next.form = form;
	std::fill(m_next.numbers, m_next.numbers + 4, 0.0);
	m_next.points.clear();
	row->describe(shape, m_next);
	m_inflation = row->inflated ? double(shape->getMargin()) : 0.0;
	if (!(m_next == m_signature))
	{
		m_shape = make_or_share(*row, m_next);
		std::swap(m_signature, m_next);
	}
	return m_shape.get();
}
}  // namespace voxshell_bullet
