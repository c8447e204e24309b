// Settings of a plugin instance, from its attributes in the model.
#ifndef VOXSHELL_MUJOCO_SETTINGS_H
#define VOXSHELL_MUJOCO_SETTINGS_H

#include <cstddef>
#include <cstdint>
#include <string>

#include <voxshell/cook.h>
#include <voxshell/query.h>

#include "mujoco_library.h"

namespace voxshell::mujoco {

/// Names of the attributes of `<config key="…" value="…"/>`, in the order in which the plugin registers them.
extern const char* const kAttributes[];
extern const int kAttributeCount;

/// In place of a VXS_SAMPLING_: chosen for each mesh.
inline constexpr uint32_t kAutoSampling = UINT32_MAX;

struct Settings {
    /// `geoms`: "attached", the default: the instance is for the geoms that refer to it. "all": for all mesh and SDF
    /// geoms of the model, also those of other SDF plugins.
    bool all_geoms = false;
    /// `resolution`: voxels along the largest extent of a mesh.
    uint32_t resolution = 192;
    /// `voxel_size`: edge of a voxel, metres; replaces the resolution if it is not 0.
    double voxel_size = 0;
    /// `spacing`: largest gap between samples, metres; 0: derived from the voxel size.
    double spacing = 0;
    /// `samples`: approximate number of samples of a mesh; used if `spacing` is 0. 0: derived from the voxel size.
    uint32_t samples = 5000;
    /// `sampling`: "default", "uniform" or "vertices", one of VXS_SAMPLING_; "auto": see sampling_of.
    uint32_t sampling = kAutoSampling;
    /// `max_contacts` of a pair, at most mjMAXCONPAIR.
    int max_contacts = mjMAXCONPAIR;
    /// `coverage`: "samples", "edges" or "facets", one of VXS_COVERAGE_.
    uint32_t coverage = VXS_COVERAGE_FACETS;
    /// `dense_above`: above this number of samples in contact only the most urgent ones of each part of the surface are
    /// considered; 0: never.
    uint32_t dense_above = 512;
    /// `look_ahead`: contacts have the distance that they will have after this number of steps at the present velocities,
    /// if that is less than the distance now. 0: the distance now, as with MuJoCo's own functions. Negative, the default
    /// ("auto"): the time in which the spring and damper of the pair stop an approach; see stopping_time.
    double look_ahead = -1;
    /// `allowance`: part of the approach that the look-ahead does not count, metres. Negative, the default: a tenth of a
    /// voxel, so that bodies that slide along each other are not braked by the facets of their meshes.
    double allowance = -1;
};

/// Returns the sampling of a mesh. With `kAutoSampling` the vertices of a mesh come before points of its area if they are
/// not more than `samples`: the deepest point of a mesh of flat triangles is a vertex more often than not, and a vertex
/// between samples sinks in unseen. Meshes with more vertices have samples close enough without them.
uint32_t sampling_of(const Settings& settings, size_t vertex_count);

/// Reads the attributes of a plugin instance.
///
/// @param[out] settings  written on success
/// @return an empty string, or a message with the attribute, its value and the expected values
std::string read_settings(const MujocoLibrary& library, const mjModel* model, int instance, Settings& settings);

} // namespace voxshell::mujoco

#endif
