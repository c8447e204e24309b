// Eight bodies fly down on plates of 2 m that are 16 mm thick, each with its own orientation and a speed of 25 to 300
// m/s.
#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::fast_drop(Scene& scene, const Setup& setup) {
    const Model &model = setup.models[0], &plate = setup.models[1];
    const double speeds[] = {25, 50, 75, 100, 150, 200, 250, 300};

    for (int lane = 0; lane < 8; ++lane) {
        const btScalar x = btScalar(2.4) * (lane % 4) - btScalar(3.6), z = btScalar(-2.4) * (lane / 4);
        const btScalar half = btScalar(0.5 * (plate.upright_max[1] - plate.upright_min[1]));
        scene.add_static(plate, upright(plate, x, -half, z));  // the centre is at y = 0

        btTransform pose = upright(model, x, btScalar(1.5) + btScalar(0.07) * lane, z);
        pose.setRotation(btQuaternion(btVector3(1, 2, 3).normalized(), btScalar(2.399963) * lane) * pose.getRotation());
        btRigidBody& shot = scene.add_dynamic(model, pose);
        shot.setLinearVelocity(btVector3(0, btScalar(-speeds[lane]), 0));
    }
    scene.prevent_tunnelling();
}
