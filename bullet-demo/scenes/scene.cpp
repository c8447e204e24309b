#include "scene.h"

#include <time.h>

#include <algorithm>
#include <stdexcept>

#include "voxshell-bullet-demo/src/bridge.rs.h"

namespace demo {

static double nanoseconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return 1e9 * double(now.tv_sec) + double(now.tv_nsec);
}

template <typename Work>
static double timed(Work work) {
    // The wall clock has the finer resolution; the clock of the thread stops while another process has the processor.
    const double thread = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    const double wall = nanoseconds(CLOCK_MONOTONIC);
    work();
    const double wall_took = nanoseconds(CLOCK_MONOTONIC) - wall;
    const double thread_took = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - thread;
    return std::min(wall_took, thread_took);
}

namespace {

/// A dispatcher with a timer. One thread is timed by the lesser of two clocks; the clock of the caller's thread stops while it
/// waits for others, so several threads are timed by the wall clock.
template <typename Base>
class Timed final : public Base {
public:
    template <typename... Arguments>
    Timed(NarrowphaseTimes& times, bool several, Arguments&&... arguments)
        : Base(std::forward<Arguments>(arguments)...), times_(times), several_(several) {}

    void dispatchAllCollisionPairs(btOverlappingPairCache* pairs, const btDispatcherInfo& info,
                                   btDispatcher* dispatcher) override {
        const double processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID), wall = nanoseconds(CLOCK_MONOTONIC);
        const double lesser = timed([&] { Base::dispatchAllCollisionPairs(pairs, info, dispatcher); });
        times_.spent = several_ ? nanoseconds(CLOCK_MONOTONIC) - wall : lesser;
        times_.processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - processor;
    }

private:
    NarrowphaseTimes& times_;
    bool several_;
};

}  // namespace

std::unique_ptr<btCollisionDispatcher> timed_dispatcher(const Setup& setup, btCollisionConfiguration& configuration,
                                                        NarrowphaseTimes& times) {
    if (setup.threads <= 1) return std::make_unique<Timed<btCollisionDispatcher>>(times, false, &configuration);
    return std::make_unique<Timed<btVoxShellDispatcher>>(times, true, &configuration, int(setup.threads),
                                                         contact_settings(setup));
}

void TimedClamp::updateAction(btCollisionWorld* world, btScalar dt) {
    clamp_ns = timed([&] { clamp_.updateAction(world, dt); });
}

Scene::Scene(const Setup& setup)
    : setup_(setup),
      dispatcher_(timed_dispatcher(setup, configuration_, times_)),
      world_(dispatcher_.get(), &broadphase_, &solver_, &configuration_),
      shapes_(setup, *dispatcher_) {
    world_.setGravity(btVector3(0, -10, 0));
}

Scene::~Scene() {
    for (auto& constraint : constraints_) world_.removeConstraint(constraint.get());
    world_.removeAction(&clamp_);
    for (Body& body : bodies_)
        if (body.rigid->isInWorld()) world_.removeRigidBody(body.rigid.get());
}

btRigidBody& Scene::add(std::unique_ptr<btRigidBody> rigid, const Model* model, int enters) {
    rigid->setFriction(btScalar(0.5));
    rigid->setActivationState(DISABLE_DEACTIVATION);  // bodies never sleep: every step computes all contacts
    if (enters <= step_) world_.addRigidBody(rigid.get());
    bodies_.push_back({std::move(rigid), model, enters});
    return *bodies_.back().rigid;
}

static std::unique_ptr<btRigidBody> rigid_body(btCollisionShape* shape, const btTransform& pose, btScalar mass,
                                               const btVector3& inertia) {
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
    info.m_startWorldTransform = pose;
    return std::make_unique<btRigidBody>(info);
}

static std::unique_ptr<btRigidBody> moving_body(btCollisionShape* shape, const Model& model, const btTransform& pose) {
    // The frame of the body is its principal axes, because Bullet takes a diagonal inertia. The inertia is that of the
    // solid mesh for every collision shape, so that the methods differ in their contacts only.
    const btScalar mass = 1;
    const auto& i = model.inertia;
    return rigid_body(shape, pose, mass, mass * btVector3(btScalar(i[0]), btScalar(i[1]), btScalar(i[2])));
}

btRigidBody& Scene::add_dynamic(const Model& model, const btTransform& pose) {
    return add(moving_body(shapes_.dynamic_shape(model), model, pose), &model, 0);
}

btRigidBody& Scene::add_static(const Model& model, const btTransform& pose) {
    return add(rigid_body(shapes_.static_shape(model), pose, 0, btVector3(0, 0, 0)), &model, 0);
}

