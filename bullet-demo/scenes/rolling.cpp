// Four bodies that move for three seconds, then are released and come to rest. The scene compares the cost of motion
// with that of the same pairs at rest. One body slides, one rolls and one tumbles on a plane; the fourth tumbles in a
// large bowl (model 1).
#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::rolling(Scene& scene, const Setup& setup) {
    auto plane = std::make_unique<btStaticPlaneShape>(btVector3(0, 1, 0), btScalar(0));
    scene.add_static(std::move(plane), btTransform::getIdentity());
    const Model& model = setup.models[0];
    const Model& bowl = setup.models[1];
    scene.add_static(bowl, upright(bowl, -4, 0, 0));

    // The lanes are wide enough that no bodies meet.
    const btScalar gap = btScalar(0.01);
    const btScalar inside = btScalar(bowl.upright_max[1] - bowl.upright_min[1]) * btScalar(0.1);
    btRigidBody* slider = &scene.add_dynamic(model, upright(model, 0, gap, 0));
    btRigidBody* roller = &scene.add_dynamic(model, upright(model, 0, gap, -2));
    btRigidBody* tumbler = &scene.add_dynamic(model, upright(model, 1, gap, btScalar(3.5)));
    btRigidBody* stirred = &scene.add_dynamic(model, upright(model, -4, inside, 0));
    slider->setFriction(0);

    const int released = int(3 / setup.dt + 0.5);
    scene.before_steps([=](int step) {
        const btScalar time = btScalar(step) * btScalar(setup.dt);
        // Drives that hold an angular velocity, as a motor does. The axes of the tumbling bodies turn too.
        const auto turn = [](btRigidBody* body, const btVector3& wanted) {
            body->setAngularVelocity(body->getAngularVelocity() + btScalar(0.2) * (wanted - body->getAngularVelocity()));
        };
        if (step < released) {
            slider->setLinearVelocity(btVector3(1, slider->getLinearVelocity().y(), 0));
            turn(slider, btVector3(slider->getAngularVelocity().x(), 2, slider->getAngularVelocity().z()));
            turn(roller, btVector3(0, 0, -3));
            const btVector3 axis(std::cos(2 * time), btScalar(0.3), std::sin(2 * time));
            turn(tumbler, 3 * axis);
            turn(stirred, 3 * axis);
        } else if (step == released) {
            for (btRigidBody* body : {slider, roller, tumbler, stirred}) {
                body->setFriction(btScalar(0.5));
                body->setDamping(btScalar(0.9), btScalar(0.9));
            }
        }
    });
}
