/* Voxshell for C++17: shapes, their fields and pointshells, files, and segments against them. */
#ifndef VOXSHELL_SHAPE_HPP
#define VOXSHELL_SHAPE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base.hpp"
#include "cook.hpp"
#include "shape.h"

VOXSHELL_NAMESPACE_BEGIN

using MassProperties = vxs_mass_properties;

/** `vxs_shape_info`. */
struct ShapeInfo : vxs_shape_info {
  ShapeInfo() { detail::check(vxs_shape_info_init(this, sizeof(vxs_shape_info))); }
};

/** Triangles for drawing. */
struct Triangles {
  std::vector<Vec3> vertices;
  /** Three per triangle. */
  std::vector<std::uint32_t> indices;
};

/** Samples of a pointshell, in the order of their feature numbers. */
struct Samples {
  std::vector<Vec3> points;
  std::vector<Vec3> normals;
};

/** The point where a segment enters a shape. */
struct SegmentHit {
  double fraction;
  Vec3 point;
  Vec3 normal;
};

/** A signed distance field, shared with the shape from which it comes. */
class Field {
 public:
  double distance(const Vec3& point) const {
    double value = 0;
    detail::check(vxs_field_distance(handle_.get(), point, &value, nullptr));
    return value;
  }
  /** Returns distance and gradient. */
  std::pair<double, Vec3> distance_gradient(const Vec3& point) const {
    std::pair<double, Vec3> value{};
    detail::check(vxs_field_distance(handle_.get(), point, &value.first, &value.second));
    return value;
  }
  const vxs_field* c_handle() const noexcept { return handle_.get(); }
  /** False if it was moved from, or could not be created. */
  explicit operator bool() const noexcept { return handle_.get() != nullptr; }

 private:
  friend class Shape;
  detail::Handle<vxs_field, vxs_field_release> handle_;
};

/** A pointshell, shared with the shape from which it comes. */
class PointShell {
 public:
  Samples get_samples() const {
    Samples samples;
    std::size_t count = 0;
    if (!detail::check(vxs_pointshell_get_samples(handle_.get(), nullptr, nullptr, 0, &count))) return samples;
    samples.points.resize(count);
    samples.normals.resize(count);
    detail::check(vxs_pointshell_get_samples(handle_.get(), samples.points.data(), samples.normals.data(), count, &count));
    return samples;
  }
  const vxs_pointshell* c_handle() const noexcept { return handle_.get(); }
  /** False if it was moved from, or could not be created. */
  explicit operator bool() const noexcept { return handle_.get() != nullptr; }

 private:
  friend class Shape;
  detail::Handle<vxs_pointshell, vxs_pointshell_release> handle_;
};

/** A shape. Copies share the data, which never changes. */
class Shape {
 public:
  Shape(Shape&&) noexcept = default;
  Shape& operator=(Shape&&) noexcept = default;
  Shape(const Shape& other) {
    if (other) detail::check(vxs_shape_retain(other.handle_.get(), handle_.out()));
  }
  Shape& operator=(const Shape& other) { return *this = Shape(other); }
  /** Takes ownership of a handle of the C API. */
  explicit Shape(vxs_shape* handle) noexcept : handle_(handle) {}

