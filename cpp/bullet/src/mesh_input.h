// Triangles of Bullet's mesh interface, and of the library's shapes, as the C API takes them.
#ifndef VOXSHELL_BULLET_MESH_INPUT_H
#define VOXSHELL_BULLET_MESH_INPUT_H

#include <LinearMath/btTransform.h>

#include "sharp_features.h"

class btStridingMeshInterface;

namespace voxshell_bullet
{
/// `read_mesh` fills this in from a mesh of Bullet.
struct MeshInput
{
	Soup soup;
	std::vector<unsigned> part_starts;  // the number of the first triangle of each part
	double rounding = 0;                // how far apart a corner may lie in two triangles by rounding, metres
};

/// Reads every part of a mesh, with its scaling, in any number type.
MeshInput read_mesh(const btStridingMeshInterface& mesh);

/// Reads a mesh file (.obj, .stl, .ply).
MeshInput read_mesh_file(const char* path);

/// Moves a mesh to its centre of mass and principal axes; returns that frame in the mesh's own. Throws for a mesh without volume.
btTransform move_to_principal_frame(MeshInput& input);

/// Returns the triangles that a shape keeps; empty when it keeps none.
Soup triangles_of(const vxs_shape* shape);
}  // namespace voxshell_bullet

#endif