btRigidBody& Scene::add_static(std::unique_ptr<btCollisionShape> shape, const btTransform& pose) {
    shape->setMargin(btScalar(setup_.margin));
    own_shapes_.push_back(std::move(shape));
    return add(rigid_body(own_shapes_.back().get(), pose, 0, btVector3(0, 0, 0)), nullptr, 0);
}

void Scene::add_later(const Model& model, const btTransform& pose, const btVector3& velocity, int step) {
    btRigidBody& body = add(moving_body(shapes_.dynamic_shape(model), model, pose), &model, step);
    body.setLinearVelocity(velocity);
}

void Scene::add_constraint(std::unique_ptr<btTypedConstraint> constraint) {
    world_.addConstraint(constraint.get());
    constraints_.push_back(std::move(constraint));
}

void Scene::prevent_tunnelling() {
    if (setup_.clamped) world_.addAction(&clamp_);
    if (!setup_.swept_spheres) return;
    for (Body& body : bodies_) {
        if (!body.model || body.rigid->getInvMass() == 0) continue;
        // The sphere must be well inside the body. It sweeps when the body moves by more than half of its own
        // thickness.
        double half = 1e30;
        for (int i = 0; i < 3; ++i)
            half = std::min(half, 0.5 * (body.model->upright_max[i] - body.model->upright_min[i]));
        body.rigid->setCcdMotionThreshold(btScalar(half));
        body.rigid->setCcdSweptSphereRadius(btScalar(0.5 * half));
    }
}

static double kinetic_energy(const btRigidBody& body) {
    if (body.getInvMass() == 0) return 0;
    const btVector3 v = body.getLinearVelocity();
    const btVector3 w = body.getWorldTransform().getBasis().transpose() * body.getAngularVelocity();
    const btVector3 inverse = body.getInvInertiaDiagLocal();
    double twice = double(v.dot(v)) / double(body.getInvMass());
    for (int i = 0; i < 3; ++i) twice += double(w[i]) * double(w[i]) / double(inverse[i]);
    return 0.5 * twice;
}

StepFigures Scene::step() {
    for (Body& body : bodies_)
        if (body.enters == step_ && !body.rigid->isInWorld()) world_.addRigidBody(body.rigid.get());

    if (drive_) drive_(step_);

    // No substeps, so that the step is exactly dt. stepSimulation(dt, 1) would integrate 1/60 s instead.
    const double thread = nanoseconds(CLOCK_THREAD_CPUTIME_ID), wall = nanoseconds(CLOCK_MONOTONIC);
    world_.stepSimulation(btScalar(setup_.dt), 0);
    const double took = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - thread;
    const double wall_took = nanoseconds(CLOCK_MONOTONIC) - wall;
    ++step_;

    StepFigures figures{};
    figures.clamp_ns = clamp_.clamp_ns;
    figures.narrowphase_ns = times_.spent + clamp_.clamp_ns;
    figures.narrowphase_cpu_ns = times_.processor + clamp_.clamp_ns;
    figures.step_ns = took;
    figures.step_wall_ns = wall_took;
    figures.pairs = std::uint32_t(broadphase_.getOverlappingPairCache()->getNumOverlappingPairs());
    for (int i = 0; i < dispatcher_->getNumManifolds(); ++i) {
        const btPersistentManifold& manifold = *dispatcher_->getManifoldByIndexInternal(i);
        const int points = manifold.getNumContacts();
        for (int k = 0; k < points; ++k)
            figures.contact_depth = std::max(figures.contact_depth, -double(manifold.getContactPoint(k).getDistance()));
        figures.contacts += std::uint32_t(points);
        figures.manifolds += points > 0;
    }
    for (const Body& body : bodies_)
        if (body.rigid->isInWorld()) figures.kinetic_energy += kinetic_energy(*body.rigid);
    return figures;
}

void Scene::poses(rust::Vec<BodyPose>& out) const {
    out.clear();
    for (const Body& body : bodies_) {
        if (!body.model) continue;
        const btTransform& pose = body.rigid->getWorldTransform();
        const btVector3 p = pose.getOrigin();
        const btQuaternion q = pose.getRotation();
        out.push_back({{p.x(), p.y(), p.z()}, {q.x(), q.y(), q.z(), q.w()}, body.rigid->isInWorld()});
    }
}

rust::Vec<BodyInfo> Scene::infos() const {
    rust::Vec<BodyInfo> out;
    for (const Body& body : bodies_)
        if (body.model)
            out.push_back({std::size_t(body.model - setup_.models.data()), body.rigid->getInvMass() == 0});
    return out;
}

