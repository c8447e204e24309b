// Conversions between Jolt's single precision and the C API's double precision.
#ifndef VOXSHELL_JOLT_CONVERT_H
#define VOXSHELL_JOLT_CONVERT_H

#include <cmath>

#include <voxshell/jolt.h>

namespace voxshell::jolt {

inline vxs_vec3 to_vxs(JPH::Vec3Arg v) { return {double(v.GetX()), double(v.GetY()), double(v.GetZ())}; }
inline JPH::Vec3 to_jolt(const vxs_vec3& v) { return JPH::Vec3(float(v.x), float(v.y), float(v.z)); }
inline double dot(const vxs_vec3& a, const vxs_vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline vxs_vec3 sum(const vxs_vec3& a, const vxs_vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline vxs_vec3 difference(const vxs_vec3& a, const vxs_vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline vxs_vec3 times(const vxs_vec3& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline vxs_vec3 cross(const vxs_vec3& a, const vxs_vec3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// Returns a direction of the world in the frame of a body.
inline vxs_vec3 to_body(const vxs_pose& pose, const vxs_vec3& direction) {
    const vxs_vec3 q = {-pose.qx, -pose.qy, -pose.qz}, t = times(cross(q, direction), 2);
    return sum(direction, sum(times(t, pose.qw), cross(q, t)));
}

/// Returns the pose of a frame whose axes are those of a transform.
/// @param transform  rotation and translation
/// @param origin     of the frame, in the frame of the transform
/// @param turn       rotation of the frame in the frame of the transform
inline vxs_pose pose_of(JPH::Mat44Arg transform, JPH::Vec3Arg origin, JPH::QuatArg turn = JPH::Quat::sIdentity()) {
    const JPH::Quat q = transform.GetRotation().GetQuaternion() * turn;
    const double x = double(q.GetX()), y = double(q.GetY()), z = double(q.GetZ()), w = double(q.GetW());
    // Jolt's rounding is larger than the library accepts.
    const double k = 1 / std::sqrt(x * x + y * y + z * z + w * w);
    return {to_vxs(transform * origin), k * x, k * y, k * z, k * w};
}

/// A pose that changes nothing.
inline vxs_pose identity_pose() { return {{0, 0, 0}, 0, 0, 0, 1}; }

} // namespace voxshell::jolt

#endif
