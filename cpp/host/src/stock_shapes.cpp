#include <voxshell/host/stock_shapes.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include <voxshell/shape.h>

namespace voxshell::host {
namespace {

enum Kind { Box, Ball, Capsule, Cylinder, HalfSpace };

/// Samples of a stock shape: about a fortieth of its size apart.
const uint32_t kSamples = 10000;

vxs_cook_options options_of(uint32_t forms) {
    vxs_cook_options options;
    vxs_cook_options_init(&options, sizeof options);
    options.forms = forms;
    options.sample_count = kSamples;
    options.resolution = 48;
    // Edges stay sharp: no contact at an edge is rounded off by a voxel.
    options.field_storage = VXS_STORAGE_EXACT;
    return options;
}

/// Cooks a primitive of the library.
/// @param forms  flags of VXS_FORM_
vxs_status cook(uint32_t kind, std::initializer_list<double> size, uint32_t forms, vxs_shape** shape) {
    vxs_primitive primitive;
    if (const vxs_status status = vxs_primitive_init(&primitive, sizeof primitive, kind))
        return status;
    std::copy(size.begin(), size.end(), primitive.size);
    const vxs_cook_options options = options_of(forms);
    return vxs_shape_create_primitive(&primitive, &options, shape);
}

/// Makes the samples of a primitive whose axis y is turned to z.
vxs_status cook_upright(uint32_t kind, std::initializer_list<double> size, vxs_shape** shape) {
    vxs_shape* lying = nullptr;
    if (const vxs_status status = cook(kind, size, VXS_FORM_POINTSHELL, &lying))
        return status;
    size_t vertex_count = 0, index_count = 0;
    vxs_shape_get_triangles(lying, nullptr, 0, &vertex_count, nullptr, 0, &index_count);
    std::vector<vxs_vec3> vertices(vertex_count);
    std::vector<uint32_t> indices(index_count);
    const vxs_status status = vxs_shape_get_triangles(lying, vertices.data(), vertex_count, &vertex_count,
                                                      indices.data(), index_count, &index_count);
    vxs_shape_release(lying);
    if (status)
        return status;
    for (vxs_vec3& v : vertices) v = {v.x, -v.z, v.y};
    const vxs_cook_options options = options_of(VXS_FORM_POINTSHELL);
    return vxs_shape_create_from_triangles(vertices.data(), vertex_count, indices.data(), index_count / 3, &options,
                                           shape);
}

/// Combines an exact field with the samples of a mesh. Takes both shapes, which may be null where `status` is an error.
vxs_status combine(vxs_status status, vxs_shape* exact, vxs_shape* sampled, vxs_shape** shape) {
    vxs_field* field = nullptr;
    vxs_pointshell* samples = nullptr;
    if (!status)
        status = vxs_shape_get_field(exact, &field);
    if (!status)
        status = vxs_shape_get_pointshell(sampled, &samples);
    if (!status)
        status = vxs_shape_create(field, samples, shape);
    vxs_field_release(field);
    vxs_pointshell_release(samples);
    vxs_shape_release(exact);
    vxs_shape_release(sampled);
    return status;
}

} // namespace

StockShapes::~StockShapes() {
    for (const auto& entry : m_shapes) vxs_shape_release(entry.second);
}

/// Returns the shape of a kind and its sizes, and makes it first if there is none.
template <class Make> const vxs_shape* StockShapes::find(const std::array<double, 5>& key, const Make& make) {
    // NaN has no order: such sizes are refused by the library before they become a key.
    const bool is_ordered = std::none_of(key.begin(), key.end(), [](double x) { return x != x; });
    const std::lock_guard<std::mutex> lock(m_mutex);
    if (is_ordered) {
        const auto found = m_shapes.find(key);
        if (found != m_shapes.end())
            return found->second;
    }
    vxs_shape* shape = nullptr;
    if (make(&shape))
        return nullptr;
    m_shapes.emplace(key, shape);
    return shape;
}

const vxs_shape* StockShapes::box(const vxs_vec3& half) {
    return find({Box, half.x, half.y, half.z, 0}, [&](vxs_shape** shape) {
        const std::initializer_list<double> size = {half.x, half.y, half.z};
        if (!cook(VXS_PRIMITIVE_BOX, size, VXS_FORM_FIELD | VXS_FORM_POINTSHELL, shape))
            return vxs_status(VXS_OK);
        // A plate thinner than a voxel has no inside in a grid. The exact field of a box has.
        vxs_shape *exact = nullptr, *sampled = nullptr;
        vxs_status status = vxs_shape_create_box(half, &exact);
        if (!status)
            status = cook(VXS_PRIMITIVE_BOX, size, VXS_FORM_POINTSHELL, &sampled);
        return combine(status, exact, sampled, shape);
    });
}

const vxs_shape* StockShapes::ball(double radius) {
    return find({Ball, radius, 0, 0, 0}, [&](vxs_shape** shape) {
        vxs_shape *exact = nullptr, *sampled = nullptr;
        vxs_status status = vxs_shape_create_sphere(radius, &exact);
        if (!status)
            status = cook(VXS_PRIMITIVE_SPHERE, {radius}, VXS_FORM_POINTSHELL, &sampled);
        return combine(status, exact, sampled, shape);
    });
}

const vxs_shape* StockShapes::capsule(double radius, double half_length) {
    return find({Capsule, radius, half_length, 0, 0}, [&](vxs_shape** shape) {
        vxs_shape *exact = nullptr, *sampled = nullptr;
        vxs_status status = vxs_shape_create_capsule(radius, half_length, 2, &exact);
        if (!status)
            status = cook_upright(VXS_PRIMITIVE_CAPSULE, {radius, half_length}, &sampled);
        return combine(status, exact, sampled, shape);
    });
}

const vxs_shape* StockShapes::cylinder(double radius, double half_length) {
    return find({Cylinder, radius, half_length, 0, 0}, [&](vxs_shape** shape) {
        vxs_shape *exact = nullptr, *sampled = nullptr;
        vxs_status status = vxs_shape_create_cylinder(radius, half_length, 2, &exact);
        if (!status)
            status = cook_upright(VXS_PRIMITIVE_CYLINDER, {radius, half_length}, &sampled);
        return combine(status, exact, sampled, shape);
    });
}

const vxs_shape* StockShapes::half_space(const vxs_vec3& normal, double offset) {
    return find({HalfSpace, normal.x, normal.y, normal.z, offset},
                [&](vxs_shape** shape) { return vxs_shape_create_half_space(normal, offset, shape); });
}

} // namespace voxshell::host
