// What both Bullet hosts share: shapes, a dispatcher that measures its time, rays.
#ifndef VOXSHELL_CONFORMANCE_BULLET_COMMON_H
#define VOXSHELL_CONFORMANCE_BULLET_COMMON_H

#include <chrono>
#include <memory>
#include <vector>

#include <btBulletDynamicsCommon.h>
#include <voxshell/bullet.h>

#include "../world.h"

namespace conformance {

inline btVector3 to_bt(const vxs_vec3& v) { return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z)); }
inline btTransform to_bt(const vxs_pose& p) {
    return btTransform(btQuaternion(btScalar(p.qx), btScalar(p.qy), btScalar(p.qz), btScalar(p.qw)).normalized(),
                       to_bt(p.position));
}
inline vxs_vec3 from_bt(const btVector3& v) { return {double(v.x()), double(v.y()), double(v.z())}; }
vxs_pose from_bt(const btTransform& t);

/// Bullet's dispatcher, with the time that its narrowphase takes.
class TimedDispatcher : public btCollisionDispatcher {
public:
    explicit TimedDispatcher(btCollisionConfiguration* configuration) : btCollisionDispatcher(configuration) {}
    void dispatchAllCollisionPairs(btOverlappingPairCache* pairs, const btDispatcherInfo& info,
                                   btDispatcher* dispatcher) override {
        const auto start = std::chrono::steady_clock::now();
        btCollisionDispatcher::dispatchAllCollisionPairs(pairs, info, dispatcher);
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    double seconds = 0;
};

/// The shapes of a Bullet world: those of the plugin, or Bullet's own GImpact for meshes.
class BulletShapes {
public:
    BulletShapes(btCollisionDispatcher& dispatcher, const WorldSettings& settings);
    btCollisionShape* make(const BodySpec& spec);
    btVector3 inertia_of(const BodySpec& spec) const;

private:
    WorldSettings m_settings;
    std::vector<std::unique_ptr<btTriangleMesh>> m_meshes;
    std::vector<std::unique_ptr<btCollisionShape>> m_shapes;
};

size_t count_contacts(const btDispatcher& dispatcher, double margin);
RayHit cast(const btCollisionWorld& world, const vxs_vec3& from, const vxs_vec3& to);

} // namespace conformance

#endif
