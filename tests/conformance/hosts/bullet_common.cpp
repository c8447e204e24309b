#include "bullet_common.h"

#include <cmath>

#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>

namespace conformance {

vxs_pose from_bt(const btTransform& t) {
    const btQuaternion q = t.getRotation();
    const double x = double(q.x()), y = double(q.y()), z = double(q.z()), w = double(q.w());
    const double norm = 1 / std::sqrt(x * x + y * y + z * z + w * w);
    return {from_bt(t.getOrigin()), x * norm, y * norm, z * norm, w * norm};
}

BulletShapes::BulletShapes(btCollisionDispatcher& dispatcher, const WorldSettings& settings) : m_settings(settings) {
    if (settings.own_method)
        btGImpactCollisionAlgorithm::registerAlgorithm(&dispatcher);
    else
        btVoxShellCollisionAlgorithm::registerAlgorithm(&dispatcher);
}

btCollisionShape* BulletShapes::make(const BodySpec& spec) {
    if (spec.model && m_settings.own_method) {
        std::unique_ptr<btTriangleMesh> mesh(new btTriangleMesh);
        for (const vxs_vec3& v : spec.model->vertices) mesh->findOrAddVertex(to_bt(v), false);
        for (size_t i = 0; i < spec.model->indices.size(); i += 3)
            mesh->addTriangleIndices(int(spec.model->indices[i]), int(spec.model->indices[i + 1]),
                                     int(spec.model->indices[i + 2]));
        std::unique_ptr<btGImpactMeshShape> shape(new btGImpactMeshShape(mesh.get()));
        shape->setMargin(btScalar(m_settings.margin));
        shape->updateBound();
        m_meshes.push_back(std::move(mesh));
        m_shapes.push_back(std::move(shape));
    } else if (spec.model) {
        m_shapes.emplace_back(new btVoxShellShape(spec.model->shape));
        m_shapes.back()->setMargin(btScalar(m_settings.margin));
    } else if (spec.stock == Stock::Plane) {
        m_shapes.emplace_back(new btStaticPlaneShape(btVector3(0, 1, 0), 0));
    } else if (spec.stock == Stock::Box) {
        m_shapes.emplace_back(new btBoxShape(to_bt(spec.size)));
    } else {
        m_shapes.emplace_back(new btSphereShape(btScalar(spec.size.x)));
    }
    return m_shapes.back().get();
}

btVector3 BulletShapes::inertia_of(const BodySpec& spec) const {
    const double ball = 0.4 * spec.size.x * spec.size.x;
    const vxs_vec3 inertia = spec.model ? spec.model->inertia : vxs_vec3{ball, ball, ball};
    return to_bt(inertia) * btScalar(spec.mass);
}

size_t count_contacts(const btDispatcher& dispatcher, double margin) {
    size_t count = 0;
    btDispatcher& all = const_cast<btDispatcher&>(dispatcher);
    for (int m = 0; m < all.getNumManifolds(); ++m) {
        const btPersistentManifold* manifold = all.getManifoldByIndexInternal(m);
        for (int i = 0; i < manifold->getNumContacts(); ++i)
            count += double(manifold->getContactPoint(i).getDistance()) <= margin;
    }
    return count;
}

RayHit cast(const btCollisionWorld& world, const vxs_vec3& from, const vxs_vec3& to) {
    btCollisionWorld::ClosestRayResultCallback result(to_bt(from), to_bt(to));
    world.rayTest(to_bt(from), to_bt(to), result);
    if (!result.hasHit())
        return RayHit();
    return {true, from_bt(result.m_hitPointWorld), from_bt(result.m_hitNormalWorld)};
}

} // namespace conformance
