// Sharp features: which edges count, and that testing them against a field with skipping finds every point of an
// exhaustive walk.
#include <algorithm>
#include <map>

#include "check.h"
#include "scene.h"
#include "sharp_features.h"

using namespace voxshell_bullet;

namespace
{
Soup soup_of(btTriangleMesh& mesh)
{
	struct Collect : btInternalTriangleIndexCallback
	{
		Soup soup;
		void internalProcessTriangleIndex(btVector3* t, int, int) override
		{
			for (int i = 0; i < 3; ++i)
			{
				soup.indices.push_back(uint32_t(soup.vertices.size()));
				soup.vertices.push_back(to_vec(t[i]));
			}
		}
	} collect;
	const btVector3 all(BT_LARGE_FLOAT, BT_LARGE_FLOAT, BT_LARGE_FLOAT);
	mesh.InternalProcessAllTriangles(&collect, -all, all);
	return collect.soup;
}

/// Collects all features: it uses a field that is negative everywhere near them.
struct Everything
{
	Handle shape;
	vxs_field* field = nullptr;
	Everything()
	{
		vxs_shape* made = nullptr;
		must(vxs_shape_create_sphere(100, &made));
		shape.reset(made);
		must(vxs_shape_get_field(made, &field));
	}
	~Everything() { vxs_field_release(field); }
	std::vector<SharpFeatures::Touch> of(const SharpFeatures& features, double spacing) const
	{
		SharpFeatures::Target target;
		target.field = field;
		target.low = {-50, -50, -50};
		target.high = {50, 50, 50};
		target.spacing = spacing;
		std::vector<SharpFeatures::Touch> touches;
		features.touch(target, touches);
		return touches;
	}
};

void a_box_has_eight_corners_and_twelve_edges()
{
	btTriangleMesh mesh;
	add_box(mesh, btVector3(1, 2, 3));
	SharpFeatures features;
	features.add_edges_of(soup_of(mesh));
	// Edges of 2, 4 and 6 m in pieces of half a metre, without their ends: the diagonals of the faces are flat and not
	// included.
	CHECK(Everything().of(features, 0.5).size() == 8 + 4 * (3 + 7 + 11));

	// The same with random winding.
	Soup soup = soup_of(mesh);
	for (size_t t = 0; t < soup.indices.size(); t += 6)
		std::swap(soup.indices[t], soup.indices[t + 1]);
	SharpFeatures mixed;
	mixed.add_edges_of(soup);
	CHECK(Everything().of(mixed, 0.5).size() == 8 + 4 * (3 + 7 + 11));
}

void open_edges_count_and_shallow_ones_do_not()
{
	// Two triangles over a ridge that turns by 2 atan(height): all borders are open, the middle edge is sharp or not.
	const auto count = [](double height) {
		const Soup soup = {{{0, 0, 0}, {0, 1, 0}, {1, 0.5, -height}, {-1, 0.5, -height}}, {0, 2, 1, 0, 1, 3}};
		SharpFeatures features;
		features.add_edges_of(soup);
		const size_t corners = Everything().of(features, 1e3).size();
		CHECK(corners == 4);
		return Everything().of(features, 0.25).size();
	};
	const size_t flat = count(0.05), sharp = count(0.2);
	CHECK(sharp == flat + 3);
	// Degenerate triangles have no edges that count.
	SharpFeatures none;
	none.add_edges_of({{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {0, 1, 2, 0, 0, 1}});
	CHECK(none.empty());
}

void feature_numbers_are_distinct_and_stay()
{
	SharpFeatures features;
	features.add_circle(1, 0.5, 1);
	features.add_circle(1, -0.5, 1);
	const std::vector<SharpFeatures::Touch> once = Everything().of(features, 0.01), again = Everything().of(features, 0.01);
	std::map<uint32_t, Vec> seen;
	for (const SharpFeatures::Touch& touch : once)
	{
		CHECK(seen.emplace(touch.feature, touch.point).second);
		CHECK((touch.feature >> 30) == 1);
		CHECK_NEAR(std::hypot(touch.point.x, touch.point.z), 1, 4e-4);
	}
	CHECK(once.size() == again.size());
	for (const SharpFeatures::Touch& touch : again)
		CHECK(seen.count(touch.feature) && length(seen[touch.feature] - touch.point) == 0);
}

/// The distance of a ball ends at a true point of the surface, whether its centre is outside the field's grid, near, or
/// inside.
void balls_are_measured_to_the_surface()
{
	const Handle made = primitive(VXS_PRIMITIVE_BOX, {0.3, 0.2, 0.25}, {}, 500, 64);
	btVoxShellShape box(made.get());
	const auto measured = [&](const Vec& center, double radius, double limit) {
		SharpFeatures features;
		features.add_corner(center, radius);
		SharpFeatures::Target target;
		target.field = box.getField();
		target.slope = box.getFieldSlope();
		target.low = {-0.4, -0.3, -0.35};
		target.high = {0.4, 0.3, 0.35};
		target.limit = limit;
		target.spacing = 0.01;
		std::vector<SharpFeatures::Touch> touches;
		features.touch(target, touches);
		return touches;
	};
	for (const double gap : {-0.01, 0.0, 0.004})
		for (const double radius : {0.005, 0.02, 0.5, 5.0})
		{
			// Above a face, and beside a corner, which the field cuts off by up to a voxel (9.4 mm).
			const Vec at_face = {0.1, 0.2 + radius + gap, -0.05};
			const double s = (radius + gap) / std::sqrt(3.0);
			const Vec at_corner = {0.3 + s, 0.2 + s, 0.25 + s};
			for (const Vec& center : {at_face, at_corner})
			{
				if (radius + gap < 0 && center.x > 0.2)
					continue;  // inside, a corner is not the nearest point
				const bool corner = center.x > 0.2;
				const std::vector<SharpFeatures::Touch> touches = measured(center, radius, 0.02);
				CHECK(touches.size() == 1);
				if (touches.size() != 1)
					continue;
				CHECK_NEAR(touches[0].distance - radius, gap, corner ? 9.4e-3 : 1e-4);
				const Vec outward = corner ? Vec{1, 1, 1} * (1 / std::sqrt(3.0)) : Vec{0, 1, 0};
				CHECK(radius < 0.011 || dot(touches[0].outward, outward) > (corner ? 0.8 : 0.999));
				CHECK(measured(center, radius, gap - 0.001).empty());
			}
		}
}

/// Skipping along edges, and boxes, must not lose a point: compared with walking every edge point by point.
void nothing_is_missed()
{
	const Handle knot = primitive(VXS_PRIMITIVE_TORUS_KNOT, {0.35, 0.1}, {}, 500, 48);
	btVoxShellShape shape(knot.get());
	btTriangleMesh mesh;
	add_box(mesh, btVector3(btScalar(0.3), btScalar(0.02), btScalar(0.4)));
	add_box(mesh, btVector3(5, btScalar(0.5), btScalar(0.01)));
	SharpFeatures features;
	features.add_edges_of(soup_of(mesh));
	features.add_circle(0, 0.1, 0.3);
	const std::vector<SharpFeatures::Touch> all = Everything().of(features, 0.01);

	unsigned state = 1;
	const auto random = [&] { return btScalar((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24) - btScalar(0.5); };
	size_t found = 0;
	for (int trial = 0; trial < (on_valgrind() ? 3 : 300); ++trial)
	{
		const btQuaternion turn = btQuaternion{random(), random(), random(), random()}.normalized();
		const btTransform pose(turn, btVector3{random(), random(), random()});
		SharpFeatures::Target target;
		target.field = shape.getField();
		target.slope = shape.getFieldSlope();
		target.to_field = Frame(to_pose(pose)).inverse();
		target.limit = trial % 3 == 0 ? -0.01 : (trial % 3 == 1 ? 0.0 : 0.05);
		target.spacing = 0.01;
		const Frame back = target.to_field.inverse();
		const Vec center = back(to_vec(shape.getLocalCenter())), pad = {0.06, 0.06, 0.06};
		const Vec half = back.turned_box(to_vec(shape.getLocalHalfExtents())) + pad;
		target.low = center - half;
		target.high = center + half;
		std::vector<SharpFeatures::Touch> touches;
		features.touch(target, touches);
		std::map<uint32_t, double> answer;
		for (const SharpFeatures::Touch& touch : touches)
			if (!(touch.feature & SharpFeatures::kDeepest))
				answer[touch.feature] = touch.distance;
		size_t expected = 0;
		for (const SharpFeatures::Touch& each : all)
		{
			if (each.feature & SharpFeatures::kDeepest)
				continue;
			double distance = 0;
			must(vxs_field_distance(target.field, target.to_field(each.point), &distance, nullptr));
			if (distance > target.limit)
				continue;
			++expected;
			CHECK(answer.count(each.feature) && answer[each.feature] == distance);
		}
		CHECK(answer.size() == expected);
		found += expected;
	}
	CHECK(found > (on_valgrind() ? 1u : 2000u));
}

/// Over a plane the deepest point of a circle has a closed form: it is where the plane's normal, in the plane of the circle, points
/// down. A circle that lies flush has none.
void circles_have_a_deepest_point()
{
	vxs_shape* made = nullptr;
	must(vxs_shape_create_half_space({0, 1, 0}, 0, &made));
	const Handle shape(made);
	vxs_field* field = nullptr;
	must(vxs_shape_get_field(made, &field));
	const double radius = 0.3, height = 0.1;
	SharpFeatures features;
	features.add_circle(2, height, radius);
	for (const double tilt : {0.0, 0.3, 1.0, 1.3, 1.5})
		for (const double spin : {0.0, 0.013, 0.7, 3.0})
		{
			SharpFeatures::Target target;
			target.field = field;
			const btQuaternion turn = btQuaternion(btVector3(1, 0, 0), btScalar(tilt)) * btQuaternion(btVector3(0, 0, 1), btScalar(spin));
			const Frame turned(to_pose(btTransform(turn, btVector3(0, 0, 0))));
			const double down = height * turned.rows[1].z - radius * std::hypot(turned.rows[1].x, turned.rows[1].y);
			target.to_field = Frame(to_pose(btTransform(turn, btVector3(0, btScalar(-down), 0))));
			target.low = {-1, -1, -1};
			target.high = {1, 1, 1};
			target.limit = 0.01;
			target.spacing = 0.02;
			std::vector<SharpFeatures::Touch> touches;
			features.touch(target, touches);
			const auto is_deepest = [](const SharpFeatures::Touch& t) { return (t.feature & SharpFeatures::kDeepest) != 0; };
			const bool is_flush = std::abs(turned.rows[1].z) > 0.985;
			const size_t deepest = size_t(std::count_if(touches.begin(), touches.end(), is_deepest));
			CHECK(deepest == (is_flush ? 0 : 1) && touches.size() > 1);
			for (const SharpFeatures::Touch& touch : touches)
			{
				CHECK((touch.lowest == SharpFeatures::kNone) == (is_flush || is_deepest(touch)));
				CHECK(!is_deepest(touch) || std::abs(touch.distance) < 1e-7);
				CHECK(is_flush || is_deepest(touch) || touch.distance > -1e-7);
			}
		}
	vxs_field_release(field);
}
}  // namespace

int main()
{
	a_box_has_eight_corners_and_twelve_edges();
	open_edges_count_and_shallow_ones_do_not();
	feature_numbers_are_distinct_and_stay();
	balls_are_measured_to_the_surface();
	nothing_is_missed();
	circles_have_a_deepest_point();
	return finish();
}
