// The triangles from which a shape was cooked, with the exact distance to them: the reference for contacts.
#ifndef VOXSHELL_TEST_TRUE_MESH_H
#define VOXSHELL_TEST_TRUE_MESH_H

#include <algorithm>

#include "mesh_input.h"
#include "scene.h"

class TrueMesh
{
public:
	std::vector<vxs_vec3> vertices;

	explicit TrueMesh(const vxs_shape* shape)
	{
		voxshell_bullet::Soup soup = voxshell_bullet::triangles_of(shape);
		vxs_shape* made = nullptr;
		must(vxs_shape_create_triangles(soup.vertices.data(), soup.vertices.size(), soup.indices.data(), soup.indices.size() / 3, 0, &made));
		const Handle triangles(made);
		must(vxs_shape_get_field(made, &m_exact));
		vertices.swap(soup.vertices);
	}
	TrueMesh(const TrueMesh&) = delete;
	TrueMesh& operator=(const TrueMesh&) = delete;
	~TrueMesh() { vxs_field_release(m_exact); }

	/// Returns the signed distance, metres, negative inside, in the mesh's frame.
	double distance(const btVector3& p) const { return distance(vxs_vec3{double(p.x()), double(p.y()), double(p.z())}); }
	double distance(const vxs_vec3& p) const
	{
		double d;
		must(vxs_field_distance(m_exact, p, &d, nullptr));
		return d;
	}

	/// Returns the depth of the deepest vertex of this mesh at `pose` in the other at `other_pose`, m, positive when
	/// inside. `low` and `high`: the other's box.
	double depth_in(const btTransform& pose, const TrueMesh& other, const btTransform& other_pose, const btVector3& low, const btVector3& high) const
	{
		const btTransform relative = other_pose.inverse() * pose;
		double deepest = -1e30;
		for (const vxs_vec3& v : vertices)
		{
			const btVector3 p = relative(btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z)));
			if (p.x() < low.x() || p.y() < low.y() || p.z() < low.z() || p.x() > high.x() || p.y() > high.y() || p.z() > high.z())
				continue;
			deepest = std::max(deepest, -other.distance(p));
		}
		return deepest;
	}

	/// Returns the largest depth of the segment in the mesh, m. φ has slope 1, so the walk steps by the remaining distance
	/// to the surface, and by 0.1 mm inside.
	double depth_of_segment(const btVector3& from, const btVector3& to) const
	{
		const double length = double((to - from).length());
		double deepest = -1e30;
		for (double t = 0; t <= length;)
		{
			const double d = distance(from.lerp(to, btScalar(t / length)));
			deepest = std::max(deepest, -d);
			t += std::max(d, 1e-4);
		}
		return deepest;
	}

private:
	vxs_field* m_exact = nullptr;
};

#endif
