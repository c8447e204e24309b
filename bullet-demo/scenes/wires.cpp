// Eight bodies are thrown at two rows of wires 6 mm thick, each with its own orientation and a speed of 25 to 300 m/s.
// The gaps between the wires are narrower than the body: it either stops in front of them or has tunnelled.
#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::wires(Scene& scene, const Setup& setup) {
    const Model &model = setup.models[0], &wire = setup.models[1];
    const double speeds[] = {25, 50, 75, 100, 150, 200, 250, 300};

    // Wires of 3 m along y, in the plane z = 0.
    for (int row = 0; row < 2; ++row)
        for (int i = -25; i <= 25; ++i) scene.add_static(wire, upright(wire, btScalar(0.2) * i, btScalar(3) * row, 0));

    for (int lane = 0; lane < 8; ++lane) {
        // The bodies move along -z; each is turned by the golden angle from the previous one.
        btTransform pose = upright(model, btScalar(2) * (lane % 4) - 3, btScalar(3) * (lane / 4) + btScalar(1.2),
                                   btScalar(1.5) + btScalar(0.07) * lane);
        pose.setRotation(btQuaternion(btVector3(1, 2, 3).normalized(), btScalar(2.399963) * lane) * pose.getRotation());
        btRigidBody& thrown = scene.add_dynamic(model, pose);
        thrown.setLinearVelocity(btVector3(0, 0, btScalar(-speeds[lane])));
    }
    scene.prevent_tunnelling();
}
