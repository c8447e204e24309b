#include <voxshell/bullet/btVoxShellShape.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <mutex>
#include <vector>

#include <BulletCollision/CollisionShapes/btBvhTriangleMeshShape.h>
#include <BulletCollision/CollisionShapes/btTriangleIndexVertexArray.h>
#include <LinearMath/btAabbUtil2.h>

#include "handle.h"
#include "log.h"
#include "mesh_input.h"
#include "ray.h"
#include "vec.h"

using namespace voxshell_bullet;

namespace
{
/// Offset of the centre of mass from the origin above which a warning is logged, in largest extents.
constexpr btScalar kNotableOffset = btScalar(0.01);

bool has_mesh_extension(const char* path)
{
	const char* dot = std::strrchr(path, '.');
	if (!dot)
		return false;
	std::string extension(dot + 1);
	std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) { return char(std::tolower(c)); });
	return extension == "obj" || extension == "stl" || extension == "ply";
}

/// Returns the library's options with the forms that this class carries.
vxs_cook_options options_for(unsigned forms, const vxs_cook_options* options)
{
	vxs_cook_options result;
	check(vxs_cook_options_init(&result, sizeof result));
	if (options)
		result = *options;
	result.forms = forms;
	return result;
}

vxs_shape* cook_triangles(const Soup& soup, const vxs_cook_options& options)
{
	vxs_shape* shape = nullptr;
	check(vxs_shape_create_from_triangles(soup.vertices.data(), soup.vertices.size(), soup.indices.data(), soup.indices.size() / 3, &options, &shape));
	return shape;
}

/// Data that is made when it is first needed.
struct Lazy
{
	// Bullet's own tree over the triangles, for sweeps and drawing.
	std::once_flag tree_once;
	std::vector<btVector3> tree_vertices;
	std::vector<int> tree_indices;
	std::unique_ptr<btTriangleIndexVertexArray> tree_mesh;
	std::unique_ptr<btBvhTriangleMeshShape> tree;

	// Both forms of a shape whose class carries a field only.
	std::once_flag sampled_once;
	Shape sampled;

	void build_tree(const vxs_shape* asset, const std::vector<unsigned>& part_starts)
	{
		const Soup soup = triangles_of(asset);
		if (soup.indices.empty())
		{
			warn_once("a Voxshell shape without triangles is invisible to sweeps, and to debug drawing");
			return;
		}
		tree_vertices.reserve(soup.vertices.size());
		for (const vxs_vec3& v : soup.vertices)
			tree_vertices.push_back(to_bt(v));
		tree_indices.assign(soup.indices.begin(), soup.indices.end());
		tree_mesh.reset(new btTriangleIndexVertexArray);
		for (size_t part = 0; part < part_starts.size(); ++part)
		{
			const size_t begin = part_starts[part], end = part + 1 < part_starts.size() ? part_starts[part + 1] : tree_indices.size() / 3;
			btIndexedMesh mesh;
			mesh.m_numTriangles = int(end - begin);
			mesh.m_triangleIndexBase = reinterpret_cast<const unsigned char*>(tree_indices.data() + 3 * begin);
			mesh.m_triangleIndexStride = 3 * sizeof(int);
			mesh.m_numVertices = int(tree_vertices.size());
			mesh.m_vertexBase = reinterpret_cast<const unsigned char*>(&tree_vertices[0][0]);
			mesh.m_vertexStride = sizeof(btVector3);
			mesh.m_vertexType = sizeof(btScalar) == sizeof(double) ? PHY_DOUBLE : PHY_FLOAT;
			tree_mesh->addIndexedMesh(mesh);
		}
		tree.reset(new btBvhTriangleMeshShape(tree_mesh.get(), true));
	}

