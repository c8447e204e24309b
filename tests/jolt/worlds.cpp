// Worlds of Jolt: a body slides over the inner edges of triangles, a fast body does not pass through a thin wall, and
// the number of threads does not change a byte.
#include "layers.h"
#include "scene.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <Jolt/Core/JobSystemThreadPool.h>
#include <Jolt/Core/TempAllocator.h>
#include <Jolt/Physics/Body/BodyCreationSettings.h>
#include <Jolt/Physics/Collision/Shape/BoxShape.h>
#include <Jolt/Physics/Collision/Shape/CapsuleShape.h>
#include <Jolt/Physics/Collision/Shape/SphereShape.h>
#include <Jolt/Physics/PhysicsSystem.h>

namespace {

struct World {
    explicit World(int threads)
        : memory(64 * 1024 * 1024), jobs(JPH::cMaxPhysicsJobs, JPH::cMaxPhysicsBarriers, threads - 1) {
        system.Init(128, 0, 1024, 8192, layers, any_layer, all_pairs);
        JPH::PhysicsSettings physics = system.GetPhysicsSettings();
        physics.mPenetrationSlop = 1e-5f;
        physics.mSpeculativeContactDistance = 0.005f;
        physics.mAllowSleeping = false;
        system.SetPhysicsSettings(physics);
    }
    JPH::BodyID add(const JPH::Shape* shape, JPH::Vec3Arg position, JPH::QuatArg rotation, JPH::EMotionType motion,
                    JPH::Vec3Arg velocity = JPH::Vec3::sZero(), float friction = 0.5f,
                    JPH::EMotionQuality quality = JPH::EMotionQuality::Discrete) {
        JPH::BodyCreationSettings body(shape, JPH::RVec3(position), rotation, motion, 0);
        body.mLinearVelocity = velocity;
        body.mFriction = friction;
        body.mLinearDamping = body.mAngularDamping = 0;
        body.mMotionQuality = quality;
        return system.GetBodyInterface().CreateAndAddBody(body, JPH::EActivation::Activate);
    }
    void simulate(int steps) {
        for (int i = 0; i < steps; ++i)
            CHECK(system.Update(1.0f / 240, 1, &memory, &jobs) == JPH::EPhysicsUpdateError::None);
    }

