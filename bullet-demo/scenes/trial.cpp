// One body that starts in a given pose above one fixed body or a plane: the arrangements of the scenes degenerate and
// flush are in src/degenerate.rs and src/flush.rs. Some bodies are driven, so that they keep rocking or rolling.
#include <cmath>

#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

namespace {

const btScalar kRockingRate = btScalar(1);  // largest angular velocity, rad/s
const btScalar kRollingRate = btScalar(3);  // rad/s

btVector3 vector(const std::array<double, 3>& v) { return btVector3(btScalar(v[0]), btScalar(v[1]), btScalar(v[2])); }

}  // namespace

void demo::trial(Scene& scene, const Setup& setup) {
    if (setup.on_plane) {
        auto plane = std::make_unique<btStaticPlaneShape>(btVector3(0, 1, 0), btScalar(0));
        scene.add_static(std::move(plane), btTransform::getIdentity()).setFriction(btScalar(setup.friction));
    }
    btRigidBody* moving = nullptr;
    for (const Placement& placement : setup.placements) {
        const Model& model = setup.models[placement.model];
        const auto& q = placement.rotation;
        const btQuaternion turn{btScalar(q[0]), btScalar(q[1]), btScalar(q[2]), btScalar(q[3])};
        const btTransform pose(turn.normalized(), vector(placement.position));
        btRigidBody& body = placement.fixed ? scene.add_static(model, pose) : scene.add_dynamic(model, pose);
        body.setFriction(btScalar(setup.friction));
        if (placement.fixed) continue;
        body.setLinearVelocity(vector(placement.velocity));
        body.setGravity(vector(setup.acceleration));  // of a body of 1 kg: gravity and a push
        moving = &body;
    }
    if (!moving || setup.motion == Motion::Free) return;

    scene.before_steps([moving, &setup](int step) {
        // Sets an angular velocity about z; the contacts of the step reduce it.
        const btScalar time = btScalar(step) * btScalar(setup.dt);
        const btScalar rate =
            setup.motion == Motion::Rolling ? -kRollingRate : kRockingRate * std::cos(SIMD_2_PI * time);
        moving->setAngularVelocity(btVector3(0, 0, rate));
    });
}
