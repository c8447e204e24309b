// The scenes that people start with, at 60 Hz and the default settings: a cylinder that rolls over a floor of triangles keeps its speed
// to 0.1%, and a peg falls through its hole as if there were none, to 2%. Sizes, turns and speeds are drawn from seeds. What slides
// is in tests/world/scenes/floors.cpp.
#include <cstdint>
#include <cstdio>

#include "check.h"
#include "scene.h"

namespace
{
struct Random
{
	uint64_t state;

	/// Returns a number in [-1, 1): SplitMix64.
	double unit()
	{
		uint64_t z = state += 0x9E3779B97F4A7C15u;
		z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
		z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
		return double((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
	}
	/// Returns a number in [low, high).
	double between(double low, double high) { return low + (high - low) * 0.5 * (unit() + 1); }
};

btVector3 at(double x, double y, double z) { return btVector3(btScalar(x), btScalar(y), btScalar(z)); }

void add_quad(btTriangleMesh& mesh, const btVector3& a, const btVector3& b, const btVector3& c, const btVector3& d)
{
	mesh.addTriangle(a, b, c);
	mesh.addTriangle(a, c, d);
}

/// Makes a slab of 8 m and 0.3 m, its top at y = 0, whose large faces are `n` times `n` squares.
std::unique_ptr<btVoxShellShape> floor_of(int n)
{
	btTriangleMesh mesh;
	const double half = 4, low = -0.3;
	const auto line = [&](int i) { return half * (2.0 * i / n - 1); };
	for (int i = 0; i < n; ++i)
		for (int k = 0; k < n; ++k)
		{
			const double x0 = line(i), x1 = line(i + 1), z0 = line(k), z1 = line(k + 1);
			add_quad(mesh, at(x0, 0, z0), at(x0, 0, z1), at(x1, 0, z1), at(x1, 0, z0));
			add_quad(mesh, at(x0, low, z0), at(x1, low, z0), at(x1, low, z1), at(x0, low, z1));
		}
	for (int i = 0; i < n; ++i)
	{
		const double a = line(i), b = line(i + 1);
		add_quad(mesh, at(a, 0, -half), at(b, 0, -half), at(b, low, -half), at(a, low, -half));
		add_quad(mesh, at(b, 0, half), at(a, 0, half), at(a, low, half), at(b, low, half));
		add_quad(mesh, at(-half, 0, b), at(-half, 0, a), at(-half, low, a), at(-half, low, b));
		add_quad(mesh, at(half, 0, a), at(half, 0, b), at(half, low, b), at(half, low, a));
	}
	return std::unique_ptr<btVoxShellShape>(new btVoxShellShape(mesh));
}

/// Makes a bar along y, round with 48 corners, or the square one around it with a round hole.
std::unique_ptr<btVoxShellShape> bar(double radius, double from, double to, double half_outside)
{
	btTriangleMesh mesh;
	const int n = 48;
	for (int i = 0; i < n; ++i)
	{
		const auto on = [&](int k, double y) {
			const double angle = 2 * double(SIMD_PI) * (k % n) / n;
			return at(radius * std::cos(angle), y, radius * std::sin(angle));
		};
		const auto outside = [&](int k, double y) {
			const double c = std::cos(2 * double(SIMD_PI) * (k % n) / n), s = std::sin(2 * double(SIMD_PI) * (k % n) / n);
			const double r = half_outside / std::max(std::abs(c), std::abs(s));
			return at(r * c, y, r * s);
		};
		if (half_outside > 0)
		{
			add_quad(mesh, on(i, from), on(i + 1, from), on(i + 1, to), on(i, to));
			add_quad(mesh, outside(i, to), outside(i + 1, to), outside(i + 1, from), outside(i, from));
			add_quad(mesh, on(i, to), on(i + 1, to), outside(i + 1, to), outside(i, to));
			add_quad(mesh, outside(i, from), outside(i + 1, from), on(i + 1, from), on(i, from));
			continue;
		}
		add_quad(mesh, on(i, to), on(i + 1, to), on(i + 1, from), on(i, from));
		mesh.addTriangle(at(0, to, 0), on(i + 1, to), on(i, to));
		mesh.addTriangle(at(0, from, 0), on(i, from), on(i + 1, from));
	}
	return std::unique_ptr<btVoxShellShape>(new btVoxShellShape(mesh));
}

/// Cylinders and balls of any size that roll without sliding.
void round_bodies_keep_rolling()
{
	Random random = {3};
	for (const int n : {1, 9, 41})
	{
		const auto ground = floor_of(n);
		for (int round = 0; round < 8; ++round)
		{
			const double radius = random.between(0.05, 0.4), speed = random.between(0.5, 3), heading = random.unit() * 3;
			btCylinderShapeZ cylinder(at(radius, radius, radius * random.between(0.3, 2)));
			btSphereShape ball{btScalar(radius)};
			Scene scene;
			scene.add(ground.get(), 0, btVector3(0, 0, 0))->setFriction(btScalar(0.5));
			const btVector3 ahead = at(std::cos(heading), 0, -std::sin(heading));
			const btQuaternion turn = btQuaternion(btVector3(0, 1, 0), btScalar(heading)) * btQuaternion(btVector3(0, 0, 1), btScalar(random.unit()));
			btRigidBody* const body = scene.add(round % 4 == 3 ? static_cast<btCollisionShape*>(&ball) : &cylinder, 10, btTransform(turn, ahead * btScalar(-2) + at(0, radius + 1e-4, 0)));
			body->setFriction(btScalar(0.5));
			body->setLinearVelocity(ahead * btScalar(speed));
			body->setAngularVelocity(at(0, 1, 0).cross(ahead) * btScalar(speed / radius));
			for (int i = 0; i < 60; ++i)
				scene.world.stepSimulation(btScalar(1) / 60, 0);
			const double end = double(body->getLinearVelocity().dot(ahead));
			CHECK_NEAR(end, speed, 1e-3 * speed);
			CHECK_NEAR(double(body->getWorldTransform().getOrigin().y()), radius, 1e-3 * radius);
		}
	}
}

void pegs_fall_freely()
{
	Random random = {2};
	const auto peg = bar(0.01, -0.04, 0.04, 0);
	for (const double play : {2e-3, 5e-4, 1e-4})
	{
		const auto hole = bar(0.01 + play, 0, 0.04, 0.03);
		for (const double rate : {60., 240., 1000.})
		{
			Scene scene;
			scene.add(hole.get(), 0, btVector3(0, 0, 0))->setFriction(0);
			const double aside = 0.5 * play * random.unit(), start = random.between(0.07, 0.078);
			btRigidBody* const body = scene.add(peg.get(), btScalar(0.2), at(aside, start, 0));
			body->setFriction(0);
			const int steps = int(0.4 * rate + 0.5);
			for (int i = 0; i < steps; ++i)
				scene.world.stepSimulation(btScalar(1 / rate), 0);
			// Symplectic Euler falls half a step's fall farther in each step.
			const double free = 10 * 0.4 * (0.4 + 1 / rate) / 2, fell = start - double(body->getWorldTransform().getOrigin().y());
			std::printf("play %.1f mm, %4.0f Hz: fell %.4f of %.4f m\n", 1e3 * play, rate, fell, free);
			CHECK_NEAR(fell, free, 0.02 * free);
		}
	}
}
}  // namespace

int main()
{
	round_bodies_keep_rolling();
	pegs_fall_freely();
	return finish();
}