	void sample(const vxs_shape* asset)
	{
		vxs_shape* made = nullptr;
		vxs_shape_info info;
		if (vxs_shape_info_init(&info, sizeof info) != VXS_OK || vxs_shape_get_info(asset, &info) != VXS_OK)
			return;
		if (info.forms == (VXS_FORM_FIELD | VXS_FORM_POINTSHELL))
		{
			vxs_shape_retain(asset, &made);
			sampled.reset(made);
			return;
		}
		const Soup soup = triangles_of(asset);
		vxs_cook_options options;
		if (soup.indices.empty() || vxs_cook_options_init(&options, sizeof options) != VXS_OK)
			return;
		options.forms = VXS_FORM_POINTSHELL;
		options.voxel_size = info.voxel_size;
		if (vxs_shape_create_from_triangles(soup.vertices.data(), soup.vertices.size(), soup.indices.data(), soup.indices.size() / 3, &options, &made) != VXS_OK)
			return;
		const Shape samples(made);
		vxs_field* field = nullptr;
		vxs_pointshell* shell = nullptr;
		vxs_shape_get_field(asset, &field);
		vxs_shape_get_pointshell(made, &shell);
		const Field own_field(field);
		const PointShell own_shell(shell);
		vxs_shape* both = nullptr;
		if (vxs_shape_create(field, shell, &both) == VXS_OK)
			sampled.reset(both);
	}
};
}  // namespace

struct btVoxShellBaseShape::Data
{
	Shape original;  // all that was given or cooked: mesh, mass properties
	Shape asset;     // the same, scaled
	Shape query;     // the forms this class carries
	Field field;     // null when it carries none
	double slope = 1;
	bool is_convex = false;
	double resolution = 0;  // unscaled
	bool has_exact_surface = false;
	double spacing = 0;     // unscaled
	unsigned forms = 0;
	btVector3 scaling = btVector3(1, 1, 1);
	bool margin_set = false;
	btScalar stiffness = 0;
	std::vector<unsigned> part_starts = {0};  // first triangle of each part of the mesh
	bool has_materials = false;
	struct Material
	{
		unsigned number;
		btScalar friction, restitution;
	};
	std::vector<Material> materials;  // ascending by number
	std::unique_ptr<Lazy> lazy{new Lazy};
};

const char* btVoxShellBaseShape::staticName()
{
	static const char name[] = "VoxShell";
	return name;
}

const btVoxShellBaseShape* btVoxShellBaseShape::upcast(const btCollisionShape* shape)
{
	// Other libraries may use the same proxy type: the address of the name identifies ours.
	if (shape->getShapeType() != FAST_CONCAVE_MESH_PROXYTYPE || shape->getName() != staticName())
		return nullptr;
	return static_cast<const btVoxShellBaseShape*>(shape);
}

btVoxShellBaseShape::btVoxShellBaseShape(unsigned forms, const btStridingMeshInterface& mesh, const vxs_cook_options* options, btTransform* principal)
{
	MeshInput input = read_mesh(mesh);
	btTransform frame = btTransform::getIdentity();
	if (principal)
		frame = move_to_principal_frame(input);
	vxs_cook_options cook = options_for(forms, options);
	// A wrong tolerance is left for the library to refuse.
	if (cook.weld_tolerance >= 0 && cook.weld_tolerance < input.rounding)
		cook.weld_tolerance = input.rounding;
	adopt(forms, cook_triangles(input.soup, cook));
	m_data->part_starts.swap(input.part_starts);
	if (principal)
		*principal = frame;
}

btVoxShellBaseShape::btVoxShellBaseShape(unsigned forms, const char* path, const vxs_cook_options* options, btTransform* principal)
{
	const bool is_mesh = path && has_mesh_extension(path);
	if (principal && !is_mesh)
		throw std::runtime_error(std::string("voxshell: ") + (path ? path : "null") + ": `principal` needs a mesh file (.obj, .stl, .ply); cook an asset in its principal frame");
	const vxs_cook_options cook = options_for(forms, options);
	btTransform frame = btTransform::getIdentity();
	vxs_shape* shape = nullptr;
	if (principal)
	{
		MeshInput input = read_mesh_file(path);
		frame = move_to_principal_frame(input);
		shape = cook_triangles(input.soup, cook);
	}
	else
		check(is_mesh ? vxs_shape_create_from_file(path, &cook, &shape) : vxs_shape_load(path, &shape));
	adopt(forms, shape);
	if (principal)
		*principal = frame;
}

