// Casts of a Voxshell shape along a straight line against any other shape.
#include <voxshell/jolt.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include <Jolt/Physics/Collision/CollisionDispatch.h>
#include <Jolt/Physics/Collision/TransformedShape.h>

#include "convert.h"
#include "registry.h"
#include "sides.h"

namespace voxshell::jolt {
namespace {

/// Memory of the casts of a thread.
struct Scratch {
    vxs_workspace* workspace = nullptr;
    std::vector<uint32_t> known;
    std::vector<vxs_contact> contacts;

    Scratch() {
        if (vxs_workspace_create(&workspace))
            throw std::bad_alloc();
    }
    ~Scratch() { vxs_workspace_destroy(workspace); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
};

Scratch& scratch() {
    thread_local std::unique_ptr<Scratch> own;
    if (!own)
        own.reset(new Scratch);
    return *own;
}

/// Properties of a pair of shapes that a cast depends on.
struct Kind {
    uint32_t roles = VXS_ROLES_AUTO; // of which all samples of both shapes are tested
    bool is_sheet = false;
};

Kind kind_of(const vxs_shape* a, const vxs_shape* b) {
    const uint32_t both = VXS_FORM_FIELD | VXS_FORM_POINTSHELL;
    Kind kind;
    vxs_shape_info info_a, info_b;
    vxs_shape_info_init(&info_a, sizeof info_a);
    vxs_shape_info_init(&info_b, sizeof info_b);
    if (vxs_shape_get_info(a, &info_a) || vxs_shape_get_info(b, &info_b))
        return kind;
    if ((info_a.forms & info_b.forms & both) == both)
        kind.roles = VXS_ROLES_BOTH;
    kind.is_sheet = info_a.field_kind == VXS_FIELD_SHEET || info_b.field_kind == VXS_FIELD_SHEET;
    return kind;
}

/// One cast. Poses are those in the space of the second shape.
struct Cast {
    Scratch& own;
    const Side &side_1, &side_2;
    vxs_vec3 direction;
    const JPH::ShapeCastSettings& settings;

    /// Returns whether a contact stops the motion, as the back-face modes of the settings have it.
    bool counts(const vxs_contact& contact, vxs_contact_triangles& triangles) const {
        triangles = vxs_contact_triangles();
        const vxs_body a = {side_1.triangles, side_1.pose}, b = {side_2.triangles, side_2.pose};
        vxs_query_triangles(&a, &b, &contact, 1, &triangles);
        const bool one_sided = side_2.ids != nullptr;
        const JPH::EBackFaceMode mode = one_sided ? settings.mBackFaceModeTriangles : settings.mBackFaceModeConvex;
        if (mode == JPH::EBackFaceMode::CollideWithBackFaces)
            return true;
        if (side_2.is_back_face(triangles.on_b.triangle, contact.normal))
            return false;
        // A contact at the start along which the body slides, such as the ground below it, does not stop it.
        return dot(contact.normal, direction) > 1e-3 * std::sqrt(dot(direction, direction));
    }

    /// Finds the deepest contact at the start that counts, and leaves the others out of the cast.
    bool at_start(vxs_contact& contact, vxs_contact_triangles& triangles) const {
        vxs_query query;
        vxs_query_init(&query, sizeof query);
        query.max_separation = double(settings.mCollisionTolerance);
        query.roles = kind_of(side_1.shape, side_2.shape).roles;
        const vxs_body a = {side_1.shape, side_1.pose}, b = {side_2.shape, side_2.pose};
        size_t count = 0;
        own.contacts.resize(std::max<size_t>(own.contacts.capacity(), 256));
        vxs_status status =
            vxs_query_contacts(&a, &b, &query, own.workspace, own.contacts.data(), own.contacts.size(), &count);
        if (status == VXS_TRUNCATED) {
            own.contacts.resize(count);
            status = vxs_query_contacts(&a, &b, &query, own.workspace, own.contacts.data(), count, &count);
        }
        for (size_t i = 0; !status && i < count; ++i) {
            if (counts(own.contacts[i], triangles)) {
                contact = own.contacts[i];
                contact.toi = 0;
                return true;
            }
            leave_out(own.contacts[i].feature);
        }
        return false;
    }

