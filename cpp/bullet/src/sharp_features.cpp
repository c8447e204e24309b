#include "sharp_features.h"

#include <algorithm>
#include <limits>

#include "contact_policy.h"

namespace voxshell_bullet
{
namespace
{
/// Cosine of the angle up to which the surface may turn at an edge that counts as flat: 10 degrees.
const double kFlat = 0.9848;
/// Least and largest number of points on a circle. A polygon of 128 corners lies within 0.03 % of its circle.
const double kCirclePoints = 128, kMostCirclePoints = 4096;
/// Cosine of the angle between the plane of a circle and a surface up to which the circle lies flush on it: 10 degrees.
const double kFlush = 0.985;
const double kTwoPi = 6.283185307179586;

/// A side of a triangle, by the numbers of its ends in ascending order.
struct Side
{
	uint32_t low, high;
	Vec normal;     // of the triangle, unit
	bool ascending; // the triangle goes from `low` to `high`
};

bool comes_before(const Vec& a, const Vec& b) { return a.x != b.x ? a.x < b.x : (a.y != b.y ? a.y < b.y : a.z < b.z); }
bool same_place(const Vec& a, const Vec& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/// Returns for each vertex the number of the first one at its place.
std::vector<uint32_t> welded(const std::vector<Vec>& vertices)
{
	std::vector<uint32_t> order(vertices.size()), first(vertices.size());
	for (uint32_t i = 0; i < order.size(); ++i)
		order[i] = i;
	std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
		return comes_before(vertices[a], vertices[b]) || (!comes_before(vertices[b], vertices[a]) && a < b);
	});
	for (size_t k = 0; k < order.size(); ++k)
		first[order[k]] = k > 0 && same_place(vertices[order[k]], vertices[order[k - 1]]) ? first[order[k - 1]] : order[k];
	return first;
}

/// Returns whether the triangles that share a side meet at an angle there.
bool is_sharp(const Side* sides, size_t count)
{
	if (count != 2)
		return true;
	const double turn = dot(sides[0].normal, sides[1].normal);
	// Neighbours wound alike run through their common side in opposite directions.
	return (sides[0].ascending == sides[1].ascending ? -turn : turn) < kFlat;
}

/// Returns the field at a point of the features' frame; infinity on failure.
double distance_to(const SharpFeatures::Target& target, const Vec& point, Vec* gradient = nullptr)
{
	double distance = std::numeric_limits<double>::infinity();
	vxs_field_distance(target.field, target.to_field(point), &distance, gradient);
	return distance;
}

/// Gradient length under which a field's direction is not trusted, squared.
const double kWeak = 0.0625;

/// Fills in distance and direction of a point that may be far from the surface, where a field is only a bound on the
/// distance: a few steps down the field from there find a point of the surface, and the distance to that point is
/// measured.
void measure_far(const SharpFeatures::Target& target, const Vec& center, SharpFeatures::Touch& touch)
{
	Vec at = center, gradient = {0, 0, 0};
	double distance = 0;
	for (int i = 0; i < 6; ++i)
	{
		if (vxs_field_distance(target.field, at, &distance, &gradient) != VXS_OK || length2(gradient) < kWeak)
			return;
		if (std::abs(distance) < 1e-5 * touch.radius)
			break;
		at = at - gradient * (distance / length2(gradient));
	}
	const Vec away = touch.distance < 0 ? at - center : center - at;
	const double norm = length(away);
	if (!(norm > 1e-3 * touch.radius))
		return;
	touch.distance = touch.distance < 0 ? -norm : norm;
	touch.outward = away * (1 / norm);
}

/// Appends a point if its ball is within the limit.
void add_if_near(const SharpFeatures::Target& target, uint32_t feature, const Vec& point, double radius, std::vector<SharpFeatures::Touch>& touches)
{
	SharpFeatures::Touch touch{SharpFeatures::kFeature | feature, point, radius, 0, {0, 0, 0}};
	SharpFeatures::measure(target, touch);
	if (touch.distance <= target.limit + radius)
		touches.push_back(touch);
}
/// Bit of the points of circles.
const uint32_t kCircle = 1u << 27;

/// Tells the points of a circle, from an index on, which deepest point they have: the deepest one at the same wall.
void bind_to_deepest(std::vector<SharpFeatures::Touch>& touches, size_t first)
{
	for (size_t i = first; i < touches.size(); ++i)
		for (size_t k = first; k < touches.size(); ++k)
		{
			SharpFeatures::Touch& touch = touches[i];
			if (touch.feature & SharpFeatures::kDeepest || !(touches[k].feature & SharpFeatures::kDeepest) || dot(touches[k].outward, touch.outward) < kSameWall)
				continue;
			if (touch.lowest == SharpFeatures::kNone || touches[k].distance < touches[touch.lowest].distance)
				touch.lowest = uint32_t(k);
		}
}
}  // namespace

