// Contacts of a Voxshell shape with any other shape.
//
// Each contact is a hit with one point. Hits have no faces: from faces, Jolt would compute contact points that need not
// lie on a concave body. Jolt merges the hits of two bodies into manifolds: hits whose normals differ by less than 5
// degrees from the first one share a manifold, which keeps four points. The contacts are therefore grouped by the
// directions of their normals in the same way, and each group is thinned.
#include <voxshell/jolt.h>

#include <algorithm>
#include <array>
#include <memory>

#include <Jolt/Geometry/OrientedBox.h>
#include <Jolt/Physics/Collision/TransformedShape.h>

#include "convert.h"
#include "registry.h"
#include "sides.h"

namespace voxshell::jolt {
namespace {

/// Contacts with the same direction of the normal.
struct Group {
    vxs_vec3 normal = {0, 0, 0}; // of the deepest contact
    std::vector<host::Contact> contacts;
};

/// Memory that a thread keeps from query to query, so that warm queries allocate nothing.
struct Scratch {
    /// Queries of pairs of shapes, each with the bounds that its last search proved. The answers do not depend on them.
    struct Slot {
        const vxs_shape *a = nullptr, *b = nullptr;
        std::unique_ptr<host::PairQuery> query;
    };
    std::array<Slot, 64> slots;
    std::array<Group, kMaxDirections> groups;
    size_t group_count = 0;
    host::Thinner thinner;
    std::vector<vxs_contact> raw;
    std::vector<vxs_contact_triangles> triangles;
    std::vector<uint32_t> used;
};

thread_local std::unique_ptr<Scratch> t_scratch;

/// Takes the thread's scratch for a query. A contact listener may start another query while the first reports its hits:
/// that one gets a scratch of its own.
class Lease {
public:
    Lease() : m_own(std::move(t_scratch)) {
        if (!m_own)
            m_own.reset(new Scratch);
    }
    ~Lease() { t_scratch = std::move(m_own); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Scratch& operator*() { return *m_own; }

private:
    std::unique_ptr<Scratch> m_own;
};

host::PairQuery& query_of(Scratch& own, const vxs_shape* a, const vxs_shape* b) {
    const uint64_t key = uint64_t(reinterpret_cast<uintptr_t>(a)) * 0x9E3779B97F4A7C15ull ^
                         (uint64_t(reinterpret_cast<uintptr_t>(b)) + 1) * 0xC2B2AE3D27D4EB4Full;
    Scratch::Slot& slot = own.slots[size_t(key >> 58)];
    if (!slot.query || slot.a != a || slot.b != b) {
        if (!slot.query)
            slot.query.reset(new host::PairQuery);
        slot.a = a, slot.b = b;
    }
    return *slot.query;
}

host::PairSettings settings_of(const JPH::CollideShapeSettings& wanted) {
    const Settings& all = registered_settings();
    host::PairSettings settings;
    settings.margin = std::max(0.0, double(wanted.mMaxSeparationDistance));
    settings.look_ahead = 0; // Jolt does not tell the step
    settings.coverage = all.coverage;
    settings.roles = all.coverage == VXS_COVERAGE_EDGES ? VXS_ROLES_AUTO : VXS_ROLES_BOTH;
    settings.dense_above = all.dense_above;
    return settings;
}

/// Divides contacts, deepest first, into groups by their normals. Contacts of further directions are left out.
void group_by_normal(Scratch& own, const std::vector<host::Contact>& contacts) {
    const double cos_angle = double(registered_settings().normal_cos_angle);
    own.group_count = 0;
    for (const host::Contact& contact : contacts) {
        size_t i = 0;
        while (i < own.group_count && dot(own.groups[i].normal, contact.normal) < cos_angle) ++i;
        if (i == kMaxDirections)
            continue;
        if (i == own.group_count) {
            own.groups[i].normal = contact.normal;
            own.groups[i].contacts.clear();
            ++own.group_count;
        }
        own.groups[i].contacts.push_back(contact);
    }
}

/// Least component of the normal of a sample's own surface along a contact that does not touch yet: the cosine of 72
/// degrees, as the library has it with VXS_COVERAGE_EDGES.
const double kLeastFacing = 0.309;

/// Returns whether the closest point lies beside a sample: not in front of the surface that the sample stands for. Such
/// a contact would hold up bodies that pass each other (a ghost collision).
bool is_beside(const host::Contact& contact, const vxs_contact_triangles& triangles, const Side& a, const Side& b) {
    if (!(contact.separation > 0) || (contact.feature & VXS_FEATURE_OF_EDGE))
        return false;
    if (contact.feature & VXS_FEATURE_OF_B)
        return b.facing(triangles.on_b.triangle, contact.point_on_b, times(contact.normal, -1)) < kLeastFacing;
    return a.facing(triangles.on_a.triangle, contact.point_on_a, contact.normal) < kLeastFacing;
}

/// Finds the triangles of the contacts of all groups.
void identify(Scratch& own, const Side& a, const Side& b) {
    own.raw.clear();
    for (size_t g = 0; g < own.group_count; ++g)
        for (const host::Contact& contact : own.groups[g].contacts) {
            vxs_contact raw = {};
            raw.point_on_a = contact.point_on_a, raw.point_on_b = contact.point_on_b;
            raw.normal = contact.normal;
            own.raw.push_back(raw);
        }
    own.triangles.resize(own.raw.size());
    const vxs_body body_a = {a.triangles, a.pose}, body_b = {b.triangles, b.pose};
    if (vxs_query_triangles(&body_a, &body_b, own.raw.data(), own.raw.size(), own.triangles.data()))
        std::fill(own.triangles.begin(), own.triangles.end(), vxs_contact_triangles());
}

} // namespace

void collide(const JPH::Shape* shape_1, const JPH::Shape* shape_2, JPH::Vec3Arg scale_1, JPH::Vec3Arg scale_2,
             JPH::Mat44Arg transform_1, JPH::Mat44Arg transform_2, const JPH::SubShapeIDCreator& creator_1,
             const JPH::SubShapeIDCreator& creator_2, const JPH::CollideShapeSettings& settings,
             JPH::CollideShapeCollector& collector, const JPH::ShapeFilter&) {
    JPH::AABox bounds_1 = shape_1->GetLocalBounds().Scaled(scale_1);
    bounds_1.ExpandBy(JPH::Vec3::sReplicate(settings.mMaxSeparationDistance));
    const JPH::Mat44 to_1 = transform_1.InversedRotationTranslation() * transform_2;
    if (!JPH::OrientedBox(to_1, shape_2->GetLocalBounds().Scaled(scale_2)).Overlaps(bounds_1))
        return;
    Side side_1, side_2;
    if (!side_1.set(shape_1, scale_1, transform_1) || !side_2.set(shape_2, scale_2, transform_2))
        return;
    // The order of the bodies decides which brings its samples first: that of the shapes makes both calls agree.
    const bool swapped = side_2.voxshell && side_2.voxshell->GetSerial() < side_1.voxshell->GetSerial();
    const Side &a = swapped ? side_2 : side_1, &b = swapped ? side_1 : side_2;
    Lease lease;
    Scratch& own = *lease;
    host::PairQuery& query = query_of(own, a.shape, b.shape);
    if (const vxs_status status = query.find(a.body(), b.body(), 0, settings_of(settings))) {
        if (status != VXS_UNSUPPORTED)
            JPH::Trace("voxshell: %s", vxs_last_error());
        return;
    }
    std::vector<host::Contact>& contacts = query.contacts();
    if (contacts.empty())
        return;
    group_by_normal(own, contacts);
    host::Thinning thinning;
    thinning.max_contacts = registered_settings().contacts_per_normal;
    thinning.depth_tolerance = 0.02 * double(settings.mMaxSeparationDistance);
    for (size_t g = 0; g < own.group_count; ++g) own.thinner.thin(own.groups[g].contacts, thinning);
    identify(own, a, b);
    own.used.clear();
    size_t next = 0;
    for (size_t g = 0; g < own.group_count && !collector.ShouldEarlyOut(); ++g) {
        const Group& group = own.groups[g];
        for (const host::Contact& contact : group.contacts) {
            const vxs_contact_triangles& triangles = own.triangles[next++];
            const vxs_triangle_point& on_1 = swapped ? triangles.on_b : triangles.on_a;
            const vxs_triangle_point& on_2 = swapped ? triangles.on_a : triangles.on_b;
            if (settings.mBackFaceMode == JPH::EBackFaceMode::IgnoreBackFaces &&
                side_2.is_back_face(on_2.triangle, swapped ? times(contact.normal, -1) : contact.normal))
                continue;
            if (is_beside(contact, triangles, a, b))
                continue;
            if (float(contact.separation) >= collector.GetEarlyOutFraction())
                continue;
            // No two hits of a pair may have the same ids: Jolt finds the impulses of the last step by them.
            const uint32_t ordinal = uint32_t(std::count(own.used.begin(), own.used.end(), triangles.on_a.triangle));
            own.used.push_back(triangles.on_a.triangle);
            const double sign = swapped ? -1 : 1;
            JPH::CollideShapeResult hit(to_jolt(swapped ? contact.point_on_b : contact.point_on_a),
                                        to_jolt(swapped ? contact.point_on_a : contact.point_on_b),
                                        to_jolt(times(contact.normal, sign)), float(-contact.separation),
                                        side_1.id(creator_1, on_1.triangle, ordinal),
                                        side_2.id(creator_2, on_2.triangle, ordinal),
                                        JPH::TransformedShape::sGetBodyID(collector.GetContext()));
            collector.AddHit(hit);
            if (collector.ShouldEarlyOut())
                break;
        }
    }
}

} // namespace voxshell::jolt
