#include "scene.h"

#include <algorithm>
#include <limits>

#include <Jolt/Physics/Collision/CollisionCollectorImpl.h>
#include <Jolt/Physics/Collision/CollisionDispatch.h>
#include <Jolt/Physics/Collision/Shape/BoxShape.h>
#include <Jolt/Physics/Collision/Shape/CapsuleShape.h>
#include <Jolt/Physics/Collision/Shape/ConvexHullShape.h>
#include <Jolt/Physics/Collision/Shape/CylinderShape.h>
#include <Jolt/Physics/Collision/Shape/HeightFieldShape.h>
#include <Jolt/Physics/Collision/Shape/MeshShape.h>
#include <Jolt/Physics/Collision/Shape/SphereShape.h>
#include <Jolt/Physics/Collision/Shape/TaperedCapsuleShape.h>
#include <Jolt/Physics/Collision/Shape/TriangleShape.h>

Body::Body(uint32_t kind, std::initializer_list<double> size) {
    vxs_primitive primitive;
    vxs_primitive_init(&primitive, sizeof primitive, kind);
    std::copy(size.begin(), size.end(), primitive.size);
    CHECK(vxs_shape_create_primitive(&primitive, nullptr, &asset) == VXS_OK);
    size_t vertex_count = 0, index_count = 0;
    vxs_shape_get_triangles(asset, nullptr, 0, &vertex_count, nullptr, 0, &index_count);
    mesh.vertices.resize(vertex_count);
    mesh.indices.resize(index_count);
    vxs_shape_get_triangles(asset, mesh.vertices.data(), vertex_count, &vertex_count, mesh.indices.data(), index_count,
                            &index_count);
    const JPH::Shape::ShapeResult result = voxshell::jolt::VoxshellShape::sCreate(asset);
    CHECK(result.IsValid());
    shape = result.Get();
    for (vxs_vec3& v : mesh.vertices) v = v - vxs(shape->GetCenterOfMass());
}

namespace {

double box_distance(const vxs_vec3& p, const vxs_vec3& half) {
    const vxs_vec3 q = {std::fabs(p.x) - half.x, std::fabs(p.y) - half.y, std::fabs(p.z) - half.z};
    const vxs_vec3 out = {std::max(q.x, 0.0), std::max(q.y, 0.0), std::max(q.z, 0.0)};
    return length(out) + std::min(0.0, std::max(q.x, std::max(q.y, q.z)));
}

double capsule_distance(const vxs_vec3& p, double radius, double half) {
    return length({p.x, p.y - std::clamp(p.y, -half, half), p.z}) - radius;
}

/// Two balls on the y axis and the cone between them (Quilez, "Round cone").
double tapered_distance(const vxs_vec3& p, double bottom, double r1, double r2, double height) {
    const double x = std::hypot(p.x, p.z), y = p.y - bottom;
    const double b = (r1 - r2) / height, a = std::sqrt(1 - b * b), k = a * y - b * x;
    if (k < 0)
        return std::hypot(x, y) - r1;
    if (k > a * height)
        return std::hypot(x, y - height) - r2;
    return a * x + b * y - r1;
}

double cylinder_distance(const vxs_vec3& p, double radius, double half) {
    const double x = std::hypot(p.x, p.z) - radius, y = std::fabs(p.y) - half;
    return std::min(std::max(x, y), 0.0) + std::hypot(std::max(x, 0.0), std::max(y, 0.0));
}

/// The ground y = 0 of a shape that ends at |x|, |z| = half. Below it the surface is at the distance y.
double ground_distance(const vxs_vec3& p, double half) {
    const double x = std::max(std::fabs(p.x) - half, 0.0), z = std::max(std::fabs(p.z) - half, 0.0);
    return x + z > 0 ? std::hypot(p.y, std::hypot(x, z)) : p.y;
}

} // namespace

