#include <voxshell/host/asset_cache.h>

#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include <voxshell/base.h>
#include <voxshell/shape.h>

#include "sha256.h"
#include "vec.h"

namespace voxshell::host {
namespace {

void add(Sha256& hash, double value) {
    // Both zeros are one number.
    value = value == 0 ? 0 : value;
    hash.add(&value, sizeof value);
}

void add(Sha256& hash, uint64_t value) { hash.add(&value, sizeof value); }

/// Hashes everything that decides the bytes of a cooked shape.
std::string key_of(const Mesh& mesh, const vxs_cook_options& o) {
    Sha256 hash;
    const char* const version = vxs_version_string();
    hash.add(version, std::strlen(version) + 1);
    add(hash, uint64_t(mesh.vertex_count));
    for (size_t i = 0; i < mesh.vertex_count; ++i) {
        add(hash, mesh.vertices[i].x);
        add(hash, mesh.vertices[i].y);
        add(hash, mesh.vertices[i].z);
    }
    add(hash, uint64_t(mesh.triangle_count));
    hash.add(mesh.indices, 3 * mesh.triangle_count * sizeof *mesh.indices);
    const uint64_t numbers[] = {o.forms,     o.resolution, o.padding_voxels, o.sample_count,  o.sampling,
                                o.branching, o.tree,       o.memory_limit,   o.field_storage, o.clustering};
    const double lengths[] = {o.voxel_size, o.spacing, o.sharp_angle, o.weld_tolerance, o.target_error, o.offset};
    for (const uint64_t number : numbers) add(hash, number);
    for (const double length : lengths) add(hash, length);
    return hash.finish();
}

bool is_mesh(const Mesh& mesh) { return mesh.vertices && mesh.indices && mesh.vertex_count && mesh.triangle_count; }

/// Returns whether a shape was cooked from a mesh: it has the same triangles in the same order, corner by corner.
///
/// Cooking merges vertices at equal coordinates, or up to `weld_tolerance` apart, and so renumbers them. It moves none by
/// more than the tolerance, and keeps all triangles. The numbers of the vertices therefore say nothing, their positions do.
bool holds(const vxs_shape* shape, const Mesh& mesh, double weld_tolerance) {
    size_t vertex_count = 0, index_count = 0;
    const vxs_status sizes = vxs_shape_get_triangles(shape, nullptr, 0, &vertex_count, nullptr, 0, &index_count);
    if (sizes != VXS_TRUNCATED || vertex_count > mesh.vertex_count || index_count != 3 * mesh.triangle_count)
        return false;
    std::vector<vxs_vec3> vertices(vertex_count);
    std::vector<uint32_t> indices(index_count);
    if (vxs_shape_get_triangles(shape, vertices.data(), vertex_count, &vertex_count, indices.data(), index_count,
                                &index_count))
        return false;
    // The library compares squares, whose rounding must not make a difference here.
    const double reach2 = weld_tolerance * weld_tolerance * (1 + 1e-12);
    for (size_t i = 0; i < index_count; ++i) {
        if (mesh.indices[i] >= mesh.vertex_count)
            return false;
        if (!(length2(vertices[indices[i]] - mesh.vertices[mesh.indices[i]]) <= reach2))
            return false;
    }
    return true;
}

void warn(const std::string& message) { vxs_log(VXS_LOG_WARNING, message.c_str()); }

/// Writes a shape to a file; false with a warning when that is not possible.
bool save(const vxs_shape* shape, const std::string& directory, const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) {
        warn("asset cache: " + directory + " cannot be created: " + error.message());
        return false;
    }
    if (vxs_shape_save(shape, path.c_str())) {
        warn("asset cache: " + path + " was not written: " + vxs_last_error());
        return false;
    }
    return true;
}

/// Loads the shape of a mesh from a file; null when the file is absent or not to be trusted.
vxs_shape* load(const std::string& path, const Mesh& mesh, double weld_tolerance) {
    std::error_code error;
    if (!std::filesystem::exists(path, error))
        return nullptr;
    vxs_shape* shape = nullptr;
    if (vxs_shape_load(path.c_str(), &shape)) {
        warn("asset cache: " + path + " is cooked again: " + vxs_last_error());
        return nullptr;
    }
    if (holds(shape, mesh, weld_tolerance))
        return shape;
    warn("asset cache: " + path + " is cooked again: it holds another mesh");
    vxs_shape_release(shape);
    return nullptr;
}

} // namespace

std::string AssetCache::path_of(const Mesh& mesh, const vxs_cook_options* options) const {
    if (m_directory.empty() || !is_mesh(mesh))
        return std::string();
    vxs_cook_options defaults;
    vxs_cook_options_init(&defaults, sizeof defaults);
    const std::string name = key_of(mesh, options ? *options : defaults) + ".vxs";
    return (std::filesystem::u8path(m_directory) / name).u8string();
}

vxs_status AssetCache::get(const Mesh& mesh, const vxs_cook_options* options, vxs_shape** shape, Origin* origin) const {
    const std::string path = shape ? path_of(mesh, options) : std::string();
    if (!path.empty()) {
        if (vxs_shape* const loaded = load(path, mesh, options ? options->weld_tolerance : 0)) {
            *shape = loaded;
            if (origin)
                *origin = Origin::Loaded;
            return VXS_OK;
        }
    }
    // A mesh that is not one, and a null pointer, are refused here with the library's own message.
    const vxs_status status = vxs_shape_create_from_triangles(mesh.vertices, mesh.vertex_count, mesh.indices,
                                                              mesh.triangle_count, options, shape);
    if (status)
        return status;
    const bool saved = path.empty() || save(*shape, m_directory, path);
    if (origin)
        *origin = saved ? Origin::Cooked : Origin::NotSaved;
    return VXS_OK;
}

} // namespace voxshell::host
