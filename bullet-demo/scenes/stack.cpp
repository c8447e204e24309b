// Free-standing towers. Bodies never sleep, so the towers stand only as long as their contacts are steady.
#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

static void add_floor(demo::Scene& scene) {
    auto plane = std::make_unique<btStaticPlaneShape>(btVector3(0, 1, 0), btScalar(0));
    scene.add_static(std::move(plane), btTransform::getIdentity());
}

// Balls of 1 m on top of each other. The contact is a point, so the least slip makes the tower fall.
void demo::stack_spheres(Scene& scene, const Setup& setup) {
    add_floor(scene);
    const Model& ball = setup.models[0];
    for (unsigned i = 0; i < setup.count; ++i)
        scene.add_dynamic(ball, upright(ball, 0, btScalar(ball.pitch) * btScalar(i), 0));
}

// Gears lie face on face. Cups (model 1: bowls upside down) go over each other's domes. Each touches the next along a
// circle, which only a non-convex shape reproduces; the cups are set down one by one.
void demo::stack(Scene& scene, const Setup& setup) {
    add_floor(scene);
    const Model& gear = setup.models[0];
    for (unsigned i = 0; i < setup.count; ++i)
        scene.add_dynamic(gear, upright(gear, -1, btScalar(gear.pitch) * btScalar(i), 0));

    const Model& cup = setup.models[1];
    const btScalar tall = btScalar(cup.upright_max[1] - cup.upright_min[1]);
    for (unsigned i = 0; i < setup.count; ++i) {
        // Just above the dome of the previous cup.
        const btScalar above = i == 0 ? 0 : tall - btScalar(cup.pitch) + btScalar(0.02);
        scene.add_later(cup, upright(cup, 1, btScalar(cup.pitch) * btScalar(i) + above, 0), btVector3(0, 0, 0), int(80 * i));
    }
}
