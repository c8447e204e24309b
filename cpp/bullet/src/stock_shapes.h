// Bullet's own convex shapes and its plane as exact fields, and as pointshells for partners that have a field only; with their
// sharp and round features. Which type is treated how stands in pair_table.cpp.
#ifndef VOXSHELL_BULLET_STOCK_SHAPES_H
#define VOXSHELL_BULLET_STOCK_SHAPES_H

#include <memory>
#include <vector>

#include <BulletCollision/CollisionShapes/btCollisionShape.h>

#include "handle.h"
#include "sharp_features.h"

namespace voxshell_bullet
{
/// What a form depends on: equal signatures, equal forms.
struct Signature
{
	static const int kNumbers = 4;

	int type = -1;
	bool sampled = false;
	double numbers[kNumbers] = {};
	std::vector<Vec> points;
	std::vector<double> radii;  // of the points, for hulls of balls

	void clear(int new_type, bool new_sampled);
	/// Multiplies the lengths: the first `lengths` numbers, the points, the radii.
	void scale(double factor);
	int lengths = 0;
	bool operator==(const Signature& other) const;
};

/// How shapes of one type are told from changed ones, and how their forms are made.
struct Kind
{
	/// Fills a signature.
	void (*describe)(const btCollisionShape*, Signature&);
	vxs_status (*field)(const Signature&, vxs_shape**);
	/// Its surface, for sampling; null: it has no end.
	bool (*surface)(const Signature&, Soup&);
	/// What of it could slip in between the samples of its partner; null: nothing.
	void (*features)(const Signature&, SharpFeatures&);
	/// Bullet adds the margin outside (true), or the shape's size includes it (false).
	bool inflated;
};

namespace kinds
{
extern const Kind plane, box, sphere, capsule, cylinder, cone, hull, convex_mesh, ball_hull;
/// Any convex shape, by its support function: the hull of its extreme points in 642 directions.
extern const Kind support;
}  // namespace kinds

/// A shape of Bullet's as one of the library's, made again when its size, scaling or margin has changed since.
class StockShape
{
public:
	/// Enough that a round thing rolls smoothly: on a sphere, samples are 1/17 of the radius apart and so 0.1 % of it deep.
	static const uint32_t kSamples = 4000;

	/// @param factor   its lengths are multiplied by this
	/// @param sampled  as a pointshell, for partners that are a field only; otherwise as an exact field
	/// @return         false when there is no such form: degenerate (a flat hull), or infinite (the samples of a plane)
	bool update(const btCollisionShape* shape, const Kind& kind, double factor, bool sampled);

	const vxs_shape* shape() const { return m_forms->shape.get(); }
	const SharpFeatures& features() const { return m_forms->features; }
	/// How far the surface that Bullet collides lies outside the form, metres: the margin of hulls and cones, which is added
	/// to them, and 0 for all others, whose size includes it.
	double inflation() const { return m_inflation; }

	struct Forms
	{
		Shape shape;
		SharpFeatures features;
	};

private:
	std::shared_ptr<const Forms> m_forms;
	Signature m_signature, m_next;
	double m_inflation = 0;
};
}  // namespace voxshell_bullet

#endif
