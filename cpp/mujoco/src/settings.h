// Settings of a plugin instance, from its attributes in the model.
#ifndef VOXSHELL_MUJOCO_SETTINGS_H
#define VOXSHELL_MUJOCO_SETTINGS_H

#include <cstdint>
#include <string>

#include <voxshell/cook.h>
#include <voxshell/query.h>

#include "mujoco_library.h"

namespace voxshell::mujoco {

/// Names of the attributes of `<config key="…" value="…"/>`, in the order in which the plugin registers them.
extern const char* const kAttributes[];
extern const int kAttributeCount;

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
    /// `sampling`: "default", "uniform" or "vertices", one of VXS_SAMPLING_.
    uint32_t sampling = VXS_SAMPLING_UNIFORM;
    /// `max_contacts` of a pair, at most mjMAXCONPAIR.
    int max_contacts = mjMAXCONPAIR;
    /// `coverage`: "samples", "edges" or "facets", one of VXS_COVERAGE_.
    uint32_t coverage = VXS_COVERAGE_FACETS;
    /// `dense_above`: above this number of samples in contact only the most urgent ones of each part of the surface are
    /// considered; 0: never.
    uint32_t dense_above = 512;
};

/// Reads the attributes of a plugin instance.
///
/// @param[out] settings  written on success
/// @return an empty string, or a message with the attribute, its value and the expected values
std::string read_settings(const MujocoLibrary& library, const mjModel* model, int instance, Settings& settings);

} // namespace voxshell::mujoco

#endif
