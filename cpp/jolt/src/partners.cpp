#include "partners.h"

#include <algorithm>
#include <climits>
#include <mutex>

#include <Jolt/Geometry/ConvexHullBuilder.h>
#include <Jolt/Physics/Collision/CastResult.h>
#include <Jolt/Physics/Collision/RayCast.h>
#include <Jolt/Physics/Collision/Shape/BoxShape.h>
#include <Jolt/Physics/Collision/Shape/CapsuleShape.h>
#include <Jolt/Physics/Collision/Shape/ConvexShape.h>
#include <Jolt/Physics/Collision/Shape/CylinderShape.h>
#include <Jolt/Physics/Collision/Shape/ScaleHelpers.h>
#include <Jolt/Physics/Collision/Shape/SphereShape.h>

#include "convert.h"

namespace voxshell::jolt {
namespace {

/// Samples and voxels of a solid, as of the stock shapes of the host layer.
const uint32_t kSamples = 10000;
const uint32_t kResolution = 48;
/// Directions in which the surface of a rounded shape is sampled: the hull lies inside by at most 0.1% of the radius.
const int kDirections = 2000;
/// Reference count above which a shape is embedded in another object (JPH::RefTarget::cEmbedded, which is not public).
const uint32_t kEmbedded = 0x0ebedded;

bool is_sheet(const JPH::Shape* shape) {
    return shape->GetType() == JPH::EShapeType::Mesh || shape->GetType() == JPH::EShapeType::HeightField ||
           shape->GetSubType() == JPH::EShapeSubType::Triangle;
}

/// Returns three corners for each triangle of a shape of Jolt.
std::vector<vxs_vec3> triangles_of(const JPH::Shape* shape, JPH::Vec3Arg scale) {
    const int capacity = 256;
    JPH::Float3 corners[3 * capacity];
    JPH::Shape::GetTrianglesContext context;
    shape->GetTrianglesStart(context, JPH::AABox::sBiggest(), JPH::Vec3::sZero(), JPH::Quat::sIdentity(), scale);
    std::vector<vxs_vec3> all;
    while (const int count = shape->GetTrianglesNext(context, capacity, corners))
        for (int i = 0; i < 3 * count; ++i) all.push_back(to_vxs(JPH::Vec3(corners[i])));
    return all;
}

/// Returns the triangles of the convex hull of points on a convex shape, in directions spread over the unit sphere. Jolt's
/// own triangles of rounded shapes are coarse.
std::vector<vxs_vec3> hull_of(const JPH::ConvexShape* shape, JPH::Vec3Arg scale) {
    JPH::ConvexShape::SupportBuffer buffer;
    const JPH::ConvexShape::Support* const support =
        shape->GetSupportFunction(JPH::ConvexShape::ESupportMode::IncludeConvexRadius, buffer, scale);
    JPH::ConvexHullBuilder::Positions points;
    for (int i = 0; i < kDirections; ++i) {
        // A spiral of equal areas.
        const double y = 1 - 2 * (i + 0.5) / kDirections, around = 2.399963229728653 * i, r = std::sqrt(1 - y * y);
        points.push_back(
            support->GetSupport(JPH::Vec3(float(r * std::cos(around)), float(y), float(r * std::sin(around)))));
    }
    JPH::ConvexHullBuilder builder(points);
    const char* error = nullptr;
    std::vector<vxs_vec3> corners;
    if (builder.Initialize(INT_MAX, 1e-5f * shape->GetLocalBounds().GetSize().Length(), error) !=
        JPH::ConvexHullBuilder::EResult::Success)
        return corners;
    for (const JPH::ConvexHullBuilder::Face* face : builder.GetFaces()) {
        const JPH::ConvexHullBuilder::Edge* const first = face->mFirstEdge;
        for (const auto* edge = first->mNextEdge; edge->mNextEdge != first; edge = edge->mNextEdge)
            for (const int i : {first->mStartIdx, edge->mStartIdx, edge->mNextEdge->mStartIdx})
                corners.push_back(to_vxs(points[size_t(i)]));
    }
    return corners;
}

std::vector<uint32_t> numbers_up_to(size_t count) {
    std::vector<uint32_t> numbers(count);
    for (size_t i = 0; i < count; ++i) numbers[i] = uint32_t(i);
    return numbers;
}

/// Returns the values of the sub shape ids of triangles: those of rays that meet them in the middle. Jolt has no function
/// that tells the id of a triangle that it lists.
std::vector<uint32_t> ids_of(const JPH::Shape* shape, const std::vector<vxs_vec3>& corners) {
    const JPH::uint bits = shape->GetSubShapeIDBitsRecursive();
    std::vector<uint32_t> ids;
    for (size_t i = 0; i + 2 < corners.size(); i += 3) {
        const JPH::Vec3 a = to_jolt(corners[i]), b = to_jolt(corners[i + 1]), c = to_jolt(corners[i + 2]);
        const JPH::Vec3 middle = (a + b + c) / 3.0f, edge = (b - a);
        const JPH::Vec3 normal = edge.Cross(c - a).NormalizedOr(JPH::Vec3::sAxisY());
        const JPH::Vec3 step = normal * (1e-3f * edge.Length() + 1e-6f * middle.Length());
        JPH::RayCastResult hit;
        JPH::SubShapeID rest;
        const bool is_hit = shape->CastRay({middle + step, -2.0f * step}, JPH::SubShapeIDCreator(), hit);
        // A triangle too thin for a ray has the id of the one before.
        ids.push_back(is_hit ? hit.mSubShapeID2.PopID(bits, rest) : ids.empty() ? 0 : ids.back());
    }
    return ids;
}

} // namespace

bool Partners::find_stock(const JPH::Shape* shape, JPH::Vec3Arg scale, Partner& partner) {
    const JPH::Vec3 s = scale.Abs();
    // The stock shapes have their axis along z, Jolt's along y.
    const JPH::Quat upright = JPH::Quat::sRotation(JPH::Vec3::sAxisX(), -0.5f * JPH::JPH_PI);
    switch (shape->GetSubType()) {
    case JPH::EShapeSubType::Sphere:
        partner.shape = m_stock.ball(double(s.GetX() * static_cast<const JPH::SphereShape*>(shape)->GetRadius()));
        return true;
    case JPH::EShapeSubType::Box:
        partner.shape = m_stock.box(to_vxs(s * static_cast<const JPH::BoxShape*>(shape)->GetHalfExtent()));
        return true;
    case JPH::EShapeSubType::Capsule: {
        const auto* const capsule = static_cast<const JPH::CapsuleShape*>(shape);
        partner.shape = m_stock.capsule(double(s.GetX() * capsule->GetRadius()),
                                        double(s.GetX() * capsule->GetHalfHeightOfCylinder()));
        partner.turn = upright;
        return true;
    }
    case JPH::EShapeSubType::Cylinder: {
        const auto* const cylinder = static_cast<const JPH::CylinderShape*>(shape);
        partner.shape = m_stock.cylinder(double(s.GetX() * cylinder->GetRadius()),
                                         double(s.GetY() * cylinder->GetHalfHeight()));
        partner.turn = upright;
        return true;
    }
    default:
        return false;
    }
}

bool Partners::find(const JPH::Shape* shape, JPH::Vec3Arg scale, Partner& partner) {
    if (find_stock(shape, scale, partner))
        return partner.shape;
    if (shape->GetType() != JPH::EShapeType::Convex && !is_sheet(shape))
        return false;
    const auto answer = [&](const Entry& entry) {
        partner.shape = entry.shape;
        partner.triangles = entry.triangles;
        partner.ids = entry.ids.empty() ? nullptr : &entry.ids;
        partner.normals = entry.ids.empty() ? nullptr : &entry.normals;
        return entry.shape != nullptr;
    };
    const uint32_t holders = shape->GetRefCount();
    if (holders == 0 || holders >= kEmbedded) {
        const std::vector<vxs_vec3> corners = triangles_of(shape, scale);
        std::string key(reinterpret_cast<const char*>(corners.data()), corners.size() * sizeof corners[0]);
        key += char(shape->GetSubType());
        const std::lock_guard<std::shared_mutex> lock(m_mutex);
        std::unique_ptr<Entry>& entry = m_by_content[key];
        if (!entry)
            entry = cook(shape, scale);
        return answer(*entry);
    }
    const AddressKey key = {shape, {scale.GetX(), scale.GetY(), scale.GetZ()}};
    {
        const std::shared_lock<std::shared_mutex> lock(m_mutex);
        const auto found = m_by_address.find(key);
        if (found != m_by_address.end())
            return answer(*found->second);
    }
    const std::lock_guard<std::shared_mutex> lock(m_mutex);
    const auto found = m_by_address.find(key); // another thread was faster
    if (found != m_by_address.end())
        return answer(*found->second);
    std::unique_ptr<Entry> entry = cook(shape, scale);
    entry->held = shape;
    for (auto at = m_by_address.begin(); at != m_by_address.end();)
        at = at->second->held->GetRefCount() == 1 ? m_by_address.erase(at) : std::next(at);
    return answer(*(m_by_address[key] = std::move(entry)));
}

/// Cooks the shape of a shape. The entry has none if that is not possible, so that it is not tried again.
std::unique_ptr<Partners::Entry> Partners::cook(const JPH::Shape* shape, JPH::Vec3Arg scale) const {
    std::unique_ptr<Entry> entry(new Entry);
    vxs_status status;
    if (is_sheet(shape)) {
        std::vector<vxs_vec3> corners = triangles_of(shape, JPH::Vec3::sReplicate(1.0f));
        if (shape->GetType() != JPH::EShapeType::Convex)
            entry->ids = ids_of(shape, corners);
        const vxs_vec3 s = to_vxs(scale);
        for (vxs_vec3& corner : corners) corner = {s.x * corner.x, s.y * corner.y, s.z * corner.z};
        if (JPH::ScaleHelpers::IsInsideOut(scale))
            for (size_t i = 0; i + 2 < corners.size(); i += 3) std::swap(corners[i + 1], corners[i + 2]);
        for (size_t i = 0; i + 2 < corners.size(); i += 3) {
            const vxs_vec3 n = cross(difference(corners[i + 1], corners[i]), difference(corners[i + 2], corners[i]));
            entry->normals.push_back(times(n, 1 / std::max(1e-300, std::sqrt(dot(n, n)))));
        }
        status = cook_sheet(corners, *entry);
    } else if (shape->GetSubType() == JPH::EShapeSubType::ConvexHull) {
        status = cook_solid(triangles_of(shape, scale), *entry);
    } else {
        status = cook_solid(hull_of(static_cast<const JPH::ConvexShape*>(shape), scale), *entry);
    }
    if (status)
        JPH::Trace("voxshell: a shape of type %s collides with no Voxshell shape: %s",
                   JPH::sSubShapeTypeNames[int(shape->GetSubType())], vxs_last_error());
    return entry;
}

vxs_status Partners::cook_solid(const std::vector<vxs_vec3>& corners, Entry& entry) const {
    const std::vector<uint32_t> indices = numbers_up_to(corners.size());
    vxs_cook_options options;
    vxs_cook_options_init(&options, sizeof options);
    options.sample_count = kSamples;
    options.resolution = kResolution;
    options.field_storage = VXS_STORAGE_EXACT;
    const host::Mesh mesh = {corners.data(), corners.size(), indices.data(), indices.size() / 3};
    const vxs_status status = m_assets.get(mesh, &options, &entry.shape);
    if (!status)
        vxs_shape_prepare_coverage(entry.shape, m_settings.coverage);
    return status;
}

vxs_status Partners::cook_sheet(const std::vector<vxs_vec3>& corners, Entry& entry) const {
    const std::vector<uint32_t> indices = numbers_up_to(corners.size());
    const vxs_status status = vxs_shape_create_sheet(corners.data(), corners.size(), indices.data(), indices.size() / 3,
                                                     double(m_settings.sheet_depth), &entry.triangles);
    if (status)
        return status;
    vxs_shape_prepare_triangles(entry.triangles);
    // Its sharp edges would sink in between the samples of a body: they bring samples of their own. A smooth sheet has none.
    vxs_cook_options options;
    vxs_cook_options_init(&options, sizeof options);
    options.forms = VXS_FORM_POINTSHELL;
    options.sampling = VXS_SAMPLING_FEATURES;
    vxs_shape* edges = nullptr;
    vxs_field* field = nullptr;
    vxs_pointshell* samples = nullptr;
    if (vxs_shape_create_from_triangles(corners.data(), corners.size(), indices.data(), indices.size() / 3, &options,
                                        &edges) == VXS_OK &&
        vxs_shape_get_field(entry.triangles, &field) == VXS_OK && vxs_shape_get_pointshell(edges, &samples) == VXS_OK)
        vxs_shape_create(field, samples, &entry.shape);
    vxs_field_release(field);
    vxs_pointshell_release(samples);
    vxs_shape_release(edges);
    return entry.shape ? VXS_OK : vxs_shape_retain(entry.triangles, &entry.shape);
}

} // namespace voxshell::jolt
