// A body dropped from half a metre onto a fixed box of one metre.
#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::drop_box(Scene& scene, const Setup& setup) {
    const Model& model = setup.models[0];

    auto box = std::make_unique<btBoxShape>(btVector3(0.5, 0.5, 0.5));
    btTransform below = btTransform::getIdentity();
    below.setOrigin(btVector3(0, -0.5, 0));  // its top is at y = 0
    scene.add_static(std::move(box), below);

    scene.add_dynamic(model, upright(model, 0, 0.5, 0));
}
