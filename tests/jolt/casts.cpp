// Casts against small steps, in both orders, and shapes inside Jolt's compound and decorated shapes.
#include "scene.h"

#include <algorithm>

#include <Jolt/Physics/Collision/CollisionCollectorImpl.h>
#include <Jolt/Physics/Collision/CollisionDispatch.h>
#include <Jolt/Physics/Collision/Shape/MutableCompoundShape.h>
#include <Jolt/Physics/Collision/Shape/OffsetCenterOfMassShape.h>
#include <Jolt/Physics/Collision/Shape/RotatedTranslatedShape.h>
#include <Jolt/Physics/Collision/Shape/ScaledShape.h>
#include <Jolt/Physics/Collision/Shape/SphereShape.h>
#include <Jolt/Physics/Collision/Shape/StaticCompoundShape.h>
#include <Jolt/Physics/Collision/ShapeCast.h>

namespace {

using Hits = std::vector<JPH::ShapeCastResult>;

Hits cast(const JPH::Shape* mover, JPH::Mat44Arg start, JPH::Vec3Arg direction, const JPH::Shape* fixed,
          JPH::Mat44Arg pose, bool deepest_point = true) {
    JPH::ShapeCastSettings settings;
    settings.mReturnDeepestPoint = deepest_point;
    JPH::AllHitCollisionCollector<JPH::CastShapeCollector> collector;
    JPH::CollisionDispatch::sCastShapeVsShapeWorldSpace(
        JPH::ShapeCast(mover, JPH::Vec3::sReplicate(1), start, direction), settings, fixed, JPH::Vec3::sReplicate(1),
        JPH::ShapeFilter(), pose, JPH::SubShapeIDCreator(), JPH::SubShapeIDCreator(), collector);
    return Hits(collector.mHits.begin(), collector.mHits.end());
}

/// Returns the distance along a direction after which a vertex of the body is first inside the other shape by brute
/// force: steps that no vertex can pass. Infinite if there is none.
double first_contact(const Body& body, JPH::Mat44Arg start, JPH::Vec3Arg direction, const Stock& stock,
                     JPH::Mat44Arg pose) {
    const JPH::Mat44 local = pose.InversedRotationTranslation() * start;
    const vxs_vec3 along = vxs(pose.Multiply3x3Transposed(direction));
    double t = 0;
    for (int i = 0; i < 1000 && t <= 1; ++i) {
        double nearest = 1e300;
        for (const vxs_vec3& v : body.mesh.vertices)
            nearest = std::min(nearest, stock.distance(vxs(local * vec(v)) + along * t));
        if (nearest < 1e-6)
            return t;
        t += nearest / length(along);
    }
    return t <= 1 ? t : 1e300;
}

void test_against_steps() {
    const Body torus(VXS_PRIMITIVE_TORUS, {0.3, 0.1});
    const std::vector<Stock> shapes = stock_shapes();
    std::mt19937 random(17);
    for (const Stock& stock : shapes) {
        const bool is_ground = stock.shape->MustBeStatic() || stock.name == "triangle";
        int hits = 0, misses = 0;
        double late = 0, off = 0;
        for (int i = 0; i < 6; ++i) {
            const JPH::Vec3 side = random_direction(random);
            const JPH::Vec3 from = is_ground ? JPH::Vec3(0.2f * side.GetX(), 1, 0.2f * side.GetZ()) : 1.2f * side;
            const JPH::Vec3 direction = 1.5f * (0.3f * random_direction(random) - from);
            const JPH::Mat44 pose =
                JPH::Mat44::sRotationTranslation(random_rotation(random), 3.0f * random_direction(random));
            const JPH::Mat44 start = pose * JPH::Mat44::sRotationTranslation(random_rotation(random), from);
            const JPH::Vec3 world = pose.Multiply3x3(direction);
            const Hits found = cast(torus.shape, start, world, stock.shape, pose);
            const double expected = first_contact(torus, start, world, stock, pose);
            CHECK(found.size() <= 1);
            if (found.empty()) {
                CHECK(expected > 1);
                ++misses;
                continue;
            }
            ++hits;
            const JPH::ShapeCastResult& hit = found[0];
            const double moved = double(world.Length());
            if (expected <= 1)
                late = std::max(late, (double(hit.mFraction) - expected) * moved);
            // An edge or a face may touch before a vertex does: the points show that the surfaces touch.
            const JPH::Mat44 at = JPH::Mat44::sTranslation(hit.mFraction * world) * start;
            off = std::max(off, distance_to(torus.mesh, vxs(at.InversedRotationTranslation() * hit.mContactPointOn1)));
            off = std::max(off,
                           std::fabs(stock.distance(vxs(pose.InversedRotationTranslation() * hit.mContactPointOn2))));
            CHECK(hit.mPenetrationAxis.Dot(world) > 0);

            // The other way round, the shape of Jolt moves against the body.
            if (!stock.shape->MustBeStatic()) {
                const Hits back = cast(stock.shape, pose, -world, torus.shape, start);
                CHECK(back.size() == 1);
                if (back.size() == 1) {
                    CHECK_NEAR(back[0].mFraction, hit.mFraction, 1e-4);
                    CHECK((back[0].mPenetrationAxis.Normalized() + hit.mPenetrationAxis.Normalized()).Length() < 0.02f);
                    // Both in the world: the torus stands still here, so that the points are shifted.
                    CHECK((back[0].mContactPointOn2 + hit.mFraction * world - hit.mContactPointOn1).Length() < 2e-3f);
                }
            }
        }
        std::printf("casts at %s: %d hits, %d misses; %.3f mm late, points off by %.3f mm\n", stock.name.c_str(), hits,
                    misses, 1e3 * late, 1e3 * off);
        CHECK(hits >= 4);
        CHECK(late < 1e-3 && off < 5e-4);
    }
}

void test_start() {
    const Body torus(VXS_PRIMITIVE_TORUS, {0.3, 0.1}), block(VXS_PRIMITIVE_HOLE, {0.2, 0.1, 0.15, 0.06});
    const std::vector<Stock> shapes = stock_shapes();
    const JPH::Shape* const ball = shapes[0].shape;
    const JPH::Mat44 overlapping = JPH::Mat44::sTranslation(JPH::Vec3(0.3f, 0.28f, 0)); // 20 mm deep
    const Hits into =
        cast(torus.shape, overlapping, JPH::Vec3(0, -0.3f, 0), ball, JPH::Mat44::sTranslation(JPH::Vec3(0.6f, 0, 0)));
    CHECK(into.size() == 1);
    if (into.size() == 1) {
        CHECK(into[0].mFraction == 0);
        CHECK(into[0].mPenetrationDepth > 0.005f);
        CHECK(into[0].GetEarlyOutFraction() < 0);
    }
    // A body that moves out is not stopped.
    CHECK(cast(torus.shape, JPH::Mat44::sTranslation(JPH::Vec3(0, 0.299f, 0)), JPH::Vec3(0, 0.5f, 0), ball,
               JPH::Mat44::sTranslation(JPH::Vec3(0.3f, 0, 0)))
              .empty());
    // A block that lies on the bottom of a trough slides to its wall: the bottom does not stop it.
    const Body floor(VXS_PRIMITIVE_BOX, {1, 0.1, 1}), wall(VXS_PRIMITIVE_BOX, {0.1, 0.5, 1});
    JPH::StaticCompoundShapeSettings trough;
    trough.AddShape(JPH::Vec3(0, -0.1f, 0), JPH::Quat::sIdentity(), floor.shape.GetPtr());
    trough.AddShape(JPH::Vec3(0.9f, 0.5f, 0), JPH::Quat::sIdentity(), wall.shape.GetPtr());
    const JPH::ShapeRefC shape = trough.Create().Get();
    const Hits slid = cast(block.shape, JPH::Mat44::sTranslation(JPH::Vec3(0, 0.1f, 0)), JPH::Vec3(2, 0, 0), shape,
                           JPH::Mat44::sTranslation(shape->GetCenterOfMass()));
    CHECK(slid.size() == 1);
    if (slid.size() == 1) {
        CHECK_NEAR(slid[0].mFraction, 0.3, 1e-3); // from x = 0.2 to 0.8
        CHECK(slid[0].mPenetrationAxis.Normalized().GetX() > 0.99f);
    }
}

/// Compares hits with those of the shapes at the same places, without wrappers.
void check_same(const char* name, const JPH::Shape* wrapped, JPH::Mat44Arg pose, const JPH::Shape* other,
                JPH::Mat44Arg other_pose, const std::vector<JPH::CollideShapeResult>& expected) {
    const auto hits = collide(wrapped, pose, other, other_pose);
    const auto back = collide(other, other_pose, wrapped, pose);
    const JPH::CollideShapeResult *const hit = deepest(hits), *const most = deepest(expected),
                                         *const reverse = deepest(back);
    std::printf("%s: %zu hits\n", name, hits.size());
    CHECK(hit && most && reverse && hits.size() == back.size());
    if (!hit || !most || !reverse)
        return;
    CHECK_NEAR(hit->mPenetrationDepth, most->mPenetrationDepth, 1e-5);
    CHECK_NEAR(reverse->mPenetrationDepth, most->mPenetrationDepth, 1e-5);
    CHECK((hit->mContactPointOn1 - most->mContactPointOn1).Length() < 1e-4f);
    CHECK((hit->mPenetrationAxis - most->mPenetrationAxis).Length() < 1e-3f);
    CHECK((reverse->mPenetrationAxis + most->mPenetrationAxis).Length() < 1e-3f);
}

} // namespace

