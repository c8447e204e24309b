#include <voxshell/bullet/btVoxShellShape.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <mutex>
#include <vector>

#include <BulletCollision/CollisionShapes/btBvhTriangleMeshShape.h>
#include <BulletCollision/CollisionShapes/btStridingMeshInterface.h>
#include <BulletCollision/CollisionShapes/btTriangleIndexVertexArray.h>
#include <LinearMath/btAabbUtil2.h>

#include "handle.h"
#include "stock_shapes.h"
#include "vec.h"

using namespace voxshell_bullet;

namespace
{
/// Reads every part of a mesh, with its scaling, whatever number types it is stored in.
Soup read_mesh(const btStridingMeshInterface& mesh)
{
	Soup soup;
	const vxs_vec3 scale = to_vec(mesh.getScaling());
	for (int part = 0; part < mesh.getNumSubParts(); ++part)
	{
		const unsigned char *vertices = nullptr, *indices = nullptr;
		int vertex_count = 0, vertex_stride = 0, triangle_stride = 0, triangle_count = 0;
		PHY_ScalarType vertex_type = PHY_FLOAT, index_type = PHY_INTEGER;
		mesh.getLockedReadOnlyVertexIndexBase(&vertices, vertex_count, vertex_type, vertex_stride, &indices, triangle_stride, triangle_count, index_type, part);

		const size_t first = soup.vertices.size();
		for (int i = 0; i < vertex_count; ++i)
		{
			const unsigned char* at = vertices + size_t(i) * size_t(vertex_stride);
			vxs_vec3 v;
			if (vertex_type == PHY_DOUBLE)
			{
				double raw[3];
				std::memcpy(raw, at, sizeof raw);
				v = {raw[0], raw[1], raw[2]};
			}
			else
			{
				float raw[3];
				std::memcpy(raw, at, sizeof raw);
				v = {raw[0], raw[1], raw[2]};
			}
			soup.vertices.push_back({v.x * scale.x, v.y * scale.y, v.z * scale.z});
		}
		for (int i = 0; i < triangle_count; ++i)
		{
			const unsigned char* at = indices + size_t(i) * size_t(triangle_stride);
			for (int corner = 0; corner < 3; ++corner)
			{
				uint32_t index = 0;
				if (index_type == PHY_SHORT)
				{
					uint16_t raw;
					std::memcpy(&raw, at + size_t(corner) * sizeof raw, sizeof raw);
					index = raw;
				}
				else if (index_type == PHY_UCHAR)
					index = at[corner];
				else
					std::memcpy(&index, at + size_t(corner) * sizeof index, sizeof index);
				soup.indices.push_back(uint32_t(first) + index);
			}
		}
		mesh.unLockReadOnlyVertexBase(part);
	}
	return soup;
}

/// Moves a mesh to its centre of mass and principal axes; returns that frame in the mesh's own.
btTransform move_to_principal_frame(Soup& soup)
{
	vxs_shape* raw = nullptr;
	check(vxs_shape_create_triangles(soup.vertices.data(), soup.vertices.size(), soup.indices.data(), soup.indices.size() / 3, &raw));
	const Shape exact(raw);
	vxs_mass_properties mass;
	check(vxs_shape_get_mass_properties(exact.get(), &mass));

	btScalar i[6];  // xx yy zz xy xz yz
	std::copy(mass.inertia, mass.inertia + 6, i);
	btMatrix3x3 tensor(i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2]);
	btMatrix3x3 axes;
	axes.setIdentity();
	tensor.diagonalize(axes, btScalar(1e-6), 40);
	if (axes.determinant() < 0)
		axes[0][2] = -axes[0][2], axes[1][2] = -axes[1][2], axes[2][2] = -axes[2][2];

	const btTransform frame(axes, to_bt(mass.center_of_mass));
	vxs_vec3 columns[3];
	for (int c = 0; c < 3; ++c)
		columns[c] = to_vec(axes.getColumn(c));
	for (vxs_vec3& v : soup.vertices)
	{
		const vxs_vec3 d = v - mass.center_of_mass;
		v = {dot(d, columns[0]), dot(d, columns[1]), dot(d, columns[2])};
	}
	return frame;
}

bool has_mesh_extension(const char* path)
{
	const char* dot = std::strrchr(path, '.');
	if (!dot)
		return false;
	std::string extension(dot + 1);
	std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) { return char(std::tolower(c)); });
	return extension == "obj" || extension == "stl" || extension == "ply";
}

/// The library's options with the forms this class carries.
vxs_cook_options options_for(unsigned forms, const vxs_cook_options* options)
{
	vxs_cook_options result;
	check(vxs_cook_options_init(&result, sizeof result));
	if (options)
		result = *options;
	result.forms = forms;
	return result;
}
}  // namespace

struct btVoxShellBaseShape::Data
{
	Shape asset;   // all that was given or cooked: mesh, mass properties
	Shape query;   // the forms this class carries
	unsigned forms = 0;

	// Bullet's own tree over the triangles, for rays, sweeps and drawing.
	std::once_flag tree_once;
	std::vector<btVector3> tree_vertices;
	std::vector<int> tree_indices;
	std::unique_ptr<btTriangleIndexVertexArray> tree_mesh;
	std::unique_ptr<btBvhTriangleMeshShape> tree;

