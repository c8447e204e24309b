#include "triangles.h"

#include <cmath>
#include <map>
#include <tuple>

#include <mujoco/mujoco.h>

namespace voxshell::mujoco {

Triangles welded(const Triangles& given) {
    struct Less {
        bool operator()(const vxs_vec3& a, const vxs_vec3& b) const {
            return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z);
        }
    };
    std::map<vxs_vec3, uint32_t, Less> numbers;
    Triangles result;
    const auto number = [&](uint32_t vertex) {
        const vxs_vec3& point = given.vertices[vertex];
        const auto [at, is_new] = numbers.emplace(point, static_cast<uint32_t>(result.vertices.size()));
        if (is_new) result.vertices.push_back(point);
        return at->second;
    };
    for (size_t i = 0; i + 2 < given.indices.size(); i += 3) {
        const uint32_t a = number(given.indices[i]), b = number(given.indices[i + 1]), c = number(given.indices[i + 2]);
        if (a != b && b != c && c != a) result.indices.insert(result.indices.end(), {a, b, c});
    }
    return result;
}

Triangles mesh_triangles(const mjModel* model, int mesh) {
    Triangles triangles;
    const float* vertices = model->mesh_vert + 3 * static_cast<size_t>(model->mesh_vertadr[mesh]);
    const int* faces = model->mesh_face + 3 * static_cast<size_t>(model->mesh_faceadr[mesh]);
    triangles.vertices.reserve(model->mesh_vertnum[mesh]);
    for (int i = 0; i < model->mesh_vertnum[mesh]; ++i)
        triangles.vertices.push_back({vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]});
    triangles.indices.assign(faces, faces + 3 * static_cast<size_t>(model->mesh_facenum[mesh]));
    return welded(triangles);
}

Triangles ellipsoid_triangles(const double half_axes[3]) {
    constexpr int kRings = 48, kSectors = 96;
    const double pi = std::acos(-1.0);
    Triangles triangles;
    const auto add = [&](double x, double y, double z) {
        triangles.vertices.push_back({half_axes[0] * x, half_axes[1] * y, half_axes[2] * z});
    };
    add(0, 0, 1);
    for (int ring = 1; ring < kRings; ++ring)
        for (int sector = 0; sector < kSectors; ++sector) {
            const double polar = pi * ring / kRings, azimuth = 2 * pi * sector / kSectors;
            add(std::sin(polar) * std::cos(azimuth), std::sin(polar) * std::sin(azimuth), std::cos(polar));
        }
    add(0, 0, -1);
    const uint32_t last = static_cast<uint32_t>(triangles.vertices.size()) - 1;
    const auto vertex = [&](int ring, int sector) {
        if (ring == 0) return uint32_t{0};
        if (ring == kRings) return last;
        return static_cast<uint32_t>(1 + (ring - 1) * kSectors + sector % kSectors);
    };
    const auto triangle = [&](uint32_t a, uint32_t b, uint32_t c) {
        triangles.indices.insert(triangles.indices.end(), {a, b, c});
    };
    for (int ring = 0; ring < kRings; ++ring)
        for (int sector = 0; sector < kSectors; ++sector) {
            const uint32_t a = vertex(ring, sector), b = vertex(ring + 1, sector);
            const uint32_t c = vertex(ring + 1, sector + 1), d = vertex(ring, sector + 1);
            if (ring + 1 < kRings) triangle(a, b, c);
            if (ring > 0) triangle(a, c, d);
        }
    return triangles;
}

} // namespace voxshell::mujoco