btVoxShellBaseShape::btVoxShellBaseShape(unsigned forms, const vxs_shape* shape)
{
	vxs_shape* own = nullptr;
	check(vxs_shape_retain(shape, &own));
	adopt(forms, own);
}

btVoxShellBaseShape::~btVoxShellBaseShape() = default;

void btVoxShellBaseShape::adopt(unsigned forms, vxs_shape* shape)
{
	m_data.reset(new Data);
	m_data->original.reset(shape);
	m_data->forms = forms;
	m_shapeType = FAST_CONCAVE_MESH_PROXYTYPE;

	vxs_shape_info info;
	check(vxs_shape_info_init(&info, sizeof info));
	check(vxs_shape_get_info(shape, &info));
	if ((info.forms & forms) != forms)
		throw std::runtime_error(std::string("voxshell: the shape has no ") + ((info.forms & FIELD) ? "pointshell" : "field") + ", which this class needs");
	// Outside its grid a field adds the distance to the grid's box, perpendicular to the direction in which it changes
	// inside.
	m_data->slope = std::sqrt(1 + info.lipschitz * info.lipschitz);
	m_data->is_convex = (forms & FIELD) && info.field_convex;
	m_data->spacing = (forms & POINTSHELL) ? info.spacing : 0;
	// An exact field has no voxel size.
	m_data->resolution = (forms & FIELD) && info.voxel_size > 0 ? info.voxel_size : info.spacing;
	m_data->has_exact_surface = (forms & FIELD) && info.field_kind == VXS_FIELD_EXACT;
	vxs_shape* asset = nullptr;
	check(vxs_shape_retain(shape, &asset));
	use(asset);
}

/// Makes all data that depends on the scale. When it throws, the shape is unchanged.
void btVoxShellBaseShape::use(vxs_shape* scaled)
{
	Shape asset(scaled);
	const unsigned forms = m_data->forms;
	vxs_field* field = nullptr;
	if (forms & FIELD)
		check(vxs_shape_get_field(scaled, &field));
	Field own_field(field);
	vxs_pointshell* shell = nullptr;
	if (forms & POINTSHELL)
		check(vxs_shape_get_pointshell(scaled, &shell));
	const PointShell own_shell(shell);
	vxs_shape_info info;
	check(vxs_shape_info_init(&info, sizeof info));
	check(vxs_shape_get_info(scaled, &info));
	vxs_shape* query = nullptr;
	// A shape with the same forms also has the mesh, whose edges are tested.
	check(info.forms == forms ? vxs_shape_retain(scaled, &query) : vxs_shape_create(field, shell, &query));
	Shape own_query(query);
	// Not in the first step on the ground, nor in the first one near another body, whose edges may cross between the samples.
	check(vxs_shape_prepare_extremes(query));
	check(vxs_shape_prepare_coverage(query, VXS_COVERAGE_EDGES));
	vxs_aabb box;
	check(vxs_shape_get_bounds(scaled, &box));
	size_t material_count = 0;
	const bool has_materials = vxs_shape_get_materials(scaled, nullptr, 0, &material_count) == VXS_TRUNCATED;
	if (has_materials)
		check(vxs_shape_prepare_triangles(scaled));

	m_data->asset = std::move(asset);
	m_data->query = std::move(own_query);
	m_data->field = std::move(own_field);
	m_data->lazy.reset(new Lazy);
	m_data->has_materials = has_materials;
	m_center = to_bt((box.min + box.max) * 0.5);
	m_halfExtents = to_bt((box.max - box.min) * 0.5);
	if (!m_data->margin_set)
		m_collisionMargin = btMin(m_halfExtents[m_halfExtents.maxAxis()] * btScalar(0.002), btScalar(0.001));
}

