// The triangles of contacts: their numbers for the manifold points, and the friction and restitution of their materials.
#ifndef VOXSHELL_BULLET_TRIANGLE_FINDER_H
#define VOXSHELL_BULLET_TRIANGLE_FINDER_H

#include <BulletCollision/CollisionDispatch/btManifoldResult.h>

#include "side.h"

namespace voxshell_bullet
{
/// Finds the triangle of each point that is given to the solver, for pairs that need it. Once the shapes are prepared it
/// allocates nothing.
class TriangleFinder
{
public:
	/// @param reports  whether the settings ask for triangles; otherwise only shapes with materials have them
	explicit TriangleFinder(bool reports) : m_reports(reports) {}

	/// Starts the points of a step. All other calls do nothing for a pair that needs no triangles.
	void begin(const Side& first, const Side& second);
	/// Finds the triangles of a contact.
	void find(const Candidate& contact);
	/// Tells them to the result, before it makes the point.
	void identify(btManifoldResult* result, const btCollisionObject* body0) const;
	/// Sets friction and restitution of a point to those of the materials, if no callback has changed them.
	void combine(const btCollisionObject* body0, const btCollisionObject* body1, btManifoldPoint& point) const;

private:
	const btVoxShellBaseShape* shape(int side) const { return m_sides[side]->voxshell; }
	const vxs_triangle_point& found(int side) const { return side == 0 ? m_found.on_a : m_found.on_b; }
	bool has_material(int side, btScalar& friction, btScalar& restitution) const;

	bool m_reports;
	bool m_needed = false;
	const Side* m_sides[2] = {nullptr, nullptr};
	vxs_contact_triangles m_found;
};
}  // namespace voxshell_bullet

#endif