  static Shape create_from_triangles(const Vec3* vertices, std::size_t vertex_count, const std::uint32_t* indices,
                                     std::size_t triangle_count, const CookOptions& options = {}) {
    return cook(options, [&](const vxs_cook_options* o, vxs_shape** out) {
      return vxs_shape_create_from_triangles(vertices, vertex_count, indices, triangle_count, o, out);
    });
  }
  static Shape create_from_triangles(const std::vector<Vec3>& vertices, const std::vector<std::uint32_t>& indices,
                                     const CookOptions& options = {}) {
    if (!detail::require_triangles(indices)) return Shape();
    return create_from_triangles(vertices.data(), vertices.size(), indices.data(), indices.size() / 3, options);
  }
  static Shape create_from_file(const std::string& path, const CookOptions& options = {}) {
    return cook(options, [&](const vxs_cook_options* o, vxs_shape** out) {
      return vxs_shape_create_from_file(path.c_str(), o, out);
    });
  }
  static Shape create_primitive(const Primitive& primitive, const CookOptions& options = {}) {
    return cook(options, [&](const vxs_cook_options* o, vxs_shape** out) {
      return vxs_shape_create_primitive(&primitive, o, out);
    });
  }
  static Shape create_half_space(const Vec3& normal, double offset) {
    return make([&](vxs_shape** out) { return vxs_shape_create_half_space(normal, offset, out); });
  }
  static Shape create_box(const Vec3& half_extents) {
    return make([&](vxs_shape** out) { return vxs_shape_create_box(half_extents, out); });
  }
  static Shape create_sphere(double radius) {
    return make([&](vxs_shape** out) { return vxs_shape_create_sphere(radius, out); });
  }
  static Shape create_capsule(double radius, double half_height, std::uint32_t axis) {
    return make([&](vxs_shape** out) { return vxs_shape_create_capsule(radius, half_height, axis, out); });
  }
  static Shape create_cylinder(double radius, double half_height, std::uint32_t axis) {
    return make([&](vxs_shape** out) { return vxs_shape_create_cylinder(radius, half_height, axis, out); });
  }
  static Shape create_cone(double radius, double height, std::uint32_t axis) {
    return make([&](vxs_shape** out) { return vxs_shape_create_cone(radius, height, axis, out); });
  }
  static Shape create_torus(double ring_radius, double tube_radius, std::uint32_t axis) {
    return make([&](vxs_shape** out) { return vxs_shape_create_torus(ring_radius, tube_radius, axis, out); });
  }
  static Shape create_convex_hull(const std::vector<Vec3>& points) {
    return make([&](vxs_shape** out) { return vxs_shape_create_convex_hull(points.data(), points.size(), out); });
  }
  static Shape create_triangles(const std::vector<Vec3>& vertices, const std::vector<std::uint32_t>& indices,
                                double weld_tolerance = 0) {
    if (!detail::require_triangles(indices)) return Shape();
    return make([&](vxs_shape** out) {
      return vxs_shape_create_triangles(vertices.data(), vertices.size(), indices.data(), indices.size() / 3, weld_tolerance,
                                        out);
    });
  }
  static Shape create_sheet(const std::vector<Vec3>& vertices, const std::vector<std::uint32_t>& indices, double depth) {
    if (!detail::require_triangles(indices)) return Shape();
    return make([&](vxs_shape** out) {
      return vxs_shape_create_sheet(vertices.data(), vertices.size(), indices.data(), indices.size() / 3, depth, out);
    });
  }
  static Shape create_sphere_hull(const std::vector<Vec3>& centers, const std::vector<double>& radii) {
    if (!detail::require(centers.size() == radii.size(), "radii: expected one for each center")) return Shape();
    return make([&](vxs_shape** out) {
      return vxs_shape_create_sphere_hull(centers.data(), radii.data(), centers.size(), out);
    });
  }
  static Shape create_scaled(const Shape& shape, double factor) {
    return make([&](vxs_shape** out) { return vxs_shape_create_scaled(shape.c_handle(), factor, out); });
  }
  /** Creates a shape that shares all data of `shape` and has a material number for each triangle. */
  static Shape create_with_materials(const Shape& shape, const std::vector<std::uint32_t>& materials) {
    return make([&](vxs_shape** out) {
      return vxs_shape_create_with_materials(shape.c_handle(), materials.data(), materials.size(), out);
    });
  }
  static Shape load(const std::string& path) {
    return make([&](vxs_shape** out) { return vxs_shape_load(path.c_str(), out); });
  }
  /** Creates a shape from the bytes of `serialize`, or of a file. */
  static Shape deserialize(const void* bytes, std::size_t size) {
    return make([&](vxs_shape** out) { return vxs_shape_deserialize(bytes, size, out); });
  }
  /** Creates a shape from existing forms; either may be null. */
  static Shape create(const Field* field, const PointShell* pointshell) {
    return make([&](vxs_shape** out) {
      return vxs_shape_create(field ? field->c_handle() : nullptr, pointshell ? pointshell->c_handle() : nullptr, out);
    });
  }

  /** `store`: one of `VXS_STORE_`. */
  void save(const std::string& path, std::uint32_t store = VXS_STORE_COMPRESSED) const {
    detail::check(vxs_shape_save_as(handle_.get(), path.c_str(), store));
  }
  /** Returns the bytes that `save` writes. */
  std::vector<unsigned char> serialize() const {
    // This size is enough for most shapes at the first call.
    std::vector<unsigned char> bytes(1 << 16);
    std::size_t size = 0;
    vxs_status status = VXS_TRUNCATED;
    while (status == VXS_TRUNCATED) {
      status = vxs_shape_serialize(handle_.get(), bytes.data(), bytes.size(), &size);
      if (!detail::check(status)) return {};
      bytes.resize(size);
    }
    return bytes;
  }
  /// See `vxs_shape_prepare_coverage`.
  void prepare_coverage(std::uint32_t coverage) const {
    detail::check(vxs_shape_prepare_coverage(handle_.get(), coverage));
  }
  /// See `vxs_shape_prepare_extremes`.
  void prepare_extremes() const { detail::check(vxs_shape_prepare_extremes(handle_.get())); }

  /// See `vxs_shape_prepare_triangles`.
  void prepare_triangles() const { detail::check(vxs_shape_prepare_triangles(handle_.get())); }
  /** Returns the material numbers of the triangles; empty without materials. */
  std::vector<std::uint32_t> get_materials() const {
    std::vector<std::uint32_t> materials;
    std::size_t count = 0;
    if (!detail::check(vxs_shape_get_materials(handle_.get(), nullptr, 0, &count))) return materials;
    materials.resize(count);
    detail::check(vxs_shape_get_materials(handle_.get(), materials.data(), materials.size(), &count));
    return materials;
  }

