// Shapes, oracles and helpers of the tests of the adapter to Jolt.
#ifndef VOXSHELL_TEST_JOLT_SCENE_H
#define VOXSHELL_TEST_JOLT_SCENE_H

#include <voxshell/jolt.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include <Jolt/Physics/Collision/CollideShape.h>
#include <Jolt/Physics/Collision/Shape/Shape.h>

#include "../bullet/check.h"

/// Triangles of the library's shape, relative to the centre of mass, in double precision.
struct Triangles {
    std::vector<vxs_vec3> vertices;
    std::vector<uint32_t> indices;

    size_t count() const { return indices.size() / 3; }
    const vxs_vec3& corner(size_t triangle, size_t i) const { return vertices[indices[3 * triangle + i]]; }
};

/// A body of the tests: a primitive of the library, its triangles and Jolt's shape of it.
struct Body {
    explicit Body(uint32_t kind, std::initializer_list<double> size = {});
    ~Body() { vxs_shape_release(asset); }
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

    vxs_shape* asset = nullptr;
    Triangles mesh;
    JPH::ShapeRefC shape;
};

/// A shape of Jolt, with its signed distance in closed form. Inside, the distance is exact; outside, it is at most the
/// true one.
struct Stock {
    std::string name;
    JPH::ShapeRefC shape;
    std::function<double(const vxs_vec3&)> distance; // relative to the centre of mass
};

std::vector<Stock> stock_shapes();

inline vxs_vec3 vxs(JPH::Vec3Arg v) { return {double(v.GetX()), double(v.GetY()), double(v.GetZ())}; }
inline JPH::Vec3 vec(const vxs_vec3& v) { return JPH::Vec3(float(v.x), float(v.y), float(v.z)); }
inline vxs_vec3 operator+(const vxs_vec3& a, const vxs_vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline vxs_vec3 operator-(const vxs_vec3& a, const vxs_vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline vxs_vec3 operator*(const vxs_vec3& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline double dot(const vxs_vec3& a, const vxs_vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline double length(const vxs_vec3& a) { return std::sqrt(dot(a, a)); }
inline vxs_vec3 cross(const vxs_vec3& a, const vxs_vec3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// Returns the distance from a point to the nearest of all triangles.
double distance_to(const Triangles& mesh, const vxs_vec3& point);

/// Returns the fractions of a segment at which it meets triangles, in ascending order (Möller & Trumbore 1997).
std::vector<double> crossings(const Triangles& mesh, const vxs_vec3& from, const vxs_vec3& to);

/// Returns all hits of two shapes.
std::vector<JPH::CollideShapeResult> collide(const JPH::Shape* a, JPH::Mat44Arg pose_a, const JPH::Shape* b,
                                             JPH::Mat44Arg pose_b, float max_separation = 0,
                                             JPH::Vec3Arg scale_a = JPH::Vec3::sReplicate(1),
                                             JPH::Vec3Arg scale_b = JPH::Vec3::sReplicate(1));

/// Returns the deepest hit; null without one.
const JPH::CollideShapeResult* deepest(const std::vector<JPH::CollideShapeResult>& hits);

JPH::Quat random_rotation(std::mt19937& random);
JPH::Vec3 random_direction(std::mt19937& random);
float random_number(std::mt19937& random, float low, float high);

// The parts of the test.
void test_shape();
void test_rays();
void test_casts();
void test_wrapped();
void test_sliding();
void test_walls();
void test_determinism();

#endif
