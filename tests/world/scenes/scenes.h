// Scenes of the ordinary world: bodies and parameters drawn from a seed, in stock Bullet at 60 Hz with default cooking and
// settings. A class of scenes is a function of a seed that says what is wrong, and nothing if the scene holds.
#ifndef VOXSHELL_TEST_SCENES_H
#define VOXSHELL_TEST_SCENES_H

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <set>

#include "../../bullet/check.h"
#include "../../bullet/true_mesh.h"

/// Numbers from a seed: SplitMix64.
struct Random
{
	uint64_t state;

	explicit Random(uint64_t seed) : state(seed * 0xD1342543DE82EF95u + 1) {}
	/// Returns a number in [0, 1).
	double unit()
	{
		uint64_t z = state += 0x9E3779B97F4A7C15u;
		z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
		z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
		return double((z ^ (z >> 31)) >> 11) * 0x1p-53;
	}
	/// Returns a number in [low, high).
	double between(double low, double high) { return low + (high - low) * unit(); }
	/// Returns a number in [low, high), as likely in each decade. Both are positive.
	double decade(double low, double high) { return low * std::pow(high / low, unit()); }
	/// Returns a whole number in [low, high].
	int whole(int low, int high) { return low + std::min(int(unit() * (high - low + 1)), high - low); }
	bool coin() { return unit() < 0.5; }
	/// Returns any orientation, each as likely.
	btQuaternion turn()
	{
		const double u = unit(), v = 2 * SIMD_PI * unit(), w = 2 * SIMD_PI * unit();
		const double a = std::sqrt(1 - u), b = std::sqrt(u);
		return btQuaternion(btScalar(a * std::sin(v)), btScalar(a * std::cos(v)), btScalar(b * std::sin(w)), btScalar(b * std::cos(w)));
	}
};

inline btVector3 at(double x, double y, double z) { return btVector3(btScalar(x), btScalar(y), btScalar(z)); }

inline btQuaternion about(const btVector3& axis, double angle) { return btQuaternion(axis.normalized(), btScalar(angle)); }

/// Triangles, counter-clockwise from outside.
struct Triangles
{
	std::vector<btVector3> corners;
	std::vector<std::array<int, 3>> faces;

	int corner(double x, double y, double z)
	{
		corners.push_back(at(x, y, z));
		return int(corners.size()) - 1;
	}
	void quad(int a, int b, int c, int d)
	{
		faces.push_back({a, b, c});
		faces.push_back({a, c, d});
	}
	/// Adds another closed part.
	void add(const Triangles& part, const btTransform& place = btTransform::getIdentity())
	{
		const int first = int(corners.size());
		for (const btVector3& p : part.corners)
			corners.push_back(place * p);
		for (const auto& f : part.faces)
			faces.push_back({f[0] + first, f[1] + first, f[2] + first});
	}
};

inline Triangles box(double x, double y, double z)
{
	Triangles made;
	for (int i = 0; i < 8; ++i)
		made.corner(i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z);
	for (const auto& f : {std::array<int, 4>{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}})
		made.quad(f[0], f[1], f[2], f[3]);
	return made;
}

/// Makes a solid around y from its outline (radius, height), counter-clockwise with the axis to the left; an outline that does
/// not begin and end on the axis is closed.
inline Triangles turned(const std::vector<std::array<double, 2>>& outline, int n)
{
	Triangles made;
	std::vector<std::vector<int>> rows;
	for (const auto& point : outline)
	{
		std::vector<int> row;
		for (int i = 0; i < n; ++i)
		{
			const double angle = 2 * double(SIMD_PI) * i / n;
			if (point[0] > 0 || i == 0)
				row.push_back(made.corner(point[0] * std::cos(angle), point[1], point[0] * std::sin(angle)));
			else
				row.push_back(row[0]);
		}
		rows.push_back(row);
	}
	const bool is_closed = outline.front()[0] > 0 || outline.back()[0] > 0;
	const size_t count = rows.size();
	for (size_t s = 0; s + (is_closed ? 0 : 1) < count; ++s)
	{
		const std::vector<int>&low = rows[s], &high = rows[(s + 1) % count];
		for (int i = 0; i < n; ++i)
		{
			const size_t a = size_t(i), b = size_t((i + 1) % n);
			if (low[a] != low[b])
				made.faces.push_back({low[a], high[a], low[b]});
			if (high[a] != high[b])
				made.faces.push_back({high[a], high[b], low[b]});
		}
	}
	return made;
}

