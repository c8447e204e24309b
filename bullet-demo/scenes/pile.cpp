// Non-convex bodies (knots, gears, bowls; models 0 to 2) poured one by one into a large bowl (model 3).
#include <cmath>

#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::pile(Scene& scene, const Setup& setup) {
    auto floor = std::make_unique<btStaticPlaneShape>(btVector3(0, 1, 0), btScalar(0));
    scene.add_static(std::move(floor), btTransform::getIdentity());

    const Model& container = setup.models[3];
    scene.add_static(container, upright(container, 0, 0, 0));
    const btScalar rim = btScalar(container.upright_max[1] - container.upright_min[1]);

    for (int i = 0; i < int(setup.count); ++i) {
        // Positions on a small circle above the rim. The golden angle gives each body a new position and orientation.
        const btScalar angle = btScalar(2.399963) * i;
        const btScalar away = btScalar(0.35) + btScalar(0.25) * (i % 3);
        btTransform pose(btQuaternion(btVector3(1, 2, 3).normalized(), angle),
                         btVector3(away * std::cos(angle), rim + btScalar(1.2), away * std::sin(angle)));
        // One body every 0.2 s: by then the previous one has moved away.
        scene.add_later(setup.models[i % 3], pose, btVector3(0, -2, 0), 40 * i);
    }
}
