// Triangles on the way from a model to a shape.
#ifndef VOXSHELL_MUJOCO_TRIANGLES_H
#define VOXSHELL_MUJOCO_TRIANGLES_H

#include <cstdint>
#include <vector>

#include <voxshell/base.h>

namespace voxshell::mujoco {

struct Triangles {
    /// Metres, frame of the geom.
    std::vector<vxs_vec3> vertices;
    /// Three vertex numbers per triangle, counter-clockwise seen from outside.
    std::vector<uint32_t> indices;
};

/// Merges vertices with equal coordinates and drops triangles that have two equal corners then. Files repeat vertices
/// that have several normals, and the number of vertices decides the sampling (sampling_of).
Triangles welded(const Triangles& given);

Triangles mesh_triangles(const struct mjModel_* model, int mesh);

/// A sphere of 48 rings of triangles, scaled to the half-axes.
Triangles ellipsoid_triangles(const double half_axes[3]);

} // namespace voxshell::mujoco

#endif
