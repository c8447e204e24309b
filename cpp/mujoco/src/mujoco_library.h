// The MuJoCo library of this process: its version and the functions that the plugin calls.
#ifndef VOXSHELL_MUJOCO_MUJOCO_LIBRARY_H
#define VOXSHELL_MUJOCO_MUJOCO_LIBRARY_H

#include <string>

#include <mujoco/mujoco.h>

namespace voxshell::mujoco {

/// Name of the plugin in models.
inline constexpr char kPluginName[] = "voxshell.sdf";

/// Functions and tables of MuJoCo. The plugin looks them up by name instead of linking them: the library's SONAME holds
/// the whole version, so a plugin that links it loads with one patch release only, and could not refuse the others.
struct MujocoLibrary {
    decltype(&::mj_version) version = nullptr;
    decltype(&::mj_maxContact) max_contact = nullptr;
    decltype(&::mj_getPluginConfig) get_plugin_config = nullptr;
    decltype(&::mj_id2name) id_to_name = nullptr;
    decltype(&::mju_warning) warning = nullptr;
    decltype(&::mju_error) error = nullptr;
    decltype(&::mju_mat2Quat) mat_to_quat = nullptr;
    decltype(&::mjp_defaultPlugin) default_plugin = nullptr;
    decltype(&::mjp_registerPlugin) register_plugin = nullptr;
    decltype(&::mjp_getPluginAtSlot) plugin_at_slot = nullptr;
    mjfCollision (*collision_functions)[mjNGEOMTYPES] = nullptr;
};

/// Finds the MuJoCo library that is loaded in this process, and checks its version.
///
/// @param[out] library  written on success
/// @return an empty string, or the reason why the plugin cannot work with this process
std::string find_mujoco(MujocoLibrary& library);

} // namespace voxshell::mujoco

#endif
