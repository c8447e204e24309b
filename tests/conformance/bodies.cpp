#include "bodies.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

namespace conformance {
namespace {

vxs_vec3 cross(const vxs_vec3& a, const vxs_vec3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

struct Recipe {
    const char* name;
    uint32_t kind;
    double size[5];
    uint32_t detail[4];
    double voxel; // m
    uint32_t samples;
};

// Sizes in metres. The nut and the bolt are the library's M16 x 2 in the middle of classes 6H and 6g.
const Recipe kRecipes[] = {
    {"knot", VXS_PRIMITIVE_TORUS_KNOT, {0.07, 0.018}, {2, 3, 120, 16}, 1.5e-3, 3000},
    {"gear", VXS_PRIMITIVE_GEAR, {0.1, 0.08, 0.05, 0.03}, {16}, 1.5e-3, 3000},
    {"bowl", VXS_PRIMITIVE_BOWL, {0.1, 0.012}, {48}, 1.5e-3, 4000},
    {"block", VXS_PRIMITIVE_HOLE, {0.06, 0.025, 0.06, 0.03}, {24}, 1.5e-3, 3000},
    {"link", VXS_PRIMITIVE_TORUS, {0.05, 0.01}, {64, 24}, 1.2e-3, 2500},
    {"bolt", VXS_PRIMITIVE_BOLT, {}, {}, 0.25e-3, 10000},
    {"nut", VXS_PRIMITIVE_NUT, {}, {}, 0.25e-3, 10000},
};

Model make(const Recipe& recipe, const voxshell::host::AssetCache& assets) {
    vxs_primitive primitive;
    must(vxs_primitive_init(&primitive, sizeof primitive, recipe.kind));
    if (recipe.size[0] > 0)
        std::copy(recipe.size, recipe.size + 5, primitive.size);
    if (recipe.detail[0] > 0)
        std::copy(recipe.detail, recipe.detail + 4, primitive.detail);
    // A coarse shape, for the triangles and the mass properties, which do not depend on the resolution.
    vxs_cook_options options;
    must(vxs_cook_options_init(&options, sizeof options));
    options.resolution = 16;
    options.sample_count = 100;
    vxs_shape* coarse = nullptr;
    must(vxs_shape_create_primitive(&primitive, &options, &coarse));
    Model model;
    model.name = recipe.name;
    size_t vertex_count = 0, index_count = 0;
    vxs_shape_get_triangles(coarse, nullptr, 0, &vertex_count, nullptr, 0, &index_count);
    model.vertices.resize(vertex_count);
    model.indices.resize(index_count);
    must(vxs_shape_get_triangles(coarse, model.vertices.data(), vertex_count, &vertex_count, model.indices.data(),
                                 index_count, &index_count));
    vxs_mass_properties mass;
    must(vxs_shape_get_mass_properties(coarse, &mass));
    vxs_shape_release(coarse);
    // All primitives of the suite are symmetric about y: their axes are the principal ones.
    const double off = std::max({std::fabs(mass.inertia[3]), std::fabs(mass.inertia[4]), std::fabs(mass.inertia[5])});
    if (!mass.exact || off > 1e-3 * mass.inertia[0]) {
        std::fprintf(stderr, "conformance: the axes of the model %s are not its principal ones\n", recipe.name);
        std::exit(1);
    }
    const vxs_vec3 center = mass.center_of_mass;
    for (vxs_vec3& v : model.vertices) v = {v.x - center.x, v.y - center.y, v.z - center.z};
    model.origin = {-center.x, -center.y, -center.z};
    model.volume = mass.volume;
    model.inertia = {mass.inertia[0], mass.inertia[1], mass.inertia[2]};
    options.voxel_size = recipe.voxel;
    options.sample_count = recipe.samples;
    if (recipe.kind == VXS_PRIMITIVE_BOLT || recipe.kind == VXS_PRIMITIVE_NUT)
        options.field_storage = VXS_STORAGE_EXACT;
    const voxshell::host::Mesh mesh = {model.vertices.data(), model.vertices.size(), model.indices.data(),
                                       model.indices.size() / 3};
    vxs_shape* shape = nullptr;
    must(assets.get(mesh, &options, &shape));
    model.shape = shape;
    return model;
}

} // namespace

void must(vxs_status status) {
    if (status == VXS_OK)
        return;
    std::fprintf(stderr, "conformance: %s: %s\n", vxs_status_name(status), vxs_last_error());
    std::exit(1);
}

vxs_vec3 rotate(const vxs_pose& pose, const vxs_vec3& v) {
    const vxs_vec3 q = {pose.qx, pose.qy, pose.qz}, t = cross(q, v), u = cross(q, t);
    return {v.x + 2 * (pose.qw * t.x + u.x), v.y + 2 * (pose.qw * t.y + u.y), v.z + 2 * (pose.qw * t.z + u.z)};
}

vxs_vec3 transform(const vxs_pose& pose, const vxs_vec3& point) {
    const vxs_vec3 r = rotate(pose, point);
    return {r.x + pose.position.x, r.y + pose.position.y, r.z + pose.position.z};
}

vxs_vec3 inverse_transform(const vxs_pose& pose, const vxs_vec3& point) {
    const vxs_pose back = {{0, 0, 0}, -pose.qx, -pose.qy, -pose.qz, pose.qw};
    return rotate(back, {point.x - pose.position.x, point.y - pose.position.y, point.z - pose.position.z});
}

vxs_pose pose_of(const vxs_vec3& position, const vxs_vec3& turn) {
    const double angle = std::sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    const double s = angle > 1e-12 ? std::sin(0.5 * angle) / angle : 0.5;
    return {position, turn.x * s, turn.y * s, turn.z * s, std::cos(0.5 * angle)};
}

const Model& Bodies::get(const std::string& name) {
    const auto found = m_models.find(name);
    if (found != m_models.end())
        return found->second;
    for (const Recipe& recipe : kRecipes)
        if (name == recipe.name)
            return m_models[name] = make(recipe, m_assets);
    std::fprintf(stderr, "conformance: there is no model %s\n", name.c_str());
    std::exit(1);
}

Bodies::~Bodies() {
    for (auto& entry : m_models) vxs_shape_release(const_cast<vxs_shape*>(entry.second.shape));
}

TrueBody::TrueBody(const BodySpec& spec) {
    vxs_shape* exact = nullptr;
    if (spec.model) {
        const Model& model = *spec.model;
        must(vxs_shape_create_triangles(model.vertices.data(), model.vertices.size(), model.indices.data(),
                                        model.indices.size() / 3, 0, &exact));
        must(vxs_shape_get_field(model.shape, &m_quick));
        vxs_shape_info info;
        must(vxs_shape_info_init(&info, sizeof info));
        must(vxs_shape_get_info(model.shape, &info));
        m_quick_error = 2 * info.field_error_max;
        m_points = model.vertices;
        std::set<std::pair<uint32_t, uint32_t>> edges;
        for (size_t i = 0; i < model.indices.size(); ++i) {
            const uint32_t from = model.indices[i], to = model.indices[i % 3 == 2 ? i - 2 : i + 1];
            if (!edges.insert({std::min(from, to), std::max(from, to)}).second)
                continue;
            const vxs_vec3 &a = model.vertices[from], &b = model.vertices[to];
            m_points.push_back({0.5 * (a.x + b.x), 0.5 * (a.y + b.y), 0.5 * (a.z + b.z)});
        }
    } else if (spec.stock == Stock::Plane) {
        must(vxs_shape_create_half_space({0, 1, 0}, 0, &exact));
    } else if (spec.stock == Stock::Ball) {
        must(vxs_shape_create_sphere(spec.size.x, &exact));
        m_points.push_back({0, 0, 0});
        m_ball = spec.size.x;
    } else {
        must(vxs_shape_create_box(spec.size, &exact));
        for (int axis = 0; axis < 3; ++axis)
            for (int corner = 0; corner < 4; ++corner)
                for (int i = 0; i <= 200; ++i) {
                    const double along = 0.01 * i - 1, u = corner & 1 ? 1 : -1, v = corner & 2 ? 1 : -1;
                    const double p[3] = {along, u, v};
                    m_points.push_back({p[(3 - axis) % 3] * spec.size.x, p[(4 - axis) % 3] * spec.size.y,
                                        p[(5 - axis) % 3] * spec.size.z});
                }
    }
    must(vxs_shape_get_bounds(exact, &m_box));
    must(vxs_shape_get_field(exact, &m_exact));
    vxs_shape_release(exact);
}

TrueBody::TrueBody(TrueBody&& other) noexcept
    : m_points(std::move(other.m_points)), m_ball(other.m_ball), m_exact(std::exchange(other.m_exact, nullptr)),
      m_quick(std::exchange(other.m_quick, nullptr)), m_quick_error(other.m_quick_error), m_box(other.m_box) {}

TrueBody::~TrueBody() {
    vxs_field_release(m_exact);
    vxs_field_release(m_quick);
}

double TrueBody::depth_of_points(const vxs_pose& pose, const TrueBody& other, const vxs_pose& other_pose,
                                 double at_least) const {
    const vxs_aabb& box = other.m_box;
    for (const vxs_vec3& point : m_points) {
        const vxs_vec3 p = inverse_transform(other_pose, transform(pose, point));
        const double free = m_ball - at_least;
        if (p.x < box.min.x - free || p.y < box.min.y - free || p.z < box.min.z - free || p.x > box.max.x + free ||
            p.y > box.max.y + free || p.z > box.max.z + free)
            continue;
        double distance;
        if (other.m_quick) {
            must(vxs_field_distance(other.m_quick, p, &distance, nullptr));
            if (m_ball - distance + other.m_quick_error < at_least)
                continue;
        }
        must(vxs_field_distance(other.m_exact, p, &distance, nullptr));
        at_least = std::max(at_least, m_ball - distance);
    }
    return at_least;
}

double TrueBody::depth(const TrueBody& a, const vxs_pose& pose_a, const TrueBody& b, const vxs_pose& pose_b,
                       double at_least) {
    at_least = a.depth_of_points(pose_a, b, pose_b, at_least);
    return b.depth_of_points(pose_b, a, pose_a, at_least);
}

double TrueBody::distance(const vxs_vec3& point) const {
    double distance;
    must(vxs_field_distance(m_exact, point, &distance, nullptr));
    return std::fabs(distance);
}

double TrueBody::moved(const vxs_pose& from, const vxs_pose& to) const {
    double most = 0;
    for (const vxs_vec3& point : m_points) {
        const vxs_vec3 a = transform(from, point), b = transform(to, point);
        most = std::max(most,
                        std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z)));
    }
    return most;
}

} // namespace conformance
