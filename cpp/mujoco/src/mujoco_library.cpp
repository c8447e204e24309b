#include "mujoco_library.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <iterator>
#include <link.h>
#include <vector>

namespace voxshell::mujoco {
namespace {

// Releases whose mjmodel.h, mjdata.h and mjplugin.h were compared with those of the compiled one and are equal. The
// plugin reads mjModel and mjData, so another layout would be read as wrong numbers.
constexpr int kTestedVersions[] = {4000000, 4000001};
static_assert(mjVERSION_HEADER == 4000000 || mjVERSION_HEADER == 4000001,
              "the plugin is written for the headers of MuJoCo 4.0.0 and 4.0.1");

int add_if_mujoco(dl_phdr_info* info, size_t, void* paths) {
    const char* name = std::strrchr(info->dlpi_name, '/');
    name = name ? name + 1 : info->dlpi_name;
    if (std::strncmp(name, "libmujoco.so", 12) == 0)
        static_cast<std::vector<std::string>*>(paths)->emplace_back(info->dlpi_name);
    return 0;
}

template <class Function> bool look_up(void* handle, const char* name, Function& function, std::string& missing) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (!function && missing.empty()) missing = name;
    return function != nullptr;
}

/// Returns the name of a MuJoCo release. Each part of its number has three digits (4000001: 4.0.1), and one digit in older
/// releases (327: 3.2.7).
std::string version_name(int version) {
    if (version < 1000000)
        return std::to_string(version / 100) + "." + std::to_string(version / 10 % 10) + "." + std::to_string(version % 10);
    return std::to_string(version / 1000000) + "." + std::to_string(version / 1000 % 1000) + "." +
           std::to_string(version % 1000);
}

} // namespace

std::string find_mujoco(MujocoLibrary& library) {
    std::vector<std::string> paths;
    dl_iterate_phdr(add_if_mujoco, &paths);
    if (paths.empty()) return "no libmujoco is loaded in this process: load the plugin with mj_loadPluginLibrary";
    if (paths.size() > 1) return "two MuJoCo libraries are loaded: " + paths[0] + " and " + paths[1];
    // The library stays loaded as long as this plugin: the handle is never closed.
    void* handle = dlopen(paths[0].c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) return paths[0] + ": " + dlerror();

    MujocoLibrary found;
    std::string missing;
    if (!look_up(handle, "mj_version", found.version, missing)) return paths[0] + " has no function mj_version";
    const int version = found.version();
    if (std::find(std::begin(kTestedVersions), std::end(kTestedVersions), version) == std::end(kTestedVersions)) {
        std::string known;
        for (const int tested : kTestedVersions) known += (known.empty() ? "" : ", ") + version_name(tested);
        return "MuJoCo " + version_name(version) + " is not supported; this plugin was made for " + known;
    }
    look_up(handle, "mj_maxContact", found.max_contact, missing);
    look_up(handle, "mj_getPluginConfig", found.get_plugin_config, missing);
    look_up(handle, "mj_id2name", found.id_to_name, missing);
    look_up(handle, "mju_warning", found.warning, missing);
    look_up(handle, "mju_error", found.error, missing);
    look_up(handle, "mju_mat2Quat", found.mat_to_quat, missing);
    look_up(handle, "mjp_defaultPlugin", found.default_plugin, missing);
    look_up(handle, "mjp_registerPlugin", found.register_plugin, missing);
    look_up(handle, "mjp_getPluginAtSlot", found.plugin_at_slot, missing);
    look_up(handle, "mjCOLLISIONFUNC", found.collision_functions, missing);
    if (!missing.empty()) return paths[0] + " has no function " + missing;
    library = found;
    return {};
}

} // namespace voxshell::mujoco
