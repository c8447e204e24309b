// The sharp and the round corners and edges of a shape, and their contacts with a field.
//
// A pointshell tested against the other shape's field misses features that fit in between its samples: a box's corner,
// a hull's vertex, a mesh's ridge, a ball smaller than the distance of the samples. These features are tested in the
// opposite direction: each corner, and points along each edge, against the field. A round feature is a corner or edge
// inside the shape with a radius: the ball around it is part of the shape. Knows nothing of Bullet's shapes.
#ifndef VOXSHELL_BULLET_SHARP_FEATURES_H
#define VOXSHELL_BULLET_SHARP_FEATURES_H

#include <cstdint>
#include <vector>

#include "vec.h"

namespace voxshell_bullet
{
/// Triangles in the format of the C API.
struct Soup
{
	std::vector<vxs_vec3> vertices;
	std::vector<uint32_t> indices;
};

/// Corners and edges in the frame of their shape, metres.
class SharpFeatures
{
public:
	/// Bit that is set in the feature numbers made here, which therefore differ from those of samples.
	static const uint32_t kFeature = 1u << 30;
	/// Bit for callers that make a second contact of a feature; never set here.
	static const uint32_t kAhead = 1u << 28;
	/// Bit of the deepest points of circles.
	static const uint32_t kDeepest = 1u << 26;

	/// Adds the edges at which the surface turns by more than 10 degrees, the edges that bound it or join more than two
	/// triangles, and the ends of all these. Vertices at the same place count as one; triangles need not be wound
	/// alike.
	void add_edges_of(const Soup& soup);
	/// Adds a circle around `axis` (0, 1, 2 for x, y, z) at `height` on it.
	void add_circle(int axis, double height, double radius) { m_circles.push_back({axis, height, radius}); }
	void add_corner(const Vec& at, double radius = 0) { m_corners.push_back({at, radius}); }
	/// Adds a ball swept from one place to another while its radius changes evenly, with both ends.
	void add_round_edge(const Vec& from, double from_radius, const Vec& to, double to_radius);

	bool empty() const { return m_corners.empty() && m_edges.empty() && m_circles.empty(); }
	bool has_circles() const { return !m_circles.empty(); }

	/// The field against which the features are tested, and the limits of the test.
	struct Target
	{
		const vxs_field* field = nullptr;
		double slope = 1;     // no two points of the field differ by more than this per metre
		Frame to_field;       // from the features' frame
		Vec low, high;        // box in the features' frame outside of which there is nothing to find
		double limit = 0;     // wanted: all points up to this distance, metres
		double spacing = 0;   // of the points along an edge, metres
	};
	/// A feature's point near a field.
	struct Touch
	{
		uint32_t feature;  // constant while the features and the spacing stay the same
		Vec point;         // of the corner or edge, features' frame
		double radius;     // of the ball around it, metres
		double distance;   // of the point, metres, negative inside
		Vec outward;       // out of the field there, unit, field's frame; 0 where the field has no direction
		uint32_t lowest = kNone;  // of a point on a circle: the number of its deepest point among the touches
	};
	static const uint32_t kNone = UINT32_MAX;
	/// Appends every corner, and every point at a multiple of the spacing along an edge or a circle, whose ball is within the limit.
	/// These points stay where they are from call to call. Of a circle that does not lie flush on the field also its deepest points,
	/// wherever they are.
	void touch(const Target& target, std::vector<Touch>& touches) const;
	/// Updates a touch that was found before: its distance and its outward direction at the present poses, within the
	/// limit or not.
	static void measure(const Target& target, Touch& touch);

private:
	struct Corner
	{
		Vec at;
		double radius;
	};
	struct Edge
	{
		Vec from, along;  // unit
		double length;
		double radius, growth;  // at `from`, and per metre
	};
	struct Circle
	{
		int axis;
		double height, radius;

		Vec at(double angle) const;
	};
	void add_edge(const Vec& from, const Vec& to, double from_radius = 0, double to_radius = 0);
	void touch_circle(const Target& target, uint32_t circle, std::vector<Touch>& touches) const;

	std::vector<Corner> m_corners;
	std::vector<Edge> m_edges;
	std::vector<Circle> m_circles;
};
}  // namespace voxshell_bullet

#endif