std::vector<Stock> stock_shapes() {
    std::vector<Stock> all;
    all.push_back({"sphere", new JPH::SphereShape(0.2f), [](const vxs_vec3& p) { return length(p) - double(0.2f); }});
    all.push_back({"box", new JPH::BoxShape(JPH::Vec3(0.3f, 0.1f, 0.2f)),
                   [](const vxs_vec3& p) { return box_distance(p, {double(0.3f), double(0.1f), double(0.2f)}); }});
    all.push_back({"capsule", new JPH::CapsuleShape(0.25f, 0.1f),
                   [](const vxs_vec3& p) { return capsule_distance(p, double(0.1f), 0.25); }});
    all.push_back({"cylinder", new JPH::CylinderShape(0.25f, 0.15f),
                   [](const vxs_vec3& p) { return cylinder_distance(p, double(0.15f), 0.25); }});
    const JPH::ShapeRefC tapered = JPH::TaperedCapsuleShapeSettings(0.2f, 0.08f, 0.15f).Create().Get();
    const double center = double(tapered->GetCenterOfMass().GetY());
    all.push_back({"tapered capsule", tapered, [center](const vxs_vec3& p) {
                       return tapered_distance(p, -double(0.2f) - center, double(0.15f), double(0.08f),
                                               2 * double(0.2f));
                   }});
    // A tetrahedron with a cut tip: faces that meet at sharp angles.
    const JPH::Array<JPH::Vec3> points = {JPH::Vec3(0.4f, 0, 0),         JPH::Vec3(-0.2f, 0, 0.35f),
                                          JPH::Vec3(-0.2f, 0, -0.35f),   JPH::Vec3(0.1f, 0.2f, 0),
                                          JPH::Vec3(-0.05f, 0.2f, 0.1f), JPH::Vec3(-0.05f, 0.2f, -0.1f)};
    const JPH::ShapeRefC hull = JPH::ConvexHullShapeSettings(points, 0.01f).Create().Get();
    const auto* const convex = static_cast<const JPH::ConvexHullShape*>(hull.GetPtr());
    std::vector<JPH::Plane> planes;
    for (const JPH::Plane& plane : convex->GetPlanes()) planes.push_back(plane);
    all.push_back({"convex hull", hull, [planes](const vxs_vec3& p) {
                       double most = -1e300;
                       for (const JPH::Plane& plane : planes)
                           most = std::max(most, dot(vxs(plane.GetNormal()), p) + double(plane.GetConstant()));
                       return most;
                   }});
    all.push_back({"triangle", new JPH::TriangleShape(JPH::Vec3(-4, 0, -4), JPH::Vec3(0, 0, 6), JPH::Vec3(4, 0, -4)),
                   [](const vxs_vec3& p) { return ground_distance(p, 1); }});
    JPH::VertexList vertices;
    JPH::IndexedTriangleList triangles;
    for (uint32_t i = 0; i < 9; ++i)
        for (uint32_t j = 0; j < 9; ++j) {
            vertices.push_back(JPH::Float3(0.25f * float(i) - 1, 0, 0.25f * float(j) - 1));
            if (i < 8 && j < 8) {
                const uint32_t k = 9 * i + j;
                triangles.push_back(JPH::IndexedTriangle(k, k + 1, k + 10));
                triangles.push_back(JPH::IndexedTriangle(k, k + 10, k + 9));
            }
        }
    all.push_back({"mesh", JPH::MeshShapeSettings(vertices, triangles).Create().Get(),
                   [](const vxs_vec3& p) { return ground_distance(p, 1); }});
    const std::vector<float> heights(16 * 16, 0.0f);
    all.push_back(
        {"height field",
         JPH::HeightFieldShapeSettings(heights.data(), JPH::Vec3(-1, 0, -1), JPH::Vec3(2.0f / 15, 1, 2.0f / 15), 16)
             .Create()
             .Get(),
         [](const vxs_vec3& p) { return ground_distance(p, 1); }});
    return all;
}

