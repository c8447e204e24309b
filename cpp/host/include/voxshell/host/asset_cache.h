// Cooked shapes of meshes, kept in a directory between runs of the program.
#ifndef VOXSHELL_HOST_ASSET_CACHE_H
#define VOXSHELL_HOST_ASSET_CACHE_H

#include <cstddef>
#include <cstdint>
#include <string>

#include <voxshell/cook.h>

namespace voxshell::host {

/// Triangles of a host; nothing is copied.
struct Mesh {
    /// Metres, body frame.
    const vxs_vec3* vertices = nullptr;
    size_t vertex_count = 0;
    /// Three vertex numbers per triangle, counter-clockwise seen from outside.
    const uint32_t* indices = nullptr;
    size_t triangle_count = 0;
};

/// A directory of asset files. The name of a file is the SHA-256 hash of the library's version, the mesh and the
/// cooking options, so that files are never out of date. Several processes and threads may use one directory at once.
class AssetCache {
public:
    /// Where a shape came from.
    enum class Origin {
        /// A file of the directory.
        Loaded,
        /// Cooked, because there was no such file, or a file that is damaged or holds another mesh.
        Cooked,
        /// Cooked, and the file could not be written; the log (vxs_set_log) has the reason as a warning.
        NotSaved,
    };

    /// @param directory  created when first needed; empty: shapes are cooked each time
    explicit AssetCache(std::string directory) : m_directory(std::move(directory)) {}

    /// Gets the cooked shape of a mesh.
    ///
    /// A file is used only if its checksums are right and its triangles are those of `mesh`, whose vertices may repeat:
    /// cooking merges them. New files are written to a temporary name and renamed, so that no other process sees half of one.
    /// @param options     null for the defaults; `progress` is called while cooking
    /// @param[out] shape  release it with vxs_shape_release
    /// @param[out] origin may be null
    /// @return VXS_OK, VXS_INVALID_ARGUMENT, or what vxs_shape_create_from_triangles returns
    vxs_status get(const Mesh& mesh, const vxs_cook_options* options, vxs_shape** shape,
                   Origin* origin = nullptr) const;

    /// Returns the path of a mesh's file; empty without a directory or a mesh.
    std::string path_of(const Mesh& mesh, const vxs_cook_options* options) const;

    const std::string& directory() const { return m_directory; }

private:
    std::string m_directory;
};

} // namespace voxshell::host

#endif
