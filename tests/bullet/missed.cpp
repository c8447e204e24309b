// No contact of two meshes is missed with the default settings: where triangles of one mesh cross triangles of the other, by
// Cramer's rule on all pairs, the pair has a contact at a distance of at most 0. A pair that moves very slowly has one at 10⁻⁵ of
// its size at most, if it is deeper than that.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "check.h"
#include "handle.h"
#include "mesh_input.h"
#include "scene.h"
#include "vec.h"

using namespace voxshell_bullet;

namespace
{
/// Poses per pair; more with VOXSHELL_LONG.
int pose_count() { return on_valgrind() ? 1 : (std::getenv("VOXSHELL_LONG") ? 25000 : 60); }

class Random
{
public:
	explicit Random(uint64_t seed) : m_state(seed) {}
	/// Returns a number from 0 to 1.
	double next()
	{
		m_state = m_state * 6364136223846793005u + 1442695040888963407u;
		return double(m_state >> 11) / 9007199254740992.0;
	}
	double between(double low, double high) { return low + (high - low) * next(); }
	btQuaternion rotation()
	{
		btQuaternion q;
		do
			q = btQuaternion(btScalar(between(-1, 1)), btScalar(between(-1, 1)), btScalar(between(-1, 1)), btScalar(between(-1, 1)));
		while (q.length2() > 1 || q.length2() < btScalar(0.01));
		return q.normalized();
	}

private:
	uint64_t m_state;
};

struct Box
{
	Vec low = {1e30, 1e30, 1e30}, high = {-1e30, -1e30, -1e30};

	void add(const Vec& p)
	{
		low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
		high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
	}
	bool meets(const Box& b) const { return low.x <= b.high.x && b.low.x <= high.x && low.y <= b.high.y && b.low.y <= high.y && low.z <= b.high.z && b.low.z <= high.z; }
};

/// A shape, and its triangles for the reference.
struct Solid
{
	Handle made;
	btVoxShellShape shape;
	Soup soup;
	double size;

	Solid(uint32_t kind, std::initializer_list<double> lengths, std::initializer_list<uint32_t> detail) : made(primitive(kind, lengths, detail, 1500, 64)), shape(made.get()), soup(triangles_of(made.get()))
	{
		const btVector3 half = shape.getLocalHalfExtents();
		size = 2 * double(half[half.maxAxis()]);
	}