    /// Returns false if the feature is left out already.
    bool leave_out(uint32_t feature) const {
        const auto at = std::lower_bound(own.known.begin(), own.known.end(), feature);
        if (at != own.known.end() && *at == feature)
            return false;
        own.known.insert(at, feature);
        return true;
    }

    bool first(double until, vxs_contact& contact, vxs_contact_triangles& triangles) const {
        vxs_motion_query query;
        vxs_motion_query_init(&query, sizeof query);
        const Kind kind = kind_of(side_1.shape, side_2.shape);
        query.until = until;
        query.roles = kind.roles;
        // Without a turn both paths are the same. A sheet has no inside: the search along straight paths cannot step
        // over it.
        if (kind.is_sheet)
            query.path = VXS_PATH_STRAIGHT;
        vxs_pose end = side_1.pose;
        end.position = sum(end.position, direction);
        const vxs_moving_body a = {side_1.shape, {side_1.pose, end}};
        const vxs_moving_body b = {side_2.shape, {side_2.pose, side_2.pose}};
        own.known.clear();
        bool looked_at_start = false;
        // Each round leaves out one feature more, which faces away, until a contact counts or none is left.
        for (;;) {
            query.known = own.known.data();
            query.known_count = uint32_t(own.known.size());
            bool found = false;
            if (const vxs_status status = vxs_query_time_of_impact(&a, &b, &query, own.workspace, &contact, &found)) {
                if (status != VXS_UNSUPPORTED)
                    JPH::Trace("voxshell: %s", vxs_last_error());
                return false;
            }
            if (!found)
                return false;
            if (contact.toi <= 0 && !looked_at_start) {
                looked_at_start = true;
                if (at_start(contact, triangles))
                    return true;
                continue;
            }
            // A contact that cannot be left out stops the motion: it could hide another one.
            if (counts(contact, triangles) || !leave_out(contact.feature))
                return true;
        }
    }
};

} // namespace

void cast(const JPH::ShapeCast& cast, const JPH::ShapeCastSettings& settings, const JPH::Shape* shape,
          JPH::Vec3Arg scale, const JPH::ShapeFilter&, JPH::Mat44Arg transform_2,
          const JPH::SubShapeIDCreator& creator_1, const JPH::SubShapeIDCreator& creator_2,
          JPH::CastShapeCollector& collector) {
    JPH::AABox swept = cast.mShapeWorldBounds;
    swept.Encapsulate(JPH::AABox(swept.mMin + cast.mDirection, swept.mMax + cast.mDirection));
    swept.ExpandBy(JPH::Vec3::sReplicate(settings.mCollisionTolerance));
    if (!swept.Overlaps(shape->GetLocalBounds().Scaled(scale)))
        return;
    Side side_1, side_2;
    if (!side_1.set(cast.mShape, cast.mScale, cast.mCenterOfMassStart) ||
        !side_2.set(shape, scale, JPH::Mat44::sIdentity()))
        return;
    const Cast query = {scratch(), side_1, side_2, to_vxs(cast.mDirection), settings};
    // After a hit at the start, of negative fraction, only a deeper one there counts.
    const double until = std::clamp(double(collector.GetEarlyOutFraction()), 0.0, 1.0);
    vxs_contact contact;
    vxs_contact_triangles triangles;
    if (!query.first(until, contact, triangles))
        return;
    const auto to_world = [&](const vxs_vec3& point) { return transform_2 * to_jolt(point); };
    JPH::ShapeCastResult result(
        float(contact.toi), to_world(contact.point_on_a), to_world(contact.point_on_b),
        transform_2.Multiply3x3(to_jolt(contact.normal)), side_2.is_back_face(triangles.on_b.triangle, contact.normal),
        side_1.id(creator_1, triangles.on_a.triangle, 0), side_2.id(creator_2, triangles.on_b.triangle, 0),
        JPH::TransformedShape::sGetBodyID(collector.GetContext()));
    result.mPenetrationDepth = contact.toi > 0 ? 0 : std::max(0.0f, float(-contact.separation));
    if (result.GetEarlyOutFraction() < collector.GetEarlyOutFraction())
        collector.AddHit(result);
}

} // namespace voxshell::jolt