void btVoxShellBaseShape::getAabb(const btTransform& t, btVector3& aabbMin, btVector3& aabbMax) const
{
	const btVector3 center = t(m_center);
	const btMatrix3x3 absolute = t.getBasis().absolute();
	const btVector3 extent = m_halfExtents.dot3(absolute[0], absolute[1], absolute[2]) + btVector3(m_collisionMargin, m_collisionMargin, m_collisionMargin);
	aabbMin = center - extent;
	aabbMax = center + extent;
}

void btVoxShellBaseShape::calculateLocalInertia(btScalar mass, btVector3& inertia) const
{
	vxs_mass_properties properties;
	if (getMassProperties(properties))
	{
		const btScalar offset = to_bt(properties.center_of_mass).length();
		if (offset > kNotableOffset * 2 * m_halfExtents[m_halfExtents.maxAxis()])
			warn_once("calculateLocalInertia: the centre of mass of a Voxshell shape is " + std::to_string(double(offset)) +
				" m from its origin, which Bullet takes for the centre of mass; give the constructor `principal`, or put the shape into a btCompoundShape");
		inertia = btVector3(btScalar(properties.inertia[0]), btScalar(properties.inertia[1]), btScalar(properties.inertia[2])) * mass;
		return;
	}
	// A shape without volume (an open pointshell without a field) uses the inertia of its box.
	const btVector3 squares = m_halfExtents * m_halfExtents;
	inertia = btVector3(squares.y() + squares.z(), squares.x() + squares.z(), squares.x() + squares.y()) * (mass / btScalar(3));
}

void btVoxShellBaseShape::processAllTriangles(btTriangleCallback* callback, const btVector3& aabbMin, const btVector3& aabbMax) const
{
	if (m_data->field && cast_ray_through_field(callback, m_data->asset.get()))
		return;
	Lazy& lazy = *m_data->lazy;
	std::call_once(lazy.tree_once, [&] { lazy.build_tree(m_data->asset.get(), m_data->part_starts); });
	if (lazy.tree)
		lazy.tree->processAllTriangles(callback, aabbMin, aabbMax);
}

void btVoxShellBaseShape::setMargin(btScalar margin)
{
	m_collisionMargin = btMax(margin, btScalar(0));
	m_data->margin_set = true;
}

void btVoxShellBaseShape::setLocalScaling(const btVector3& scaling)
{
	if (scaling.x() == m_data->scaling.x() && scaling.y() == m_data->scaling.y() && scaling.z() == m_data->scaling.z())
		return;
	const btScalar largest = btMax(btFabs(scaling.x()), btMax(btFabs(scaling.y()), btFabs(scaling.z())));
	const bool uniform = btFabs(scaling.x() - scaling.y()) <= SIMD_EPSILON * largest && btFabs(scaling.x() - scaling.z()) <= SIMD_EPSILON * largest;
	if (!uniform || !(scaling.x() > 0))
	{
		vxs_log(VXS_LOG_ERROR, "setLocalScaling: a Voxshell shape keeps its scale; expected the same positive factor along x, y and z (scale the mesh before cooking otherwise)");
		return;
	}
	vxs_shape* scaled = nullptr;
	const vxs_status status = vxs_shape_create_scaled(m_data->original.get(), double(scaling.x()), &scaled);
	if (status != VXS_OK)
	{
		vxs_log(VXS_LOG_ERROR, (std::string("setLocalScaling: a Voxshell shape keeps its scale: ") + vxs_last_error()).c_str());
		return;
	}
	use(scaled);
	m_data->scaling = scaling;
}

const btVector3& btVoxShellBaseShape::getLocalScaling() const { return m_data->scaling; }

void btVoxShellBaseShape::setTriangleMaterials(const unsigned* materials, size_t count)
{
	vxs_shape* made = nullptr;
	check(vxs_shape_create_with_materials(m_data->original.get(), materials, count, &made));
	Shape original(made);
	check(vxs_shape_create_with_materials(m_data->asset.get(), materials, count, &made));
	use(made);
	m_data->original = std::move(original);
}

