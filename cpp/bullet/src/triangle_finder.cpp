#include "triangle_finder.h"

#include <BulletCollision/CollisionDispatch/btCollisionObject.h>

namespace voxshell_bullet
{
namespace
{
/// Limit of combined friction, as in Bullet's own combination.
const btScalar kMaxFriction = btScalar(10);

btScalar combined_friction(btScalar first, btScalar second) { return btMax(-kMaxFriction, btMin(first * second, kMaxFriction)); }

bool needs_triangles(const Side& side, bool reports) { return side.voxshell && (reports || side.voxshell->hasTriangleMaterials()); }
}  // namespace

void TriangleFinder::begin(const Side& first, const Side& second)
{
	m_sides[0] = &first;
	m_sides[1] = &second;
	m_needed = needs_triangles(first, m_reports) || needs_triangles(second, m_reports);
	for (const Side* side : m_sides)
		if (m_needed && side->voxshell)
			vxs_shape_prepare_triangles(side->voxshell->getShape());
}

void TriangleFinder::find(const Candidate& contact)
{
	if (!m_needed)
		return;
	m_found.on_a.triangle = m_found.on_b.triangle = VXS_TRIANGLE_NONE;
	m_found.on_a.material = m_found.on_b.material = VXS_MATERIAL_NONE;
	// Any shape can stand for one of Bullet's: a point that is not finite has no triangle.
	const Vec nowhere = {NAN, NAN, NAN};
	const vxs_shape* const ours = (shape(0) ? shape(0) : shape(1))->getShape();
	const vxs_body bodies[2] = {{shape(0) ? shape(0)->getShape() : ours, m_sides[0]->pose}, {shape(1) ? shape(1)->getShape() : ours, m_sides[1]->pose}};
	vxs_contact given = {};
	given.point_on_a = shape(0) ? contact.point + contact.normal * contact.distance : nowhere;
	given.point_on_b = shape(1) ? contact.point : nowhere;
	given.normal = -contact.normal;
	vxs_query_triangles(&bodies[0], &bodies[1], &given, 1, &m_found);
}

void TriangleFinder::identify(btManifoldResult* result, const btCollisionObject* body0) const
{
	if (!m_needed)
		return;
	const bool swapped = result->getBody0Internal() != body0;
	for (int side = 0; side < 2; ++side)
	{
		if (!shape(side))
			continue;
		int part = -1, index = -1;
		if (found(side).triangle != VXS_TRIANGLE_NONE)
			shape(side)->getPartAndIndex(found(side).triangle, part, index);
		if ((side == 0) != swapped)
			result->setShapeIdentifiersA(part, index);
		else
			result->setShapeIdentifiersB(part, index);
	}
}

bool TriangleFinder::has_material(int side, btScalar& friction, btScalar& restitution) const
{
	return shape(side) && found(side).material != VXS_MATERIAL_NONE && shape(side)->getMaterial(found(side).material, friction, restitution);
}

void TriangleFinder::combine(const btCollisionObject* body0, const btCollisionObject* body1, btManifoldPoint& point) const
{
	if (!m_needed)
		return;
	btScalar friction[2] = {body0->getFriction(), body1->getFriction()};
	btScalar restitution[2] = {body0->getRestitution(), body1->getRestitution()};
	const bool first = has_material(0, friction[0], restitution[0]), second = has_material(1, friction[1], restitution[1]);
	if (!first && !second)
		return;
	if (point.m_combinedFriction == btManifoldResult::calculateCombinedFriction(body0, body1))
		point.m_combinedFriction = combined_friction(friction[0], friction[1]);
	if (point.m_combinedRestitution == btManifoldResult::calculateCombinedRestitution(body0, body1))
		point.m_combinedRestitution = restitution[0] * restitution[1];
}
}  // namespace voxshell_bullet
