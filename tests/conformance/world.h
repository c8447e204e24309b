// A host of the conformance suite implements this: a world of rigid bodies. The scenes (scenes.h) use nothing else, so
// that all hosts run the same ones.
//
// SI units, gravity along -y. A host is one file in hosts/ that defines the functions at the end.
#ifndef VOXSHELL_CONFORMANCE_WORLD_H
#define VOXSHELL_CONFORMANCE_WORLD_H

#include <memory>
#include <string>
#include <vector>

#include <voxshell/voxshell.h>

namespace conformance {

/// A mesh body. Its frame has the centre of mass at the origin and the principal axes along x, y and z.
struct Model {
    std::string name;
    std::vector<vxs_vec3> vertices;
    std::vector<uint32_t> indices;
    const vxs_shape* shape = nullptr;
    double volume = 0;            // m³
    vxs_vec3 inertia = {0, 0, 0}; // principal moments per unit mass, m²
    vxs_vec3 origin = {0, 0, 0};  // of the primitive's own frame, in this frame
};

/// Shapes that a host has itself.
enum class Stock {
    None,
    Plane, // the half-space below y = 0 of the body
    Box,   // size: half extents
    Ball,  // size.x: radius
};

struct BodySpec {
    const Model* model = nullptr; // or else
    Stock stock = Stock::None;
    vxs_vec3 size = {0, 0, 0};
    double mass = 0; // kg; 0: fixed
    vxs_pose pose = {{0, 0, 0}, 0, 0, 0, 1};
    vxs_vec3 linear_velocity = {0, 0, 0};
    vxs_vec3 angular_velocity = {0, 0, 0};
};

struct BodyState {
    vxs_pose pose;
    vxs_vec3 linear_velocity;
    vxs_vec3 angular_velocity;
};

struct WorldSettings {
    double dt = 1.0 / 240;
    double gravity = 9.81;
    /// Coulomb coefficient of each pair.
    double friction = 0.5;
    /// Distance up to which contacts are generated, for hosts that have such a setting, m.
    double margin = 1e-3;
    /// Iterations of the solver, where the host has such a setting: stacks of five creep with Bullet's default of 10.
    int iterations = 100;
    /// The host's own method for meshes in place of Voxshell.
    bool own_method = false;
};

struct RayHit {
    bool hit = false;
    vxs_vec3 point = {0, 0, 0};
    vxs_vec3 normal = {0, 0, 0};
};

class World {
public:
    virtual ~World() = default;
    /// Adds a body and returns its number: 0, 1, … All bodies are added before the first step.
    virtual int add(const BodySpec& spec) = 0;
    /// Finds contacts, solves and moves the bodies by one step.
    virtual void step() = 0;
    virtual BodyState state(int body) const = 0;
    /// Puts a body that can move to a pose, at rest.
    virtual void place(int body, const vxs_pose& pose) = 0;
    /// Time that the last step took to find contacts between bodies whose boxes overlap, s.
    virtual double narrowphase_seconds() const = 0;
    /// Contacts of the last step that touch or penetrate, or are within the margin.
    virtual size_t contacts() const = 0;
    virtual RayHit cast_ray(const vxs_vec3& from, const vxs_vec3& to) = 0;
};

// Each host defines these.
std::unique_ptr<World> make_world(const WorldSettings& settings);
/// Name in rows, such as "bullet".
const char* host_name();
/// Version of the engine, such as "Bullet 3.24".
std::string host_version();
/// The host's own method for moving meshes, such as "btGImpactMeshShape"; null without one.
const char* own_method_name();

} // namespace conformance

#endif
