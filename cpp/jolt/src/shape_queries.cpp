// Rays, points and vertices of soft bodies against the shape.
#include <voxshell/jolt.h>

#include <algorithm>
#include <cmath>

#include <Jolt/Geometry/Plane.h>
#include <Jolt/Physics/Collision/CastResult.h>
#include <Jolt/Physics/Collision/CollidePointResult.h>
#include <Jolt/Physics/Collision/RayCast.h>
#include <Jolt/Physics/Collision/TransformedShape.h>
#include <Jolt/Physics/SoftBody/SoftBodyVertex.h>

#include "convert.h"

namespace voxshell::jolt {
namespace {

/// Crossings of a ray that a query reads without an allocation.
const size_t kCrossings = 64;

} // namespace

/// Returns the number of the triangle closest to a point of the surface; 0 for a shape without triangles.
uint32_t VoxshellShape::triangle_at(const vxs_vec3& point, const vxs_vec3& normal) const {
    if (m_indices.empty())
        return 0;
    const vxs_body body = {m_shape, identity_pose()};
    vxs_contact contact = {};
    contact.point_on_a = contact.point_on_b = point;
    contact.normal = normal;
    vxs_contact_triangles found;
    if (vxs_query_triangles(&body, &body, &contact, 1, &found) || found.on_a.triangle == VXS_TRIANGLE_NONE)
        return 0;
    return found.on_a.triangle;
}

bool VoxshellShape::CastRay(const JPH::RayCast& ray, const JPH::SubShapeIDCreator& creator,
                            JPH::RayCastResult& hit) const {
    // Nothing beyond the best hit so far is looked for.
    const double limit = std::min(1.0, double(hit.mFraction));
    if (!(limit > 0))
        return false;
    const vxs_vec3 from = to_vxs(ray.mOrigin + m_center);
    const vxs_vec3 to = sum(from, times(to_vxs(ray.mDirection), limit));
    vxs_segment_hit found;
    if (vxs_shape_query_segment(m_shape, from, to, &found) || !found.hit)
        return false;
    const float fraction = float(limit * found.fraction);
    if (!(fraction < hit.mFraction))
        return false;
    hit.mFraction = fraction;
    hit.mSubShapeID2 = GetID(creator, triangle_at(found.point, found.normal), 0).GetID();
    return true;
}

void VoxshellShape::CastRay(const JPH::RayCast& ray, const JPH::RayCastSettings& settings,
                            const JPH::SubShapeIDCreator& creator, JPH::CastRayCollector& collector,
                            const JPH::ShapeFilter& filter) const {
    if (!filter.ShouldCollide(this, creator.GetID()))
        return;
    const double limit = std::min(1.0, double(collector.GetEarlyOutFraction()));
    if (!(limit > 0))
        return;
    const vxs_vec3 from = to_vxs(ray.mOrigin + m_center), direction = to_vxs(ray.mDirection);
    const vxs_vec3 to = sum(from, times(direction, limit));
    vxs_segment_hit few[kCrossings];
    std::vector<vxs_segment_hit> many;
    vxs_segment_hit* crossings = few;
    size_t count = 0;
    vxs_status status = vxs_shape_query_crossings(m_shape, from, to, few, kCrossings, &count);
    if (status == VXS_TRUNCATED) {
        many.resize(count);
        crossings = many.data();
        status = vxs_shape_query_crossings(m_shape, from, to, crossings, count, &count);
    }
    if (status)
        return;
    const auto report = [&](double fraction, const vxs_segment_hit& at) {
        JPH::RayCastResult result;
        result.mBodyID = JPH::TransformedShape::sGetBodyID(collector.GetContext());
        result.mFraction = float(limit * fraction);
        result.mSubShapeID2 = GetID(creator, triangle_at(at.point, at.normal), 0).GetID();
        if (result.mFraction < collector.GetEarlyOutFraction())
            collector.AddHit(result);
    };
    // A segment that starts inside leaves first; inside, a solid shape is hit at once, as Jolt's convex shapes are.
    double distance;
    if (settings.mTreatConvexAsSolid && m_field && vxs_field_distance(m_field, from, &distance, nullptr) == VXS_OK &&
        distance < 0)
        report(0, vxs_segment_hit{0, from, times(direction, -1), true});
    for (size_t i = 0; i < count && !collector.ShouldEarlyOut(); ++i) {
        const bool enters = dot(crossings[i].normal, direction) < 0;
        if (enters || settings.mBackFaceMode == JPH::EBackFaceMode::CollideWithBackFaces)
            report(crossings[i].fraction, crossings[i]);
    }
}

void VoxshellShape::CollidePoint(JPH::Vec3Arg point, const JPH::SubShapeIDCreator& creator,
                                 JPH::CollidePointCollector& collector, const JPH::ShapeFilter& filter) const {
    double distance;
    const vxs_vec3 at = to_vxs(point + m_center);
    if (!m_field || !m_bounds.Contains(point) || !filter.ShouldCollide(this, creator.GetID()) ||
        vxs_field_distance(m_field, at, &distance, nullptr) || distance > 0)
        return;
    const JPH::SubShapeID id = GetID(creator, triangle_at(at, {0, 0, 0}), 0).GetID();
    collector.AddHit({JPH::TransformedShape::sGetBodyID(collector.GetContext()), id});
}

void VoxshellShape::CollideSoftBodyVertices(JPH::Mat44Arg transform, JPH::Vec3Arg scale, JPH::SoftBodyVertex* vertices,
                                            JPH::uint count, float, JPH::Vec3Arg, int colliding_shape) const {
    const float s = scale.GetX();
    if (!m_field || !IsValidScale(scale))
        return;
    const JPH::Mat44 to_shape = transform.InversedRotationTranslation();
    for (JPH::SoftBodyVertex* v = vertices; v < vertices + count; ++v) {
        if (!(v->mInvMass > 0))
            continue;
        const JPH::Vec3 local = to_shape * v->mPosition / s;
        double distance;
        vxs_vec3 gradient;
        // Jolt keeps the plane of the deepest penetration, which starts at minus infinity: vertices outside get a plane
        // too.
        if (vxs_field_distance(m_field, to_vxs(local + m_center), &distance, &gradient) ||
            float(-distance) * s <= v->mLargestPenetration)
            continue;
        const JPH::Vec3 normal = transform.Multiply3x3(to_jolt(gradient)).NormalizedOr(JPH::Vec3::sAxisY());
        v->mLargestPenetration = float(-distance) * s;
        v->mCollisionPlane = JPH::Plane::sFromPointAndNormal(v->mPosition - normal * (float(distance) * s), normal);
        v->mCollidingShapeIndex = colliding_shape;
    }
}

} // namespace voxshell::jolt