double distance_to(const Triangles& mesh, const vxs_vec3& point) {
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t t = 0; t < mesh.count(); ++t) {
        // The closest point lies in the triangle, if the foot of the perpendicular does, or on one of its edges.
        const vxs_vec3 a = mesh.corner(t, 0), b = mesh.corner(t, 1), c = mesh.corner(t, 2);
        const vxs_vec3 n = cross(b - a, c - a);
        const double area2 = dot(n, n);
        const double u = dot(cross(b - a, point - a), n), v = dot(cross(c - b, point - b), n),
                     w = dot(cross(a - c, point - c), n);
        if (area2 > 0 && u >= 0 && v >= 0 && w >= 0)
            nearest = std::min(nearest, std::fabs(dot(point - a, n)) / std::sqrt(area2));
        for (size_t i = 0; i < 3; ++i) {
            const vxs_vec3 p = mesh.corner(t, i), e = mesh.corner(t, (i + 1) % 3) - p;
            const double along = std::clamp(dot(point - p, e) / dot(e, e), 0.0, 1.0);
            nearest = std::min(nearest, length(point - (p + e * along)));
        }
    }
    return nearest;
}

std::vector<double> crossings(const Triangles& mesh, const vxs_vec3& from, const vxs_vec3& to) {
    std::vector<double> fractions;
    const vxs_vec3 d = to - from;
    for (size_t t = 0; t < mesh.count(); ++t) {
        const vxs_vec3 a = mesh.corner(t, 0), e1 = mesh.corner(t, 1) - a, e2 = mesh.corner(t, 2) - a;
        const vxs_vec3 h = cross(d, e2);
        const double det = dot(e1, h);
        if (det == 0)
            continue;
        const vxs_vec3 s = from - a, q = cross(s, e1);
        const double u = dot(s, h) / det, v = dot(d, q) / det, at = dot(e2, q) / det;
        if (u >= 0 && v >= 0 && u + v <= 1 && at >= 0 && at <= 1)
            fractions.push_back(at);
    }
    std::sort(fractions.begin(), fractions.end());
    return fractions;
}

std::vector<JPH::CollideShapeResult> collide(const JPH::Shape* a, JPH::Mat44Arg pose_a, const JPH::Shape* b,
                                             JPH::Mat44Arg pose_b, float max_separation, JPH::Vec3Arg scale_a,
                                             JPH::Vec3Arg scale_b) {
    JPH::CollideShapeSettings settings;
    settings.mMaxSeparationDistance = max_separation;
    JPH::AllHitCollisionCollector<JPH::CollideShapeCollector> collector;
    JPH::CollisionDispatch::sCollideShapeVsShape(a, b, scale_a, scale_b, pose_a, pose_b, JPH::SubShapeIDCreator(),
                                                 JPH::SubShapeIDCreator(), settings, collector);
    return std::vector<JPH::CollideShapeResult>(collector.mHits.begin(), collector.mHits.end());
}

const JPH::CollideShapeResult* deepest(const std::vector<JPH::CollideShapeResult>& hits) {
    const JPH::CollideShapeResult* best = nullptr;
    for (const JPH::CollideShapeResult& hit : hits)
        if (!best || hit.mPenetrationDepth > best->mPenetrationDepth)
            best = &hit;
    return best;
}

float random_number(std::mt19937& random, float low, float high) {
    return low + (high - low) * (float(random() >> 8) / float(1 << 24));
}

JPH::Vec3 random_direction(std::mt19937& random) {
    for (;;) {
        const JPH::Vec3 v(random_number(random, -1, 1), random_number(random, -1, 1), random_number(random, -1, 1));
        if (v.LengthSq() > 0.01f && v.LengthSq() < 1)
            return v.Normalized();
    }
}

JPH::Quat random_rotation(std::mt19937& random) {
    return JPH::Quat::sRotation(random_direction(random), random_number(random, -3, 3));
}
