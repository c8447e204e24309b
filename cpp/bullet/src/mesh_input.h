// Triangles of Bullet's mesh interface, and of the library's shapes, as the C API takes them.
#ifndef VOXSHELL_BULLET_MESH_INPUT_H
#define VOXSHELL_BULLET_MESH_INPUT_H

#include <LinearMath/btTransform.h>

#include "sharp_features.h"

class btStridingMeshInterface;

namespace voxshell_bullet
{
/// Reads every part of a mesh, with its scaling, in any number type. `part_starts` receives the number of the first triangle
/// of each part.
Soup read_mesh(const btStridingMeshInterface& mesh, std::vector<unsigned>& part_starts);

/// Moves a mesh to its centre of mass and principal axes; returns that frame in the mesh's own. Throws for a mesh without volume.
btTransform move_to_principal_frame(Soup& soup);

/// Returns the triangles that a shape keeps; empty when it keeps none.
Soup triangles_of(const vxs_shape* shape);
}  // namespace voxshell_bullet

#endif
