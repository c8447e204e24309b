// Nuts on standing bolts, in real size. Each nut starts some turns above the head of its bolt, in the middle of its play. Its
// weight or a driver brings it down; in the scene of a screw the caller does.
#include <algorithm>
#include <cmath>

#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

namespace {

const btScalar kDensity = 7850;  // steel, kg/m³
// The torque of a driver falls linearly with speed: full at standstill, zero at four turns per second.
const btScalar kTorque = btScalar(0.005);             // N m
const btScalar kFreeSpeed = 4 * SIMD_2_PI;            // rad/s

/// Returns the pose that puts the origin of the model's own mesh at `at`, turned about y.
btTransform standing(const demo::Model& model, const btVector3& at, btScalar turn) {
    const btTransform upright = demo::upright(model, 0, 0, 0);
    const btQuaternion about(btVector3(0, 1, 0), turn);
    const auto& o = model.mesh_origin;
    const btVector3 offset{btScalar(o[0]), btScalar(o[1]), btScalar(o[2])};
    return btTransform(about * upright.getRotation(), at - quatRotate(about, offset));
}

}  // namespace

void demo::nut_bolt(Scene& scene, const Setup& setup) {
    const Model &bolt = setup.models[setup.bolt], &nut = setup.models[setup.bolt + 1];
    const bool pushed = setup.scene == SceneKind::Screw;
    const bool driven = setup.drive == Drive::Driver;
    const btScalar friction = btScalar(setup.friction);
    const btScalar pitch = btScalar(nut.lead), mass = kDensity * btScalar(nut.volume);
    scene.solver_info().m_numIterations = int(setup.iterations);

    const int pairs = int(setup.count);
    const int row = int(std::ceil(std::sqrt(double(pairs))));
    std::vector<btRigidBody*> nuts;
    for (int i = 0; i < pairs; ++i) {
        // Bullet enlarges the box of each body by 20 mm, and that of a moving one by 50 mm more: closer pairs would count as
        // neighbours.
        const btVector3 head(btScalar(0.25) * (i % row), 0, btScalar(0.25) * (i / row));
        // Each pair has its own orientation: the nut starts at its own angle, on the helix.
        const btScalar turns = btScalar(setup.turns) - btScalar(i) / btScalar(pairs);
        scene.add_static(bolt, standing(bolt, head, 0)).setFriction(friction);
        btRigidBody& body = scene.add_dynamic(nut, standing(nut, head + btVector3(0, pitch * turns, 0), SIMD_2_PI * turns));
        body.setFriction(friction);
        const auto& inertia = nut.inertia;
        body.setMassProps(mass, mass * btVector3(btScalar(inertia[0]), btScalar(inertia[1]), btScalar(inertia[2])));
        body.setGravity(btVector3(0, pushed ? 0 : -10, 0));
        body.updateInertiaTensor();
        nuts.push_back(&body);
    }
    if (driven && !pushed)
        scene.before_steps([nuts, dt = btScalar(setup.dt)](int) {
            // An impulse instead of applyTorque: the friction rows of the solver ignore the external torque of a step,
            // so nothing would ever resist it.
            for (btRigidBody* body : nuts) {
                const btScalar down = -body->getAngularVelocity().y();
                const btScalar torque = kTorque * std::max(btScalar(-1), std::min(btScalar(1), 1 - down / kFreeSpeed));
                body->applyTorqueImpulse(btVector3(0, -torque * dt, 0));
            }
        });
}
