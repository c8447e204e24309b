// Triangles of the surface of another SDF plugin's function.
#ifndef VOXSHELL_MUJOCO_SDF_SURFACE_H
#define VOXSHELL_MUJOCO_SDF_SURFACE_H

#include <string>

#include "mujoco_library.h"
#include "triangles.h"

namespace voxshell::mujoco {

/// Makes triangles of the function of a plugin instance by marching tetrahedra, in the frame of its geoms. MuJoCo's own
/// mesh of the function has cells of a hundredth of the body, which is more than the clearance of a thread; here the
/// vertices are on the surface, and the cells are 1/512 of the largest extent; with twice that, the crests of a thread are so
/// uneven that it jams.
///
/// @param plugin        has the capability mjPLUGIN_SDF
/// @param[out] surface  written on success
/// @return an empty string, or the reason
std::string sdf_surface(const MujocoLibrary& library, const mjModel* model, int instance, const mjpPlugin& plugin,
                        Triangles& surface);

} // namespace voxshell::mujoco

#endif
