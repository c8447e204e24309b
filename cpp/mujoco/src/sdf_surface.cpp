#include "sdf_surface.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace voxshell::mujoco {
namespace {

/// Cells along the largest extent.
constexpr int kCells = 512;
/// Halvings of an edge in search of the surface: to a millionth of a cell.
constexpr int kHalvings = 20;

/// Marching tetrahedra over a grid: each cube is cut into the six tetrahedra around its diagonal (Kuhn), whose edges all
/// lead from a node to one of the seven nodes above it in some of the axes. The faces of neighbours agree, so the surface
/// is closed.
class March {
public:
    March(const mjpPlugin& plugin, const std::vector<mjtNum>& attributes) : m_plugin(plugin), m_attributes(attributes) {
        mjtNum box[6] = {0, 0, 0, 0, 0, 0};
        plugin.sdf_aabb(box, attributes.data());
        const double largest = std::max({box[3], box[4], box[5]});
        m_cell = 2 * largest / kCells;
        for (int axis = 0; axis < 3; ++axis) {
            // One more node on each side, which counts as outside, closes a surface that the box cuts.
            m_nodes[axis] = static_cast<int>(2 * box[3 + axis] / m_cell + 0.999) + 3;
            m_origin[axis] = box[axis] - 0.5 * m_cell * (m_nodes[axis] - 1);
        }
    }

    Triangles run() {
        sample();
        for (int z = 0; z + 1 < m_nodes[2]; ++z)
            for (int y = 0; y + 1 < m_nodes[1]; ++y)
                for (int x = 0; x + 1 < m_nodes[0]; ++x) cube({x, y, z});
        return std::move(m_surface);
    }

private:
    using Node = std::array<int, 3>;

    size_t index(const Node& n) const {
        return (static_cast<size_t>(n[2]) * m_nodes[1] + n[1]) * m_nodes[0] + n[0];
    }

    double distance(const double p[3]) const {
        const mjtNum point[3] = {p[0], p[1], p[2]};
        return m_plugin.sdf_staticdistance(point, m_attributes.data());
    }

    void place(const Node& n, double p[3]) const {
        for (int axis = 0; axis < 3; ++axis) p[axis] = m_origin[axis] + m_cell * n[axis];
    }

    void sample() {
        m_inside.assign(static_cast<size_t>(m_nodes[0]) * m_nodes[1] * m_nodes[2], false);
        for (int z = 1; z + 1 < m_nodes[2]; ++z)
            for (int y = 1; y + 1 < m_nodes[1]; ++y)
                for (int x = 1; x + 1 < m_nodes[0]; ++x) {
                    double p[3];
                    place({x, y, z}, p);
                    m_inside[index({x, y, z})] = distance(p) < 0;
                }
    }

    void cube(const Node& low) {
        static constexpr int kOrders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        int inside = 0;
        for (int corner = 0; corner < 8; ++corner)
            inside += m_inside[index({low[0] + (corner & 1), low[1] + (corner >> 1 & 1), low[2] + (corner >> 2)})];
        if (inside == 0 || inside == 8) return;
        for (const auto& order : kOrders) {
            std::array<Node, 4> corners = {low, low, low, low};
            for (int step = 0; step < 3; ++step)
                for (int later = step + 1; later < 4; ++later) ++corners[later][order[step]];
            tetrahedron(corners);
        }
    }

    void tetrahedron(const std::array<Node, 4>& corners) {
        std::array<int, 4> in{}, out{};
        int in_count = 0, out_count = 0;
        for (int i = 0; i < 4; ++i) (m_inside[index(corners[i])] ? in[in_count++] : out[out_count++]) = i;
        if (in_count == 0 || out_count == 0) return;
        const auto at = [&](int i, int o) { return vertex(corners[i], corners[o]); };
        const Node &i0 = corners[in[0]], &o0 = corners[out[0]];
        if (in_count == 1) {
            triangle(at(in[0], out[0]), at(in[0], out[1]), at(in[0], out[2]), i0, o0);
        } else if (out_count == 1) {
            triangle(at(in[0], out[0]), at(in[1], out[0]), at(in[2], out[0]), i0, o0);
        } else {
            const uint32_t a = at(in[0], out[0]), b = at(in[0], out[1]), c = at(in[1], out[1]), d = at(in[1], out[0]);
            triangle(a, b, c, i0, o0);
            triangle(a, c, d, i0, o0);
        }
    }

