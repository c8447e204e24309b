// Six fans of four thin blades, turned by motors. A fixed peg stands in the path of each fan, midway between two
// blades. The commanded speeds are 10 to 90 degrees per step; from 45 degrees on, Bullet turns bodies by less than
// that.
#include "scene.h"
#include "voxshell-bullet-demo/src/bridge.rs.h"

void demo::fan(Scene& scene, const Setup& setup) {
    const Model &model = setup.models[0], &peg = setup.models[1];
    const double degrees[] = {10, 20, 30, 40, 60, 90};

    for (int lane = 0; lane < 6; ++lane) {
        const btScalar x = btScalar(1.3) * (lane % 3) - btScalar(1.3), y = btScalar(1.3) * (lane / 3) + btScalar(0.6);
        // At the start the blades point along x and y; the axis is z.
        btTransform pose = upright(model, x, 0, 0);
        pose.getOrigin().setY(y);
        btRigidBody& blades = scene.add_dynamic(model, pose);
        const btScalar rate = btScalar(degrees[lane] * SIMD_RADS_PER_DEG / setup.dt);
        blades.setAngularVelocity(btVector3(0, 0, rate));
        auto hinge = std::make_unique<btHingeConstraint>(blades, btVector3(0, 0, 0),
                                                         pose.getBasis().transpose() * btVector3(0, 0, 1));
        const btScalar torque = btScalar(5);  // N m
        hinge->enableAngularMotor(true, rate, torque * btScalar(setup.dt));
        scene.add_constraint(std::move(hinge));

        btTransform stands = upright(peg, x + btScalar(0.25), 0, 0);
        stands.getOrigin().setY(y + btScalar(0.25));
        scene.add_static(peg, stands);
    }
    scene.prevent_tunnelling();
}