void SharpFeatures::measure(const Target& target, Touch& touch)
{
	Vec gradient = {0, 0, 0};
	touch.distance = distance_to(target, touch.point, &gradient);
	touch.outward = length2(gradient) >= kWeak ? gradient * (1 / length(gradient)) : Vec{0, 0, 0};
	if (touch.radius > 0)
		measure_far(target, target.to_field(touch.point), touch);
}

void SharpFeatures::add_edge(const Vec& from, const Vec& to, double from_radius, double to_radius)
{
	const double length = voxshell_bullet::length(to - from);
	if (length > 0)
		m_edges.push_back({from, (to - from) * (1 / length), length, from_radius, (to_radius - from_radius) / length});
}

void SharpFeatures::add_round_edge(const Vec& from, double from_radius, const Vec& to, double to_radius)
{
	add_corner(from, from_radius);
	add_corner(to, to_radius);
	add_edge(from, to, from_radius, to_radius);
}

void SharpFeatures::add_edges_of(const Soup& soup)
{
	const std::vector<uint32_t> place = welded(soup.vertices);
	std::vector<Side> sides;
	sides.reserve(soup.indices.size());
	for (size_t t = 0; t + 2 < soup.indices.size(); t += 3)
	{
		const uint32_t v[3] = {place[soup.indices[t]], place[soup.indices[t + 1]], place[soup.indices[t + 2]]};
		const Vec normal = cross(soup.vertices[v[1]] - soup.vertices[v[0]], soup.vertices[v[2]] - soup.vertices[v[0]]);
		const double area = length(normal);
		if (!(area > 0))
			continue;
		for (int i = 0; i < 3; ++i)
		{
			const uint32_t a = v[i], b = v[(i + 1) % 3];
			sides.push_back({std::min(a, b), std::max(a, b), normal * (1 / area), a < b});
		}
	}
	std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) { return a.low != b.low ? a.low < b.low : a.high < b.high; });

	std::vector<uint32_t> ends;
	for (size_t i = 0; i < sides.size();)
	{
		size_t next = i + 1;
		while (next < sides.size() && sides[next].low == sides[i].low && sides[next].high == sides[i].high)
			++next;
		if (is_sharp(&sides[i], next - i))
		{
			add_edge(soup.vertices[sides[i].low], soup.vertices[sides[i].high]);
			ends.insert(ends.end(), {sides[i].low, sides[i].high});
		}
		i = next;
	}
	std::sort(ends.begin(), ends.end());
	ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
	for (const uint32_t end : ends)
		add_corner(soup.vertices[end]);
}

Vec SharpFeatures::Circle::at(double angle) const
{
	double p[3];
	p[axis] = height;
	p[(axis + 1) % 3] = radius * std::cos(angle);
	p[(axis + 2) % 3] = radius * std::sin(angle);
	return {p[0], p[1], p[2]};
}

