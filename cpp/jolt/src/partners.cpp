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

/// Returns the triangles of the convex hull of points on a convex shape, in directions spread over the unit sphere.
/// Jolt's own triangles of rounded shapes are coarse.
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

/// Returns the values of the sub shape ids of triangles: those of rays that meet them in the middle. Jolt has no
/// function that tells the id of a triangle that it lists.
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

/// Combines the field of a shape with the samples of another one; null after an error. Takes both, which may be null.
vxs_shape* combine(vxs_shape* with_field, vxs_shape* with_samples) {
    vxs_field* field = nullptr;
    vxs_pointshell* samples = nullptr;
    vxs_shape* shape = nullptr;
    if (with_field && with_samples && vxs_shape_get_field(with_field, &field) == VXS_OK &&
        vxs_shape_get_pointshell(with_samples, &samples) == VXS_OK)
        vxs_shape_create(field, samples, &shape);
    vxs_field_release(field);
    vxs_pointshell_release(samples);
    vxs_shape_release(with_field);
    vxs_shape_release(with_samples);
    return shape;
}

/// Returns the samples of a mesh, without a field: its grid is too coarse for a body thinner than a voxel.
vxs_shape* samples_of(const std::vector<vxs_vec3>& corners, uint32_t sampling) {
    const std::vector<uint32_t> indices = numbers_up_to(corners.size());
    vxs_cook_options options;
    vxs_cook_options_init(&options, sizeof options);
    options.forms = VXS_FORM_POINTSHELL;
    options.sampling = sampling;
    if (sampling == VXS_SAMPLING_DEFAULT)
        options.sample_count = kSamples;
    vxs_shape* shape = nullptr;
    vxs_shape_create_from_triangles(corners.data(), corners.size(), indices.data(), indices.size() / 3, &options,
                                    &shape);
    return shape;
}

void report(JPH::EShapeSubType type) {
    JPH::Trace("voxshell: a shape of type %s collides with no Voxshell shape: %s", JPH::sSubShapeTypeNames[int(type)],
               vxs_last_error());
}

/// Type and sizes of a shape that the host layer has; the type is negative for others. The sizes of a capsule and a
/// cylinder are radius and half length.
std::array<float, 4> stock_key(const JPH::Shape* shape, JPH::Vec3Arg scale) {
    const JPH::Vec3 s = scale.Abs();
    const float type = float(shape->GetSubType());
    switch (shape->GetSubType()) {
    case JPH::EShapeSubType::Sphere:
        return {type, s.GetX() * static_cast<const JPH::SphereShape*>(shape)->GetRadius(), 0, 0};
    case JPH::EShapeSubType::Box: {
        const JPH::Vec3 half = s * static_cast<const JPH::BoxShape*>(shape)->GetHalfExtent();
        return {type, half.GetX(), half.GetY(), half.GetZ()};
    }
    case JPH::EShapeSubType::Capsule: {
        const auto* const capsule = static_cast<const JPH::CapsuleShape*>(shape);
        return {type, s.GetX() * capsule->GetRadius(), s.GetX() * capsule->GetHalfHeightOfCylinder(), 0};
    }
    case JPH::EShapeSubType::Cylinder: {
        const auto* const cylinder = static_cast<const JPH::CylinderShape*>(shape);
        return {type, s.GetX() * cylinder->GetRadius(), s.GetY() * cylinder->GetHalfHeight(), 0};
    }
    default:
        return {-1, 0, 0, 0};
    }
}

/// Returns the unit normal of each three corners.
std::vector<vxs_vec3> normals_of(const std::vector<vxs_vec3>& corners) {
    std::vector<vxs_vec3> normals;
    for (size_t i = 0; i + 2 < corners.size(); i += 3) {
        const vxs_vec3 n = cross(difference(corners[i + 1], corners[i]), difference(corners[i + 2], corners[i]));
        normals.push_back(times(n, 1 / std::max(1e-300, std::sqrt(dot(n, n)))));
    }
    return normals;
}

/// Returns the normals of the triangles of a shape; none for a shape without triangles.
std::vector<vxs_vec3> normals_of(const vxs_shape* shape) {
    size_t vertex_count = 0, index_count = 0;
    std::vector<vxs_vec3> corners;
    if (vxs_shape_get_triangles(shape, nullptr, 0, &vertex_count, nullptr, 0, &index_count) == VXS_TRUNCATED) {
        std::vector<vxs_vec3> vertices(vertex_count);
        std::vector<uint32_t> indices(index_count);
        if (vxs_shape_get_triangles(shape, vertices.data(), vertex_count, &vertex_count, indices.data(), index_count,
                                    &index_count) == VXS_OK)
            for (const uint32_t index : indices) corners.push_back(vertices[index]);
    }
    return normals_of(corners);
}

} // namespace

template <class Key, class Make>
const Partners::Entry& Partners::find_entry(std::map<Key, std::unique_ptr<Entry>>& entries, const Key& key,
                                            const Make& make) {
    {
        const std::shared_lock<std::shared_mutex> lock(m_mutex);
        const auto found = entries.find(key);
        if (found != entries.end())
            return *found->second;
    }
    const std::lock_guard<std::shared_mutex> lock(m_mutex);
    const auto found = entries.find(key); // another thread was faster
    if (found != entries.end())
        return *found->second;
    return *(entries[key] = make());
}

