#include "simulation.h"

#include <algorithm>
#include <cmath>

namespace voxshell::mujoco {
namespace {

bool has_mesh(const mjModel* model, int geom) {
    return model->geom_type[geom] == mjGEOM_MESH || model->geom_type[geom] == mjGEOM_SDF;
}

/// Returns whether the geom can be in a pair: by its bit masks, or because the model lists the pair.
bool can_collide(const mjModel* model, int geom) {
    if (model->geom_contype[geom] || model->geom_conaffinity[geom]) return true;
    return std::any_of(model->pair_geom1, model->pair_geom1 + model->npair, [&](int id) { return id == geom; }) ||
           std::any_of(model->pair_geom2, model->pair_geom2 + model->npair, [&](int id) { return id == geom; });
}

} // namespace

const Instance* instance_of(const mjModel* model, const mjData* data, int geom, int slot) {
    const int attached = model->geom_plugin[geom];
    if (attached >= 0 && model->plugin[attached] == slot)
        return reinterpret_cast<const Instance*>(data->plugin_data[attached]);
    if (!has_mesh(model, geom)) return nullptr;
    for (int i = 0; i < model->nplugin; ++i) {
        if (model->plugin[i] != slot) continue;
        const auto* instance = reinterpret_cast<const Instance*>(data->plugin_data[i]);
        if (instance && instance->settings.all_geoms) return instance;
    }
    return nullptr;
}

std::string Simulation::prepare(const mjModel* model, int slot) {
    std::vector<Settings> settings(model->nplugin);
    const Settings* all = nullptr;
    for (int i = 0; i < model->nplugin; ++i) {
        if (model->plugin[i] != slot) continue;
        if (const std::string wrong = read_settings(m_library, model, i, settings[i]); !wrong.empty()) return wrong;
        if (settings[i].all_geoms) all = &settings[i];
    }
    for (int geom = 0; geom < model->ngeom; ++geom) {
        if (!has_mesh(model, geom) || !can_collide(model, geom)) continue;
        const int attached = model->geom_plugin[geom];
        const bool is_attached = attached >= 0 && model->plugin[attached] == slot;
        std::string error;
        if (m_shapes.get(model, geom, is_attached ? settings[attached] : all ? *all : Settings(), error)) continue;
        // A mesh of MuJoCo's own may be anything, also without a volume. Pairs with it are left to MuJoCo.
        if (!is_attached && !all) continue;
        const char* name = m_library.id_to_name(model, mjOBJ_GEOM, geom);
        return "geom " + std::to_string(geom) + (name ? std::string(" \"") + name + "\"" : "") + ": " + error;
    }
    return {};
}

host::Body Simulation::body(const mjModel* model, const mjData* data, int geom, const Settings& settings,
                            std::string& error) {
    host::Body body;
    body.shape = m_shapes.get(model, geom, settings, error);
    mjtNum quaternion[4];
    m_library.mat_to_quat(quaternion, data->geom_xmat + 9 * geom);
    const mjtNum* position = data->geom_xpos + 3 * geom;
    body.pose = {{position[0], position[1], position[2]}, quaternion[1], quaternion[2], quaternion[3], quaternion[0]};
    body.center_of_mass = body.pose.position;
    return body;
}

int Simulation::collide(const mjModel* model, const mjData* data, mjPreContact* contacts, int g1, int g2,
                        mjtNum margin, const Settings& settings) {
    std::string error;
    const host::Body first = body(model, data, g1, settings, error), second = body(model, data, g2, settings, error);
    if (!first.shape || !second.shape) return -1;

    host::PairSettings pair;
    pair.margin = std::max<mjtNum>(margin, 0);
    pair.look_ahead = 0;
    pair.coverage = settings.coverage;
    pair.dense_above = settings.dense_above;
    // MuJoCo has reserved this number of contacts for the pair and stops the program if there are more.
    const int room = m_library.max_contact(model, g1, g2, margin > 0);
    pair.thinning.max_contacts = static_cast<size_t>(std::min(room, settings.max_contacts));
    if (pair.thinning.max_contacts == 0) return 0;

    const auto answer = m_pairs.find(static_cast<uint64_t>(g1), first, static_cast<uint64_t>(g2), second, 0, pair);
    if (answer.status != VXS_OK) return -1;
    const size_t count = std::min(answer.size(), pair.thinning.max_contacts);
    for (size_t i = 0; i < count; ++i) {
        const host::Contact contact = answer[i];
        const vxs_vec3 &a = contact.point_on_a, &b = contact.point_on_b, &n = contact.normal;
        contacts[i] = {contact.separation,
                       {(a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2},
                       {n.x, n.y, n.z},
                       {0, 0, 0}};
    }
    return static_cast<int>(count);
}

} // namespace voxshell::mujoco
