// Code shared by the scenes of the demo: a stock Bullet world, its bodies, and the measurements of each step. The
// scenes themselves (drop_plane.cpp, pair.cpp, stack.cpp, pile.cpp and so on) are short; read those first.
#pragma once

#include <btBulletDynamicsCommon.h>
#include <voxshell/bullet.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "shapes.h"

namespace demo {

struct StepFigures;  // shared with the Rust side: see bridge.rs
struct BodyPose;
struct BodyInfo;
struct ContactLoad;

/// Times of the narrowphase of the last step, nanoseconds.
struct NarrowphaseTimes {
    double spent = 0;      // of the caller's thread; wall time with several threads
    double processor = 0;  // of all threads
};

/// Returns Bullet's dispatcher, or with several threads Voxshell's, with a timer around the narrowphase, otherwise unchanged.
/// The arguments must outlive it.
std::unique_ptr<btCollisionDispatcher> timed_dispatcher(const Setup& setup, btCollisionConfiguration& configuration,
                                                        NarrowphaseTimes& times);

/// The motion clamp with a timer around it.
class TimedClamp final : public btActionInterface {
public:
    void updateAction(btCollisionWorld* world, btScalar dt) override;
    void debugDraw(btIDebugDraw*) override {}

    /// Time of the last step, nanoseconds; 0 while the clamp is not in the world.
    double clamp_ns = 0;

private:
    btVoxShellMotionClamp clamp_;
};

/// One run: a world under gravity (0, -10, 0) m/s² and its bodies. Units are metres, kilograms and seconds; y is up.
class Scene {
public:
    explicit Scene(const Setup& setup);
    ~Scene();
    Scene(const Scene&) = delete;
    Scene& operator=(const Scene&) = delete;

    /// Adds a body of a model, with friction 0.5 and the collision method of the setup.
    btRigidBody& add_dynamic(const Model& model, const btTransform& pose);
    btRigidBody& add_static(const Model& model, const btTransform& pose);
    /// Adds a fixed body with one of Bullet's own shapes.
    btRigidBody& add_static(std::unique_ptr<btCollisionShape> shape, const btTransform& pose);
    /// Adds a body that enters the world at step `step` with the given velocity, for pouring.
    void add_later(const Model& model, const btTransform& pose, const btVector3& velocity, int step);
    /// Sets a function to be called before each step with the step's number, from 0. Scenes use it for drives.
    void before_steps(std::function<void(int)> drive) { drive_ = std::move(drive); }

    /// Returns the solver settings of the world, which are Bullet's defaults, for scenes that change them.
    btContactSolverInfo& solver_info() { return world_.getSolverInfo(); }
    /// Enables the protection against tunnelling; call it when all bodies have been added. Voxshell's shapes get the
    /// motion clamp; convex shapes get Bullet's swept spheres if the setup says so.
    void prevent_tunnelling();
    void add_constraint(std::unique_ptr<btTypedConstraint> constraint);

    /// Makes one step of exactly `dt` seconds: stepSimulation(dt, 0) has no hidden substeps.
    StepFigures step();

    std::size_t body_count() const { return bodies_.size(); }
    /// Writes the poses of the bodies of models, in the order in which they were added.
    void poses(rust::Vec<BodyPose>& out) const;
    rust::Vec<BodyInfo> infos() const;

    // For callers that drive a body themselves. Indices count the bodies of models.
    void push(std::size_t body, const std::array<double, 3>& impulse, const std::array<double, 3>& angular);
    void load(std::size_t body, const std::array<double, 3>& force);
    std::array<double, 3> spin(std::size_t body) const;
    void place(std::size_t body, const BodyPose& pose);
    void set_friction(double friction);
    rust::Vec<ContactLoad> loads() const;

private:
    struct Body {
        std::unique_ptr<btRigidBody> rigid;
        const Model* model;  // null for Bullet's own shapes
        int enters;          // step at which it joins the world
    };
    btRigidBody& add(std::unique_ptr<btRigidBody> rigid, const Model* model, int enters);
    btRigidBody& of_model(std::size_t index) const;

    const Setup& setup_;
    btDefaultCollisionConfiguration configuration_;
    NarrowphaseTimes times_;
    std::unique_ptr<btCollisionDispatcher> dispatcher_;
    btDbvtBroadphase broadphase_;
    btSequentialImpulseConstraintSolver solver_;
    btDiscreteDynamicsWorld world_;
    ShapeMaker shapes_;
    std::vector<std::unique_ptr<btCollisionShape>> own_shapes_;
    std::vector<Body> bodies_;
    std::function<void(int)> drive_;
    std::vector<std::unique_ptr<btTypedConstraint>> constraints_;
    TimedClamp clamp_;
    int step_ = 0;
};

/// Returns the pose that puts the lowest point of the model's box at height `y`, upright as modelled, with the centre
/// of mass at (x, ·, z).
btTransform upright(const Model& model, btScalar x, btScalar y, btScalar z);

/// Makes the scene that `setup` names; the scene keeps a reference to `setup`.
std::unique_ptr<Scene> make_scene(const Setup& setup);

// The scenes. Each fills an empty world.
void drop_plane(Scene& scene, const Setup& setup);
void drop_box(Scene& scene, const Setup& setup);
void pair(Scene& scene, const Setup& setup);
void ball(Scene& scene, const Setup& setup);
void pile(Scene& scene, const Setup& setup);
void pile_large(Scene& scene, const Setup& setup);
void stack_spheres(Scene& scene, const Setup& setup);
void stack(Scene& scene, const Setup& setup);
void rolling(Scene& scene, const Setup& setup);
void nut_bolt(Scene& scene, const Setup& setup);
void wires(Scene& scene, const Setup& setup);
void fast_drop(Scene& scene, const Setup& setup);
void fan(Scene& scene, const Setup& setup);
void low_frequency(Scene& scene, const Setup& setup);
void levels(Scene& scene, const Setup& setup);
void scaling(Scene& scene, const Setup& setup);
void trial(Scene& scene, const Setup& setup);

}  // namespace demo