/// Appends the points of a circle within the limit and, where it does not lie flush, its deepest points: a circle that rolls keeps
/// them, whatever its own points do.
void SharpFeatures::touch_circle(const Target& target, uint32_t circle, std::vector<Touch>& touches) const
{
	const Circle& c = m_circles[circle];
	const double reach = target.limit + c.radius;
	Vec middle = {0, 0, 0};
	(c.axis == 0 ? middle.x : (c.axis == 1 ? middle.y : middle.z)) = c.height;
	const double to_middle[3] = {middle.x, middle.y, middle.z};
	const double low[3] = {target.low.x, target.low.y, target.low.z}, high[3] = {target.high.x, target.high.y, target.high.z};
	for (int axis = 0; axis < 3; ++axis)
		if (to_middle[axis] + reach < low[axis] || to_middle[axis] - reach > high[axis])
			return;

	const uint32_t count = uint32_t(std::min(std::max(std::ceil(kTwoPi * c.radius / target.spacing), kCirclePoints), kMostCirclePoints));
	const double turn = kTwoPi / count, step = c.radius * turn;
	const uint32_t number = kCircle | circle << 16;
	const auto touch_at = [&](uint32_t feature, double angle) {
		Touch touch{kFeature | number | feature, c.at(angle), 0, 0, {0, 0, 0}};
		measure(target, touch);
		return touch;
	};
	const auto distance_at = [&](uint32_t k) { return distance_to(target, c.at(turn * (k % count))); };
	uint32_t rank = 0;
	for (uint32_t k = 0; k < count;)
	{
		const double distance = distance_at(k), far = distance - target.limit;
		if (far > 0)  // nothing nearer than this can be within the limit
		{
			k += uint32_t(std::max(1.0, std::floor(far / (target.slope * step))));
			continue;
		}
		touches.push_back(touch_at(k, turn * k));
		const double before = distance_at(k + count - 1), after = distance_at(k + 1);
		k += 1;
		if (before < distance || after <= distance)
			continue;
		// The least of a + p cos t + q sin t through the three points: exact over a plane.
		const double bend = (before + after - 2 * distance) / (2 * std::cos(turn) - 2), slope = (after - before) / (2 * std::sin(turn));
		const double aside = bend < 0 ? std::min(std::max(std::atan2(-slope, -bend), -turn), turn) : 0;
		const Touch deepest = touch_at(kDeepest | rank++, turn * (k - 1) + aside);
		const Vec axis = target.to_field.rotate(c.axis == 0 ? Vec{1, 0, 0} : (c.axis == 1 ? Vec{0, 1, 0} : Vec{0, 0, 1}));
		if (std::abs(dot(axis, deepest.outward)) < kFlush && deepest.distance <= distance)
			touches.push_back(deepest);
	}
}

void SharpFeatures::touch(const Target& target, std::vector<Touch>& touches) const
{
	const double low[3] = {target.low.x, target.low.y, target.low.z}, high[3] = {target.high.x, target.high.y, target.high.z};
	const uint32_t corner = kFeature >> 1, number = kAhead - 1;  // the first tells corners from points along edges
	for (uint32_t i = 0; i < m_corners.size(); ++i)
	{
		const Vec& at = m_corners[i].at;
		const double r = m_corners[i].radius;
		if (at.x + r >= low[0] && at.x - r <= high[0] && at.y + r >= low[1] && at.y - r <= high[1] && at.z + r >= low[2] && at.z - r <= high[2])
			add_if_near(target, corner | (i & number), at, r, touches);
	}

	for (uint32_t i = 0; i < m_circles.size(); ++i)
	{
		const size_t first = touches.size();
		touch_circle(target, i, touches);
		bind_to_deepest(touches, first);
	}

	for (uint32_t e = 0; e < m_edges.size(); ++e)
	{
		// The part inside the box.
		const Edge& edge = m_edges[e];
		const double from[3] = {edge.from.x, edge.from.y, edge.from.z}, along[3] = {edge.along.x, edge.along.y, edge.along.z};
		const double widest = std::max(edge.radius, edge.radius + edge.growth * edge.length);
		double start = 0, end = edge.length;
		for (int axis = 0; axis < 3 && start <= end; ++axis)
		{
			const double to_low = low[axis] - widest - from[axis], to_high = high[axis] + widest - from[axis];
			if (along[axis] == 0)
			{
				if (to_low > 0 || to_high < 0)
					end = -1;
				continue;
			}
			const double a = to_low / along[axis], b = to_high / along[axis];
			start = std::max(start, std::min(a, b));
			end = std::min(end, std::max(a, b));
		}
		if (start > end)
			continue;
		// Its ends are corners already.
		const double pieces = std::ceil(edge.length / target.spacing), step = edge.length / pieces;
		const double last = std::min(pieces - 1, std::floor(end / step));
		for (double k = std::max(1.0, std::ceil(start / step)); k <= last;)
		{
			const Vec point = edge.from + edge.along * (k * step);
			const double far = distance_to(target, point) - target.limit - widest;
			if (far <= 0)
			{
				add_if_near(target, (e << 12 | uint32_t(std::fmod(k, 4096))) & number, point, edge.radius + edge.growth * (k * step), touches);
				k += 1;
			}
			else  // nothing nearer than this can be within the limit
				k += std::max(1.0, std::floor(far / (target.slope * step)));
		}
	}
}
}  // namespace voxshell_bullet
