// Cooked shapes that stand for Jolt's own shapes.
#ifndef VOXSHELL_JOLT_PARTNERS_H
#define VOXSHELL_JOLT_PARTNERS_H

#include <array>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include <voxshell/host.h>
#include <voxshell/jolt.h>

namespace voxshell::jolt {

/// A shape of Jolt as the library takes it.
struct Partner {
    const vxs_shape* shape = nullptr;
    /// Rotation of the shape's frame in the frame of Jolt's shape. Both have the same origin.
    JPH::Quat turn = JPH::Quat::sIdentity();
    /// A mesh or a height field: the shape that has its triangles, and the value of the sub shape id of each of them.
    const vxs_shape* triangles = nullptr;
    const std::vector<uint32_t>* ids = nullptr;
    /// The normals of the triangles; null for balls, capsules and cylinders.
    const std::vector<vxs_vec3>* normals = nullptr;
    /// The field of a solid; null for triangles, meshes and height fields, which have two sides.
    const vxs_field* field = nullptr;
};

/// Finds and cooks the shapes. Any number of threads may call `find`.
///
/// Balls, boxes, capsules and cylinders are found by their sizes. All other shapes are found by their address: the
/// entry holds a reference, so that no other shape can get the address. Entries whose shape nobody else holds are
/// removed when a new one is added. Shapes that are embedded in other objects cannot be held, and are found by their
/// triangles.
class Partners {
public:
    Partners(const Settings& settings) : m_settings(settings), m_assets(settings.cache_directory) {}

    /// Finds the shape of a convex shape, mesh or height field.
    /// @return false if there is none: it cannot be cooked, or is of another type
    bool find(const JPH::Shape* shape, JPH::Vec3Arg scale, Partner& partner);

private:
    struct Entry {
        JPH::ShapeRefC held; // null for an embedded shape
        vxs_shape *shape = nullptr, *triangles = nullptr;
        vxs_field* field = nullptr;
        JPH::Quat turn = JPH::Quat::sIdentity();
        std::vector<uint32_t> ids;
        std::vector<vxs_vec3> normals;

        Entry() = default;
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        ~Entry() {
            vxs_shape_release(shape);
            vxs_shape_release(triangles);
            vxs_field_release(field);
        }
    };
    using AddressKey = std::pair<const JPH::Shape*, std::array<float, 3>>;
    /// Type and sizes.
    using StockKey = std::array<float, 4>;

    /// Finds an entry under the shared lock, and makes it under the exclusive lock if there is none.
    template <class Key, class Make>
    const Entry& find_entry(std::map<Key, std::unique_ptr<Entry>>& entries, const Key& key, const Make& make);
    std::unique_ptr<Entry> cook_stock(const StockKey& key);
    std::unique_ptr<Entry> cook(const JPH::Shape* shape, JPH::Vec3Arg scale) const;
    vxs_status cook_solid(const std::vector<vxs_vec3>& corners, Entry& entry) const;
    vxs_status cook_sheet(const std::vector<vxs_vec3>& corners, Entry& entry) const;

    const Settings m_settings;
    host::AssetCache m_assets;
    host::StockShapes m_stock;
    std::shared_mutex m_mutex; // of the maps
    std::map<StockKey, std::unique_ptr<Entry>> m_by_size;
    std::map<AddressKey, std::unique_ptr<Entry>> m_by_address;
    std::map<std::string, std::unique_ptr<Entry>> m_by_content;
};

} // namespace voxshell::jolt

#endif
