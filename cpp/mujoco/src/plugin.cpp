// The plugin library: registers the plugin voxshell.sdf with MuJoCo, and replaces the entries of MuJoCo's table of
// collision functions that have a mesh or an SDF. A model without an instance of the plugin gets MuJoCo's own functions.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>

#include "simulation.h"

namespace voxshell::mujoco {
namespace {

MujocoLibrary library;
int slot = -1;
/// MuJoCo's table as it was when the plugin was loaded.
mjfCollision stock[mjNGEOMTYPES][mjNGEOMTYPES];

Instance* instance_at(const mjData* data, int instance) {
    return reinterpret_cast<Instance*>(data->plugin_data[instance]);
}

int collide(const mjModel* model, mjData* data, mjPreContact* contacts, int g1, int g2, mjtNum margin) {
    const mjfCollision otherwise = stock[model->geom_type[g1]][model->geom_type[g2]];
    if (model->nplugin == 0) return otherwise(model, data, contacts, g1, g2, margin);
    const Instance* instance = instance_of(model, data, g1, slot);
    const Instance* second = instance_of(model, data, g2, slot);
    // Of two instances the one with the finer reduction decides, so that the order of the geoms does not matter.
    if (!instance || (second && second->settings.max_contacts > instance->settings.max_contacts)) instance = second;
    if (!instance) return otherwise(model, data, contacts, g1, g2, margin);
    try {
        const int count =
            instance->simulation->collide(model, data, contacts, g1, g2, margin, instance->settings);
        if (count >= 0) return count;
        if (instance->simulation->warns_first())
            library.warning("voxshell: geoms %d and %d are left to MuJoCo's own collision: %s", g1, g2,
                            vxs_last_error());
    } catch (const std::exception& error) {
        library.error("voxshell: geoms %d and %d: %s", g1, g2, error.what());
    }
    return otherwise(model, data, contacts, g1, g2, margin);
}

/// Finds the field that MuJoCo asks for by instance: that of the SDF geoms that refer to it.
std::string find_field(const mjModel* model, int index, Instance& instance) {
    int mesh = -1;
    for (int geom = 0; geom < model->ngeom; ++geom) {
        if (model->geom_plugin[geom] != index || model->geom_type[geom] != mjGEOM_SDF) continue;
        if (mesh >= 0 && mesh != model->geom_dataid[geom])
            return "SDF geoms of different meshes refer to one instance; give each mesh an instance of its own";
        mesh = model->geom_dataid[geom];
    }
    if (mesh < 0) return {};
    std::string error;
    const SharedShape shape = mesh_shape(model, mesh, instance.settings, error);
    if (!shape) return error;
    if (vxs_shape_get_bounds(shape.get(), &instance.bounds) != VXS_OK) return vxs_last_error();
    return vxs_shape_get_field(shape.get(), &instance.field) == VXS_OK ? std::string() : vxs_last_error();
}

std::string create(const mjModel* model, mjData* data, int index) {
    auto instance = std::make_unique<Instance>();
    if (const std::string wrong = read_settings(library, model, index, instance->settings); !wrong.empty())
        return wrong;
    if (const std::string wrong = find_field(model, index, *instance); !wrong.empty()) return wrong;
    // MuJoCo initialises the instances in their order. The first of the plugin's makes what they share.
    for (int i = 0; i < index; ++i)
        if (model->plugin[i] == slot && data->plugin_data[i]) instance->simulation = instance_at(data, i)->simulation;
    if (!instance->simulation) {
        instance->simulation = std::make_shared<Simulation>(library, model);
        if (const std::string wrong = instance->simulation->prepare(model, slot); !wrong.empty()) return wrong;
    }
    data->plugin_data[index] = reinterpret_cast<uintptr_t>(instance.release());
    return {};
}

int init(const mjModel* model, mjData* data, int index) {
    std::string wrong;
    try {
        wrong = create(model, data, index);
    } catch (const std::exception& error) {
        wrong = error.what();
    }
    if (wrong.empty()) return 0;
    library.warning("voxshell: plugin instance %d: %s", index, wrong.c_str());
    return -1;
}

void destroy(mjData* data, int index) {
    delete instance_at(data, index);
    data->plugin_data[index] = 0;
}

void advance(const mjModel* model, mjData* data, int index) {
    // Once per step, not once per instance.
    for (int i = 0; i < index; ++i)
        if (model->plugin[i] == slot) return;
    instance_at(data, index)->simulation->end_step();
}

/// Returns a lower bound of the distance to the mesh for a point outside its box, 0 for one inside. The field's own value
/// outside its grid is an upper bound, with which MuJoCo's march along a ray would step through the surface.
double distance_to_box(const vxs_aabb& box, const mjtNum point[3]) {
    const double low[3] = {box.min.x, box.min.y, box.min.z}, high[3] = {box.max.x, box.max.y, box.max.z};
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        const double beyond = std::max({low[i] - point[i], point[i] - high[i], 0.0});
        sum += beyond * beyond;
    }
    return std::sqrt(sum);
}

mjtNum sdf_distance(const mjtNum point[3], const mjData* data, int index) {
    const vxs_aabb& box = instance_at(data, index)->bounds;
    const double apart = distance_to_box(box, point);
    // The field's grid reaches a little beyond the box.
    const double near = 0.01 * std::max({box.max.x - box.min.x, box.max.y - box.min.y, box.max.z - box.min.z});
    if (apart > near) return apart;
    double distance = 0;
    if (vxs_field_distance(instance_at(data, index)->field, {point[0], point[1], point[2]}, &distance, nullptr) != VXS_OK)
        library.error("voxshell: plugin instance %d: %s", index, vxs_last_error());
    return distance;
}

void sdf_gradient(mjtNum gradient[3], const mjtNum point[3], const mjData* data, int index) {
    double distance = 0;
    vxs_vec3 slope = {0, 0, 0};
    if (vxs_field_distance(instance_at(data, index)->field, {point[0], point[1], point[2]}, &distance, &slope) != VXS_OK)
        library.error("voxshell: plugin instance %d: %s", index, vxs_last_error());
    gradient[0] = slope.x;
    gradient[1] = slope.y;
    gradient[2] = slope.z;
}

// Called while a model is compiled in which a mesh has this plugin, which would make its triangles.
void sdf_aabb(mjtNum*, const mjtNum*) {
    library.error("the plugin %s makes no mesh: give the mesh a file or vertices, and the plugin to the geom", kPluginName);
}

mjtNum sdf_static_distance(const mjtNum*, const mjtNum*) { return 0; }

void register_plugin() {
    mjpPlugin plugin;
    library.default_plugin(&plugin);
    plugin.name = kPluginName;
    plugin.nattribute = kAttributeCount;
    plugin.attributes = kAttributes;
    plugin.capabilityflags = mjPLUGIN_SDF;
    plugin.nstate = [](const mjModel*, int) { return 0; };
    plugin.init = init;
    plugin.destroy = destroy;
    plugin.reset = [](const mjModel*, mjtNum*, void*, int) {};
    plugin.compute = [](const mjModel*, mjData*, int, int) {};
    plugin.advance = advance;
    plugin.sdf_distance = sdf_distance;
    plugin.sdf_gradient = sdf_gradient;
    plugin.sdf_staticdistance = sdf_static_distance;
    plugin.sdf_aabb = sdf_aabb;
    slot = library.register_plugin(&plugin);
}

void replace_collision_functions() {
    for (int first = 0; first < mjNGEOMTYPES; ++first)
        for (int second = first; second < mjNGEOMTYPES; ++second) {
            mjfCollision& entry = library.collision_functions[first][second];
            stock[first][second] = entry;
            // Height fields stay MuJoCo's.
            if (entry && first != mjGEOM_HFIELD && (second == mjGEOM_MESH || second == mjGEOM_SDF)) entry = collide;
        }
}

} // namespace

mjPLUGIN_LIB_INIT(voxshell) {
    const std::string wrong = find_mujoco(library);
    if (!wrong.empty()) {
        // The plugin stays unknown to MuJoCo, so that a model that needs it does not load.
        std::fprintf(stderr, "voxshell %s: the MuJoCo plugin was not registered: %s\n", vxs_version_string(), wrong.c_str());
        return;
    }
    register_plugin();
    replace_collision_functions();
}

} // namespace voxshell::mujoco