inline Triangles cylinder(double radius, double half, int n) { return turned({{0, -half}, {radius, -half}, {radius, half}, {0, half}}, n); }
inline Triangles tube(double inner, double outer, double half, int n) { return turned({{inner, -half}, {outer, -half}, {outer, half}, {inner, half}}, n); }
/// Open above, standing on y = 0; `low` and `high` are the radii outside below and above.
inline Triangles cup(double low, double high, double height, double wall, int n)
{
	return turned({{0, 0}, {low, 0}, {high, height}, {high - wall, height}, {low - wall, wall}, {0, wall}}, n);
}
inline Triangles ring(double radius, double thick, int n, int m)
{
	std::vector<std::array<double, 2>> outline;
	for (int i = 0; i < m; ++i)
		outline.push_back({radius + thick * std::cos(2 * double(SIMD_PI) * i / m), thick * std::sin(2 * double(SIMD_PI) * i / m)});
	return turned(outline, n);
}

/// Makes an open box that stands on y = 0: half widths outside below and above, height and wall.
inline Triangles crate(const std::array<double, 2>& low, const std::array<double, 2>& high, double height, double wall)
{
	Triangles made;
	const auto rim = [&](double x, double y, double z) {
		const int first = made.corner(-x, y, -z);
		made.corner(x, y, -z);
		made.corner(x, y, z);
		made.corner(-x, y, z);
		return first;
	};
	const int a = rim(low[0], 0, low[1]), b = rim(high[0], height, high[1]);
	const int c = rim(high[0] - wall, height, high[1] - wall), d = rim(low[0] - wall, wall, low[1] - wall);
	made.quad(a, a + 1, a + 2, a + 3);
	made.quad(d + 3, d + 2, d + 1, d);
	for (const auto& rims : {std::array<int, 2>{a, b}, {b, c}, {c, d}})
		for (int i = 0; i < 4; ++i)
		{
			const int j = (i + 1) % 4;
			made.quad(rims[0] + i, rims[1] + i, rims[1] + j, rims[0] + j);
		}
	return made;
}

inline std::unique_ptr<btTriangleMesh> mesh_of(const Triangles& triangles)
{
	std::unique_ptr<btTriangleMesh> mesh(new btTriangleMesh);
	for (const auto& f : triangles.faces)
		mesh->addTriangle(triangles.corners[size_t(f[0])], triangles.corners[size_t(f[1])], triangles.corners[size_t(f[2])]);
	return mesh;
}

/// A cooked body with its triangles, in its principal frame.
class Part
{
public:
	explicit Part(const Triangles& triangles) : m_mesh(mesh_of(triangles)), m_shape(*m_mesh, nullptr, &m_principal), m_exact(m_shape.getShape())
	{
		m_shape.getAabb(btTransform::getIdentity(), m_low, m_high);
		for (const auto& f : triangles.faces)
			for (int i = 0; i < 3; ++i)
				add_probes(m_principal.inverse() * triangles.corners[size_t(f[size_t(i)])], m_principal.inverse() * triangles.corners[size_t(f[size_t((i + 1) % 3)])]);
	}
	Part(const Part&) = delete;
	Part& operator=(const Part&) = delete;

	btVoxShellShape* shape() { return &m_shape; }
	/// Returns the pose of the body for a pose of the triangles.
	btTransform placed(const btTransform& place) const { return place * m_principal; }
	/// Returns the pose of the triangles of a body.
	btTransform place_of(const btRigidBody& body) const { return body.getWorldTransform() * m_principal.inverse(); }

	/// Returns the depth of the corners and of points on the edges of this part in another, metres; 0 if none is inside.
	double depth_in(const btTransform& pose, const Part& other, const btTransform& other_pose) const
	{
		const btTransform relative = other_pose.inverse() * pose;
		double deepest = 0;
		for (const btVector3& probe : m_probes)
		{
			const btVector3 p = relative(probe);
			bool is_near = true;
			for (int i = 0; i < 3; ++i)
				is_near = is_near && p[i] > other.m_low[i] && p[i] < other.m_high[i];
			if (is_near)
				deepest = std::max(deepest, -other.m_exact.distance(p));
		}
		return deepest;
	}

