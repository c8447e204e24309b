// Shapes of the geoms of a model.
#ifndef VOXSHELL_MUJOCO_GEOM_SHAPES_H
#define VOXSHELL_MUJOCO_GEOM_SHAPES_H

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <voxshell/voxshell.h>

#include "mujoco_library.h"
#include "settings.h"
#include "triangles.h"

namespace voxshell::mujoco {

/// A handle to a shape that several owners share.
using SharedShape = std::shared_ptr<const vxs_shape>;

/// Gets the shape of a mesh of the model: from this process, from the cache directory, or by cooking.
///
/// Vertices are those of the compiled model, so the shape's frame is that of the geom. The cache directory is the value
/// of VOXSHELL_CACHE, if that is set (empty: no directory), or else voxshell in the user's cache directory.
/// @param[out] error  the reason, if the result is null
SharedShape mesh_shape(const mjModel* model, int mesh, const Settings& settings, std::string& error);

/// The shapes of the geoms of one mjData. The shape of a geom follows the model of each call: a program may change the
/// size of a geom between two steps, and may use one mjData with several models of the same sizes.
///
/// `get` may be called by several threads at once.
class GeomShapes {
public:
    GeomShapes(const MujocoLibrary& library, int geom_count);
    ~GeomShapes();
    GeomShapes(const GeomShapes&) = delete;
    GeomShapes& operator=(const GeomShapes&) = delete;

    /// Returns the shape of a geom, null if it has none: a height field, or a mesh that cannot be cooked.
    ///
    /// @param settings    of the geom's mesh
    /// @param[out] error  the reason, if the result is null
    const vxs_shape* get(const mjModel* model, int geom, const Settings& settings, std::string& error);

private:
    /// Values of the model on which a shape depends. For a mesh: its counts, and the coordinates of some vertices, so
    /// that another mesh is noticed without reading all of it in each step.
    struct Key {
        static constexpr int kProbes = 8;
        int type = -1, vertex_count = 0, face_count = 0;
        std::array<mjtNum, 3> size{};
        std::array<float, 3 * kProbes> probes{};
        bool operator==(const Key& other) const {
            return type == other.type && vertex_count == other.vertex_count && face_count == other.face_count &&
                   size == other.size && probes == other.probes;
        }
    };

    /// Shapes that a geom has had, the newest first. Entries are added and never changed, so that readers need no lock.
    struct Entry {
        Key key;
        SharedShape shape;
        std::string error;
        Entry* next = nullptr;
    };

    static Key key_of(const mjModel* model, int geom);

    const MujocoLibrary& m_library;
    std::vector<std::atomic<Entry*>> m_entries;
};

} // namespace voxshell::mujoco

#endif
