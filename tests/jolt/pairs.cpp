// Voxshell bodies against each of Jolt's shapes at random poses: no overlap is missed, the deepest hit lies on both
// surfaces, every other hit on one of them, and depth and normal are those of the two points. Further parts are in the
// other files.
#include "scene.h"

#include <algorithm>
#include <cstdarg>
#include <utility>

#include <Jolt/Core/Factory.h>
#include <Jolt/Physics/Collision/CollisionCollectorImpl.h>
#include <Jolt/RegisterTypes.h>

namespace {

void trace(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
    std::printf("\n");
}

/// Returns whether the hits of both orders are mirror images.
bool mirrored(const std::vector<JPH::CollideShapeResult>& ab, const std::vector<JPH::CollideShapeResult>& ba) {
    if (ab.size() != ba.size())
        return false;
    for (size_t i = 0; i < ab.size(); ++i)
        if (ab[i].mContactPointOn1 != ba[i].mContactPointOn2 || ab[i].mContactPointOn2 != ba[i].mContactPointOn1 ||
            ab[i].mPenetrationAxis != -ba[i].mPenetrationAxis || ab[i].mPenetrationDepth != ba[i].mPenetrationDepth ||
            ab[i].mSubShapeID1 != ba[i].mSubShapeID2)
            return false;
    return true;
}

struct Count {
    int overlaps = 0, apart = 0, hits = 0;
    double worst_depth = 0, off_deepest = 0, off_others = 0, off_axis = 0;
};

/// One pose of a body against a shape.
void check_pose(const Body& body, const Stock& stock, const JPH::Mat44& pose_body, const JPH::Mat44& pose_stock,
                Count& count) {
    // Hits are reported up to 5 mm apart, so that those that touch are among them.
    const std::vector<JPH::CollideShapeResult> hits = collide(body.shape, pose_body, stock.shape, pose_stock, 0.005f);
    const std::vector<JPH::CollideShapeResult> back = collide(stock.shape, pose_stock, body.shape, pose_body, 0.005f);
    CHECK(mirrored(hits, back));
    const JPH::Mat44 to_stock = pose_stock.InversedRotationTranslation();
    double depth = -1e300;
    for (const vxs_vec3& v : body.mesh.vertices)
        depth = std::max(depth, -stock.distance(vxs(to_stock * (pose_body * vec(v)))));
    const JPH::CollideShapeResult* const most = deepest(hits);
    count.hits += int(hits.size());
    if (depth > 2e-4) {
        ++count.overlaps;
        CHECK(most != nullptr);
        if (most)
            count.worst_depth = std::max(count.worst_depth, depth - double(most->mPenetrationDepth));
    } else if (!most) {
        ++count.apart;
    }
    const JPH::Mat44 to_body = pose_body.InversedRotationTranslation();
    for (size_t i = 0; i < std::min<size_t>(hits.size(), 6); ++i) {
        const JPH::CollideShapeResult& hit = hits[i];
        const double off_1 = distance_to(body.mesh, vxs(to_body * hit.mContactPointOn1));
        const double off_2 = std::fabs(stock.distance(vxs(to_stock * hit.mContactPointOn2)));
        // An edge that passes through the other body is deeper in it along the axis than at its nearest surface.
        if (&hit == most)
            count.off_deepest = std::max(count.off_deepest, std::max(off_1, off_2));
        else
            count.off_others = std::max(count.off_others, std::min(off_1, off_2));
        // From 1 to 2 the axis points out of 1: along the points if they are apart, against them if they overlap.
        const JPH::Vec3 between = hit.mContactPointOn1 - hit.mContactPointOn2;
        count.off_axis = std::max(count.off_axis,
                                  std::fabs(double(between.Dot(hit.mPenetrationAxis)) - double(hit.mPenetrationDepth)));
        CHECK_NEAR(hit.mPenetrationAxis.Length(), 1, 1e-5);
    }
}

/// A body against a shape at random poses up to 6 mm deep, and apart.
Count check_poses(const Body& body, const Stock& stock, int poses, bool from_above, std::mt19937& random) {
    Count count;
    for (int i = 0; i < poses; ++i) {
        const JPH::Quat turn = random_rotation(random);
        const JPH::Vec3 away = from_above ? JPH::Vec3::sAxisY() : random_direction(random);
        const JPH::Mat44 stock_pose =
            JPH::Mat44::sRotationTranslation(random_rotation(random), 5.0f * random_direction(random));
        // Slide the body along a direction to a pose of the wanted depth.
        const float wanted = i % 4 == 0 ? random_number(random, -0.02f, -0.006f) : random_number(random, 0, 0.006f);
        float at = 1.5f;
        for (int step = 0; step < 100; ++step) {
            double depth = -1e300;
            const JPH::Mat44 local = JPH::Mat44::sRotationTranslation(turn, away * at);
            for (const vxs_vec3& v : body.mesh.vertices) depth = std::max(depth, -stock.distance(vxs(local * vec(v))));
            if (double(wanted) - depth < 1e-5)
                break;
            at -= float(double(wanted) - depth);
        }
        check_pose(body, stock, stock_pose * JPH::Mat44::sRotationTranslation(turn, away * at), stock_pose, count);
    }
    std::printf(
        "%s: %d overlaps, %d apart, %d hits; off by at most %.3f mm in depth, %.3f mm at the deepest points, %.3f mm "
        "at others, %.4f mm along the axis\n",
        stock.name.c_str(), count.overlaps, count.apart, count.hits, 1e3 * count.worst_depth, 1e3 * count.off_deepest,
        1e3 * count.off_others, 1e3 * count.off_axis);
    CHECK(count.overlaps > poses / 2 && count.apart > poses / 12);
    CHECK(count.off_axis < 1e-5);
    return count;
}

void test_stock_shapes() {
    const std::vector<Stock> shapes = stock_shapes();
    const Body torus(VXS_PRIMITIVE_TORUS, {0.3, 0.1}), block(VXS_PRIMITIVE_HOLE, {0.2, 0.1, 0.15, 0.06});
    std::mt19937 random(7);
    for (const Body* body : {&torus, &block}) {
        std::printf("%s against\n", body == &torus ? "torus" : "block");
        for (const Stock& stock : shapes) {
            CHECK(voxshell::jolt::Prepare(stock.shape));
            const bool is_ground = stock.shape->MustBeStatic() || stock.name == "triangle";
            const Count count = check_poses(*body, stock, 40, is_ground, random);
            CHECK(count.worst_depth < 5e-4 && count.off_others < 5e-4);
            // Where edges pass each other, the point on the other edge's side is off that surface.
            if (body == &torus || (stock.name != "box" && stock.name != "cylinder" && stock.name != "convex hull"))
                CHECK(count.off_deepest < 5e-4);
        }
    }
}

/// Two Voxshell bodies: the torus has a closed form, inside of which its triangles lie by up to 1.3 mm.
void test_voxshell_pair() {
    const Body torus(VXS_PRIMITIVE_TORUS, {0.3, 0.1}), block(VXS_PRIMITIVE_HOLE, {0.2, 0.1, 0.15, 0.06});
    const Stock closed = {"voxshell torus", torus.shape,
                          [](const vxs_vec3& p) { return std::hypot(std::hypot(p.x, p.z) - 0.3, p.y) - 0.1; }};
    std::mt19937 random(11);
    const Count count = check_poses(block, closed, 60, false, random);
    CHECK(count.worst_depth < 2e-3 && count.off_deepest < 2e-3 && count.off_others < 5e-4);
}

} // namespace

/// @param arguments  names of the parts to run; none: all
int main(int count, char** arguments) {
    JPH::RegisterDefaultAllocator();
    JPH::Trace = trace;
    JPH::Factory::sInstance = new JPH::Factory;
    JPH::RegisterTypes();
    CHECK(!voxshell::jolt::Register({}, JPH::EShapeSubType::Box));
    CHECK(voxshell::jolt::Register());
    const std::pair<const char*, void (*)()> parts[] = {
        {"stock", test_stock_shapes}, {"pair", test_voxshell_pair}, {"shape", test_shape},
        {"rays", test_rays},          {"casts", test_casts},        {"wrapped", test_wrapped},
        {"sliding", test_sliding},    {"walls", test_walls},        {"determinism", test_determinism}};
    for (const auto& part : parts)
        if (count < 2 || std::find(arguments + 1, arguments + count, std::string(part.first)) != arguments + count)
            part.second();
    voxshell::jolt::Unregister();
    JPH::UnregisterTypes();
    delete JPH::Factory::sInstance;
    JPH::Factory::sInstance = nullptr;
    return finish();
}
