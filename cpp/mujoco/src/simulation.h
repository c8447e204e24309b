// State that the plugin keeps for one mjData.
#ifndef VOXSHELL_MUJOCO_SIMULATION_H
#define VOXSHELL_MUJOCO_SIMULATION_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <voxshell/host/pair_cache.h>

#include "geom_shapes.h"
#include "mujoco_library.h"
#include "settings.h"

namespace voxshell::mujoco {

/// The shapes and pair queries of one mjData, shared by the plugin instances of the model. Contacts depend on the poses
/// and sizes of the geoms alone, not on earlier steps, so that mj_forward stays a function of the state.
class Simulation {
public:
    Simulation(const MujocoLibrary& library, const mjModel* model) : m_library(library), m_shapes(library, model->ngeom) {}

    /// Makes the shapes of all meshes that collide in the model, so that no step has to cook.
    /// @return an empty string, or a message with the name of the geom
    std::string prepare(const mjModel* model, int slot);

    /// Finds the contacts of two geoms, of which at least one is the plugin's.
    ///
    /// @param[out] contacts  room for `mj_maxContact`; deepest first
    /// @return their number, or -1 if the pair is not supported
    int collide(const mjModel* model, const mjData* data, mjPreContact* contacts, int g1, int g2, mjtNum margin,
                const Settings& settings);

    /// Ends a step: forgets pairs that have been apart for long.
    void end_step() { m_pairs.end_step(); }

    /// Returns true in the first call, for a warning that a program needs once.
    bool warns_first() { return !m_warned.exchange(true); }

private:
    host::Body body(const mjModel* model, const mjData* data, int geom, const Settings& settings, std::string& error);

    const MujocoLibrary& m_library;
    GeomShapes m_shapes;
    host::PairCache m_pairs;
    std::atomic<bool> m_warned{false};
};

/// State of one plugin instance of an mjData: mjData::plugin_data.
struct Instance {
    std::shared_ptr<Simulation> simulation;
    Settings settings;
    /// Field of the mesh of the instance's geoms, for MuJoCo's own use: rays, flexes and sensors. Null if
    /// no SDF geom refers to the instance.
    vxs_field* field = nullptr;
    /// Box around that mesh, frame of the geom.
    vxs_aabb bounds = {};

    Instance() = default;
    ~Instance() { vxs_field_release(field); }
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;
};

/// Returns the instance that a geom refers to or, for a mesh or SDF geom, the instance for all geoms; null if the geom is
/// not the plugin's.
/// @param slot  number of the plugin in MuJoCo's table
const Instance* instance_of(const mjModel* model, const mjData* data, int geom, int slot);

} // namespace voxshell::mujoco

#endif
