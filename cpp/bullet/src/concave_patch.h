// The triangles of one of Bullet's concave shapes (meshes, heightfields, GImpact, a user's own) near a Voxshell shape,
// as a two-sided sheet with sharp features. The patch takes all triangles that a shape passes to processAllTriangles:
// no type needs code of its own.
#ifndef VOXSHELL_BULLET_CONCAVE_PATCH_H
#define VOXSHELL_BULLET_CONCAVE_PATCH_H

#include <vector>

#include <BulletCollision/CollisionShapes/btConcaveShape.h>

#include "handle.h"
#include "sharp_features.h"

namespace voxshell_bullet
{
/// The triangles are gathered anew in every step and compared, so that a mesh may move its vertices at any time. The
/// forms are made again only when a triangle has changed or the Voxshell shape has left the region they were made for.
class ConcavePatch
{
public:
	/// @param shape source of the triangles
	/// @param low     box that must be covered, in the shape's frame, metres
	/// @param high    its other corner
	/// @param size of the Voxshell shape, metres: the region exceeds the box by a fraction of it
	/// @return        false when there is no triangle in the box
	bool update(const btConcaveShape* shape, const Vec& low, const Vec& high, double size);

	/// The triangles as a sheet; null before the first update that returned true.
	const vxs_shape* shape() const { return m_sheet.get(); }
	/// Returns whether the last update found the triangles unchanged.
	bool unchanged() const { return m_unchanged; }
	const SharpFeatures& features() const { return m_features; }

private:
	bool rebuild(double size);

	const btConcaveShape* m_shape = nullptr;
	Vec m_low = {0, 0, 0}, m_high = {-1, -1, -1};  // the region
	std::vector<btVector3> m_corners, m_gathered;  // three per triangle: of the present forms, and of this step
	bool m_unchanged = false;
	Shape m_sheet;
	SharpFeatures m_features;
};
}  // namespace voxshell_bullet

#endif
