// A gear falls on one of Jolt's boxes and comes to rest on it, hit by a ray from above. Also a test: it ends with 1 if
// the gear is not where it should be.
#include <voxshell/jolt.h>

#include <cmath>
#include <cstdio>

#include <Jolt/Core/Factory.h>
#include <Jolt/Core/JobSystemThreadPool.h>
#include <Jolt/Core/TempAllocator.h>
#include <Jolt/Physics/Body/BodyCreationSettings.h>
#include <Jolt/Physics/Collision/CastResult.h>
#include <Jolt/Physics/Collision/RayCast.h>
#include <Jolt/Physics/Collision/Shape/BoxShape.h>
#include <Jolt/Physics/PhysicsSystem.h>
#include <Jolt/RegisterTypes.h>

namespace {

class OneBroadPhaseLayer final : public JPH::BroadPhaseLayerInterface {
public:
    JPH::uint GetNumBroadPhaseLayers() const override { return 1; }
    JPH::BroadPhaseLayer GetBroadPhaseLayer(JPH::ObjectLayer) const override { return JPH::BroadPhaseLayer(0); }
#if defined(JPH_EXTERNAL_PROFILE) || defined(JPH_PROFILE_ENABLED)
    const char* GetBroadPhaseLayerName(JPH::BroadPhaseLayer) const override { return "all"; }
#endif
};

} // namespace

int main() {
    JPH::RegisterDefaultAllocator();
    JPH::Factory::sInstance = new JPH::Factory;
    JPH::RegisterTypes();
    voxshell::jolt::Settings settings;
    settings.contacts_per_normal = 16; // of bodies without manifold reduction
    if (!voxshell::jolt::Register(settings))
        return 1;
    vxs_primitive primitive;
    vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_GEAR);
    const double size[] = {0.1, 0.08, 0.05, 0.03}; // radii at the tips and the roots, thickness, bore
    for (int i = 0; i < 4; ++i) primitive.size[i] = size[i];
    vxs_shape* gear = nullptr;
    if (vxs_shape_create_primitive(&primitive, nullptr, &gear)) {
        std::fprintf(stderr, "%s\n", vxs_last_error());
        return 1;
    }
    bool passed = false;
    {
        const OneBroadPhaseLayer layers;
        const JPH::ObjectVsBroadPhaseLayerFilter any_layer;
        const JPH::ObjectLayerPairFilter all_pairs;
        JPH::TempAllocatorImpl memory(16 * 1024 * 1024);
        JPH::JobSystemThreadPool jobs(JPH::cMaxPhysicsJobs, JPH::cMaxPhysicsBarriers, 2);
        JPH::PhysicsSystem system;
        system.Init(16, 0, 64, 256, layers, any_layer, all_pairs);
        JPH::PhysicsSettings physics = system.GetPhysicsSettings();
        physics.mPenetrationSlop = 1e-5f; // Jolt's default, 20 mm, is for bodies of a metre
        system.SetPhysicsSettings(physics);

        JPH::BodyInterface& bodies = system.GetBodyInterface();
        const JPH::ShapeRefC floor = new JPH::BoxShape(JPH::Vec3(0.5f, 0.1f, 0.5f));
        voxshell::jolt::Prepare(floor);
        bodies.CreateAndAddBody({floor, JPH::RVec3::sZero(), JPH::Quat::sIdentity(), JPH::EMotionType::Static, 0},
                                JPH::EActivation::DontActivate);
        JPH::BodyCreationSettings body(voxshell::jolt::VoxshellShape::sCreate(gear).Get(), JPH::RVec3(0, 0.25f, 0),
                                       JPH::Quat::sIdentity(), JPH::EMotionType::Dynamic, 0);
        body.mUseManifoldReduction = false; // contacts keep their own normals
        const JPH::BodyID id = bodies.CreateAndAddBody(body, JPH::EActivation::Activate);
        for (int i = 0; i < 720; ++i) system.Update(1.0f / 240, 1, &memory, &jobs);

        const float height = float(bodies.GetPosition(id).GetY());
        // A ray down beside the bore meets the gear's upper face.
        const JPH::RRayCast ray(JPH::RVec3(0.05f, 0.6f, 0), JPH::Vec3(0, -1, 0));
        JPH::RayCastResult hit;
        const bool is_hit = system.GetNarrowPhaseQuery().CastRay(ray, hit);
        std::printf("the gear rests at %.5f m; the ray meets it after %.5f m\n", double(height),
                    is_hit ? double(hit.mFraction) : 0);
        passed = std::fabs(height - 0.125f) < 1e-4f && is_hit && hit.mBodyID == id &&
                 std::fabs(hit.mFraction - 0.45f) < 1e-4f;
    }
    vxs_shape_release(gear);
    voxshell::jolt::Unregister();
    JPH::UnregisterTypes();
    delete JPH::Factory::sInstance;
    JPH::Factory::sInstance = nullptr;
    return passed ? 0 : 1;
}
