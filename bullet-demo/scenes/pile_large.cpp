// Hundreds or thousands of non-convex bodies (knots, gears, bowls; models 0 to 2) poured in layers into a bowl (model 3) of
// matching size.
#include <algorithm>
#include <cmath>

#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::pile_large(Scene& scene, const Setup& setup) {
    auto floor = std::make_unique<btStaticPlaneShape>(btVector3(0, 1, 0), btScalar(0));
    scene.add_static(std::move(floor), btTransform::getIdentity());

    const Model& container = setup.models[3];
    scene.add_static(container, upright(container, 0, 0, 0));
    const btScalar rim = btScalar(container.upright_max[1] - container.upright_min[1]);
    const btScalar wide = btScalar(container.upright_max[0]);
    const btScalar radius = std::min(btScalar(0.75) * wide, wide - btScalar(0.7));

    // The positions of a layer form a sunflower pattern, one per 1.9 m². Every body is 1 m long, so none is released
    // inside another.
    const btScalar spread = btScalar(0.78);
    const int per_layer = std::max(1, int(std::pow(double(radius / spread), 2)));
    const btScalar golden = btScalar(2.399963);
    for (int i = 0; i < int(setup.count); ++i) {
        const int layer = i / per_layer;
        const int place = i % per_layer;
        const btScalar angle = golden * place + btScalar(layer);
        const btScalar away = spread * std::sqrt(btScalar(place) + btScalar(0.5));
        const btTransform pose(btQuaternion(btVector3(1, 2, 3).normalized(), golden * i),
                               btVector3(away * std::cos(angle), rim + btScalar(1.2), away * std::sin(angle)));
        // In these 0.25 s the previous layer has fallen by more than 1.2 m.
        scene.add_later(setup.models[i % 3], pose, btVector3(0, -5, 0), 50 * layer);
    }
}
