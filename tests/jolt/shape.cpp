// The shape alone: mass, triangles, volume below a plane, vertices of soft bodies, files, and rays against all
// triangles.
#include "scene.h"

#include <sstream>

#include <Jolt/Core/StreamWrapper.h>
#include <Jolt/Geometry/Plane.h>
#include <Jolt/Physics/Collision/CastResult.h>
#include <Jolt/Physics/Collision/CollidePointResult.h>
#include <Jolt/Physics/Collision/CollisionCollectorImpl.h>
#include <Jolt/Physics/Collision/RayCast.h>
#include <Jolt/Physics/SoftBody/SoftBodyVertex.h>

using voxshell::jolt::VoxshellShape;

namespace {

const double kPi = 3.14159265358979323846;

/// Returns the signed distance of a point to the closed triangles of a body, by the number of crossings.
double signed_distance(const Triangles& mesh, const vxs_vec3& point) {
    // A direction along no edge of the meshes.
    const bool inside = crossings(mesh, point, point + vxs_vec3{3.1, 4.3, 5.7}).size() % 2 == 1;
    return inside ? -distance_to(mesh, point) : distance_to(mesh, point);
}

void test_mass() {
    const Body torus(VXS_PRIMITIVE_TORUS, {0.3, 0.1});
    const JPH::MassProperties mass = torus.shape->GetMassProperties();
    const double volume = 2 * kPi * kPi * 0.3 * 0.1 * 0.1;
    CHECK_NEAR(torus.shape->GetVolume(), volume, 0.02 * volume);
    CHECK_NEAR(mass.mMass, 1000 * double(torus.shape->GetVolume()), 1e-2);
    // About the axis of symmetry: m (R² + 3/4 r²).
    CHECK_NEAR(mass.mInertia(1, 1), double(mass.mMass) * (0.09 + 0.75 * 0.01), 0.02 * double(mass.mInertia(1, 1)));
    CHECK_NEAR(mass.mInertia(0, 0), mass.mInertia(2, 2), 1e-2 * double(mass.mInertia(0, 0)));
    CHECK(mass.mInertia(3, 3) == 1);
    CHECK(torus.shape->GetInnerRadius() > 0.07f && torus.shape->GetInnerRadius() <= 0.1f);
    CHECK(!torus.shape->MustBeStatic());
    // A bolt has its centre of mass away from its origin: the shape is centred around it.
    const Body bolt(VXS_PRIMITIVE_BOLT);
    CHECK(bolt.shape->GetCenterOfMass().GetY() > 0.001f);
    vxs_vec3 moment = {0, 0, 0};
    for (size_t t = 0; t < bolt.mesh.count(); ++t) {
        const vxs_vec3 &a = bolt.mesh.corner(t, 0), &b = bolt.mesh.corner(t, 1), &c = bolt.mesh.corner(t, 2);
        moment = moment + (a + b + c) * (dot(a, cross(b, c)) / 24);
    }
    CHECK(length(moment) < 1e-6 * double(bolt.shape->GetVolume()));
    // A half-space is infinite.
    vxs_shape* half_space = nullptr;
    CHECK(vxs_shape_create_half_space({0, 1, 0}, 0, &half_space) == VXS_OK);
    CHECK(VoxshellShape::sCreate(half_space).HasError() && VoxshellShape::sCreate(nullptr).HasError());
    vxs_shape_release(half_space);
}

void test_triangles() {
    const Body block(VXS_PRIMITIVE_HOLE, {0.2, 0.1, 0.15, 0.06});
    const JPH::Quat turn = JPH::Quat::sRotation(JPH::Vec3(1, 2, 3).Normalized(), 1);
    const auto count_in = [&](const JPH::AABox& box) {
        JPH::Shape::GetTrianglesContext context;
        JPH::Float3 corners[3 * 32];
        block.shape->GetTrianglesStart(context, box, JPH::Vec3(1, 2, 3), turn, JPH::Vec3::sReplicate(2));
        size_t count = 0;
        while (const int found = block.shape->GetTrianglesNext(context, 32, corners)) {
            if (count == 0) {
                const JPH::Vec3 expected = JPH::Vec3(1, 2, 3) + turn * (2.0f * vec(block.mesh.corner(0, 0)));
                CHECK((JPH::Vec3(corners[0]) - expected).Length() < 1e-5f);
            }
            count += size_t(found);
        }
        return count;
    };
    CHECK(count_in(JPH::AABox::sBiggest()) == block.mesh.count());
    CHECK(count_in(JPH::AABox(JPH::Vec3(100, 100, 100), JPH::Vec3(101, 101, 101))) == 0);
    CHECK(block.shape->GetStats().mNumTriangles == block.mesh.count());
    CHECK(block.shape->GetStats().mSizeBytes > 100000);
}

/// The volume below a plane of a body with a hole, against the share of points on a fine grid.
void test_submerged_volume() {
    const Body block(VXS_PRIMITIVE_HOLE, {0.2, 0.1, 0.15, 0.06});
    const JPH::Mat44 pose = JPH::Mat44::sRotationTranslation(
        JPH::Quat::sRotation(JPH::Vec3(1, 1, 0).Normalized(), 0.7f), JPH::Vec3(1, 2, 3));
    for (const float level : {-10.0f, 1.9f, 2.0f, 2.08f, 10.0f}) {
        const JPH::Plane water = JPH::Plane::sFromPointAndNormal(JPH::Vec3(0, level, 0), JPH::Vec3::sAxisY());
        float total, below;
        JPH::Vec3 center;
        block.shape->GetSubmergedVolume(pose, JPH::Vec3::sReplicate(1), water, total, below,
                                        center JPH_IF_DEBUG_RENDERER(, JPH::RVec3::sZero()));
        CHECK_NEAR(total, block.shape->GetVolume(), 1e-9);
        double expected = 0;
        vxs_vec3 moment = {0, 0, 0};
        const double step = 0.005;
        for (double x = -0.2 + step / 2; x < 0.2; x += step)
            for (double y = -0.1 + step / 2; y < 0.1; y += step)
                for (double z = -0.15 + step / 2; z < 0.15; z += step) {
                    const vxs_vec3 p = vxs(pose * vec({x, y, z}));
                    if (std::hypot(x, z) > 0.06 && p.y < double(level)) {
                        expected += step * step * step;
                        moment = moment + p * (step * step * step);
                    }
                }
        CHECK_NEAR(below, expected, 0.01 * double(total));
        if (expected > 0.1 * double(total))
            CHECK(length(vxs(center) - moment * (1 / expected)) < 0.002);
    }
}

void test_points() {
    const Body block(VXS_PRIMITIVE_HOLE, {0.2, 0.1, 0.15, 0.06});
    std::mt19937 random(3);
    int inside = 0;
    const JPH::Mat44 pose = JPH::Mat44::sRotationTranslation(random_rotation(random), JPH::Vec3(1, 2, 3));
    for (int i = 0; i < 150; ++i) {
        const JPH::Vec3 p(random_number(random, -0.25f, 0.25f), random_number(random, -0.15f, 0.15f),
                          random_number(random, -0.2f, 0.2f));
        const double expected = signed_distance(block.mesh, vxs(p));
        if (std::fabs(expected) < 1e-3)
            continue;
        inside += expected < 0;
        JPH::AllHitCollisionCollector<JPH::CollidePointCollector> hits;
        block.shape->CollidePoint(p, JPH::SubShapeIDCreator(), hits);
        CHECK((expected < 0) == (hits.mHits.size() == 1));
        // A vertex of a soft body near the surface gets the plane of the closest triangle.
        JPH::SoftBodyVertex vertex = {};
        vertex.mPosition = pose * (2.0f * p);
        vertex.mInvMass = 1;
        vertex.mLargestPenetration = -FLT_MAX;
        block.shape->CollideSoftBodyVertices(pose, JPH::Vec3::sReplicate(2), &vertex, 1, 0.01f, JPH::Vec3::sZero(), 5);
        CHECK(vertex.mCollidingShapeIndex == 5);
        if (std::fabs(expected) < 0.02)
            CHECK_NEAR(vertex.mCollisionPlane.SignedDistance(vertex.mPosition), 2 * expected, 2e-3);
        // A fixed vertex collides with nothing.
        vertex.mInvMass = 0;
        vertex.mCollidingShapeIndex = -1;
        vertex.mLargestPenetration = -FLT_MAX;
        block.shape->CollideSoftBodyVertices(pose, JPH::Vec3::sReplicate(2), &vertex, 1, 0.01f, JPH::Vec3::sZero(), 5);
        CHECK(vertex.mCollidingShapeIndex == -1);
    }
    CHECK(inside > 25);
}

void test_files() {
    const Body plain(VXS_PRIMITIVE_HOLE, {0.2, 0.1, 0.15, 0.06});
    std::vector<uint32_t> numbers(plain.mesh.count());
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = uint32_t(i % 2);
    vxs_shape* asset = nullptr;
    CHECK(vxs_shape_create_with_materials(plain.asset, numbers.data(), numbers.size(), &asset) == VXS_OK);
    const JPH::PhysicsMaterialRefC materials[2] = {new JPH::PhysicsMaterial, new JPH::PhysicsMaterial};
    const JPH::ShapeRefC shape = VoxshellShape::sCreate(asset, 500, {materials[0], materials[1]}).Get();
    vxs_shape_release(asset);
    std::stringstream file;
    JPH::StreamOutWrapper out(file);
    shape->SaveBinaryState(out);
    JPH::PhysicsMaterialList list;
    shape->SaveMaterialState(list);
    CHECK(list.size() == 2);
    JPH::StreamInWrapper in(file);
    const JPH::Shape::ShapeResult restored = JPH::Shape::sRestoreFromBinaryState(in);
    CHECK(restored.IsValid());
    if (!restored.IsValid())
        return;
    const JPH::Ref<JPH::Shape> copy = restored.Get();
    copy->RestoreMaterialState(list.data(), JPH::uint(list.size()));
    CHECK(copy->GetMassProperties().mMass == shape->GetMassProperties().mMass);
    CHECK(copy->GetLocalBounds() == shape->GetLocalBounds());
    const auto* const own = static_cast<const VoxshellShape*>(shape.GetPtr());
    for (const uint32_t triangle : {0u, 1u, 7u}) {
        const JPH::SubShapeID id = own->GetID(JPH::SubShapeIDCreator(), triangle, 3).GetID();
        CHECK(own->GetTriangle(id) == triangle);
        CHECK(copy->GetMaterial(id) == materials[triangle % 2].GetPtr() &&
              shape->GetMaterial(id) == copy->GetMaterial(id));
    }
    // A file that ends early gives a shape without an asset, and no crash.
    const std::string bytes = file.str();
    std::stringstream broken(bytes.substr(0, bytes.size() / 2));
    JPH::StreamInWrapper broken_in(broken);
    CHECK(JPH::Shape::sRestoreFromBinaryState(broken_in).HasError());
}

} // namespace

