// Vector arithmetic on the C API's own type.
#ifndef VOXSHELL_HOST_VEC_H
#define VOXSHELL_HOST_VEC_H

#include <cmath>

#include <voxshell/base.h>

namespace voxshell::host {

inline vxs_vec3 operator+(const vxs_vec3& a, const vxs_vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline vxs_vec3 operator-(const vxs_vec3& a, const vxs_vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline vxs_vec3 operator-(const vxs_vec3& a) { return {-a.x, -a.y, -a.z}; }
inline vxs_vec3 operator*(const vxs_vec3& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline double dot(const vxs_vec3& a, const vxs_vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline vxs_vec3 cross(const vxs_vec3& a, const vxs_vec3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double length2(const vxs_vec3& a) { return dot(a, a); }
inline double length(const vxs_vec3& a) { return std::sqrt(length2(a)); }

/// Returns a direction of the world in the frame of a body.
inline vxs_vec3 turn_to_body(const vxs_pose& pose, const vxs_vec3& world) {
    const vxs_vec3 q = {-pose.qx, -pose.qy, -pose.qz};
    const vxs_vec3 t = cross(q, world) * 2;
    return world + t * pose.qw + cross(q, t);
}

/// Returns a point of the world in the frame of a body.
inline vxs_vec3 to_body(const vxs_pose& pose, const vxs_vec3& world) { return turn_to_body(pose, world - pose.position); }

} // namespace voxshell::host

#endif
