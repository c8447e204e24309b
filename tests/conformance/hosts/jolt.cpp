// The host "jolt": bodies of Jolt Physics, with the shape of cpp/jolt.
#include <voxshell/jolt.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <Jolt/Core/Factory.h>
#include <Jolt/Core/JobSystemSingleThreaded.h>
#include <Jolt/Core/TempAllocator.h>
#include <Jolt/Physics/Body/BodyCreationSettings.h>
#include <Jolt/Physics/Collision/CastResult.h>
#include <Jolt/Physics/Collision/ContactListener.h>
#include <Jolt/Physics/Collision/RayCast.h>
#include <Jolt/Physics/Collision/Shape/BoxShape.h>
#include <Jolt/Physics/Collision/Shape/MeshShape.h>
#include <Jolt/Physics/Collision/Shape/SphereShape.h>
#include <Jolt/Physics/PhysicsSystem.h>
#include <Jolt/RegisterTypes.h>

#include "../../jolt/layers.h"
#include "../world.h"

namespace conformance {
namespace {

const JPH::ObjectLayer kFixed = 0, kMoving = 1;

class FixedBodiesDoNotCollide final : public JPH::ObjectLayerPairFilter {
public:
    bool ShouldCollide(JPH::ObjectLayer a, JPH::ObjectLayer b) const override { return a == kMoving || b == kMoving; }
};

/// Runs the jobs of a step at once, and takes the time of those that find contacts.
class TimedJobs final : public JPH::JobSystem {
public:
    explicit TimedJobs(JPH::uint max_jobs) { m_jobs.Init(max_jobs, max_jobs); }
    int GetMaxConcurrency() const override { return 1; }
    JobHandle CreateJob(const char* name, JPH::ColorArg color, const JobFunction& function,
                        JPH::uint32 dependencies) override {
        const bool is_timed = std::strcmp(name, "FindCollisions") == 0;
        const JobFunction timed = [this, function]() {
            const auto start = std::chrono::steady_clock::now();
            function();
            seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        const JPH::uint32 index = m_jobs.ConstructObject(name, color, this, is_timed ? timed : function, dependencies);
        Job* const job = &m_jobs.Get(index);
        const JobHandle handle(job);
        if (dependencies == 0)
            QueueJob(job);
        return handle;
    }
    Barrier* CreateBarrier() override { return &m_barrier; }
    void DestroyBarrier(Barrier*) override {}
    void WaitForJobs(Barrier*) override {}

    double seconds = 0;

private:
    class NoBarrier final : public Barrier {
    public:
        void AddJob(const JobHandle&) override {}
        void AddJobs(const JobHandle*, JPH::uint) override {}

    private:
        void OnJobFinished(Job*) override {}
    };

    void QueueJob(Job* job) override { job->Execute(); }
    void QueueJobs(Job** jobs, JPH::uint count) override {
        for (JPH::uint i = 0; i < count; ++i) QueueJob(jobs[i]);
    }
    void FreeJob(Job* job) override { m_jobs.DestructObject(job); }

    NoBarrier m_barrier;
    JPH::FixedSizeFreeList<Job> m_jobs;
};

/// Counts the contact points of a step that are within the margin.
class Counter final : public JPH::ContactListener {
public:
    explicit Counter(double margin) : m_margin(margin) {}
    void OnContactAdded(const JPH::Body&, const JPH::Body&, const JPH::ContactManifold& manifold,
                        JPH::ContactSettings&) override {
        add(manifold);
    }
    void OnContactPersisted(const JPH::Body&, const JPH::Body&, const JPH::ContactManifold& manifold,
                            JPH::ContactSettings&) override {
        add(manifold);
    }
    size_t count = 0;

private:
    void add(const JPH::ContactManifold& manifold) {
        for (size_t i = 0; i < manifold.mRelativeContactPointsOn1.size(); ++i) {
            const JPH::Vec3 apart =
                manifold.mRelativeContactPointsOn2[JPH::uint(i)] - manifold.mRelativeContactPointsOn1[JPH::uint(i)];
            count += double(apart.Dot(manifold.mWorldSpaceNormal)) <= m_margin;
        }
    }
    double m_margin;
};

JPH::Vec3 vec(const vxs_vec3& v) { return JPH::Vec3(float(v.x), float(v.y), float(v.z)); }
JPH::RVec3 point(const vxs_vec3& v) { return JPH::RVec3(JPH::Real(v.x), JPH::Real(v.y), JPH::Real(v.z)); }
JPH::Quat quat(const vxs_pose& p) { return JPH::Quat(float(p.qx), float(p.qy), float(p.qz), float(p.qw)).Normalized(); }

void trace(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fputc('\n', stderr);
}

/// Sets Jolt up once per process.
void start_jolt() {
    static bool started = false;
    if (started)
        return;
    started = true;
    JPH::RegisterDefaultAllocator();
    JPH::Trace = trace;
    JPH::Factory::sInstance = new JPH::Factory;
    JPH::RegisterTypes();
    voxshell::jolt::Settings voxshell;
    voxshell.contacts_per_normal = 16;
    if (!voxshell::jolt::Register(voxshell))
        std::exit(1);
}

class JoltWorld : public World {
public:
    explicit JoltWorld(const WorldSettings& settings)
        : m_settings(settings), m_memory(64 * 1024 * 1024), m_jobs(JPH::cMaxPhysicsJobs), m_counter(settings.margin) {
        m_system.Init(64, 0, 1024, 4096, m_layers, m_any_layer, m_layer_pairs);
        m_system.SetGravity(JPH::Vec3(0, float(-settings.gravity), 0));
        m_system.SetContactListener(&m_counter);
        JPH::PhysicsSettings physics = m_system.GetPhysicsSettings();
        // Jolt's defaults are for bodies of a metre: 20 mm of slop is a fifth of these bodies.
        physics.mPenetrationSlop = float(1e-3 * settings.margin);
        // With the usual margin of 1 mm, as far as a body moves at 2 m/s in a step.
        physics.mSpeculativeContactDistance = float(8 * settings.margin);
        physics.mManifoldToleranceSq = float(settings.margin * settings.margin);
        physics.mContactPointPreserveLambdaMaxDistSq = JPH::Square(1e-3f);
        physics.mNumVelocitySteps = JPH::uint(settings.iterations);
        physics.mNumPositionSteps = 4;
        // Contacts of bodies that move by a millimetre are not those of the step before.
        physics.mBodyPairCacheMaxDeltaPositionSq = JPH::Square(float(1e-2 * settings.margin));
        physics.mBodyPairCacheCosMaxDeltaRotationDiv2 = 1 - 1e-7f;
        physics.mAllowSleeping = false;
        m_system.SetPhysicsSettings(physics);
    }