    /// Returns the vertex on the edge between a node inside and one outside.
    uint32_t vertex(const Node& inside, const Node& outside) {
        const bool forward = index(inside) < index(outside);
        const Node &low = forward ? inside : outside, &high = forward ? outside : inside;
        const int direction = (high[0] - low[0]) | (high[1] - low[1]) << 1 | (high[2] - low[2]) << 2;
        const auto [found, is_new] = m_vertices.emplace(index(low) * 8 + direction, 0);
        if (!is_new) return found->second;
        double in[3], out[3];
        place(inside, in);
        place(outside, out);
        for (int i = 0; i < kHalvings; ++i) {
            const double middle[3] = {(in[0] + out[0]) / 2, (in[1] + out[1]) / 2, (in[2] + out[2]) / 2};
            std::copy(middle, middle + 3, distance(middle) < 0 ? in : out);
        }
        found->second = static_cast<uint32_t>(m_surface.vertices.size());
        m_surface.vertices.push_back({(in[0] + out[0]) / 2, (in[1] + out[1]) / 2, (in[2] + out[2]) / 2});
        return found->second;
    }

    /// Adds a triangle whose normal points from a node inside to one outside.
    void triangle(uint32_t a, uint32_t b, uint32_t c, const Node& inside, const Node& outside) {
        const vxs_vec3 &p = m_surface.vertices[a], &q = m_surface.vertices[b], &r = m_surface.vertices[c];
        double in[3], out[3];
        place(inside, in);
        place(outside, out);
        const double u[3] = {q.x - p.x, q.y - p.y, q.z - p.z}, v[3] = {r.x - p.x, r.y - p.y, r.z - p.z};
        const double along = (u[1] * v[2] - u[2] * v[1]) * (out[0] - in[0]) + (u[2] * v[0] - u[0] * v[2]) * (out[1] - in[1]) +
                             (u[0] * v[1] - u[1] * v[0]) * (out[2] - in[2]);
        if (along < 0) std::swap(b, c);
        m_surface.indices.insert(m_surface.indices.end(), {a, b, c});
    }

    const mjpPlugin& m_plugin;
    const std::vector<mjtNum>& m_attributes;
    double m_cell = 0, m_origin[3] = {0, 0, 0};
    int m_nodes[3] = {0, 0, 0};
    std::vector<bool> m_inside;
    std::unordered_map<size_t, uint32_t> m_vertices;
    Triangles m_surface;
};

} // namespace

std::string sdf_surface(const MujocoLibrary& library, const mjModel* model, int instance, const mjpPlugin& plugin,
                        Triangles& surface) {
    if (!plugin.sdf_aabb || !plugin.sdf_attribute) return std::string("the plugin ") + plugin.name + " has no box";
    std::vector<mjtNum> attributes(plugin.nattribute, 0);
    std::vector<const char*> names(plugin.attributes, plugin.attributes + plugin.nattribute), values;
    for (const char* name : names) {
        const char* value = library.get_plugin_config(model, instance, name);
        values.push_back(value ? value : "");
    }
    plugin.sdf_attribute(attributes.data(), names.data(), values.data());

    // Simulations of one model share the triangles.
    static std::mutex mutex;
    static std::map<std::pair<std::string, std::vector<mjtNum>>, Triangles> surfaces;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto [found, is_new] = surfaces.emplace(std::make_pair(std::string(plugin.name), attributes), Triangles());
    if (is_new) found->second = welded(March(plugin, attributes).run());
    if (found->second.indices.empty()) return std::string("the function of the plugin ") + plugin.name + " has no surface";
    surface = found->second;
    return {};
}

} // namespace voxshell::mujoco
