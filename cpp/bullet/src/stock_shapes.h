// Bullet's own shapes as exact fields, and as pointshells for partners that have a field only. The table of what is supported
// is in stock_shapes.cpp.
#ifndef VOXSHELL_BULLET_STOCK_SHAPES_H
#define VOXSHELL_BULLET_STOCK_SHAPES_H

#include <memory>
#include <vector>

#include <BulletCollision/CollisionShapes/btCollisionShape.h>

#include "handle.h"

namespace voxshell_bullet
{
/// The proxy types that have a form; what registerAlgorithm enters.
const std::vector<int>& stock_proxy_types();

/// Triangles as the C API takes them.
struct Soup
{
	std::vector<vxs_vec3> vertices;
	std::vector<uint32_t> indices;
};

/// A shape of Bullet's as one of the library's, made again when its size, scaling or margin has changed since.
class StockShape
{
public:
	enum Form
	{
		FIELD,      // exact; for partners that bring samples
		POINTSHELL  // sampled (kSamples); for partners that are a field only
	};
	/// Enough that a round thing rolls smoothly: on a sphere, samples are 1/17 of the radius apart and so 0.1 % of it deep.
	static const uint32_t kSamples = 4000;

	/// Null when there is no such form: shape not supported, degenerate (a flat hull), or infinite (the samples of a plane).
	const vxs_shape* of(const btCollisionShape* shape, Form form);

	/// How far the surface that Bullet collides lies outside the form, metres: the margin of hulls and cones, which is added
	/// to them, and 0 for all others, whose size includes it.
	double inflation() const { return m_inflation; }

	/// What the form depends on.
	struct Signature
	{
		int type = -1;
		int form = 0;
		double numbers[4] = {};
		std::vector<vxs_vec3> points;  // of hulls
		bool operator==(const Signature& other) const;
	};

private:
	std::shared_ptr<vxs_shape> m_shape;
	Signature m_signature, m_next;
	double m_inflation = 0;
};
}  // namespace voxshell_bullet

#endif
