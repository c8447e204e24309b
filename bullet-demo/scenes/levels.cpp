// Copies of a body dropped from half a metre onto an infinite plane, far from each other, each with its own
// orientation.
#include <random>

#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::levels(Scene& scene, const Setup& setup) {
    const Model& model = setup.models[0];
    auto plane = std::make_unique<btStaticPlaneShape>(btVector3(0, 1, 0), btScalar(0));
    scene.add_static(std::move(plane), btTransform::getIdentity());

    std::mt19937 random(4);  // fixed seed: the same orientations on every machine
    const auto next = [&] { return btScalar(random()) / btScalar(2147483648.0) - 1; };
    for (unsigned i = 0; i < setup.count; ++i) {
        btQuaternion turn;
        do
            turn = btQuaternion(next(), next(), next(), next());
        while (turn.length2() > 1 || turn.length2() < btScalar(0.01));
        btTransform pose(turn.normalized(), btVector3(4 * btScalar(i), 0, 0));
        btScalar lowest = BT_LARGE_FLOAT;
        for (std::size_t v = 0; v + 2 < model.vertices.size(); v += 3) {
            const double* const p = model.vertices.data() + v;
            lowest = btMin(lowest, (pose * btVector3(btScalar(p[0]), btScalar(p[1]), btScalar(p[2]))).y());
        }
        pose.getOrigin().setY(btScalar(0.5) - lowest);
        scene.add_dynamic(model, pose);
    }
}
