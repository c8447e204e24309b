// A ball of 0.5 m radius with coefficient of restitution e falls from a gap of 1 m. It should rebound to e² · 1 m.
#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::ball(Scene& scene, const Setup& setup) {
    const Model& model = setup.models[0];

    auto plane = std::make_unique<btStaticPlaneShape>(btVector3(0, 1, 0), btScalar(0));
    btRigidBody& ground = scene.add_static(std::move(plane), btTransform::getIdentity());
    ground.setRestitution(1);  // Bullet multiplies the coefficients of both bodies

    btRigidBody& body = scene.add_dynamic(model, upright(model, 0, 1, 0));
    body.setRestitution(btScalar(setup.restitution));
}
