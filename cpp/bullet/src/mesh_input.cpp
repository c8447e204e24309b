#include "mesh_input.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include <BulletCollision/CollisionShapes/btStridingMeshInterface.h>

#include "handle.h"

namespace voxshell_bullet
{
namespace
{
/// Returns how far apart a corner can lie in two triangles by rounding to `epsilon`, the relative precision of their numbers,
/// metres. A compiler may fuse multiplication and addition in some triangles and not in others. Such cracks would make the
/// mesh an open one.
double rounding_of(const std::vector<vxs_vec3>& vertices, double epsilon)
{
	double extent = 0;
	for (const vxs_vec3& v : vertices)
		for (double x : {v.x, v.y, v.z})
			extent = std::max(extent, std::abs(x));
	// A rotated and moved corner has three products and three sums.
	const double reach = 4 * epsilon * extent;
	return std::isfinite(reach) ? reach : 0;  // the library names the vertex
}
}  // namespace

MeshInput read_mesh(const btStridingMeshInterface& mesh)
{
	MeshInput input;
	Soup& soup = input.soup;
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
		input.part_starts.push_back(unsigned(soup.indices.size() / 3));
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
	input.rounding = rounding_of(soup.vertices, epsilon);
	return input;
}

MeshInput read_mesh_file(const char* path)
{
	// The C API reads mesh files only to cook them. A pointshell of few samples is the cheapest form.
	vxs_cook_options options;
	check(vxs_cook_options_init(&options, sizeof options));
	options.forms = VXS_FORM_POINTSHELL;
	options.sampling = VXS_SAMPLING_UNIFORM;
	options.sample_count = 16;
	vxs_shape* cooked = nullptr;
	check(vxs_shape_create_from_file(path, &options, &cooked));
	const Shape owner(cooked);
	MeshInput input;
	input.soup = triangles_of(cooked);
	input.part_starts = {0};
	return input;
}

btTransform move_to_principal_frame(MeshInput& input)
{
	Soup& soup = input.soup;
	vxs_shape* raw = nullptr;
	check(vxs_shape_create_triangles(soup.vertices.data(), soup.vertices.size(), soup.indices.data(), soup.indices.size() / 3, input.rounding, &raw));
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
