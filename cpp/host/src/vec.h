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

} // namespace voxshell::host

#endif
