#include "geom_shapes.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include <voxshell/host/asset_cache.h>
#include <voxshell/host/stock_shapes.h>

#include "sdf_surface.h"

namespace voxshell::mujoco {
namespace {

std::string cache_directory() {
    if (const char* given = std::getenv("VOXSHELL_CACHE")) return given;
    if (const char* user = std::getenv("XDG_CACHE_HOME"); user && *user) return std::string(user) + "/voxshell";
    if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/voxshell";
    return {};
}

/// Cooked shapes of this process. A shape lives as long as one of its owners.
struct Cooked {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<const vxs_shape>> shapes;
    // In the first call, so that the program can still set VOXSHELL_CACHE after it has loaded the plugin.
    host::AssetCache cache{cache_directory()};
    // Names equal meshes in this process; no file of it is written.
    host::AssetCache names{"names"};
};

Cooked& cooked() {
    static Cooked all;
    return all;
}

SharedShape cook(const Triangles& triangles, const Settings& settings, std::string& error) {
    const host::Mesh mesh{triangles.vertices.data(), triangles.vertices.size(), triangles.indices.data(),
                          triangles.indices.size() / 3};
    vxs_cook_options options;
    vxs_cook_options_init(&options, sizeof options);
    options.resolution = settings.resolution;
    options.voxel_size = settings.voxel_size;
    options.spacing = settings.spacing;
    options.sample_count = settings.samples;
    options.sampling = sampling_of(settings, triangles.vertices.size());

    Cooked& all = cooked();
    // Held while cooking, which uses all processors: a second simulation that needs the same mesh waits for it.
    const std::lock_guard<std::mutex> lock(all.mutex);
    const std::string name = all.names.path_of(mesh, &options);
    if (SharedShape shape = all.shapes[name].lock()) return shape;
    vxs_shape* raw = nullptr;
    if (all.cache.get(mesh, &options, &raw) != VXS_OK) {
        error = vxs_last_error();
        return nullptr;
    }
    SharedShape shape(raw, [](const vxs_shape* owned) { vxs_shape_release(const_cast<vxs_shape*>(owned)); });
    // A query would prepare the surface in the middle of a step.
    if (vxs_shape_prepare_coverage(raw, settings.coverage) != VXS_OK) {
        error = vxs_last_error();
        return nullptr;
    }
    all.shapes[name] = shape;
    return shape;
}

/// Shapes of primitive geoms. They are kept until the process ends, like the sizes of a model.
host::StockShapes& stock_shapes() {
    static host::StockShapes shapes;
    return shapes;
}

SharedShape borrowed(const vxs_shape* shape, std::string& error) {
    if (!shape) error = vxs_last_error();
    return SharedShape(shape, [](const vxs_shape*) {});
}

/// The shape of an SDF geom: of the function of another plugin, or of its mesh.
SharedShape sdf_shape(const MujocoLibrary& library, const mjModel* model, int geom, const Settings& settings,
                      std::string& error) {
    const int instance = model->geom_plugin[geom];
    const mjpPlugin* plugin = instance >= 0 ? library.plugin_at_slot(model->plugin[instance]) : nullptr;
    if (!plugin || plugin->sdf_staticdistance == nullptr || std::strcmp(plugin->name, kPluginName) == 0)
        return mesh_shape(model, model->geom_dataid[geom], settings, error);
    Triangles surface;
    error = sdf_surface(library, model, instance, *plugin, surface);
    return error.empty() ? cook(surface, settings, error) : nullptr;
}

SharedShape make_shape(const MujocoLibrary& library, const mjModel* model, int geom, const Settings& settings,
                       std::string& error) {
    const mjtNum* size = model->geom_size + 3 * geom;
    switch (model->geom_type[geom]) {
    case mjGEOM_PLANE: return borrowed(stock_shapes().half_space({0, 0, 1}, 0), error);
    case mjGEOM_SPHERE: return borrowed(stock_shapes().ball(size[0]), error);
    case mjGEOM_CAPSULE: return borrowed(stock_shapes().capsule(size[0], size[1]), error);
    case mjGEOM_CYLINDER: return borrowed(stock_shapes().cylinder(size[0], size[1]), error);
    case mjGEOM_BOX: return borrowed(stock_shapes().box({size[0], size[1], size[2]}), error);
    case mjGEOM_ELLIPSOID: return cook(ellipsoid_triangles(size), settings, error);
    case mjGEOM_MESH: return mesh_shape(model, model->geom_dataid[geom], settings, error);
    case mjGEOM_SDF: return sdf_shape(library, model, geom, settings, error);
    default: error = "a geom of this type has no shape"; return nullptr;
    }
}

} // namespace

SharedShape mesh_shape(const mjModel* model, int mesh, const Settings& settings, std::string& error) {
    return cook(mesh_triangles(model, mesh), settings, error);
}

GeomShapes::GeomShapes(const MujocoLibrary& library, int geom_count)
    : m_library(library), m_entries(geom_count) {}

GeomShapes::~GeomShapes() {
    for (std::atomic<Entry*>& first : m_entries)
        for (Entry* entry = first.load(); entry;) {
            Entry* next = entry->next;
            delete entry;
            entry = next;
        }
}

GeomShapes::Key GeomShapes::key_of(const mjModel* model, int geom) {
    Key key;
    key.type = model->geom_type[geom];
    if (key.type == mjGEOM_MESH || key.type == mjGEOM_SDF) {
        const int mesh = model->geom_dataid[geom];
        key.vertex_count = model->mesh_vertnum[mesh];
        key.face_count = model->mesh_facenum[mesh];
        const float* vertices = model->mesh_vert + 3 * static_cast<size_t>(model->mesh_vertadr[mesh]);
        for (int i = 0; i < Key::kProbes; ++i) {
            const size_t vertex = static_cast<size_t>(key.vertex_count - 1) * i / (Key::kProbes - 1);
            std::memcpy(&key.probes[3 * i], vertices + 3 * vertex, 3 * sizeof(float));
        }
    } else if (key.type != mjGEOM_PLANE) { // the size of a plane is for rendering
        for (int i = 0; i < 3; ++i) key.size[i] = model->geom_size[3 * geom + i];
    }
    return key;
}

const vxs_shape* GeomShapes::get(const mjModel* model, int geom, const Settings& settings, std::string& error) {
    const Key key = key_of(model, geom);
    Entry* first = m_entries[geom].load(std::memory_order_acquire);
    for (const Entry* entry = first; entry; entry = entry->next)
        if (entry->key == key) {
            error = entry->error;
            return entry->shape.get();
        }
    // Two threads may get here for one geom. They add equal entries.
    auto* entry = new Entry;
    entry->key = key;
    entry->shape = make_shape(m_library, model, geom, settings, entry->error);
    entry->next = first;
    while (!m_entries[geom].compare_exchange_weak(entry->next, entry, std::memory_order_acq_rel)) {}
    error = entry->error;
    return entry->shape.get();
}

} // namespace voxshell::mujoco
