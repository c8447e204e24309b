#include "stock_shapes.h"

#include <cstring>

#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btCapsuleShape.h>
#include <BulletCollision/CollisionShapes/btConeShape.h>
#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/CollisionShapes/btConvexTriangleMeshShape.h>
#include <BulletCollision/CollisionShapes/btCylinderShape.h>
#include <BulletCollision/CollisionShapes/btSphereShape.h>
#include <BulletCollision/CollisionShapes/btStaticPlaneShape.h>
#include <BulletCollision/CollisionShapes/btStridingMeshInterface.h>

#include "vec.h"

namespace voxshell_bullet
{
namespace
{
using Signature = StockField::Signature;

/// One row of the table: how a shape of this type is told from a changed one, and how its field is made.
struct Row
{
	int type;
	void (*describe)(const btCollisionShape*, Signature&);
	vxs_status (*make)(const btCollisionShape*, const Signature&, vxs_shape**);
	/// Bullet adds the margin outside (true), or the shape's size includes it (false).
	bool inflated;
};

template <typename T>
const T* as(const btCollisionShape* shape)
{
	return static_cast<const T*>(shape);
}

void put(Signature& s, const btVector3& v, int at)
{
	for (int i = 0; i < 3; ++i)
		s.numbers[at + i] = double(v[i]);
}

// Static plane: n·x = c in its own frame; its margin plays no part in Bullet's collisions.

void describe_plane(const btCollisionShape* shape, Signature& s)
{
	put(s, as<btStaticPlaneShape>(shape)->getPlaneNormal(), 0);
	s.numbers[3] = double(as<btStaticPlaneShape>(shape)->getPlaneConstant());
}

vxs_status make_plane(const btCollisionShape*, const Signature& s, vxs_shape** out)
{
	return vxs_shape_create_half_space({s.numbers[0], s.numbers[1], s.numbers[2]}, s.numbers[3], out);
}

// Box: half extents with margin are the box that was asked for. Its edges are sharp here; Bullet rounds them by the margin
// against all shapes but another box.

void describe_box(const btCollisionShape* shape, Signature& s) { put(s, as<btBoxShape>(shape)->getHalfExtentsWithMargin(), 0); }

vxs_status make_box(const btCollisionShape*, const Signature& s, vxs_shape** out)
{
	return vxs_shape_create_box({s.numbers[0], s.numbers[1], s.numbers[2]}, out);
}

// Sphere: the radius is the margin, and follows the x scaling.

void describe_sphere(const btCollisionShape* shape, Signature& s) { s.numbers[0] = double(as<btSphereShape>(shape)->getRadius()); }

vxs_status make_sphere(const btCollisionShape*, const Signature& s, vxs_shape** out) { return vxs_shape_create_sphere(s.numbers[0], out); }

// Capsule: the radius is the margin.

void describe_capsule(const btCollisionShape* shape, Signature& s)
{
	const btCapsuleShape* capsule = as<btCapsuleShape>(shape);
	s.numbers[0] = double(capsule->getRadius());
	s.numbers[1] = double(capsule->getHalfHeight());
	s.numbers[2] = capsule->getUpAxis();
}

vxs_status make_capsule(const btCollisionShape*, const Signature& s, vxs_shape** out)
{
	if (s.numbers[1] <= 0)
		return vxs_shape_create_sphere(s.numbers[0], out);
	return vxs_shape_create_capsule(s.numbers[0], s.numbers[1], uint32_t(s.numbers[2]), out);
}

// Cylinder: half extents with margin, as for the box.

void describe_cylinder(const btCollisionShape* shape, Signature& s)
{
	const btCylinderShape* cylinder = as<btCylinderShape>(shape);
	const int axis = cylinder->getUpAxis();
	s.numbers[0] = double(cylinder->getHalfExtentsWithMargin()[(axis + 1) % 3]);
	s.numbers[1] = double(cylinder->getHalfExtentsWithMargin()[axis]);
	s.numbers[2] = axis;
}

vxs_status make_cylinder(const btCollisionShape*, const Signature& s, vxs_shape** out)
{
	return vxs_shape_create_cylinder(s.numbers[0], s.numbers[1], uint32_t(s.numbers[2]), out);
}

// Cone: Bullet adds the margin around the whole cone.

void describe_cone(const btCollisionShape* shape, Signature& s)
{
	const btConeShape* cone = as<btConeShape>(shape);
	s.numbers[0] = double(cone->getRadius());
	s.numbers[1] = double(cone->getHeight());
	s.numbers[2] = cone->getConeUpIndex();
}

vxs_status make_cone(const btCollisionShape*, const Signature& s, vxs_shape** out)
{
	return vxs_shape_create_cone(s.numbers[0], s.numbers[1], uint32_t(s.numbers[2]), out);
}

// Convex hull: Bullet adds the margin around it. The points' order and number stand for the points: they are not compared.

void describe_hull(const btCollisionShape* shape, Signature& s)
{
	const btConvexHullShape* hull = as<btConvexHullShape>(shape);
	put(s, hull->getLocalScalingNV(), 0);
	s.numbers[3] = hull->getNumPoints();
	if (hull->getNumPoints() > 0)
		put(s, hull->getUnscaledPoints()[hull->getNumPoints() - 1], 4);
}

vxs_status make_hull(const btCollisionShape* shape, const Signature&, vxs_shape** out)
{
	const btConvexHullShape* hull = as<btConvexHullShape>(shape);
	std::vector<vxs_vec3> points;
	for (int i = 0; i < hull->getNumPoints(); ++i)
		points.push_back(to_vec(hull->getScaledPoint(i)));
	return vxs_shape_create_convex_hull(points.data(), points.size(), out);
}

// Convex triangle mesh: the hull of its vertices, with the margin around it.

void describe_convex_mesh(const btCollisionShape* shape, Signature& s) { put(s, as<btConvexTriangleMeshShape>(shape)->getLocalScaling(), 0); }

vxs_status make_convex_mesh(const btCollisionShape* shape, const Signature&, vxs_shape** out)
{
	struct Collect : btInternalTriangleIndexCallback
	{
		std::vector<vxs_vec3> points;
		void internalProcessTriangleIndex(btVector3* triangle, int, int) override
		{
			for (int i = 0; i < 3; ++i)
				points.push_back(to_vec(triangle[i]));
		}
	} collect;
	const btVector3 all(BT_LARGE_FLOAT, BT_LARGE_FLOAT, BT_LARGE_FLOAT);
	as<btConvexTriangleMeshShape>(shape)->getMeshInterface()->InternalProcessAllTriangles(&collect, -all, all);
	return vxs_shape_create_convex_hull(collect.points.data(), collect.points.size(), out);
}

/// The pair table: a Voxshell shape against each of these, in both orders.
const Row kTable[] = {
	{STATIC_PLANE_PROXYTYPE, describe_plane, make_plane, false},
	{BOX_SHAPE_PROXYTYPE, describe_box, make_box, false},
	{SPHERE_SHAPE_PROXYTYPE, describe_sphere, make_sphere, false},
	{CAPSULE_SHAPE_PROXYTYPE, describe_capsule, make_capsule, false},
	{CYLINDER_SHAPE_PROXYTYPE, describe_cylinder, make_cylinder, false},
	{CONE_SHAPE_PROXYTYPE, describe_cone, make_cone, true},
	{CONVEX_HULL_SHAPE_PROXYTYPE, describe_hull, make_hull, true},
	{CONVEX_TRIANGLEMESH_SHAPE_PROXYTYPE, describe_convex_mesh, make_convex_mesh, true},
};

const Row* find_row(int type)
{
	for (const Row& row : kTable)
		if (row.type == type)
			return &row;
	return nullptr;
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

bool StockField::Signature::operator==(const Signature& other) const
{
	return shape == other.shape && type == other.type && std::memcmp(numbers, other.numbers, sizeof numbers) == 0;
}

const vxs_shape* StockField::of(const btCollisionShape* shape)
{
	const Row* row = find_row(shape->getShapeType());
	if (!row)
		return nullptr;
	Signature signature;
	signature.shape = shape;
	signature.type = row->type;
	row->describe(shape, signature);
	m_inflation = row->inflated ? double(shape->getMargin()) : 0.0;
	if (!(signature == m_signature))
	{
		vxs_shape* field = nullptr;
		m_field.reset(row->make(shape, signature, &field) == VXS_OK ? field : nullptr);
		m_signature = signature;
	}
	return m_field.get();
}
}  // namespace voxshell_bullet