btRigidBody& Scene::of_model(std::size_t index) const {
    for (const Body& body : bodies_)
        if (body.model && index-- == 0) return *body.rigid;
    throw std::out_of_range("no body of a model has this index");
}

static btVector3 vector(const std::array<double, 3>& v) { return {btScalar(v[0]), btScalar(v[1]), btScalar(v[2])}; }

void Scene::load(std::size_t body, const std::array<double, 3>& force) { of_model(body).applyCentralForce(vector(force)); }

void Scene::push(std::size_t body, const std::array<double, 3>& impulse, const std::array<double, 3>& angular) {
    btRigidBody& rigid = of_model(body);
    rigid.applyCentralImpulse(vector(impulse));
    rigid.applyTorqueImpulse(vector(angular));
}

std::array<double, 3> Scene::spin(std::size_t body) const {
    const btVector3 w = of_model(body).getAngularVelocity();
    return {double(w.x()), double(w.y()), double(w.z())};
}

void Scene::place(std::size_t body, const BodyPose& pose) {
    btRigidBody& rigid = of_model(body);
    const auto& p = pose.position;
    const auto& q = pose.rotation;
    const btTransform transform(btQuaternion{btScalar(q[0]), btScalar(q[1]), btScalar(q[2]), btScalar(q[3])},
                                btVector3{btScalar(p[0]), btScalar(p[1]), btScalar(p[2])});
    rigid.setWorldTransform(transform);
    rigid.setInterpolationWorldTransform(transform);
    rigid.setLinearVelocity(btVector3(0, 0, 0));
    rigid.setAngularVelocity(btVector3(0, 0, 0));
    // The impulses of the last step would start the next solution.
    for (int i = 0; i < dispatcher_->getNumManifolds(); ++i) dispatcher_->getManifoldByIndexInternal(i)->clearManifold();
}

void Scene::set_friction(double friction) {
    for (Body& body : bodies_) body.rigid->setFriction(btScalar(friction));
}

rust::Vec<ContactLoad> Scene::loads() const {
    rust::Vec<ContactLoad> out;
    for (int i = 0; i < dispatcher_->getNumManifolds(); ++i) {
        const btPersistentManifold& manifold = *dispatcher_->getManifoldByIndexInternal(i);
        for (int k = 0; k < manifold.getNumContacts(); ++k) {
            const btManifoldPoint& point = manifold.getContactPoint(k);
            const btVector3& p = point.getPositionWorldOnB();
            out.push_back({{double(p.x()), double(p.y()), double(p.z())}, double(point.getAppliedImpulse())});
        }
    }
    return out;
}

btTransform upright(const Model& model, btScalar x, btScalar y, btScalar z) {
    const auto& q = model.upright;
    const btQuaternion turn = btQuaternion(btScalar(q[0]), btScalar(q[1]), btScalar(q[2]), btScalar(q[3])).normalized();
    return btTransform(turn, btVector3(x, y - btScalar(model.upright_min[1]), z));
}

std::unique_ptr<Scene> make_scene(const Setup& setup) {
    auto scene = std::make_unique<Scene>(setup);
    switch (setup.scene) {
        case SceneKind::DropPlane: drop_plane(*scene, setup); break;
        case SceneKind::DropBox: drop_box(*scene, setup); break;
        case SceneKind::Pair: pair(*scene, setup); break;
        case SceneKind::Ball: ball(*scene, setup); break;
        case SceneKind::Pile: pile(*scene, setup); break;
        case SceneKind::Pile500:
        case SceneKind::Pile2000: pile_large(*scene, setup); break;
        case SceneKind::StackSpheres: stack_spheres(*scene, setup); break;
        case SceneKind::Stack: stack(*scene, setup); break;
        case SceneKind::Rolling: rolling(*scene, setup); break;
        case SceneKind::NutBolt:
        case SceneKind::NutBolt100:
        case SceneKind::NutBolt1000:
        case SceneKind::Screw: nut_bolt(*scene, setup); break;
        case SceneKind::Wires: wires(*scene, setup); break;
        case SceneKind::FastDrop: fast_drop(*scene, setup); break;
        case SceneKind::Fan: fan(*scene, setup); break;
        case SceneKind::LowFrequency: low_frequency(*scene, setup); break;
        case SceneKind::Levels: levels(*scene, setup); break;
        case SceneKind::Scaling: scaling(*scene, setup); break;
        case SceneKind::Degenerate:
        case SceneKind::Flush: trial(*scene, setup); break;
        default: throw std::invalid_argument("no such scene");
    }
    return scene;
}

}  // namespace demo