    OneBroadPhaseLayer layers;
    JPH::ObjectVsBroadPhaseLayerFilter any_layer;
    JPH::ObjectLayerPairFilter all_pairs;
    JPH::TempAllocatorImpl memory;
    JPH::JobSystemThreadPool jobs;
    JPH::PhysicsSystem system;
};

/// A small block slides without friction over the ground of triangles.
void slide_over(const Stock& ground) {
    const Body block(VXS_PRIMITIVE_HOLE, {0.06, 0.03, 0.05, 0.02});
    World world(1);
    world.add(ground.shape, JPH::Vec3::sZero(), JPH::Quat::sIdentity(), JPH::EMotionType::Static, JPH::Vec3::sZero(),
              0);
    const JPH::BodyID id =
        world.add(block.shape, JPH::Vec3(-0.8f, 0.03f, -0.3f), JPH::Quat::sRotation(JPH::Vec3::sAxisY(), 0.3f),
                  JPH::EMotionType::Dynamic, JPH::Vec3(2, 0, 0.8f), 0);
    const JPH::BodyInterface& bodies = world.system.GetBodyInterface();
    float highest = 0, lowest = 1;
    for (int i = 0; i < 120; ++i) {
        world.simulate(1);
        highest = std::max(highest, float(bodies.GetPosition(id).GetY()));
        lowest = std::min(lowest, float(bodies.GetPosition(id).GetY()));
    }
    const JPH::Vec3 v = bodies.GetLinearVelocity(id), w = bodies.GetAngularVelocity(id);
    std::printf(
        "a block slides over a %s: velocity %.5f, %.5f, %.5f m/s, turning at %.5f rad/s, height %.4f to %.4f mm\n",
        ground.name.c_str(), double(v.GetX()), double(v.GetY()), double(v.GetZ()), double(w.Length()),
        1e3 * double(lowest), 1e3 * double(highest));
    CHECK((v - JPH::Vec3(2, 0, 0.8f)).Length() < 1e-3f && w.Length() < 1e-2f);
    CHECK(highest < 0.0302f && lowest > 0.0298f);
    CHECK_NEAR(bodies.GetPosition(id).GetX(), 0.2, 2e-3);
}

/// A body with continuous detection that moves by more than its own size in a step.
void hit_wall(const char* name, const JPH::Shape* wall, JPH::QuatArg rotation) {
    const Body block(VXS_PRIMITIVE_HOLE, {0.06, 0.03, 0.05, 0.02});
    const float side = 0.06f;
    for (const JPH::EMotionQuality quality : {JPH::EMotionQuality::LinearCast, JPH::EMotionQuality::Discrete}) {
        World world(1);
        world.system.SetGravity(JPH::Vec3::sZero());
        world.add(wall, JPH::Vec3::sZero(), rotation, JPH::EMotionType::Static);
        const JPH::BodyID id = world.add(block.shape, JPH::Vec3(-1.2f, 0, 0), JPH::Quat::sIdentity(),
                                         JPH::EMotionType::Dynamic, JPH::Vec3(80, 0, 0), 0, quality);
        float farthest = -1;
        for (int i = 0; i < 24; ++i) {
            world.simulate(1);
            farthest = std::max(farthest, float(world.system.GetBodyInterface().GetPosition(id).GetX()));
        }
        std::printf("a block at 80 m/s against a %s: gets to %.4f m\n", name, double(farthest));
        if (quality == JPH::EMotionQuality::LinearCast)
            CHECK(farthest < -side + 0.01f);
        else
            CHECK(farthest > 1); // otherwise the scene shows nothing
    }
}

struct Result {
    uint64_t hash = 14695981039346656037ull; // FNV-1a
    size_t contacts = 0;
};

/// Bodies of all kinds fall on each other.
Result fall(int threads) {
    const Body torus(VXS_PRIMITIVE_TORUS, {0.1, 0.03}), block(VXS_PRIMITIVE_HOLE, {0.1, 0.05, 0.07, 0.03});
    const std::vector<Stock> shapes = stock_shapes();
    const JPH::ShapeRefC ball = new JPH::SphereShape(0.06f), capsule = new JPH::CapsuleShape(0.06f, 0.04f);
    const JPH::ShapeRefC box = new JPH::BoxShape(JPH::Vec3(0.06f, 0.06f, 0.06f), 0.01f);
    World world(threads);
    world.add(shapes[7].shape, JPH::Vec3::sZero(), JPH::Quat::sIdentity(), JPH::EMotionType::Static);
    std::mt19937 random(23);
    std::vector<JPH::BodyID> ids;
    const JPH::Shape* const kinds[] = {torus.shape, ball, block.shape, capsule, torus.shape, box};
    for (int i = 0; i < 18; ++i)
        ids.push_back(world.add(kinds[i % 6],
                                JPH::Vec3(0.15f * float(i % 3), 0.15f + 0.17f * float(i / 3), 0.02f * float(i % 4)),
                                random_rotation(random), JPH::EMotionType::Dynamic));
    world.simulate(80);
    Result result;
    for (const JPH::BodyID& id : ids) {
        const JPH::BodyLockRead lock(world.system.GetBodyLockInterface(), id);
        const JPH::Body& body = lock.GetBody();
        const JPH::RVec3 p = body.GetCenterOfMassPosition();
        const float state[] = {float(p.GetX()),
                               float(p.GetY()),
                               float(p.GetZ()),
                               body.GetRotation().GetX(),
                               body.GetRotation().GetY(),
                               body.GetRotation().GetZ(),
                               body.GetRotation().GetW(),
                               body.GetLinearVelocity().GetX(),
                               body.GetLinearVelocity().GetY(),
                               body.GetLinearVelocity().GetZ(),
                               body.GetAngularVelocity().GetX(),
                               body.GetAngularVelocity().GetY(),
                               body.GetAngularVelocity().GetZ()};
        unsigned char bytes[sizeof state];
        std::memcpy(bytes, state, sizeof state);
        for (const unsigned char byte : bytes) result.hash = (result.hash ^ byte) * 1099511628211ull;
        // It fell on something, and not through it.
        CHECK(p.GetY() > 0 && p.GetY() < 1.2f && body.GetLinearVelocity().Length() < 4);
        for (const JPH::BodyID& other : ids)
            result.contacts += id < other && world.system.WereBodiesInContact(id, other);
    }
    return result;
}

} // namespace

void test_sliding() {
    const std::vector<Stock> shapes = stock_shapes();
    slide_over(shapes[7]);
    slide_over(shapes[8]);
}

void test_walls() {
    const std::vector<Stock> shapes = stock_shapes();
    hit_wall("mesh", shapes[7].shape, JPH::Quat::sRotation(JPH::Vec3::sAxisZ(), 0.5f * JPH::JPH_PI));
    const JPH::ShapeRefC thin = new JPH::BoxShape(JPH::Vec3(0.005f, 1, 1), 0);
    hit_wall("thin box", thin, JPH::Quat::sIdentity());
    const Body wall(VXS_PRIMITIVE_BOX, {0.005, 0.5, 0.5});
    hit_wall("thin Voxshell body", wall.shape, JPH::Quat::sIdentity());
}

void test_determinism() {
    const Result one = fall(1);
    std::printf("18 bodies, %zu pairs in contact, hash %016llx\n", one.contacts,
                static_cast<unsigned long long>(one.hash));
    CHECK(one.contacts > 10);
    for (const int threads : {2, 8}) CHECK(fall(threads).hash == one.hash);
}