void test_shape() {
    test_mass();
    test_triangles();
    test_submerged_volume();
    test_points();
    test_files();
}

void test_rays() {
    std::mt19937 random(5);
    const Body torus(VXS_PRIMITIVE_TORUS, {0.3, 0.1}), block(VXS_PRIMITIVE_HOLE, {0.2, 0.1, 0.15, 0.06});
    int first_hits = 0, all_hits = 0, misses = 0;
    for (const Body* body : {&torus, &block}) {
        const auto* const shape = static_cast<const VoxshellShape*>(body->shape.GetPtr());
        for (int i = 0; i < 400; ++i) {
            const JPH::Vec3 from = 0.7f * random_direction(random), to = 0.35f * random_direction(random);
            const JPH::RayCast ray{from, 2.0f * (to - from)};
            const std::vector<double> expected = crossings(body->mesh, vxs(from), vxs(from) + vxs(ray.mDirection));
            // A ray that grazes an edge may be on either side of it.
            const std::vector<double> beside = crossings(body->mesh, vxs(from) + vxs_vec3{1e-3, -1e-3, 1e-3},
                                                         vxs(from) + vxs(ray.mDirection) + vxs_vec3{1e-3, -1e-3, 1e-3});
            if (expected.size() != beside.size() || expected.size() % 2)
                continue;
            JPH::RayCastResult hit;
            const bool is_hit = shape->CastRay(ray, JPH::SubShapeIDCreator(), hit);
            CHECK(is_hit == !expected.empty());
            JPH::AllHitCollisionCollector<JPH::CastRayCollector> all, front;
            JPH::RayCastSettings settings;
            shape->CastRay(ray, settings, JPH::SubShapeIDCreator(), front);
            settings.mBackFaceMode = JPH::EBackFaceMode::CollideWithBackFaces;
            shape->CastRay(ray, settings, JPH::SubShapeIDCreator(), all);
            all.Sort();
            CHECK(all.mHits.size() == expected.size() && front.mHits.size() == expected.size() / 2);
            if (!is_hit || all.mHits.size() != expected.size()) {
                misses += expected.empty();
                continue;
            }
            ++first_hits;
            all_hits += int(all.mHits.size());
            const double ray_length = double(ray.mDirection.Length());
            // Along a ray that meets the surface at a flat angle, the error of the field is longer than across it.
            CHECK_NEAR(double(hit.mFraction) * ray_length, expected[0] * ray_length, 4e-3);
            CHECK(distance_to(body->mesh, vxs(ray.GetPointOnRay(hit.mFraction))) < 5e-4);
            for (size_t k = 0; k < expected.size(); ++k)
                CHECK_NEAR(double(all.mHits[k].mFraction) * ray_length, expected[k] * ray_length, 1e-2);
            // The sub shape id names the triangle that was hit.
            Triangles one;
            const uint32_t triangle = shape->GetTriangle(hit.mSubShapeID2);
            for (uint32_t c = 0; c < 3; ++c) {
                one.vertices.push_back(body->mesh.corner(triangle, c));
                one.indices.push_back(c);
            }
            CHECK(distance_to(one, vxs(ray.GetPointOnRay(hit.mFraction))) < 1e-3);
            CHECK(shape->GetSurfaceNormal(hit.mSubShapeID2, ray.GetPointOnRay(hit.mFraction)).Dot(ray.mDirection) < 0);
            // A better hit from elsewhere stays.
            JPH::RayCastResult better;
            better.mFraction = 0.5f * hit.mFraction;
            CHECK(!shape->CastRay(ray, JPH::SubShapeIDCreator(), better) && better.mFraction == 0.5f * hit.mFraction);
        }
    }
    std::printf("rays: %d first hits, %d hits, %d misses\n", first_hits, all_hits, misses);
    CHECK(first_hits > 300 && misses > 50);
    // From inside: a solid is hit at once, a shell where the ray leaves it.
    const JPH::RayCast inside{JPH::Vec3(0.3f, 0, 0), JPH::Vec3(0, 1, 0)};
    JPH::RayCastSettings settings;
    JPH::AllHitCollisionCollector<JPH::CastRayCollector> solid, shell;
    torus.shape->CastRay(inside, settings, JPH::SubShapeIDCreator(), solid);
    settings.mTreatConvexAsSolid = false;
    settings.mBackFaceMode = JPH::EBackFaceMode::CollideWithBackFaces;
    torus.shape->CastRay(inside, settings, JPH::SubShapeIDCreator(), shell);
    CHECK(solid.mHits.size() == 1 && solid.mHits[0].mFraction == 0);
    CHECK(shell.mHits.size() == 1 && std::fabs(shell.mHits[0].mFraction - 0.1f) < 2e-3f);
}