	std::vector<Vec> placed(const btTransform& pose) const
	{
		const Frame frame(to_pose(pose));
		std::vector<Vec> points;
		for (const vxs_vec3& v : soup.vertices)
			points.push_back(frame(v));
		return points;
	}
};

/// Returns whether a segment passes through a triangle.
bool passes_through(const Vec& from, const Vec& to, const std::array<Vec, 3>& t)
{
	const Vec along = to - from, e = t[1] - t[0], f = t[2] - t[0], p = cross(along, f);
	const double det = dot(e, p);
	if (det == 0)
		return false;
	const Vec s = from - t[0], q = cross(s, e);
	const double u = dot(s, p) / det, v = dot(along, q) / det, w = dot(f, q) / det;
	return u >= 0 && v >= 0 && u + v <= 1 && w >= 0 && w <= 1;
}

/// Returns whether an edge of one mesh passes through a triangle of the other.
bool edges_cross(const Soup& own, const std::vector<Vec>& own_points, const Soup& other, const std::vector<Vec>& other_points)
{
	Box own_box;
	for (const Vec& p : own_points)
		own_box.add(p);
	std::vector<std::pair<std::array<Vec, 3>, Box>> near;
	Box near_box;
	for (size_t i = 0; i < other.indices.size(); i += 3)
	{
		const std::array<Vec, 3> t = {other_points[other.indices[i]], other_points[other.indices[i + 1]], other_points[other.indices[i + 2]]};
		Box box;
		for (const Vec& p : t)
			box.add(p);
		if (!box.meets(own_box))
			continue;
		near.emplace_back(t, box);
		near_box.add(box.low);
		near_box.add(box.high);
	}
	for (size_t i = 0; i < own.indices.size(); ++i)
	{
		const size_t next = i % 3 == 2 ? i - 2 : i + 1;
		// Each edge of a closed mesh once.
		if (own.indices[i] > own.indices[next])
			continue;
		const Vec &from = own_points[own.indices[i]], &to = own_points[own.indices[next]];
		Box box;
		box.add(from);
		box.add(to);
		if (!box.meets(near_box))
			continue;
		for (const auto& [triangle, around] : near)
			if (around.meets(box) && passes_through(from, to, triangle))
				return true;
	}
	return false;
}

bool meshes_cross(const Solid& a, const btTransform& pose_a, const Solid& b, const btTransform& pose_b)
{
	const std::vector<Vec> points_a = a.placed(pose_a), points_b = b.placed(pose_b);
	return edges_cross(a.soup, points_a, b.soup, points_b) || edges_cross(b.soup, points_b, a.soup, points_a);
}

/// Depth, as a fraction of the size, up to which contacts of a slow pair may be missed.
const double kLeast = 1e-5;

struct Missed
{
	int poses = 0, missed = 0;
};

/// Places the second body at random orientations, `depth` of its size inside the first one along the line of the shortest
/// distance.
template <class Visit>
void for_each_pose(const Solid& a, const Solid& b, uint64_t seed, const Visit& visit)
{
	Random random(seed);
	vxs_workspace* made = nullptr;
	must(vxs_workspace_create(&made));
	const Workspace workspace(made);
	vxs_query query;
	must(vxs_query_init(&query, sizeof query));
	const btTransform pose_a(random.rotation(), btVector3(btScalar(0.3), btScalar(-0.2), btScalar(0.1)));
	for (int i = 0; i < pose_count();)
	{
		const btQuaternion turn = random.rotation();
		const btVector3 direction = quatRotate(random.rotation(), btVector3(1, 0, 0));
		btTransform pose_b(turn, pose_a.getOrigin() + direction * btScalar(1.5 * (a.size + b.size)));
		// Along the direction, up to the first contact.
		bool found = false;
		for (int step = 0; step < 100 && !found; ++step)
		{
			const vxs_body first = {a.made.get(), to_pose(pose_a)}, second = {b.made.get(), to_pose(pose_b)};
			vxs_contact nearest;
			bool is_near;
			must(vxs_query_distance(&first, &second, &query, workspace.get(), &nearest, &is_near));
			found = nearest.separation < 1e-6 * b.size;
			if (!found)
				pose_b.getOrigin() -= direction * btScalar(nearest.separation);
			// Past the other body.
			if ((pose_b.getOrigin() - pose_a.getOrigin()).dot(direction) < -a.size)
				break;
		}
		if (!found)
			continue;
		++i;
		pose_b.getOrigin() -= direction * btScalar(b.size * 1e-5 * std::pow(1000.0, random.next()));
		visit(pose_a, pose_b);
	}
}

/// Looks for contacts of pairs that Bullet sees for the first time.
Missed cold(const Solid& a, const Solid& b, unsigned coverage, uint64_t seed)
{
	btVoxShellSettings settings;
	settings.m_coverage = coverage;
	Missed result;
	for_each_pose(a, b, seed, [&](const btTransform& pose_a, const btTransform& pose_b) {
		Scene scene(settings);
		scene.add(&const_cast<btVoxShellShape&>(a.shape), 0, pose_a);
		const btRigidBody* body = scene.add(&const_cast<btVoxShellShape&>(b.shape), 1, pose_b);
		if (!meshes_cross(a, pose_a, b, body->getWorldTransform()))
			return;
		scene.world.performDiscreteCollisionDetection();
		++result.poses;
		result.missed += !(scene.deepest() <= 0);
	});
	return result;
}

/// Looks for contacts of one pair that moves on from pose to pose, by less than its margin. While it moves by less than a
/// hundredth of that, its contacts are those of an earlier pose, moved along.
Missed coherent(const Solid& a, const Solid& b, uint64_t seed)
{
	Missed result;
	int start = 0;
	for_each_pose(a, b, seed, [&](const btTransform& pose_a, const btTransform& pose_b) {
		if (start++ % 6)
			return;
		Random random(seed + uint64_t(start));
		Scene scene;
		scene.add(&const_cast<btVoxShellShape&>(a.shape), 0, pose_a);
		btTransform pose = pose_b;
		btRigidBody* body = scene.add(&const_cast<btVoxShellShape&>(b.shape), 1, pose);
		// At first 2 mm outside, then through the surface in steps of up to 20 µm.
		btVector3 out = (pose_b.getOrigin() - pose_a.getOrigin()).normalized();
		for (int step = 0; step < 12; ++step)
		{
			const double beyond = step < 3 ? 0.002 - 0.0005 * step : random.between(-2e-5, 2e-5);
			pose.setOrigin(pose_b.getOrigin() + out * btScalar(b.size * beyond));
			body->setWorldTransform(pose);
			scene.world.performDiscreteCollisionDetection();
			if (!meshes_cross(a, pose_a, b, pose))
				continue;
			++result.poses;
			if (scene.deepest() <= kLeast * b.size)
				continue;
			// Less deep, if a shift by so little takes them apart.
			pose.setOrigin(pose.getOrigin() + out * btScalar(kLeast * b.size));
			result.missed += meshes_cross(a, pose_a, b, pose);
		}
	});
	return result;
}

void no_contact_is_missed(const char* name, const Solid& a, const Solid& b)
{
	const unsigned by_default = btVoxShellSettings().m_coverage;
	const Missed samples = cold(a, b, VXS_COVERAGE_SAMPLES, 1), found = cold(a, b, by_default, 1), moving = coherent(a, b, 2);
	std::printf("%-16s missed: %d of %d poses; of a moving pair %d of %d; samples alone %d\n", name, found.missed, found.poses, moving.missed, moving.poses, samples.missed);
	CHECK(found.missed == 0);
	CHECK(moving.missed == 0);
	if (on_valgrind())
		return;
	CHECK(found.poses > pose_count() / 2);
	CHECK(moving.poses > pose_count() / 2);
	// Otherwise the poses would be no test.
	CHECK(samples.missed > 0);
}
}  // namespace

int main()
{
	const Solid gear(VXS_PRIMITIVE_GEAR, {0.5, 0.4, 0.2, 0.15}, {12}), knot(VXS_PRIMITIVE_TORUS_KNOT, {0.35, 0.1}, {2, 3, 60, 8});
	const Solid nut(VXS_PRIMITIVE_HOLE, {0.4, 0.2, 0.4, 0.2}, {24}), blob(VXS_PRIMITIVE_BLOB, {1}, {2});
	no_contact_is_missed("gear and knot", gear, knot);
	no_contact_is_missed("gear and gear", gear, gear);
	no_contact_is_missed("block and knot", nut, knot);
	no_contact_is_missed("blob and gear", blob, gear);
	return finish();
}
