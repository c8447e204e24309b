#include "pair_table.h"

#include <BulletCollision/BroadphaseCollision/btBroadphaseProxy.h>

namespace voxshell_bullet
{
const PairRow kPairTable[] = {
	// Infinite and convex shapes.
	{STATIC_PLANE_PROXYTYPE, "a static plane", Treatment::FORM, &kinds::plane},
	{BOX_SHAPE_PROXYTYPE, "a box", Treatment::FORM, &kinds::box},
	{SPHERE_SHAPE_PROXYTYPE, "a sphere", Treatment::FORM, &kinds::sphere},
	{CAPSULE_SHAPE_PROXYTYPE, "a capsule", Treatment::FORM, &kinds::capsule},
	{CYLINDER_SHAPE_PROXYTYPE, "a cylinder", Treatment::FORM, &kinds::cylinder},
	{CONE_SHAPE_PROXYTYPE, "a cone", Treatment::FORM, &kinds::cone},
	{CONVEX_HULL_SHAPE_PROXYTYPE, "a convex hull", Treatment::FORM, &kinds::hull},
	{CONVEX_TRIANGLEMESH_SHAPE_PROXYTYPE, "a convex triangle mesh", Treatment::FORM, &kinds::convex_mesh},
	{MULTI_SPHERE_SHAPE_PROXYTYPE, "a multi-sphere", Treatment::FORM, &kinds::ball_hull},
	{UNIFORM_SCALING_SHAPE_PROXYTYPE, "a uniformly scaled convex shape", Treatment::SCALED, nullptr},

	// Convex shapes known by their support function only.
	{TETRAHEDRAL_SHAPE_PROXYTYPE, "a simplex", Treatment::FORM, &kinds::support},
	{TRIANGLE_SHAPE_PROXYTYPE, "a single triangle", Treatment::FORM, &kinds::support},
	{CONVEX_POINT_CLOUD_SHAPE_PROXYTYPE, "a convex point cloud", Treatment::FORM, &kinds::support},
	{CUSTOM_POLYHEDRAL_SHAPE_TYPE, "a custom polyhedron", Treatment::FORM, &kinds::support},
	{CUSTOM_CONVEX_SHAPE_TYPE, "a custom convex shape", Treatment::FORM, &kinds::support},
	{CONVEX_SHAPE_PROXYTYPE, "a convex shape", Treatment::FORM, &kinds::support},
	{MINKOWSKI_SUM_SHAPE_PROXYTYPE, "a Minkowski sum", Treatment::FORM, &kinds::support},
	{MINKOWSKI_DIFFERENCE_SHAPE_PROXYTYPE, "a Minkowski difference", Treatment::FORM, &kinds::support},
	{BOX_2D_SHAPE_PROXYTYPE, "a 2D box", Treatment::FORM, &kinds::support},
	{CONVEX_2D_SHAPE_PROXYTYPE, "a 2D convex shape", Treatment::FORM, &kinds::support},

	// Triangles, from whatever method a shape has to find those that are near.
	{TRIANGLE_MESH_SHAPE_PROXYTYPE, "a triangle mesh", Treatment::PATCH, nullptr},
	{SCALED_TRIANGLE_MESH_SHAPE_PROXYTYPE, "a scaled triangle mesh", Treatment::PATCH, nullptr},
	{MULTIMATERIAL_TRIANGLE_MESH_PROXYTYPE, "a multi-material triangle mesh", Treatment::PATCH, nullptr},
	{TERRAIN_SHAPE_PROXYTYPE, "a heightfield", Treatment::PATCH, nullptr},
	{GIMPACT_SHAPE_PROXYTYPE, "a GImpact mesh", Treatment::PATCH, nullptr},
	{FAST_CONCAVE_MESH_PROXYTYPE, "a concave shape", Treatment::PATCH, nullptr},  // not ours, but of the same type as ours
	{CUSTOM_CONCAVE_SHAPE_TYPE, "a custom concave shape", Treatment::PATCH, nullptr},

	// CompoundAlgorithm recurses to the children. Bullet's own algorithms do nothing for an empty shape.
	{COMPOUND_SHAPE_PROXYTYPE, "a compound", Treatment::STOCK, nullptr},
	{EMPTY_SHAPE_PROXYTYPE, "an empty shape", Treatment::STOCK, nullptr},
	{SOFTBODY_SHAPE_PROXYTYPE, "a soft body", Treatment::STOCK, nullptr},

	{HFFLUID_SHAPE_PROXYTYPE, "a fluid", Treatment::IGNORED, nullptr},
	{HFFLUID_BUOYANT_CONVEX_SHAPE_PROXYTYPE, "a buoyant shape", Treatment::IGNORED, nullptr},
	{INVALID_SHAPE_PROXYTYPE, "a shape without a type", Treatment::IGNORED, nullptr},
};

const size_t kPairRows = sizeof kPairTable / sizeof kPairTable[0];

const PairRow* find_pair(int type)
{
	for (const PairRow& row : kPairTable)
		if (row.type == type)
			return &row;
	return nullptr;
}
}  // namespace voxshell_bullet
