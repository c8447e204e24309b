// Bullet's own convex shapes and its plane as exact fields, and as pointshells for partners that have a field only;
// with their sharp and round features. The treatment of each type is in pair_table.cpp.
#ifndef VOXSHELL_BULLET_STOCK_SHAPES_H
#define VOXSHELL_BULLET_STOCK_SHAPES_H

#include <memory>
#include <vector>

#include <BulletCollision/CollisionShapes/btCollisionShape.h>

#include "handle.h"
#include "sharp_features.h"

namespace voxshell_bullet
{
/// Data on which a form depends: equal signatures give equal forms.
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

/// Functions that describe shapes of one type, to detect changes, and that make their forms.
struct Kind
{
	/// Fills a signature.
	void (*describe)(const btCollisionShape*, Signature&);
	vxs_status (*field)(const Signature&, vxs_shape**);
	/// Makes the surface for sampling; null: the shape is infinite.
	bool (*surface)(const Signature&, Soup&);
	/// Adds the features that could slip in between the samples of the partner; null: there are none.
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

/// One of Bullet's shapes in a form of the library, made again when its size, scaling or margin has changed since.
class StockShape
{
public:
	/// A sufficient number for smooth rolling of a round body: on a sphere, samples are 1/17 of the radius apart and so
	/// 0.1 % of it deep.
	static const uint32_t kSamples = 4000;

	/// @param factor   its lengths are multiplied by this
	/// @param sampled  as a pointshell, for partners that are a field only; otherwise as an exact field
	/// @return         false when there is no such form: degenerate (a flat hull), or infinite (the samples of a plane)
	bool update(const btCollisionShape* shape, const Kind& kind, double factor, bool sampled);

	const vxs_shape* shape() const { return m_forms->shape.get(); }
	const SharpFeatures& features() const { return m_forms->features; }
	/// Returns the distance of Bullet's colliding surface outside the form, metres: the margin of hulls and cones,
	/// which is added to them, and 0 for all others, whose size includes it.
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
