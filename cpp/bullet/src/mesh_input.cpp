#include "mesh_input.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include <BulletCollision/CollisionShapes/btStridingMeshInterface.h>

#include "handle.h"

namespace voxshell_bullet
{
namespace
{
/// A cube of a grid.
struct Cell
{
	int64_t at[3];
	bool operator==(const Cell& other) const { return std::equal(at, at + 3, other.at); }
};

struct CellHash
{
	size_t operator()(const Cell& cell) const
	{
		uint64_t hash = 0;
		for (int64_t x : cell.at)
			hash = (hash ^ uint64_t(x)) * 0x9e3779b97f4a7c15, hash ^= hash >> 32;
		return size_t(hash);
	}
};

/// Moves vertices to one place that are apart by no more than rounding to `epsilon`, the relative precision of their numbers.
/// A compiler may fuse multiplication and addition in some triangles and not in others, and so round their common corner
/// differently. Such cracks would make the mesh an open one. `weld_tolerance` merges vertices too, but only where a shape is
/// cooked: mass properties, from which the principal frame follows, come before.
void close_cracks_of_rounding(std::vector<vxs_vec3>& vertices, double epsilon)
{
	double extent = 0;
	for (const vxs_vec3& v : vertices)
		for (double x : {v.x, v.y, v.z})
		{
			if (!std::isfinite(x))
				return;  // cooking names the vertex
			extent = std::max(extent, std::abs(x));
		}
	// A rotated and moved corner has three products and three sums.
	const double reach = 4 * epsilon * extent, size = 4 * reach;
	if (!(reach > 0))
		return;
	std::unordered_map<Cell, std::vector<uint32_t>, CellHash> kept;
	for (uint32_t i = 0; i < vertices.size(); ++i)
	{
		vxs_vec3& v = vertices[i];
		// The cells within reach: one in most cases, eight at most.
		int64_t low[3], high[3];
		const double point[3] = {v.x, v.y, v.z};
		for (int axis = 0; axis < 3; ++axis)
		{
			low[axis] = int64_t(std::floor((point[axis] - reach) / size));
			high[axis] = int64_t(std::floor((point[axis] + reach) / size));
		}
		uint32_t nearest = i;
		double nearest2 = reach * reach;
		Cell cell;
		for (cell.at[0] = low[0]; cell.at[0] <= high[0]; ++cell.at[0])
			for (cell.at[1] = low[1]; cell.at[1] <= high[1]; ++cell.at[1])
				for (cell.at[2] = low[2]; cell.at[2] <= high[2]; ++cell.at[2])
				{
					const auto found = kept.find(cell);
					if (found == kept.end())
						continue;
					for (uint32_t other : found->second)
					{
						const double distance2 = length2(v - vertices[other]);
						if (distance2 < nearest2 || (distance2 == nearest2 && other < nearest))
							nearest = other, nearest2 = distance2;
					}
				}
		if (nearest != i)
		{
			v = vertices[nearest];
			continue;
		}
		for (int axis = 0; axis < 3; ++axis)
			cell.at[axis] = int64_t(std::floor(point[axis] / size));
		kept[cell].push_back(i);
	}
}
}  // namespace

Soup read_mesh(const btStridingMeshInterface& mesh, std::vector<unsigned>& part_starts)
{
	Soup soup;
	const vxs_vec3 scale = to_vec(mesh.getScaling());
	double epsilon = DBL_EPSILON;
	for (int part = 0; part < mesh.getNumSubParts(); ++part)
	{
		const unsigned char *vertices = nullptr, *indices = nullptr;
		int vertex_count = 0, vertex_stride = 0, triangle_stride = 0, triangle_count = 0;
		PHY_ScalarType vertex_type = PHY_FLOAT, index_type = PHY_INTEGER;
		mesh.getLockedReadOnlyVertexIndexBase(&vertices, vertex_count, vertex_type, vertex_stride, &indices, triangle_stride, triangle_count, index_type, part);

		if (vertex_type != PHY_DOUBLE)
			epsilon = FLT_EPSILON;
		part_starts.push_back(unsigned(soup.indices.size() / 3));
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
	close_cracks_of_rounding(soup.vertices, epsilon);
	return soup;
}

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

Soup triangles_of(const vxs_shape* shape)
{
	Soup soup;
	size_t vertex_count = 0, index_count = 0;
	if (vxs_shape_get_triangles(shape, nullptr, 0, &vertex_count, nullptr, 0, &index_count) != VXS_TRUNCATED)
		return soup;
	soup.vertices.resize(vertex_count);
	soup.indices.resize(index_count);
	if (vxs_shape_get_triangles(shape, soup.vertices.data(), vertex_count, &vertex_count, soup.indices.data(), index_count, &index_count) != VXS_OK)
		return Soup();
	return soup;
}
}  // namespace voxshell_bullet
