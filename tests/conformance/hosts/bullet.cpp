// The host "bullet": btRigidBody in a btDiscreteDynamicsWorld, with the plugin.
#include <cmath>

#include "bullet_common.h"

namespace conformance {
namespace {

class BulletWorld : public World {
public:
    explicit BulletWorld(const WorldSettings& settings) : m_settings(settings), m_shapes(m_dispatcher, settings) {
        m_world.setGravity(btVector3(0, btScalar(-settings.gravity), 0));
        m_world.getSolverInfo().m_numIterations = settings.iterations;
        // With one direction, Bullet does not brake what creeps across it by less than 0.35 mm/s.
        m_world.getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    }
    ~BulletWorld() override {
        for (auto& body : m_bodies) m_world.removeRigidBody(body.get());
    }

    int add(const BodySpec& spec) override {
        btRigidBody::btRigidBodyConstructionInfo info(btScalar(spec.mass), nullptr, m_shapes.make(spec),
                                                      spec.mass > 0 ? m_shapes.inertia_of(spec) : btVector3(0, 0, 0));
        info.m_startWorldTransform = to_bt(spec.pose);
        info.m_friction = btScalar(std::sqrt(m_settings.friction)); // Bullet multiplies both bodies' values
        m_bodies.emplace_back(new btRigidBody(info));
        btRigidBody& body = *m_bodies.back();
        body.setLinearVelocity(to_bt(spec.linear_velocity));
        body.setAngularVelocity(to_bt(spec.angular_velocity));
        body.setActivationState(DISABLE_DEACTIVATION);
        m_world.addRigidBody(&body);
        return int(m_bodies.size()) - 1;
    }

    void step() override {
        m_dispatcher.seconds = 0;
        m_world.stepSimulation(btScalar(m_settings.dt), 0);
    }

    BodyState state(int body) const override {
        const btRigidBody& b = *m_bodies[size_t(body)];
        return {from_bt(b.getWorldTransform()), from_bt(b.getLinearVelocity()), from_bt(b.getAngularVelocity())};
    }

    void place(int body, const vxs_pose& pose) override {
        btRigidBody& b = *m_bodies[size_t(body)];
        b.setWorldTransform(to_bt(pose));
        b.setInterpolationWorldTransform(to_bt(pose));
        b.setLinearVelocity(btVector3(0, 0, 0));
        b.setAngularVelocity(btVector3(0, 0, 0));
    }

    double narrowphase_seconds() const override { return m_dispatcher.seconds; }
    size_t contacts() const override { return count_contacts(m_dispatcher, m_settings.margin); }
    RayHit cast_ray(const vxs_vec3& from, const vxs_vec3& to) override { return cast(m_world, from, to); }

private:
    WorldSettings m_settings;
    btDefaultCollisionConfiguration m_configuration;
    TimedDispatcher m_dispatcher{&m_configuration};
    BulletShapes m_shapes;
    btDbvtBroadphase m_broadphase;
    btSequentialImpulseConstraintSolver m_solver;
    btDiscreteDynamicsWorld m_world{&m_dispatcher, &m_broadphase, &m_solver, &m_configuration};
    std::vector<std::unique_ptr<btRigidBody>> m_bodies;
};

} // namespace

std::unique_ptr<World> make_world(const WorldSettings& settings) {
    return std::unique_ptr<World>(new BulletWorld(settings));
}
const char* host_name() { return "bullet"; }
std::string host_version() {
    return "Bullet " + std::to_string(BT_BULLET_VERSION / 100) + "." + std::to_string(BT_BULLET_VERSION % 100);
}
const char* own_method_name() { return "btGImpactMeshShape"; }

} // namespace conformance
