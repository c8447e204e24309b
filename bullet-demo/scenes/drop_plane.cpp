// A body dropped from half a metre onto an infinite plane.
#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::drop_plane(Scene& scene, const Setup& setup) {
    const Model& model = setup.models[0];

    auto plane = std::make_unique<btStaticPlaneShape>(btVector3(0, 1, 0), btScalar(0));
    scene.add_static(std::move(plane), btTransform::getIdentity());

    scene.add_dynamic(model, upright(model, 0, 0.5, 0));
}
