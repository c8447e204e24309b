#include "simulation.h"

#include <algorithm>
#include <array>
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

/// Edge of a voxel of a shape's field, metres; 0 for a shape without voxels.
double voxel_of(const vxs_shape* shape) {
    vxs_shape_info info;
    vxs_shape_info_init(&info, sizeof info);
    return vxs_shape_get_info(shape, &info) == VXS_OK ? info.voxel_size : 0;
}

/// Returns the number of the pair of the model that lists two geoms, or -1.
int pair_of(const mjModel* model, int g1, int g2) {
    for (int i = 0; i < model->npair; ++i) {
        const int first = model->pair_geom1[i], second = model->pair_geom2[i];
        if ((first == g1 && second == g2) || (first == g2 && second == g1)) return i;
    }
    return -1;
}

/// Returns the distance at which the contacts of two geoms begin to push, as MuJoCo adds it up, metres: `margin`, without
/// `gap`.
mjtNum pushing_distance(const mjModel* model, int g1, int g2) {
    if (model->opt.enableflags & mjENBL_OVERRIDE) return model->opt.o_margin;
    const int pair = pair_of(model, g1, g2);
    return pair >= 0 ? model->pair_margin[pair] : model->geom_margin[g1] + model->geom_margin[g2];
}

/// Returns the `solref` of the contacts of two geoms: that of the override or of their pair in the model, or MuJoCo's mix
/// of theirs.
std::array<mjtNum, 2> solref_of(const mjModel* model, int g1, int g2) {
    if (model->opt.enableflags & mjENBL_OVERRIDE) return {model->opt.o_solref[0], model->opt.o_solref[1]};
    if (const int pair = pair_of(model, g1, g2); pair >= 0)
        return {model->pair_solref[2 * pair], model->pair_solref[2 * pair + 1]};
    const mjtNum *ref1 = model->geom_solref + 2 * g1, *ref2 = model->geom_solref + 2 * g2;
    mjtNum part = 0.5; // of the first
    if (model->geom_priority[g1] != model->geom_priority[g2])
        part = model->geom_priority[g1] > model->geom_priority[g2] ? 1 : 0;
    else if (const mjtNum sum = model->geom_solmix[g1] + model->geom_solmix[g2]; sum > mjMINVAL)
        part = model->geom_solmix[g1] / sum;
    const bool are_standard = ref1[0] > 0 && ref2[0] > 0;
    std::array<mjtNum, 2> mixed;
    for (int i = 0; i < 2; ++i) {
        const bool mixes = are_standard || part == 0 || part == 1;
        mixed[i] = mixes ? part * ref1[i] + (1 - part) * ref2[i] : std::min(ref1[i], ref2[i]);
    }
    return mixed;
}

/// Returns how long before they touch the bodies must feel a contact so that its spring and damper stop them without
/// depth, seconds; at least a step.
///
/// MuJoCo accelerates a contact of distance r by −b r' − k r. With r = x − v T for the separation x and the approach
/// v = −x', that is x'' = −(b + k T) x' − k x. Its roots are −b and −k/b for T = 1/b, so that bodies that come within v T
/// never reach x = 0. In the standard format of `solref` b is 2 over the time constant.
double stopping_time(const mjModel* model, int g1, int g2) {
    const auto [first, second] = solref_of(model, g1, g2);
    return std::max(model->opt.timestep, first > 0 ? first / 2 : second < 0 ? -1 / second : 0);
}

struct Velocity {
    vxs_vec3 linear = {0, 0, 0}, angular = {0, 0, 0};
};

/// Velocity of a geom's centre, world frame, from the joints' velocities. MuJoCo's own body velocities (mjData::cvel) are
/// those of the step before while it looks for contacts.
Velocity velocity_of(const mjModel* model, const mjData* data, int geom) {
    const int body = model->body_weldid[model->geom_bodyid[geom]];
    Velocity at_center; // of the whole tree's mass, to which the axes refer
    if (model->body_dofnum[body] == 0) return at_center;
    for (int dof = model->body_dofadr[body] + model->body_dofnum[body] - 1; dof >= 0; dof = model->dof_parentid[dof]) {
        const mjtNum *axis = data->cdof + 6 * dof, speed = data->qvel[dof];
        at_center.angular = {at_center.angular.x + axis[0] * speed, at_center.angular.y + axis[1] * speed,
                             at_center.angular.z + axis[2] * speed};
        at_center.linear = {at_center.linear.x + axis[3] * speed, at_center.linear.y + axis[4] * speed,
                            at_center.linear.z + axis[5] * speed};
    }
    const mjtNum *center = data->subtree_com + 3 * model->body_rootid[body], *position = data->geom_xpos + 3 * geom;
    const vxs_vec3 &w = at_center.angular, &v = at_center.linear;
    const double r[3] = {position[0] - center[0], position[1] - center[1], position[2] - center[2]};
    return {{v.x + w.y * r[2] - w.z * r[1], v.y + w.z * r[0] - w.x * r[2], v.z + w.x * r[1] - w.y * r[0]}, w};
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
    if (settings.look_ahead != 0) {
        const Velocity velocity = velocity_of(model, data, geom);
        body.linear_velocity = velocity.linear;
        body.angular_velocity = velocity.angular;
    }
    return body;
}

int Simulation::collide(const mjModel* model, const mjData* data, mjPreContact* contacts, int g1, int g2,
                        mjtNum margin, const Settings& settings) {
    std::string error;
    const host::Body first = body(model, data, g1, settings, error), second = body(model, data, g2, settings, error);
    if (!first.shape || !second.shape) return -1;

    host::PairSettings pair;
    pair.margin = std::max<mjtNum>(margin, 0);
    // The time is that of the look-ahead, and not of a step.
    const double ahead =
        settings.look_ahead < 0 ? stopping_time(model, g1, g2) : settings.look_ahead * model->opt.timestep;
    if (ahead > 0) {
        pair.allowance = settings.allowance >= 0 ? settings.allowance
                                                 : 0.1 * std::max(voxel_of(first.shape), voxel_of(second.shape));
        pair.path_distance = std::max<mjtNum>(pushing_distance(model, g1, g2), 0);
    }
    pair.coverage = settings.coverage;
    pair.dense_above = settings.dense_above;
    // MuJoCo has reserved this number of contacts for the pair and stops the program if there are more.
    const int room = m_library.max_contact(model, g1, g2, margin > 0);
    pair.thinning.max_contacts = static_cast<size_t>(std::min(room, settings.max_contacts));
    if (pair.thinning.max_contacts == 0) return 0;

    const auto answer = m_pairs.find(static_cast<uint64_t>(g1), first, static_cast<uint64_t>(g2), second, ahead, pair);
    if (answer.status != VXS_OK) return -1;
    const size_t count = std::min(answer.size(), pair.thinning.max_contacts);
    for (size_t i = 0; i < count; ++i) {
        const host::Contact contact = answer[i];
        const vxs_vec3 &a = contact.point_on_a, &b = contact.point_on_b, &n = contact.normal;
        // The gap is the separation, unless the bodies approach each other within the look-ahead.
        contacts[i] = {contact.gap,
                       {(a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2},
                       {n.x, n.y, n.z},
                       {0, 0, 0}};
    }
    return static_cast<int>(count);
}

} // namespace voxshell::mujoco