    int add(const BodySpec& spec) override {
        const JPH::EMotionType motion = spec.mass > 0 ? JPH::EMotionType::Dynamic : JPH::EMotionType::Static;
        vxs_pose pose = spec.pose;
        const JPH::ShapeRefC shape = shape_of(spec, pose);
        JPH::BodyCreationSettings body(shape, point(pose.position), quat(pose), motion,
                                       spec.mass > 0 ? kMoving : kFixed);
        const double ball = 0.4 * spec.size.x * spec.size.x;
        const vxs_vec3 inertia = spec.model ? spec.model->inertia : vxs_vec3{ball, ball, ball};
        body.mOverrideMassProperties = JPH::EOverrideMassProperties::MassAndInertiaProvided;
        body.mMassPropertiesOverride.mMass = float(spec.mass);
        body.mMassPropertiesOverride.mInertia = JPH::Mat44::sScale(float(spec.mass) * vec(inertia));
        body.mLinearVelocity = vec(spec.linear_velocity);
        body.mAngularVelocity = vec(spec.angular_velocity);
        body.mFriction = float(m_settings.friction);
        body.mRestitution = 0;
        body.mLinearDamping = body.mAngularDamping = 0;
        body.mApplyGyroscopicForce = true;
        // A manifold averages normals that differ by 5 degrees, twice the lead angle of the thread of the nut.
        body.mUseManifoldReduction = m_settings.own_method;
        // Otherwise the first contact cooks Jolt's own shapes.
        if (!m_settings.own_method)
            voxshell::jolt::Prepare(shape);
        const JPH::BodyID id = m_system.GetBodyInterface().CreateAndAddBody(body, JPH::EActivation::Activate);
        if (id.IsInvalid())
            std::exit(1);
        m_ids.push_back(id);
        m_specs.push_back(spec);
        return int(m_ids.size()) - 1;
    }

    void step() override {
        m_jobs.seconds = 0;
        m_counter.count = 0;
        m_system.Update(float(m_settings.dt), 1, &m_memory, &m_jobs);
    }

    BodyState state(int index) const override {
        const BodySpec& spec = m_specs[size_t(index)];
        if (!(spec.mass > 0))
            return {spec.pose, {0, 0, 0}, {0, 0, 0}};
        const JPH::BodyInterface& bodies = m_system.GetBodyInterface();
        const JPH::BodyID id = m_ids[size_t(index)];
        const JPH::RVec3 p = bodies.GetCenterOfMassPosition(id);
        const JPH::Quat q = bodies.GetRotation(id);
        const JPH::Vec3 v = bodies.GetLinearVelocity(id), w = bodies.GetAngularVelocity(id);
        const double x = double(q.GetX()), y = double(q.GetY()), z = double(q.GetZ()), c = double(q.GetW());
        const double k = 1 / std::sqrt(x * x + y * y + z * z + c * c);
        return {{{double(p.GetX()), double(p.GetY()), double(p.GetZ())}, k * x, k * y, k * z, k * c},
                {double(v.GetX()), double(v.GetY()), double(v.GetZ())},
                {double(w.GetX()), double(w.GetY()), double(w.GetZ())}};
    }