void test_casts() {
    test_against_steps();
    test_start();
}

void test_wrapped() {
    const Body block(VXS_PRIMITIVE_HOLE, {0.2, 0.1, 0.15, 0.06});
    const Stock ball = stock_shapes()[0];
    const JPH::Quat turn = JPH::Quat::sRotation(JPH::Vec3(1, 2, 3).Normalized(), 0.4f);
    const JPH::Vec3 place(0.1f, 0.2f, 0.3f);
    const JPH::Mat44 pose = JPH::Mat44::sRotationTranslation(turn, place);
    // The ball is 10 mm deep in the middle of a face.
    const JPH::Mat44 ball_pose = pose * JPH::Mat44::sTranslation(JPH::Vec3(0.15f, 0.29f, 0.02f));
    const auto expected = collide(block.shape, pose, ball.shape, ball_pose);
    CHECK(deepest(expected) && std::fabs(deepest(expected)->mPenetrationDepth - 0.01f) < 1e-4f);

    const JPH::ShapeRefC turned = new JPH::RotatedTranslatedShape(place, turn, block.shape);
    check_same("rotated and translated", turned, JPH::Mat44::sTranslation(turned->GetCenterOfMass()), ball.shape,
               ball_pose, expected);
    const JPH::ShapeRefC offset = new JPH::OffsetCenterOfMassShape(block.shape, JPH::Vec3(0.01f, 0.02f, 0.03f));
    check_same("offset center of mass", offset, pose.PreTranslated(JPH::Vec3(0.01f, 0.02f, 0.03f)), ball.shape,
               ball_pose, expected);
    JPH::StaticCompoundShapeSettings parts;
    parts.AddShape(place, turn, block.shape.GetPtr());
    parts.AddShape(JPH::Vec3(5, 5, 5), JPH::Quat::sIdentity(), block.shape.GetPtr());
    const JPH::ShapeRefC fixed = parts.Create().Get();
    check_same("static compound", fixed, JPH::Mat44::sTranslation(fixed->GetCenterOfMass()), ball.shape, ball_pose,
               expected);
    JPH::MutableCompoundShapeSettings moving;
    moving.AddShape(place, turn, block.shape.GetPtr());
    moving.AddShape(JPH::Vec3(5, 5, 5), JPH::Quat::sIdentity(), block.shape.GetPtr());
    const JPH::ShapeRefC mutable_one = moving.Create().Get();
    check_same("mutable compound", mutable_one, JPH::Mat44::sTranslation(mutable_one->GetCenterOfMass()), ball.shape,
               ball_pose, expected);
    // The sub shape id of a compound leads to the block and its triangle.
    const JPH::CollideShapeResult in_compound =
        *deepest(collide(fixed, JPH::Mat44::sTranslation(fixed->GetCenterOfMass()), ball.shape, ball_pose));
    const JPH::Vec3 normal =
        fixed->GetSurfaceNormal(in_compound.mSubShapeID1, in_compound.mContactPointOn1 - fixed->GetCenterOfMass());
    CHECK((normal - in_compound.mPenetrationAxis).Length() < 1e-2f);

    // Twice as large.
    CHECK(block.shape->IsValidScale(JPH::Vec3::sReplicate(2)) && !block.shape->IsValidScale(JPH::Vec3(1, 2, 1)) &&
          !block.shape->IsValidScale(JPH::Vec3::sReplicate(-1)));
    const JPH::ShapeRefC scaled = new JPH::ScaledShape(block.shape, JPH::Vec3::sReplicate(2));
    const auto large =
        collide(scaled, pose, ball.shape, pose * JPH::Mat44::sTranslation(JPH::Vec3(0.3f, 0.39f, 0.04f)));
    CHECK(deepest(large) && std::fabs(deepest(large)->mPenetrationDepth - 0.01f) < 2e-4f);
    const JPH::ShapeRefC small_ball = new JPH::ScaledShape(ball.shape, JPH::Vec3::sReplicate(0.5f));
    const auto small =
        collide(block.shape, pose, small_ball, pose * JPH::Mat44::sTranslation(JPH::Vec3(0.15f, 0.19f, 0.02f)));
    CHECK(deepest(small) && std::fabs(deepest(small)->mPenetrationDepth - 0.01f) < 1e-4f);

    // A ball on the stack, as Jolt's vehicles have it, cannot be held by the adapter.
    for (const float radius : {0.2f, 0.21f}) {
        JPH::SphereShape embedded(radius);
        embedded.SetEmbedded();
        const auto hits = collide(block.shape, pose, &embedded, ball_pose);
        CHECK(deepest(hits) && std::fabs(deepest(hits)->mPenetrationDepth - (radius - 0.19f)) < 1e-4f);
    }
}
