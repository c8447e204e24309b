// The host "bullet-multibody": each body is a btMultiBody, as in Gazebo's bullet-featherstone and in PyBullet, with the
// plugin.
#include <cmath>

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>

#include "bullet_common.h"

namespace conformance {
namespace {

struct Item {
    std::unique_ptr<btMultiBody> body;
    std::unique_ptr<btMultiBodyLinkCollider> collider;
};

class MultiBodyWorld : public World {
public:
    explicit MultiBodyWorld(const WorldSettings& settings)
        : m_settings(settings), m_shapes(m_dispatcher, settings) {
        m_world.setGravity(btVector3(0, btScalar(-settings.gravity), 0));
        m_world.getSolverInfo().m_numIterations = settings.iterations;
    }
    ~MultiBodyWorld() override {
        for (Item& item : m_items) {
            m_world.removeCollisionObject(item.collider.get());
            m_world.removeMultiBody(item.body.get());
        }
    }

    int add(const BodySpec& spec) override {
        const bool fixed = spec.mass == 0;
        Item item;
        item.body.reset(new btMultiBody(0, btScalar(fixed ? 1 : spec.mass),
                                        fixed ? btVector3(1, 1, 1) : m_shapes.inertia_of(spec), fixed, false));
        item.collider.reset(new btMultiBodyLinkCollider(item.body.get(), -1));
        btMultiBody& body = *item.body;
        body.finalizeMultiDof();
        body.setLinearDamping(0);
        body.setAngularDamping(0);
        body.setHasSelfCollision(false);
        body.setUseGyroTerm(true);
        item.collider->setCollisionShape(m_shapes.make(spec));
        item.collider->setFriction(btScalar(std::sqrt(m_settings.friction)));
        body.setBaseCollider(item.collider.get());
        m_world.addMultiBody(&body);
        const int group = fixed ? int(btBroadphaseProxy::StaticFilter) : int(btBroadphaseProxy::DefaultFilter);
        const int mask = fixed ? int(btBroadphaseProxy::AllFilter ^ btBroadphaseProxy::StaticFilter)
                               : int(btBroadphaseProxy::AllFilter);
        if (fixed)
            item.collider->setCollisionFlags(item.collider->getCollisionFlags() | btCollisionObject::CF_STATIC_OBJECT);
        m_items.push_back(std::move(item));
        put(m_items.back(), spec.pose, spec.linear_velocity, spec.angular_velocity);
        m_world.addCollisionObject(m_items.back().collider.get(), group, mask);
        m_items.back().collider->setActivationState(DISABLE_DEACTIVATION);
        return int(m_items.size()) - 1;
    }

    void step() override {
        m_dispatcher.seconds = 0;
        m_world.stepSimulation(btScalar(m_settings.dt), 0);
    }

    BodyState state(int body) const override {
        const btMultiBody& b = *m_items[size_t(body)].body;
        return {from_bt(b.getBaseWorldTransform()), from_bt(b.getBaseVel()), from_bt(b.getBaseOmega())};
    }

    void place(int body, const vxs_pose& pose) override { put(m_items[size_t(body)], pose, {0, 0, 0}, {0, 0, 0}); }
    double narrowphase_seconds() const override { return m_dispatcher.seconds; }
    size_t contacts() const override { return count_contacts(m_dispatcher, m_settings.margin); }
    RayHit cast_ray(const vxs_vec3& from, const vxs_vec3& to) override { return cast(m_world, from, to); }

private:
    void put(Item& item, const vxs_pose& pose, const vxs_vec3& linear, const vxs_vec3& angular) {
        item.body->setBaseWorldTransform(to_bt(pose));
        item.body->setBaseVel(to_bt(linear));
        item.body->setBaseOmega(to_bt(angular));
        item.collider->setWorldTransform(to_bt(pose));
        item.collider->setInterpolationWorldTransform(to_bt(pose));
    }

    WorldSettings m_settings;
    btDefaultCollisionConfiguration m_configuration;
    TimedDispatcher m_dispatcher{&m_configuration};
    BulletShapes m_shapes;
    btDbvtBroadphase m_broadphase;
    btMultiBodyConstraintSolver m_solver;
    btMultiBodyDynamicsWorld m_world{&m_dispatcher, &m_broadphase, &m_solver, &m_configuration};
    std::vector<Item> m_items;
};

} // namespace

std::unique_ptr<World> make_world(const WorldSettings& settings) {
    return std::unique_ptr<World>(new MultiBodyWorld(settings));
}
const char* host_name() { return "bullet-multibody"; }
std::string host_version() {
    return "Bullet " + std::to_string(BT_BULLET_VERSION / 100) + "." + std::to_string(BT_BULLET_VERSION % 100);
}
const char* own_method_name() { return "btGImpactMeshShape"; }

} // namespace conformance