bool Partners::find(const JPH::Shape* shape, JPH::Vec3Arg scale, Partner& partner) {
    const auto answer = [&](const Entry& entry) {
        partner.shape = entry.shape;
        partner.turn = entry.turn;
        partner.triangles = entry.triangles;
        partner.ids = entry.ids.empty() ? nullptr : &entry.ids;
        partner.normals = entry.normals.empty() ? nullptr : &entry.normals;
        partner.field = entry.field;
        return entry.shape != nullptr;
    };
    const StockKey stock = stock_key(shape, scale);
    if (stock[0] >= 0)
        return answer(find_entry(m_by_size, stock, [&] { return cook_stock(stock); }));
    if (shape->GetType() != JPH::EShapeType::Convex && !is_sheet(shape))
        return false;
    const uint32_t holders = shape->GetRefCount();
    if (holders == 0 || holders >= kEmbedded) {
        const std::vector<vxs_vec3> corners = triangles_of(shape, scale);
        std::string key(reinterpret_cast<const char*>(corners.data()), corners.size() * sizeof corners[0]);
        key += char(shape->GetSubType());
        return answer(find_entry(m_by_content, key, [&] { return cook(shape, scale); }));
    }
    const AddressKey address = {shape, {scale.GetX(), scale.GetY(), scale.GetZ()}};
    return answer(find_entry(m_by_address, address, [&] {
        std::unique_ptr<Entry> entry = cook(shape, scale);
        for (auto at = m_by_address.begin(); at != m_by_address.end();)
            at = at->second && at->second->held->GetRefCount() == 1 ? m_by_address.erase(at) : std::next(at);
        entry->held = shape;
        return entry;
    }));
}

std::unique_ptr<Partners::Entry> Partners::cook_stock(const StockKey& key) {
    std::unique_ptr<Entry> entry(new Entry);
    const vxs_shape* shape = nullptr;
    const double x = double(key[1]), y = double(key[2]), z = double(key[3]);
    switch (JPH::EShapeSubType(int(key[0]))) {
    case JPH::EShapeSubType::Sphere:
        shape = m_stock.ball(x);
        break;
    case JPH::EShapeSubType::Box:
        shape = m_stock.box({x, y, z});
        break;
    case JPH::EShapeSubType::Capsule:
        shape = m_stock.capsule(x, y);
        break;
    default:
        shape = m_stock.cylinder(x, y);
    }
    // The axis of capsules and cylinders is z in the host layer and y in Jolt.
    if (key[0] == float(JPH::EShapeSubType::Capsule) || key[0] == float(JPH::EShapeSubType::Cylinder))
        entry->turn = JPH::Quat::sRotation(JPH::Vec3::sAxisX(), -0.5f * JPH::JPH_PI);
    if (shape)
        vxs_shape_retain(shape, &entry->shape);
    if (!entry->shape) {
        report(JPH::EShapeSubType(int(key[0])));
        return entry;
    }
    entry->normals = normals_of(entry->shape);
    vxs_shape_get_field(entry->shape, &entry->field);
    vxs_shape_prepare_coverage(entry->shape, m_settings.coverage);
    vxs_shape_prepare_triangles(entry->shape);
    return entry;
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
        entry->normals = normals_of(corners);
        status = cook_sheet(corners, *entry);
    } else if (shape->GetSubType() == JPH::EShapeSubType::ConvexHull) {
        status = cook_solid(triangles_of(shape, scale), *entry);
    } else {
        status = cook_solid(hull_of(static_cast<const JPH::ConvexShape*>(shape), scale), *entry);
    }
    if (status)
        report(shape->GetSubType());
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
    vxs_status status = m_assets.get(mesh, &options, &entry.shape);
    if (status == VXS_INVALID_MESH && !corners.empty()) {
        vxs_shape* hull = nullptr;
        status = vxs_shape_create_convex_hull(corners.data(), corners.size(), &hull);
        if (!status)
            entry.shape = combine(hull, samples_of(corners, VXS_SAMPLING_DEFAULT));
    }
    if (!entry.shape)
        return status ? status : VXS_INVALID_MESH;
    entry.normals = normals_of(corners);
    vxs_shape_get_field(entry.shape, &entry.field);
    vxs_shape_prepare_coverage(entry.shape, m_settings.coverage);
    vxs_shape_prepare_triangles(entry.shape);
    return VXS_OK;
}

vxs_status Partners::cook_sheet(const std::vector<vxs_vec3>& corners, Entry& entry) const {
    const std::vector<uint32_t> indices = numbers_up_to(corners.size());
    const vxs_status status = vxs_shape_create_sheet(corners.data(), corners.size(), indices.data(), indices.size() / 3,
                                                     double(m_settings.sheet_depth), &entry.triangles);
    if (status)
        return status;
    vxs_shape_prepare_triangles(entry.triangles);
    // Its sharp edges would sink in between the samples of a body: they bring samples of their own. A smooth sheet has
    // none.
    vxs_shape* field = nullptr;
    if (vxs_shape_retain(entry.triangles, &field) == VXS_OK)
        entry.shape = combine(field, samples_of(corners, VXS_SAMPLING_FEATURES));
    return entry.shape ? VXS_OK : vxs_shape_retain(entry.triangles, &entry.shape);
}

} // namespace voxshell::jolt