	void build_tree()
	{
		size_t vertex_count = 0, index_count = 0;
		const vxs_status asked = vxs_shape_get_triangles(asset.get(), nullptr, 0, &vertex_count, nullptr, 0, &index_count);
		if (asked != VXS_TRUNCATED || index_count == 0)
			return;
		std::vector<vxs_vec3> vertices(vertex_count);
		std::vector<uint32_t> indices(index_count);
		if (vxs_shape_get_triangles(asset.get(), vertices.data(), vertex_count, &vertex_count, indices.data(), index_count, &index_count) != VXS_OK)
			return;
		tree_vertices.reserve(vertex_count);
		for (const vxs_vec3& v : vertices)
			tree_vertices.push_back(to_bt(v));
		tree_indices.assign(indices.begin(), indices.end());
		tree_mesh.reset(new btTriangleIndexVertexArray(int(index_count / 3), tree_indices.data(), 3 * sizeof(int), int(vertex_count), &tree_vertices[0][0], sizeof(btVector3)));
		tree.reset(new btBvhTriangleMeshShape(tree_mesh.get(), true));
	}
};

const char* btVoxShellBaseShape::staticName()
{
	static const char name[] = "VoxShell";
	return name;
}

btVoxShellBaseShape::btVoxShellBaseShape(unsigned forms, const btStridingMeshInterface& mesh, const vxs_cook_options* options, btTransform* principal)
{
	Soup soup = read_mesh(mesh);
	btTransform frame = btTransform::getIdentity();
	if (principal)
		frame = move_to_principal_frame(soup);
	const vxs_cook_options cook = options_for(forms, options);
	vxs_shape* shape = nullptr;
	check(vxs_shape_create_from_triangles(soup.vertices.data(), soup.vertices.size(), soup.indices.data(), soup.indices.size() / 3, &cook, &shape));
	adopt(forms, shape);
	if (principal)
		*principal = frame;
}

btVoxShellBaseShape::btVoxShellBaseShape(unsigned forms, const char* path, const vxs_cook_options* options)
{
	vxs_shape* shape = nullptr;
	if (path && has_mesh_extension(path))
	{
		const vxs_cook_options cook = options_for(forms, options);
		check(vxs_shape_create_from_file(path, &cook, &shape));
	}
	else
		check(vxs_shape_load(path, &shape));
	adopt(forms, shape);
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
	std::unique_ptr<Data> data(new Data);
	data->asset.reset(shape);
	data->forms = forms;

	vxs_shape_info info;
	check(vxs_shape_info_init(&info, sizeof info));
	check(vxs_shape_get_info(shape, &info));
	if ((info.forms & forms) != forms)
		throw std::runtime_error(std::string("voxshell: the shape has no ") + ((info.forms & FIELD) ? "pointshell" : "field") + ", which this class needs");
	vxs_shape* query = nullptr;
	if (info.forms == forms)
		check(vxs_shape_retain(shape, &query));
	else
	{
		vxs_field* field = nullptr;
		if (forms & FIELD)
			check(vxs_shape_get_field(shape, &field));
		const Field own_field(field);
		vxs_pointshell* shell = nullptr;
		if (forms & POINTSHELL)
			check(vxs_shape_get_pointshell(shape, &shell));
		const PointShell own_shell(shell);
		check(vxs_shape_create(field, shell, &query));
	}
	data->query.reset(query);

	vxs_aabb box;
	check(vxs_shape_get_bounds(shape, &box));
	m_center = to_bt((box.min + box.max) * 0.5);
	m_halfExtents = to_bt((box.max - box.min) * 0.5);
	m_collisionMargin = m_halfExtents[m_halfExtents.maxAxis()] * btScalar(0.002);
	m_shapeType = FAST_CONCAVE_MESH_PROXYTYPE;
	m_data = std::move(data);
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
		inertia = btVector3(btScalar(properties.inertia[0]), btScalar(properties.inertia[1]), btScalar(properties.inertia[2])) * mass;
		return;
	}
	// No volume (an open pointshell without a field): that of its box.
	const btVector3 squares = m_halfExtents * m_halfExtents;
	inertia = btVector3(squares.y() + squares.z(), squares.x() + squares.z(), squares.x() + squares.y()) * (mass / btScalar(3));
}

void btVoxShellBaseShape::processAllTriangles(btTriangleCallback* callback, const btVector3& aabbMin, const btVector3& aabbMax) const
{
	std::call_once(m_data->tree_once, [this] { m_data->build_tree(); });
	if (m_data->tree)
		m_data->tree->processAllTriangles(callback, aabbMin, aabbMax);
}

void btVoxShellBaseShape::setMargin(btScalar margin) { m_collisionMargin = btMax(margin, btScalar(0)); }

void btVoxShellBaseShape::setLocalScaling(const btVector3& scaling)
{
	btAssert(scaling.distance2(btVector3(1, 1, 1)) < btScalar(1e-10) && "Voxshell shapes cannot be scaled: scale the mesh before cooking");
	(void)scaling;
}

const btVector3& btVoxShellBaseShape::getLocalScaling() const
{
	static const btVector3 one(1, 1, 1);
	return one;
}

const char* btVoxShellBaseShape::getName() const { return staticName(); }

const vxs_shape* btVoxShellBaseShape::getShape() const { return m_data->asset.get(); }
const vxs_shape* btVoxShellBaseShape::getQueryShape() const { return m_data->query.get(); }
bool btVoxShellBaseShape::hasField() const { return m_data->forms & FIELD; }
bool btVoxShellBaseShape::hasPointShell() const { return m_data->forms & POINTSHELL; }

bool btVoxShellBaseShape::getMassProperties(vxs_mass_properties& out) const
{
	return vxs_shape_get_mass_properties(m_data->asset.get(), &out) == VXS_OK;
}