    void place(int body, const vxs_pose& pose) override {
        JPH::BodyInterface& bodies = m_system.GetBodyInterface();
        const JPH::BodyID id = m_ids[size_t(body)];
        bodies.SetPositionAndRotation(id, point(pose.position), quat(pose), JPH::EActivation::Activate);
        bodies.SetLinearAndAngularVelocity(id, JPH::Vec3::sZero(), JPH::Vec3::sZero());
    }

    double narrowphase_seconds() const override { return m_jobs.seconds; }
    size_t contacts() const override { return m_counter.count; }

    RayHit cast_ray(const vxs_vec3& from, const vxs_vec3& to) override {
        const JPH::RRayCast ray(point(from), vec({to.x - from.x, to.y - from.y, to.z - from.z}));
        JPH::RayCastResult hit;
        if (!m_system.GetNarrowPhaseQuery().CastRay(ray, hit))
            return RayHit();
        const JPH::RVec3 at = ray.GetPointOnRay(hit.mFraction);
        JPH::Vec3 normal = JPH::Vec3::sZero();
        const JPH::BodyLockRead lock(m_system.GetBodyLockInterface(), hit.mBodyID);
        if (lock.Succeeded())
            normal = lock.GetBody().GetWorldSpaceSurfaceNormal(hit.mSubShapeID2, at);
        return {true,
                {double(at.GetX()), double(at.GetY()), double(at.GetZ())},
                {double(normal.GetX()), double(normal.GetY()), double(normal.GetZ())}};
    }

private:
    /// Makes the shape of a body, and moves the pose if the frame of Jolt's shape is another one.
    JPH::ShapeRefC shape_of(const BodySpec& spec, vxs_pose& pose) const {
        if (spec.model && m_settings.own_method)
            return mesh_of(*spec.model);
        if (spec.model)
            return voxshell::jolt::VoxshellShape::sCreate(spec.model->shape).Get();
        if (spec.stock == Stock::Plane) {
            // Jolt 5.0 has no plane.
            pose.position.y -= 0.5;
            return new JPH::BoxShape(JPH::Vec3(1.0f, 0.5f, 1.0f), 0);
        }
        if (spec.stock == Stock::Box)
            return new JPH::BoxShape(vec(spec.size), 0);
        return new JPH::SphereShape(float(spec.size.x));
    }

    JPH::ShapeRefC mesh_of(const Model& model) const {
        JPH::VertexList vertices;
        for (const vxs_vec3& v : model.vertices) vertices.push_back(JPH::Float3(float(v.x), float(v.y), float(v.z)));
        JPH::IndexedTriangleList triangles;
        for (size_t i = 0; i + 2 < model.indices.size(); i += 3)
            triangles.push_back(JPH::IndexedTriangle(model.indices[i], model.indices[i + 1], model.indices[i + 2]));
        const JPH::ShapeSettings::ShapeResult result =
            JPH::MeshShapeSettings(std::move(vertices), std::move(triangles)).Create();
        if (!result.IsValid())
            std::exit(1);
        return result.Get();
    }

    WorldSettings m_settings;
    OneBroadPhaseLayer m_layers;
    JPH::ObjectVsBroadPhaseLayerFilter m_any_layer;
    FixedBodiesDoNotCollide m_layer_pairs;
    JPH::TempAllocatorImpl m_memory;
    TimedJobs m_jobs;
    Counter m_counter;
    JPH::PhysicsSystem m_system;
    std::vector<JPH::BodyID> m_ids;
    std::vector<BodySpec> m_specs;
};

} // namespace

std::unique_ptr<World> make_world(const WorldSettings& settings) {
    start_jolt();
    return std::unique_ptr<World>(new JoltWorld(settings));
}
const char* host_name() { return "jolt"; }
std::string host_version() {
    return "Jolt " + std::to_string(JPH_VERSION_MAJOR) + "." + std::to_string(JPH_VERSION_MINOR) + "." +
           std::to_string(JPH_VERSION_PATCH);
}
// A mesh that moves collides with Jolt's convex shapes only. Jolt has no other method for concave bodies that move.
const char* own_method_name() { return "MeshShape"; }

} // namespace conformance
