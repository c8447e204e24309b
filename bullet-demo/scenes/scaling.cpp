// In every step a body is placed at another of the given poses against a fixed copy of itself, at rest and without
// weight. So each narrowphase starts without cached data, and finds the same number of contacts.
#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::scaling(Scene& scene, const Setup& setup) {
    const Model& model = setup.models[0];
    scene.add_static(model, btTransform::getIdentity());
    btRigidBody* body = &scene.add_dynamic(model, upright(model, 0, 2, 0));
    body->setGravity(btVector3(0, 0, 0));
    scene.before_steps([body, &setup](int step) {
        if (setup.places.empty()) return;
        const BodyPose& place = setup.places[std::size_t(step) % setup.places.size()];
        const auto& p = place.position;
        const auto& q = place.rotation;
        const btTransform pose(btQuaternion{btScalar(q[0]), btScalar(q[1]), btScalar(q[2]), btScalar(q[3])},
                               btVector3{btScalar(p[0]), btScalar(p[1]), btScalar(p[2])});
        body->setWorldTransform(pose);
        body->setInterpolationWorldTransform(pose);
        body->setLinearVelocity(btVector3(0, 0, 0));
        body->setAngularVelocity(btVector3(0, 0, 0));
    });
}
