// One of the two shapes of a query: the library's shape at its pose, and the ids of its triangles.
#ifndef VOXSHELL_JOLT_SIDES_H
#define VOXSHELL_JOLT_SIDES_H

#include <voxshell/host.h>
#include <voxshell/jolt.h>

namespace voxshell::jolt {

struct Side {
    const vxs_shape* shape = nullptr;
    /// The shape whose triangles name the place of a contact; a shape without triangles for solids of Jolt.
    const vxs_shape* triangles = nullptr;
    vxs_pose pose = {{0, 0, 0}, 0, 0, 0, 1};
    const VoxshellShape* voxshell = nullptr; // null for a shape of Jolt
    const JPH::Shape* jolt = nullptr;
    const std::vector<uint32_t>* ids = nullptr;     // of a mesh or height field of Jolt
    const std::vector<vxs_vec3>* normals = nullptr; // of the triangles of a shape of Jolt
    const vxs_field* field = nullptr;               // of a solid of Jolt

    /// @param transform  of the centre of mass
    /// @return false if the shape has none that the library can use
    bool set(const JPH::Shape* shape, JPH::Vec3Arg scale, JPH::Mat44Arg transform);
    host::Body body() const;
    /// Returns whether a contact lies on the back of a one-sided triangle of Jolt.
    /// @param normal  from the other shape to this one, world
    bool is_back_face(uint32_t triangle, const vxs_vec3& normal) const;
    /// Returns the component of the outward normal of the surface along a direction; 1 where there is no outside.
    /// @param triangle  at the point
    /// @param point     on the surface, world
    double facing(uint32_t triangle, const vxs_vec3& point, const vxs_vec3& direction) const;
    JPH::SubShapeID id(const JPH::SubShapeIDCreator& creator, uint32_t triangle, uint32_t ordinal) const;
};

} // namespace voxshell::jolt

#endif
