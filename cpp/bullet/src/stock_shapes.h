// Bullet's own shapes as exact fields. The table of what is supported is in stock_shapes.cpp.
#ifndef VOXSHELL_BULLET_STOCK_SHAPES_H
#define VOXSHELL_BULLET_STOCK_SHAPES_H

#include <vector>

#include <BulletCollision/CollisionShapes/btCollisionShape.h>

#include "handle.h"

namespace voxshell_bullet
{
/// The proxy types that have a field; what registerAlgorithm enters.
const std::vector<int>& stock_proxy_types();

/// The field of one shape of Bullet's, rebuilt when the shape's size, scaling or margin has changed since.
class StockField
{
public:
	/// Null when the shape has no field: not supported, or degenerate (a flat hull).
	const vxs_shape* of(const btCollisionShape* shape);

	/// How far the surface that Bullet collides lies outside the zero level of the field, metres: the margin of hulls and
	/// cones, which is added to them, and 0 for all others, whose size includes it.
	double inflation() const { return m_inflation; }

	/// What the field depends on; compared bit by bit.
	struct Signature
	{
		const void* shape = nullptr;
		int type = -1;
		double numbers[8] = {};
		bool operator==(const Signature& other) const;
	};

private:
	Shape m_field;
	Signature m_signature;
	double m_inflation = 0;
};
}  // namespace voxshell_bullet

#endif