	/// Returns the depth of the same points in a box around the origin of its pose, metres; 0 if none is inside.
	double depth_in_box(const btTransform& pose, const btTransform& box_pose, const btVector3& half) const
	{
		const btTransform relative = box_pose.inverse() * pose;
		double deepest = 0;
		for (const btVector3& probe : m_probes)
		{
			const btVector3 within = half - relative(probe).absolute();
			deepest = std::max(deepest, double(within[within.minAxis()]));
		}
		return deepest;
	}

	/// Returns the depth of the corners below y = 0, metres.
	double depth_below(const btTransform& pose) const
	{
		double deepest = 0;
		for (const btVector3& probe : m_probes)
			deepest = std::max(deepest, -double(pose(probe).y()));
		return deepest;
	}

private:
	/// Adds the first end of an edge and points on it, ten along the largest extent.
	void add_probes(const btVector3& from, const btVector3& to)
	{
		const btVector3 size = m_high - m_low;
		const int count = 1 + int(10 * double((to - from).length()) / double(size[size.maxAxis()]));
		for (int i = 0; i < count; ++i)
			m_probes.push_back(from.lerp(to, btScalar(i) / btScalar(count)));
	}

	btTransform m_principal = btTransform::getIdentity();
	std::unique_ptr<btTriangleMesh> m_mesh;
	btVoxShellShape m_shape;
	TrueMesh m_exact;
	btVector3 m_low, m_high;
	std::vector<btVector3> m_probes;
};

/// Returns the larger depth of two parts in each other, metres.
inline double depth(const Part& a, const btRigidBody& body_a, const Part& b, const btRigidBody& body_b)
{
	const btTransform &at_a = body_a.getWorldTransform(), &at_b = body_b.getWorldTransform();
	return std::max(a.depth_in(at_a, b, at_b), b.depth_in(at_b, a, at_a));
}

/// Collects what is wrong with a scene.
class Complaints
{
public:
	/// Adds a complaint unless `value` is at most `most`, which it is not if it is no number.
	void at_most(const char* what, double value, double most)
	{
		if (value <= most)
			return;
		char line[200];
		std::snprintf(line, sizeof line, "%s%s is %.4g, at most %.4g is right", m_text.empty() ? "" : "; ", what, value, most);
		m_text += line;
	}
	void near(const char* what, double value, double right, double by)
	{
		if (std::fabs(value - right) <= by)
			return;
		char line[200];
		std::snprintf(line, sizeof line, "%s%s is %.6g, %.6g within %.3g is right", m_text.empty() ? "" : "; ", what, value, right, by);
		m_text += line;
	}
	const std::string& text() const { return m_text; }

private:
	std::string m_text;
};

/// Runs a class of scenes: `usual` seeds, a thousand with VOXSHELL_LONG, as many as VOXSHELL_SEEDS says, or the one that
/// VOXSHELL_SEED names. Each failing seed is printed.
inline void run_class(const char* name, int usual, const std::function<Complaints(Random&)>& scene)
{
	if (on_valgrind())
		return;
	const char* const one = std::getenv("VOXSHELL_SEED");
	const char* const is_long = std::getenv("VOXSHELL_LONG");
	const uint64_t first = one ? std::strtoull(one, nullptr, 10) : 1;
	const char* const some = std::getenv("VOXSHELL_SEEDS");
	const uint64_t count = one ? 1 : some ? std::strtoull(some, nullptr, 10) : is_long ? 1000 : uint64_t(usual);
	uint64_t failed = 0;
	for (uint64_t seed = first; seed < first + count; ++seed)
	{
		Random random(seed);
		const Complaints found = scene(random);
		if (found.text().empty())
			continue;
		++failed;
		++failures();
		std::printf("%s, seed %llu: %s\n", name, static_cast<unsigned long long>(seed), found.text().c_str());
		std::fflush(stdout);
	}
	std::printf("%s: %llu of %llu scenes hold\n", name, static_cast<unsigned long long>(count - failed), static_cast<unsigned long long>(count));
	std::fflush(stdout);
}

inline void step(Scene& scene, double rate = 60) { scene.world.stepSimulation(btScalar(1 / rate), 0); }

#endif
