// The shape: its creation, its mass, its triangles and its files.
#include <voxshell/jolt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include <Jolt/Core/StreamIn.h>
#include <Jolt/Core/StreamOut.h>
#include <Jolt/Geometry/Plane.h>
#include <Jolt/Physics/Collision/Shape/ScaleHelpers.h>

#include "convert.h"
#include "registry.h"

namespace voxshell::jolt {
namespace {

std::atomic<uint64_t> g_serial = 0;

} // namespace

VoxshellShape::VoxshellShape() : JPH::Shape(JPH::EShapeType::User1, registered_sub_type()), m_serial(++g_serial) {}

VoxshellShape::~VoxshellShape() {
    for (Scaled* entry = m_scaled.load(std::memory_order_relaxed); entry;) {
        Scaled* const next = entry->next;
        vxs_shape_release(entry->shape);
        delete entry;
        entry = next;
    }
    vxs_field_release(m_field);
    vxs_shape_release(m_shape);
}

JPH::Shape::ShapeResult VoxshellShape::sCreate(const vxs_shape* shape, float density,
                                               const JPH::PhysicsMaterialList& materials) {
    ShapeResult result;
    JPH::Ref<VoxshellShape> created = new VoxshellShape;
    created->m_density = density;
    created->m_materials = materials;
    if (!(density > 0))
        result.SetError("voxshell: the density must be positive");
    else if (!created->init(shape))
        result.SetError(JPH::String("voxshell: the shape cannot be used: ") + vxs_last_error());
    else
        result.Set(created.GetPtr());
    return result;
}

/// Takes another handle to a shape and computes what Jolt asks for often.
bool VoxshellShape::init(const vxs_shape* shape) {
    vxs_aabb box;
    vxs_shape_info info;
    if (vxs_shape_info_init(&info, sizeof info) || vxs_shape_retain(shape, &m_shape) ||
        vxs_shape_get_info(m_shape, &info) || vxs_shape_get_bounds(m_shape, &box))
        return false;
    const double size = box.max.x - box.min.x + box.max.y - box.min.y + box.max.z - box.min.z;
    if (!std::isfinite(size))
        return false;
    vxs_mass_properties mass;
    if (vxs_shape_get_mass_properties(m_shape, &mass) == VXS_OK) {
        m_volume = float(mass.volume);
        m_center = to_jolt(mass.center_of_mass);
        std::copy(mass.inertia, mass.inertia + 6, m_inertia);
    }
    m_bounds = JPH::AABox(to_jolt(box.min) - m_center, to_jolt(box.max) - m_center);
    if (info.forms & VXS_FORM_FIELD)
        vxs_shape_get_field(m_shape, &m_field);

    size_t vertex_count = 0, index_count = 0, material_count = 0;
    if (vxs_shape_get_triangles(m_shape, nullptr, 0, &vertex_count, nullptr, 0, &index_count) == VXS_TRUNCATED) {
        std::vector<vxs_vec3> vertices(vertex_count);
        m_indices.resize(index_count);
        if (vxs_shape_get_triangles(m_shape, vertices.data(), vertex_count, &vertex_count, m_indices.data(),
                                    index_count, &index_count))
            return false;
        m_vertices.resize(vertex_count);
        for (size_t i = 0; i < vertex_count; ++i) (to_jolt(vertices[i]) - m_center).StoreFloat3(&m_vertices[i]);
        vxs_shape_get_materials(m_shape, nullptr, 0, &material_count);
        m_triangle_materials.resize(material_count);
        if (vxs_shape_get_materials(m_shape, m_triangle_materials.data(), material_count, &material_count))
            return false;
    }
    m_triangle_bits = 0;
    while ((size_t(1) << m_triangle_bits) < m_indices.size() / 3) ++m_triangle_bits;
    m_inner_radius = estimate_inner_radius();
    // Otherwise the first contact in a step would do this work.
    const uint32_t coverage = registered_settings().coverage;
    vxs_shape_prepare_coverage(m_shape, coverage);
    if (coverage != VXS_COVERAGE_SAMPLES)
        vxs_shape_prepare_extremes(m_shape);
    vxs_shape_prepare_triangles(m_shape);
    return true;
}

/// Returns the radius of the largest inscribed ball around the points of a grid, a lower bound on the true one.
float VoxshellShape::estimate_inner_radius() const {
    const JPH::Vec3 low = m_bounds.mMin + m_center, size = m_bounds.GetSize();
    const int n = 16;
    double deepest = 0;
    for (int i = 0; m_field && i < n * n * n; ++i) {
        const JPH::Vec3 cell(float(i % n), float(i / n % n), float(i / (n * n)));
        double distance;
        if (vxs_field_distance(m_field, to_vxs(low + size * (cell + JPH::Vec3::sReplicate(0.5f)) / float(n)), &distance,
                               nullptr) == VXS_OK)
            deepest = std::max(deepest, -distance);
    }
    // Bodies thinner than the grid, and sheets: Jolt casts them when they move by more than this.
    return std::max(float(deepest), 0.01f * size.ReduceMin());
}

const vxs_shape* VoxshellShape::GetScaled(float scale) const {
    if (std::fabs(scale - 1) < 1e-6f)
        return m_shape;
    Scaled* first = m_scaled.load(std::memory_order_acquire);
    for (const Scaled* entry = first; entry; entry = entry->next)
        if (entry->scale == scale)
            return entry->shape;
    vxs_shape* scaled = nullptr;
    if (vxs_shape_create_scaled(m_shape, double(scale), &scaled))
        return nullptr;
    vxs_shape_prepare_coverage(scaled, registered_settings().coverage);
    vxs_shape_prepare_triangles(scaled);
    Scaled* const entry = new Scaled{scale, scaled, first};
    // Two threads may add the same scale: both entries stay, and both are right.
    while (!m_scaled.compare_exchange_weak(entry->next, entry, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return scaled;
}

bool VoxshellShape::IsValidScale(JPH::Vec3Arg scale) const {
    return scale.GetX() > 0 && scale.GetX() < 1e6f && JPH::ScaleHelpers::IsUniformScale(scale);
}

uint32_t VoxshellShape::GetTriangle(const JPH::SubShapeID& id) const {
    JPH::SubShapeID rest;
    const uint32_t triangle = id.PopID(GetSubShapeIDBitsRecursive(), rest) >> kOrdinalBits;
    return std::min(triangle, uint32_t(m_indices.empty() ? 0 : m_indices.size() / 3 - 1));
}

JPH::SubShapeIDCreator VoxshellShape::GetID(const JPH::SubShapeIDCreator& creator, uint32_t triangle,
                                            uint32_t ordinal) const {
    return creator.PushID(triangle << kOrdinalBits | (ordinal & (kMaxOrdinals - 1)), GetSubShapeIDBitsRecursive());
}

JPH::MassProperties VoxshellShape::GetMassProperties() const {
    JPH::MassProperties mass;
    mass.mMass = m_density * m_volume;
    const double m = double(mass.mMass), *i = m_inertia; // xx, yy, zz, xy, xz, yz
    mass.mInertia = JPH::Mat44(JPH::Vec4(float(m * i[0]), float(m * i[3]), float(m * i[4]), 0),
                               JPH::Vec4(float(m * i[3]), float(m * i[1]), float(m * i[5]), 0),
                               JPH::Vec4(float(m * i[4]), float(m * i[5]), float(m * i[2]), 0), JPH::Vec4(0, 0, 0, 1));
    return mass;
}

const JPH::PhysicsMaterial* VoxshellShape::material_of(uint32_t triangle) const {
    if (triangle < m_triangle_materials.size() && m_triangle_materials[triangle] < m_materials.size())
        return m_materials[m_triangle_materials[triangle]];
    return m_triangle_materials.empty() && m_materials.size() == 1 ? m_materials[0] : JPH::PhysicsMaterial::sDefault;
}

const JPH::PhysicsMaterial* VoxshellShape::GetMaterial(const JPH::SubShapeID& id) const {
    return material_of(GetTriangle(id));
}

vxs_vec3 VoxshellShape::GetTriangleNormal(uint32_t triangle) const {
    const vxs_vec3 a = to_vxs(corner(triangle, 0));
    const vxs_vec3 n = cross(difference(to_vxs(corner(triangle, 1)), a), difference(to_vxs(corner(triangle, 2)), a));
    return times(n, 1 / std::max(1e-300, std::sqrt(dot(n, n))));
}

JPH::Vec3 VoxshellShape::GetSurfaceNormal(const JPH::SubShapeID& id, JPH::Vec3Arg position) const {
    JPH::Vec3 normal = JPH::Vec3::sZero();
    if (!m_indices.empty())
        normal = to_jolt(GetTriangleNormal(GetTriangle(id)));
    double distance;
    vxs_vec3 gradient;
    if (normal == JPH::Vec3::sZero() && m_field &&
        vxs_field_distance(m_field, to_vxs(position + m_center), &distance, &gradient) == VXS_OK)
        normal = to_jolt(gradient).NormalizedOr(JPH::Vec3::sAxisY());
    return normal;
}

void VoxshellShape::GetSupportingFace(const JPH::SubShapeID& id, JPH::Vec3Arg, JPH::Vec3Arg scale,
                                      JPH::Mat44Arg transform, SupportingFace& vertices) const {
    if (m_indices.empty())
        return;
    for (uint32_t i = 0; i < 3; ++i) vertices.push_back(transform * (scale * corner(GetTriangle(id), i)));
}

void VoxshellShape::GetSubmergedVolume(JPH::Mat44Arg transform, JPH::Vec3Arg scale, const JPH::Plane& surface,
                                       float& total_volume, float& submerged_volume,
                                       JPH::Vec3& center_of_buoyancy
                                           JPH_IF_DEBUG_RENDERER(, [[maybe_unused]] JPH::RVec3Arg offset)) const {
    const float s = scale.GetX();
    total_volume = s * s * s * m_volume;
    // The volume below the surface is the sum of signed tetrahedra between the parts of the triangles below it and a
    // point on it: then the cut through the body adds nothing, and the body need not be convex.
    const vxs_vec3 up = to_vxs(surface.GetNormal());
    const vxs_vec3 origin = times(up, -double(surface.GetConstant()));
    double volume = 0;
    vxs_vec3 moment = {0, 0, 0};
    for (uint32_t t = 0; t < m_indices.size() / 3; ++t) {
        vxs_vec3 p[3];
        double height[3];
        for (uint32_t i = 0; i < 3; ++i) {
            p[i] = difference(to_vxs(transform * (scale * corner(t, i))), origin);
            height[i] = dot(p[i], up);
        }
        vxs_vec3 below[4];
        int count = 0;
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3;
            if (height[i] <= 0)
                below[count++] = p[i];
            if ((height[i] <= 0) != (height[j] <= 0))
                below[count++] = sum(p[i], times(difference(p[j], p[i]), height[i] / (height[i] - height[j])));
        }
        for (int i = 2; i < count; ++i) {
            const double six = dot(below[0], cross(below[i - 1], below[i]));
            volume += six / 6;
            moment = sum(moment, times(sum(below[0], sum(below[i - 1], below[i])), six / 24));
        }
    }
    submerged_volume = std::clamp(float(volume), 0.0f, total_volume);
    center_of_buoyancy = volume > 0 ? to_jolt(sum(origin, times(moment, 1 / volume))) : JPH::Vec3::sZero();
}

#ifdef JPH_DEBUG_RENDERER
void VoxshellShape::Draw(JPH::DebugRenderer* renderer, JPH::RMat44Arg transform, JPH::Vec3Arg scale,
                         JPH::ColorArg color, bool use_material_colors, bool draw_wireframe) const {
    if (m_geometry == nullptr) {
        JPH::Array<JPH::DebugRenderer::Triangle> triangles;
        for (uint32_t t = 0; t < m_indices.size() / 3; ++t)
            triangles.push_back({corner(t, 0), corner(t, 1), corner(t, 2), JPH::Color::sWhite});
        m_geometry = new JPH::DebugRenderer::Geometry(renderer->CreateTriangleBatch(triangles), m_bounds);
    }
    const JPH::Color shown = use_material_colors ? material_of(0)->GetDebugColor() : JPH::Color(color);
    renderer->DrawGeometry(transform.PreScaled(scale), shown, m_geometry, JPH::DebugRenderer::ECullMode::CullBackFace,
                           JPH::DebugRenderer::ECastShadow::On,
                           draw_wireframe ? JPH::DebugRenderer::EDrawMode::Wireframe
                                          : JPH::DebugRenderer::EDrawMode::Solid);
}
#endif

namespace {

/// State of an iteration over triangles, in the caller's buffer.
struct TrianglesContext {
    JPH::Mat44 to_world;
    JPH::AABox box; // world
    uint32_t next = 0;
};
static_assert(sizeof(TrianglesContext) <= sizeof(JPH::Shape::GetTrianglesContext));

} // namespace

void VoxshellShape::GetTrianglesStart(GetTrianglesContext& context, const JPH::AABox& box, JPH::Vec3Arg position,
                                      JPH::QuatArg rotation, JPH::Vec3Arg scale) const {
    TrianglesContext* const own = new (&context) TrianglesContext;
    own->to_world = JPH::Mat44::sRotationTranslation(rotation, position) * JPH::Mat44::sScale(scale);
    own->box = box;
}

int VoxshellShape::GetTrianglesNext(GetTrianglesContext& context, int capacity, JPH::Float3* vertices,
                                    const JPH::PhysicsMaterial** materials) const {
    TrianglesContext& own = reinterpret_cast<TrianglesContext&>(context);
    int count = 0;
    for (; own.next < m_indices.size() / 3 && count < capacity; ++own.next) {
        JPH::Vec3 p[3];
        JPH::AABox bounds;
        for (uint32_t i = 0; i < 3; ++i) {
            p[i] = own.to_world * corner(own.next, i);
            bounds.Encapsulate(p[i]);
        }
        if (!bounds.Overlaps(own.box))
            continue;
        for (int i = 0; i < 3; ++i) p[i].StoreFloat3(vertices++);
        if (materials)
            *materials++ = material_of(own.next);
        ++count;
    }
    return count;
}

void VoxshellShape::SaveBinaryState(JPH::StreamOut& stream) const {
    Shape::SaveBinaryState(stream);
    stream.Write(m_density);
    size_t size = 0;
    std::vector<uint8_t> bytes;
    if (vxs_shape_serialize(m_shape, nullptr, 0, &size) == VXS_TRUNCATED) {
        bytes.resize(size);
        if (vxs_shape_serialize(m_shape, bytes.data(), size, &size))
            bytes.clear();
    }
    stream.Write(uint64_t(bytes.size()));
    stream.WriteBytes(bytes.data(), bytes.size());
}

void VoxshellShape::RestoreBinaryState(JPH::StreamIn& stream) {
    Shape::RestoreBinaryState(stream);
    uint64_t size = 0;
    stream.Read(m_density);
    stream.Read(size);
    // The stream may be damaged: the bytes are read in pieces, so that a wrong size takes no memory.
    std::vector<uint8_t> bytes;
    while (bytes.size() < size && !stream.IsEOF() && !stream.IsFailed()) {
        const size_t piece = size_t(std::min<uint64_t>(size - bytes.size(), 1 << 20));
        bytes.resize(bytes.size() + piece);
        stream.ReadBytes(bytes.data() + bytes.size() - piece, piece);
    }
    vxs_shape* shape = nullptr;
    if (vxs_shape_deserialize(bytes.data(), bytes.size(), &shape) == VXS_OK)
        init(shape);
    else
        JPH::Trace("voxshell: a shape was not restored: %s", vxs_last_error());
    vxs_shape_release(shape);
}

void VoxshellShape::RestoreMaterialState(const JPH::PhysicsMaterialRefC* materials, JPH::uint count) {
    m_materials.assign(materials, materials + count);
}

JPH::Shape::Stats VoxshellShape::GetStats() const {
    vxs_shape_info info;
    uint64_t bytes = sizeof(*this) + m_vertices.size() * sizeof m_vertices[0] + m_indices.size() * sizeof m_indices[0];
    if (vxs_shape_info_init(&info, sizeof info) == VXS_OK && vxs_shape_get_info(m_shape, &info) == VXS_OK)
        bytes += info.field_bytes + info.pointshell_bytes;
    return Stats(size_t(bytes), JPH::uint(m_indices.size() / 3));
}

} // namespace voxshell::jolt
