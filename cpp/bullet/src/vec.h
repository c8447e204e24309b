// Arithmetic on the C API's double vectors, and the only conversions from Bullet's types to them.
#ifndef VOXSHELL_BULLET_VEC_H
#define VOXSHELL_BULLET_VEC_H

#include <cmath>

#include <LinearMath/btTransform.h>
#include <voxshell/voxshell.h>

namespace voxshell_bullet
{
using Vec = vxs_vec3;

inline Vec operator+(const Vec& a, const Vec& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec operator-(const Vec& a, const Vec& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec operator-(const Vec& a) { return {-a.x, -a.y, -a.z}; }
inline Vec operator*(const Vec& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline double dot(const Vec& a, const Vec& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec cross(const Vec& a, const Vec& b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline double length2(const Vec& a) { return dot(a, a); }
inline double length(const Vec& a) { return std::sqrt(dot(a, a)); }

inline Vec to_vec(const btVector3& v) { return {double(v.x()), double(v.y()), double(v.z())}; }
inline btVector3 to_bt(const Vec& v) { return btVector3(btScalar(v.x), btScalar(v.y), btScalar(v.z)); }

/// Body to world. The quaternion is taken in double from the (float) matrix and normalised, as the C API checks it to 1e-6.
vxs_pose to_pose(const btTransform& t);

inline btTransform to_transform(const vxs_pose& p)
{
	return btTransform(btQuaternion(btScalar(p.qx), btScalar(p.qy), btScalar(p.qz), btScalar(p.qw)), to_bt(p.position));
}

/// A rotation and a translation that take points from one frame to another.
struct Frame
{
	Vec rows[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	Vec origin = {0, 0, 0};

	Frame() = default;
	explicit Frame(const vxs_pose& pose);
	Vec rotate(const Vec& v) const { return {dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)}; }
	Vec operator()(const Vec& p) const { return rotate(p) + origin; }
	Frame inverse() const;
	/// First `other`, then this.
	Frame operator*(const Frame& other) const;
	/// Returns the half extents of the axis-aligned box, in the target frame, around a box with these half extents.
	Vec turned_box(const Vec& half) const;
};

/// A rotation by a rotation vector, rad.
struct Turn
{
	Vec axis;  // times the sine of half the angle
	double cosine;

	explicit Turn(const Vec& by)
	{
		const double angle = length(by);
		axis = by * (angle > 1e-9 ? std::sin(0.5 * angle) / angle : 0.5);
		cosine = std::cos(0.5 * angle);
	}
	Vec operator()(const Vec& v) const
	{
		const Vec t = cross(axis, v) * 2;
		return v + t * cosine + cross(axis, t);
	}
};

/// Returns the largest distance between the images of a point under two frames, over all points of a ball; metres.
double displacement(const Frame& from, const Frame& to, const Vec& center, double radius);
/// The same along a unit vector of the target frame.
double displacement(const Frame& from, const Frame& to, const Vec& center, double radius, const Vec& along);
}  // namespace voxshell_bullet

#endif