  Aabb get_bounds() const {
    Aabb bounds{};
    detail::check(vxs_shape_get_bounds(handle_.get(), &bounds));
    return bounds;
  }
  MassProperties get_mass_properties() const {
    MassProperties mass{};
    detail::check(vxs_shape_get_mass_properties(handle_.get(), &mass));
    return mass;
  }
  ShapeInfo get_info() const {
    ShapeInfo info;
    detail::check(vxs_shape_get_info(handle_.get(), &info));
    return info;
  }
  Triangles get_triangles() const {
    Triangles t;
    std::size_t vertices = 0, indices = 0;
    if (!detail::check(vxs_shape_get_triangles(handle_.get(), nullptr, 0, &vertices, nullptr, 0, &indices))) return t;
    t.vertices.resize(vertices);
    t.indices.resize(indices);
    detail::check(vxs_shape_get_triangles(handle_.get(), t.vertices.data(), vertices, &vertices, t.indices.data(),
                                          indices, &indices));
    return t;
  }
  /** Returns the first sample of each segment of a level of the sphere tree; samples of a segment have consecutive numbers. */
  std::vector<std::uint32_t> get_segments(std::uint32_t level) const {
    std::vector<std::uint32_t> first;
    std::size_t count = 0;
    if (!detail::check(vxs_shape_get_segments(handle_.get(), level, nullptr, 0, &count))) return first;
    first.resize(count);
    detail::check(vxs_shape_get_segments(handle_.get(), level, first.data(), first.size(), &count));
    return first;
  }
  std::optional<SegmentHit> query_segment(const Vec3& from, const Vec3& to) const {
    vxs_segment_hit hit{};
    detail::check(vxs_shape_query_segment(handle_.get(), from, to, &hit));
    if (!hit.hit) return std::nullopt;
    return SegmentHit{hit.fraction, hit.point, hit.normal};
  }
  /** Finds the first intersection of each segment; `hit` is true if there is one. */
  std::vector<vxs_segment_hit> query_segments(const std::vector<Vec3>& from, const std::vector<Vec3>& to) const {
    std::vector<vxs_segment_hit> hits;
    if (!detail::require(from.size() == to.size(), "to: expected one for each of from")) return hits;
    hits.resize(from.size());
    if (!detail::check(vxs_shape_query_segments(handle_.get(), from.data(), to.data(), from.size(), hits.data()))) hits.clear();
    return hits;
  }
  /** Finds all crossings, in order. */
  std::vector<SegmentHit> query_crossings(const Vec3& from, const Vec3& to) const {
    std::vector<vxs_segment_hit> found(4);
    std::size_t count = 0;
    detail::check(vxs_shape_query_crossings(handle_.get(), from, to, found.data(), found.size(), &count));
    if (count > found.size()) {
      found.resize(count);
      detail::check(vxs_shape_query_crossings(handle_.get(), from, to, found.data(), found.size(), &count));
    }
    std::vector<SegmentHit> hits;
    hits.reserve(count);
    for (std::size_t i = 0; i < count; i++) hits.push_back({found[i].fraction, found[i].point, found[i].normal});
    return hits;
  }
  /** Finds the parts of a segment that are inside the shape, in order. */
  std::vector<vxs_interval> query_intervals(const Vec3& from, const Vec3& to, const vxs_segment_query* query = nullptr) const {
    std::vector<vxs_interval> found(4);
    std::size_t count = 0;
    detail::check(vxs_shape_query_intervals(handle_.get(), from, to, query, found.data(), found.size(), &count));
    const bool more = count > found.size();
    found.resize(count);
    if (more) detail::check(vxs_shape_query_intervals(handle_.get(), from, to, query, found.data(), found.size(), &count));
    return found;
  }
  Field get_field() const {
    Field field;
    detail::check(vxs_shape_get_field(handle_.get(), field.handle_.out()));
    return field;
  }
  PointShell get_pointshell() const {
    PointShell pointshell;
    detail::check(vxs_shape_get_pointshell(handle_.get(), pointshell.handle_.out()));
    return pointshell;
  }
  const vxs_shape* c_handle() const noexcept { return handle_.get(); }
  /** False if it was moved from, or could not be created. */
  explicit operator bool() const noexcept { return handle_.get() != nullptr; }

 private:
  Shape() noexcept = default;

  template <class F>
  static Shape make(F call) {
    Shape shape;
    detail::check(call(shape.handle_.out()));
    return shape;
  }

  template <class F>
  static Shape cook(const CookOptions& options, F call) {
    vxs_cook_options c_options = options;
    detail::CookProgress progress{&options};
    if (options.on_progress) {
      c_options.progress = detail::CookProgress::call;
      c_options.progress_user = &progress;
    }
    Shape shape;
    vxs_status status = call(&c_options, shape.handle_.out());
    progress.rethrow();
    detail::check(status);
    return shape;
  }

  detail::Handle<vxs_shape, vxs_shape_release> handle_;
};

VOXSHELL_NAMESPACE_END

#endif