void btVoxShellBaseShape::setMaterial(unsigned material, btScalar friction, btScalar restitution)
{
	std::vector<Data::Material>& all = m_data->materials;
	const auto at = std::lower_bound(all.begin(), all.end(), material, [](const Data::Material& m, unsigned number) { return m.number < number; });
	if (at != all.end() && at->number == material)
		*at = {material, friction, restitution};
	else
		all.insert(at, {material, friction, restitution});
}

bool btVoxShellBaseShape::getMaterial(unsigned material, btScalar& friction, btScalar& restitution) const
{
	const std::vector<Data::Material>& all = m_data->materials;
	const auto at = std::lower_bound(all.begin(), all.end(), material, [](const Data::Material& m, unsigned number) { return m.number < number; });
	if (at == all.end() || at->number != material)
		return false;
	friction = at->friction;
	restitution = at->restitution;
	return true;
}

void btVoxShellBaseShape::setStiffness(btScalar stiffness)
{
	if (!(stiffness >= 0 && double(stiffness) <= VXS_MAX_QUANTITY))
	{
		vxs_log(VXS_LOG_ERROR, ("setStiffness: a Voxshell shape keeps its stiffness; got " + std::to_string(double(stiffness)) + ", expected a number of 0 to 1e18").c_str());
		return;
	}
	m_data->stiffness = stiffness;
}

btScalar btVoxShellBaseShape::getStiffness() const { return m_data->stiffness; }

bool btVoxShellBaseShape::hasTriangleMaterials() const { return m_data->has_materials; }

void btVoxShellBaseShape::getPartAndIndex(unsigned triangle, int& part, int& index) const
{
	const std::vector<unsigned>& starts = m_data->part_starts;
	const auto next = std::upper_bound(starts.begin() + 1, starts.end(), triangle);
	part = int(next - starts.begin()) - 1;
	index = int(triangle - starts[size_t(part)]);
}

void btVoxShellBaseShape::saveAsset(const char* path) const { check(vxs_shape_save(m_data->original.get(), path)); }

const char* btVoxShellBaseShape::getName() const { return staticName(); }

const vxs_shape* btVoxShellBaseShape::getShape() const { return m_data->asset.get(); }
const vxs_shape* btVoxShellBaseShape::getQueryShape() const { return m_data->query.get(); }
const vxs_field* btVoxShellBaseShape::getField() const { return m_data->field.get(); }
double btVoxShellBaseShape::getFieldSlope() const { return m_data->slope; }
bool btVoxShellBaseShape::hasConvexField() const { return m_data->is_convex; }
double btVoxShellBaseShape::getSampleSpacing() const { return m_data->spacing * double(m_data->scaling.x()); }

btScalar btVoxShellBaseShape::getResolution() const
{
	const btScalar resolution = btScalar(m_data->resolution) * m_data->scaling.x();
	// The grid around an exact surface is coarse by default.
	if (m_data->has_exact_surface)
		return btMin(resolution, m_halfExtents[m_halfExtents.maxAxis()] / 64);
	if (resolution > 0)
		return resolution;
	return m_halfExtents[m_halfExtents.maxAxis()] * btScalar(0.002);
}

const vxs_shape* btVoxShellBaseShape::getSampledShape() const
{
	Lazy& lazy = *m_data->lazy;
	if (hasField() && !hasPointShell())
		std::call_once(lazy.sampled_once, [&] { lazy.sample(m_data->asset.get()); });
	return lazy.sampled.get();
}

bool btVoxShellBaseShape::hasField() const { return m_data->forms & FIELD; }
bool btVoxShellBaseShape::hasPointShell() const { return m_data->forms & POINTSHELL; }

bool btVoxShellBaseShape::getMassProperties(vxs_mass_properties& out) const
{
	return vxs_shape_get_mass_properties(m_data->asset.get(), &out) == VXS_OK;
}
