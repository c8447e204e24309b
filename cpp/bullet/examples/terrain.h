// Rolling hills for the examples: a solid block with a wavy top, 24 x 8 m, as a triangle mesh.
#ifndef VOXSHELL_EXAMPLE_TERRAIN_H
#define VOXSHELL_EXAMPLE_TERRAIN_H

#include <cmath>

#include <btBulletDynamicsCommon.h>

/// Height of the ground, m.
inline btScalar terrain_height(btScalar x, btScalar z)
{
	return btScalar(0.3 * std::sin(0.8 * x) * std::cos(0.3 * z) + 0.1 * std::sin(1.7 * x + z));
}

/// A closed mesh: the top, and a flat bottom at -2 m with walls around. Inside must be inside, so a surface alone would not do.
inline void build_terrain(btTriangleMesh& mesh)
{
	const int nx = 120, nz = 40;
	const btScalar cell = btScalar(0.2);
	const auto corner = [&](int i, int k, bool top) {
		const btScalar x = btScalar(i - nx / 2) * cell, z = btScalar(k - nz / 2) * cell;
		return btVector3(x, top ? terrain_height(x, z) : btScalar(-2), z);
	};
	const auto quad = [&](const btVector3& a, const btVector3& b, const btVector3& c, const btVector3& d) {
		mesh.addTriangle(a, b, c);
		mesh.addTriangle(a, c, d);
	};
	for (int i = 0; i < nx; ++i)
		for (int k = 0; k < nz; ++k)
		{
			quad(corner(i, k, true), corner(i, k + 1, true), corner(i + 1, k + 1, true), corner(i + 1, k, true));
			quad(corner(i, k, false), corner(i + 1, k, false), corner(i + 1, k + 1, false), corner(i, k + 1, false));
		}
	for (int i = 0; i < nx; ++i)
	{
		quad(corner(i, 0, false), corner(i, 0, true), corner(i + 1, 0, true), corner(i + 1, 0, false));
		quad(corner(i, nz, false), corner(i + 1, nz, false), corner(i + 1, nz, true), corner(i, nz, true));
	}
	for (int k = 0; k < nz; ++k)
	{
		quad(corner(0, k, false), corner(0, k + 1, false), corner(0, k + 1, true), corner(0, k, true));
		quad(corner(nx, k, false), corner(nx, k, true), corner(nx, k + 1, true), corner(nx, k + 1, false));
	}
}

#endif
