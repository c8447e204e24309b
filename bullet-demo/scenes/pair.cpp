// A body lowered onto a fixed copy of itself: contact of two non-convex shapes.
#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::pair(Scene& scene, const Setup& setup) {
    const Model& model = setup.models[0];

    scene.add_static(model, upright(model, 0, 0, 0));

    // The moving body starts 0.1 m above the box of the fixed one, a little off its axis. Its centre of mass stays on a
    // vertical line, so that it cannot fall off; it is free to turn.
    const btScalar top = btScalar(model.upright_max[1] - model.upright_min[1]);
    btRigidBody& moving = scene.add_dynamic(model, upright(model, 0.05, top + btScalar(0.1), 0.02));
    moving.setLinearFactor(btVector3(0, 1, 0));
}
