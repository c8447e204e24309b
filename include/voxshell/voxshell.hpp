/* Voxshell for C++17: the C API of voxshell.h with destructors, exceptions and containers. Header-only. The functions have
 * the names, arguments and meaning of the C functions, whose headers describe them.
 *
 *     auto bunny = voxshell::Shape::create_from_file("bunny.obj");
 *     auto floor = voxshell::Shape::create_half_space({0, 0, 1}, 0);
 *     voxshell::Workspace workspace;
 *     for (const voxshell::Contact& c : query_contacts(bunny, pose, floor, voxshell::identity(), {}, workspace))
 *       std::printf("%g m deep\n", -c.separation);
 *
 * Without exceptions (-fno-exceptions, or VOXSHELL_NO_EXCEPTIONS defined before this header is included) the functions are
 * the same. A function that fails calls the error handler, which by default prints the message and aborts, as a failed
 * assert does. If a handler set by `set_error_handler` returns, the function returns an empty result: a shape that is false,
 * no contacts, 0.
 */
#ifndef VOXSHELL_VOXSHELL_HPP
#define VOXSHELL_VOXSHELL_HPP

// GCC, Clang and MSVC define this where exceptions are enabled.
#if !defined(VOXSHELL_NO_EXCEPTIONS) && !defined(__cpp_exceptions) && !defined(_CPPUNWIND)
#define VOXSHELL_NO_EXCEPTIONS
#endif

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#ifdef VOXSHELL_NO_EXCEPTIONS
#include <atomic>
#include <cstdio>
#include <cstdlib>
#else
#include <exception>
#include <stdexcept>
#endif

#include "voxshell.h"

namespace voxshell {
#ifdef VOXSHELL_NO_EXCEPTIONS
// A namespace of its own, so that files compiled with exceptions and without may be linked into one program.
inline namespace no_exceptions {
#endif

using Vec3 = vxs_vec3;
using Pose = vxs_pose;
using Aabb = vxs_aabb;
using Contact = vxs_contact;
using MassProperties = vxs_mass_properties;
using Motion = vxs_motion;
using MotionContact = vxs_motion_contact;
using Twist = vxs_twist;
using Wrench = vxs_wrench;
using DeviceState = vxs_device_state;
using Kinematics = vxs_kinematics;
using Response = vxs_response;
using Sweep = vxs_sweep;
using Mobility = vxs_mobility;
using Impulses = vxs_impulses;
using HapticsLimits = vxs_haptics_limits;
using HapticsOutput = vxs_haptics_output;
using HapticsMotion = vxs_haptics_motion;

/** Identity pose. */
inline Pose identity() { return Pose{{0, 0, 0}, 0, 0, 0, 1}; }

#ifdef VOXSHELL_NO_EXCEPTIONS

/** Called when a call does not succeed. `message` is the text of `vxs_last_error()`. */
using ErrorHandler = void (*)(vxs_status status, const char* message);

namespace detail {

inline void print_and_abort(vxs_status status, const char* message) {
  std::fprintf(stderr, "voxshell: %s: %s\n", vxs_status_name(status), message);
  std::abort();
}

inline std::atomic<ErrorHandler> error_handler{print_and_abort};

inline void fail(vxs_status status, const char* message) { error_handler.load()(status, message); }

}  // namespace detail

/** Sets the function that is called when a call does not succeed, on any thread, and returns the previous one. Null: no
 * function is called, and the user gets the empty results and `vxs_last_error()`. */
inline ErrorHandler set_error_handler(ErrorHandler handler) {
  return detail::error_handler.exchange(handler ? handler : [](vxs_status, const char*) {});
}

#else

/** A call that did not succeed; `what()` is the text of `vxs_last_error()`. */
class Error : public std::runtime_error {
 public:
  Error(vxs_status status, const char* message) : std::runtime_error(message), status_(status) {}
  vxs_status status() const noexcept { return status_; }

 private:
  vxs_status status_;
};

namespace detail {

[[noreturn]] inline void fail(vxs_status status, const char* message) { throw Error(status, message); }

}  // namespace detail

#endif

namespace detail {

/** Returns true if the call has written its outputs. Otherwise it fails. */
inline bool check(vxs_status status) {
  if (status == VXS_OK || status == VXS_TRUNCATED) return true;
  fail(status, vxs_last_error());
  return false;
}

/** Returns `holds`. If it is false, fails with this message. */
inline bool require(bool holds, const char* message) {
  if (!holds) fail(VXS_INVALID_ARGUMENT, message);
  return holds;
}

inline bool require_triangles(const std::vector<std::uint32_t>& indices) {
  return require(indices.size() % 3 == 0, "indices: expected three for each triangle");
}

/** Owns one handle. */
template <class T, vxs_status (*release)(T*)>
class Handle {
 public:
  Handle() noexcept = default;
  explicit Handle(T* handle) noexcept : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { release(handle_); }

  T* get() const noexcept { return handle_; }
/** For the C functions that create a handle: releases the handle held and returns the address for the new one. */
  T** out() {
    release(std::exchange(handle_, nullptr));
    return &handle_;
  }

 private:
  T* handle_ = nullptr;
};

}  // namespace detail

/** Sets the function that gets the messages of the library up to `level`, for the whole process; an empty function removes
 * it. It is called on the thread that produces a message, by several threads at once; exceptions that it throws are
 * dropped. See `vxs_set_log`. */
inline void set_log(std::function<void(std::uint32_t level, const char* message)> log,
                    std::uint32_t level = VXS_LOG_WARNING) {
  using Function = decltype(log);
  // Removes itself before it is destroyed, at the latest at the end of the program.
  struct Hook {
    Function log;
    explicit Hook(Function f) : log(std::move(f)) {}
    ~Hook() { vxs_set_log(nullptr, 0, nullptr); }
    static void call(std::uint32_t level, const char* message, void* user) {
#ifndef VOXSHELL_NO_EXCEPTIONS
      try {
        static_cast<Hook*>(user)->log(level, message);
      } catch (...) {
      }
#else
      static_cast<Hook*>(user)->log(level, message);
#endif
    }
  };
  static std::mutex setting;
  static std::unique_ptr<Hook> current;
  const std::lock_guard<std::mutex> lock(setting);
  current.reset();
  if (!log) return;
  auto next = std::make_unique<Hook>(std::move(log));
  if (detail::check(vxs_set_log(Hook::call, level, next.get()))) current = std::move(next);
}

/** `vxs_cook_options` with its defaults; the progress callback is a function and may throw. */
struct CookOptions : vxs_cook_options {
  CookOptions() { detail::check(vxs_cook_options_init(this, sizeof(vxs_cook_options))); }

  /** Called while a shape is cooked, from threads of the library, one call at a time; false cancels. */
  std::function<bool(const char* stage, double fraction)> on_progress;
};

/** `vxs_primitive` with the default size and detail of a kind. */
struct Primitive : vxs_primitive {
  explicit Primitive(std::uint32_t of_kind) { detail::check(vxs_primitive_init(this, sizeof(vxs_primitive), of_kind)); }
};

/** `vxs_query` with its defaults. */
struct Query : vxs_query {
  Query() { detail::check(vxs_query_init(this, sizeof(vxs_query))); }
};

/** `vxs_query_limit` with its defaults. It must live as long as the query that points to it is used. */
struct QueryLimit : vxs_query_limit {
  QueryLimit() { detail::check(vxs_query_limit_init(this, sizeof(vxs_query_limit))); }
};

/** `vxs_query_step` with its defaults. It must live as long as the query that points to it is used. */
struct QueryStep : vxs_query_step {
  QueryStep() { detail::check(vxs_query_step_init(this, sizeof(vxs_query_step))); }
};

/** `vxs_query_segmentation` with its defaults. It must live as long as the query that points to it is used. */
struct QuerySegmentation : vxs_query_segmentation {
  QuerySegmentation() { detail::check(vxs_query_segmentation_init(this, sizeof(vxs_query_segmentation))); }
};

/** `vxs_motion_query` with its defaults. */
struct MotionQuery : vxs_motion_query {
  MotionQuery() { detail::check(vxs_motion_query_init(this, sizeof(vxs_motion_query))); }
};

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
  static Shape create_triangles(const std::vector<Vec3>& vertices, const std::vector<std::uint32_t>& indices) {
    if (!detail::require_triangles(indices)) return Shape();
    return make([&](vxs_shape** out) {
      return vxs_shape_create_triangles(vertices.data(), vertices.size(), indices.data(), indices.size() / 3, out);
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

  struct Caller {
    const CookOptions* options;
#ifdef VOXSHELL_NO_EXCEPTIONS
    void rethrow() const {}

    static bool progress(const char* stage, double fraction, void* user) {
      return static_cast<Caller*>(user)->options->on_progress(stage, fraction);
    }
#else
    /** An exception of the callback, which must not pass through the C API. */
    std::exception_ptr thrown{};

    void rethrow() const {
      if (thrown) std::rethrow_exception(thrown);
    }

    static bool progress(const char* stage, double fraction, void* user) {
      auto* self = static_cast<Caller*>(user);
      if (self->thrown) return false;
      try {
        return self->options->on_progress(stage, fraction);
      } catch (...) {
        self->thrown = std::current_exception();
        return false;
      }
    }
#endif
  };

  template <class F>
  static Shape cook(const CookOptions& options, F call) {
    vxs_cook_options c_options = options;
    Caller caller{&options};
    if (options.on_progress) {
      c_options.progress = Caller::progress;
      c_options.progress_user = &caller;
    }
    Shape shape;
    vxs_status status = call(&c_options, shape.handle_.out());
    caller.rethrow();
    detail::check(status);
    return shape;
  }

  detail::Handle<vxs_shape, vxs_shape_release> handle_;
};

/** Returns the memory that cooking these triangles takes, bytes: the smallest `memory_limit` that is accepted. */
inline std::uint64_t cook_estimate_memory(const Vec3* vertices, std::size_t vertex_count, const std::uint32_t* indices,
                                          std::size_t triangle_count, const CookOptions& options = {}) {
  std::uint64_t bytes = 0;
  detail::check(vxs_cook_estimate_memory(vertices, vertex_count, indices, triangle_count, &options, &bytes));
  return bytes;
}
inline std::uint64_t cook_estimate_memory(const std::vector<Vec3>& vertices, const std::vector<std::uint32_t>& indices,
                                          const CookOptions& options = {}) {
  if (!detail::require_triangles(indices)) return 0;
  return cook_estimate_memory(vertices.data(), vertices.size(), indices.data(), indices.size() / 3, options);
}

/** Scratch memory of queries: one per thread. */
class Workspace {
 public:
  Workspace() { detail::check(vxs_workspace_create(handle_.out())); }
  vxs_workspace* c_handle() const noexcept { return handle_.get(); }
  /** Reports on the last query: whether it found every contact, a bound on those it may have missed, and its cost. */
  vxs_query_report report() const {
    vxs_query_report report;
    if (detail::check(vxs_query_report_init(&report, sizeof report))) {
      detail::check(vxs_workspace_get_report(c_handle(), &report));
    }
    return report;
  }
  /** Writes the segment of each contact that the last query found into the caller's vector, which keeps its memory. */
  void segments(std::vector<std::uint32_t>& segments) const {
    std::size_t count = 0;
    vxs_status status = VXS_OK;
    segments.resize(segments.capacity());
    do {
      if (count > segments.size()) segments.resize(count);
      status = vxs_workspace_get_segments(c_handle(), segments.data(), segments.size(), &count);
      if (!detail::check(status)) count = 0;
    } while (status == VXS_TRUNCATED);
    segments.resize(count);
  }
  /** False if it was moved from, or could not be created. */
  explicit operator bool() const noexcept { return handle_.get() != nullptr; }

 private:
  detail::Handle<vxs_workspace, vxs_workspace_destroy> handle_;
};

/** Writes contacts into the caller's vector, which keeps its memory: a warm call allocates nothing. */
inline void query_contacts(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, const Query& query,
                           Workspace& workspace, std::vector<Contact>& contacts) {
  const vxs_body body_a = {a.c_handle(), pose_a}, body_b = {b.c_handle(), pose_b};
  contacts.resize(contacts.capacity());
  std::size_t count = 0;
  vxs_status status = VXS_OK;
  do {
    if (count > contacts.size()) contacts.resize(count);
    status = vxs_query_contacts(&body_a, &body_b, &query, workspace.c_handle(),
                                contacts.data(), contacts.size(), &count);
    if (!detail::check(status)) count = 0;
  } while (status == VXS_TRUNCATED);
  contacts.resize(count);
}

/** Returns the contacts of two shapes, deepest first. */
inline std::vector<Contact> query_contacts(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b,
                                           const Query& query, Workspace& workspace) {
  std::vector<Contact> contacts;
  query_contacts(a, pose_a, b, pose_b, query, workspace, contacts);
  return contacts;
}

/** Computes the contacts of samples given by their feature numbers, at any separation, in the order of the features. */
inline void query_features(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b,
                           const std::vector<std::uint32_t>& features, std::vector<Contact>& contacts) {
  const vxs_body body_a = {a.c_handle(), pose_a}, body_b = {b.c_handle(), pose_b};
  contacts.resize(features.size());
  if (!detail::check(vxs_query_features(&body_a, &body_b, features.data(), features.size(),
                                        contacts.data())))
    contacts.clear();
}

/** Returns the closest or deepest sample; nothing if the shapes are farther apart than `query.max_distance`. */
inline std::optional<Contact> query_distance(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b,
                                             const Query& query, Workspace& workspace) {
  const vxs_body body_a = {a.c_handle(), pose_a}, body_b = {b.c_handle(), pose_b};
  Contact closest{};
  bool found = false;
  detail::check(vxs_query_distance(&body_a, &body_b, &query, workspace.c_handle(), &closest,
                                   &found));
  if (!found) return std::nullopt;
  return closest;
}

/** Returns the pose of a body on its screw motion, at a fraction of the step from 0 to 1. */
inline Pose motion_pose(const Motion& motion, double t) {
  Pose pose = identity();
  detail::check(vxs_motion_pose(&motion, t, &pose));
  return pose;
}

/** Returns the first contact of two moving shapes, at its time; nothing if they do not touch. */
inline std::optional<Contact> query_time_of_impact(const Shape& a, const Motion& motion_a, const Shape& b,
                                                   const Motion& motion_b, const MotionQuery& query,
                                                   Workspace& workspace) {
  const vxs_moving_body body_a = {a.c_handle(), motion_a}, body_b = {b.c_handle(), motion_b};
  Contact contact{};
  bool found = false;
  detail::check(vxs_query_time_of_impact(&body_a, &body_b, &query, workspace.c_handle(),
                                         &contact, &found));
  if (!found) return std::nullopt;
  return contact;
}

/** Returns all contacts of two moving shapes, in the order in which they begin. */
inline std::vector<MotionContact> query_motion_contacts(const Shape& a, const Motion& motion_a, const Shape& b,
                                                        const Motion& motion_b, const MotionQuery& query,
                                                        Workspace& workspace) {
  const vxs_moving_body body_a = {a.c_handle(), motion_a}, body_b = {b.c_handle(), motion_b};
  std::vector<MotionContact> contacts(64);
  std::size_t count = 0;
  vxs_status status = VXS_OK;
  do {
    if (count > contacts.size()) contacts.resize(count);
    status = vxs_query_motion_contacts(&body_a, &body_b, &query, workspace.c_handle(),
                                       contacts.data(), contacts.size(), &count);
    if (!detail::check(status)) count = 0;
  } while (status == VXS_TRUNCATED);
  contacts.resize(count);
  return contacts;
}

/** Returns the contacts of the `query.known` features that are still in contact at the end of the step. */
inline std::vector<Contact> query_known_contacts(const Shape& a, const Motion& motion_a, const Shape& b,
                                                 const Motion& motion_b, const MotionQuery& query,
                                                 Workspace& workspace) {
  const vxs_moving_body body_a = {a.c_handle(), motion_a}, body_b = {b.c_handle(), motion_b};
  std::vector<Contact> contacts(query.known_count);
  std::size_t count = 0;
  if (!detail::check(vxs_query_known_contacts(&body_a, &body_b, &query,
                                              workspace.c_handle(), contacts.data(), contacts.size(), &count)))
    count = 0;
  contacts.resize(count);
  return contacts;
}

/** `vxs_penalty` with a stiffness, N/m, and a damping, N·s/m. */
struct Penalty : vxs_penalty {
  Penalty(double stiffness, double damping) : vxs_penalty{} {
    detail::check(vxs_penalty_init(this, sizeof(vxs_penalty), stiffness, damping));
  }
};

/** Computes the effect of the contacts of two bodies on the first one, with gradients by its pose and twist. */
inline Response query_penalty(const Shape& a, const Kinematics& kinematics_a, const Shape& b,
                              const Kinematics& kinematics_b, const vxs_penalty& penalty, Workspace& workspace) {
  const vxs_dynamic_body body_a = {a.c_handle(), kinematics_a}, body_b = {b.c_handle(), kinematics_b};
  Response on_a{};
  detail::check(vxs_query_penalty(&body_a, &body_b, &penalty,
                                  workspace.c_handle(), &on_a, nullptr, nullptr));
  return on_a;
}

/** Computes the effect of the samples in contact during a step on the first body, averaged over the step, with gradients. */
inline Response query_continuous_penalty(const Shape& a, const Sweep& sweep_a, const Shape& b, const Sweep& sweep_b,
                                         const vxs_penalty& penalty, Workspace& workspace) {
  const vxs_swept_body body_a = {a.c_handle(), sweep_a}, body_b = {b.c_handle(), sweep_b};
  Response on_a{};
  detail::check(vxs_query_continuous_penalty(&body_a, &body_b, &penalty,
                                             workspace.c_handle(), &on_a, nullptr, nullptr));
  return on_a;
}

/** `vxs_impulse` with a step, seconds. */
struct Impulse : vxs_impulse {
  explicit Impulse(double dt) : vxs_impulse{} { detail::check(vxs_impulse_init(this, sizeof(vxs_impulse), dt)); }
};

/** Computes the impulses that separate two bodies, deepest contact first. */
inline Impulses query_impulse(const Shape& a, const Kinematics& kinematics_a, const Mobility& mobility_a, const Shape& b,
                              const Kinematics& kinematics_b, const Mobility& mobility_b, const vxs_impulse& impulse,
                              Workspace& workspace) {
  const vxs_dynamic_body body_a = {a.c_handle(), kinematics_a}, body_b = {b.c_handle(), kinematics_b};
  Impulses impulses{};
  detail::check(vxs_query_impulse(&body_a, &mobility_a, &body_b, &mobility_b,
                                  &impulse, workspace.c_handle(), &impulses));
  return impulses;
}

/** `vxs_haptics_settings` for a tool of a mass (kg) and a device; null: a device without limits. */
struct HapticsSettings : vxs_haptics_settings {
  HapticsSettings(std::uint32_t renderer, const Shape& tool, double mass, const HapticsLimits* limits = nullptr)
      : vxs_haptics_settings{} {
    detail::check(
        vxs_haptics_settings_init(this, sizeof(vxs_haptics_settings), renderer, tool.c_handle(), mass, limits));
  }

  /** Replaces `surface.height`, with the same contract; where it throws, there is no height. `Haptics` keeps a copy. */
  std::function<double(std::size_t body, const Vec3& point)> height;
};

/** A tool in a hand among bodies: `step` on the thread that serves the device, `simulate` on another. */
class Haptics {
 public:
  /** A body that the tool can touch. */
  struct Body {
    const Shape* shape;
    Pose pose;
  };

  Haptics(const HapticsSettings& settings, const Shape& tool, const std::vector<Body>& bodies) {
    std::vector<vxs_body> all;
    all.reserve(bodies.size());
    for (const Body& body : bodies) all.push_back({body.shape->c_handle(), body.pose});
    vxs_haptics_settings given = settings;
    if (settings.height) {
      height_ = std::make_unique<Height>(settings.height);
      given.surface.height = height;
      given.surface.height_user = height_.get();
    }
    detail::check(vxs_haptics_create(&given, tool.c_handle(), all.data(), all.size(), handle_.out()));
  }
  Haptics(Haptics&&) noexcept = default;
  Haptics& operator=(Haptics&& other) noexcept {
    handle_ = std::move(other.handle_);
    height_ = std::move(other.height_);
    return *this;
  }

  HapticsOutput step(const DeviceState& state, double dt) {
    HapticsOutput output{};
    detail::check(vxs_haptics_step(c_handle(), &state, dt, &output));
    return output;
  }
  HapticsMotion step_admittance(const Wrench& hand, bool engaged, double dt) {
    HapticsMotion motion{};
    detail::check(vxs_haptics_step_admittance(c_handle(), &hand, engaged, dt, &motion));
    return motion;
  }
  void reset() { detail::check(vxs_haptics_reset(c_handle(), nullptr)); }
  void reset(const Pose& pose) { detail::check(vxs_haptics_reset(c_handle(), &pose)); }
  vxs_haptics_report simulate() {
    vxs_haptics_report report;
    if (detail::check(vxs_haptics_report_init(&report, sizeof report))) {
      detail::check(vxs_haptics_simulate(c_handle(), &report));
    }
    return report;
  }
  void set_body_pose(std::size_t index, const Pose& pose, const Twist& twist = {}) {
    detail::check(vxs_haptics_set_body_pose(c_handle(), index, &pose, &twist));
  }
  vxs_haptics* c_handle() const noexcept { return handle_.get(); }
  /** False if it was moved from, or could not be created. */
  explicit operator bool() const noexcept { return handle_.get() != nullptr; }

 private:
  using Height = std::function<double(std::size_t, const Vec3&)>;

  static double height(std::size_t body, const vxs_vec3* point, void* user) {
#ifdef VOXSHELL_NO_EXCEPTIONS
    return (*static_cast<Height*>(user))(body, *point);
#else
    try {
      return (*static_cast<Height*>(user))(body, *point);
    } catch (...) {
      return std::numeric_limits<double>::quiet_NaN();
    }
#endif
  }

  // Used until the handle is released. The handle is therefore destroyed and assigned first.
  std::unique_ptr<Height> height_;
  detail::Handle<vxs_haptics, vxs_haptics_release> handle_;
};

#ifdef VOXSHELL_NO_EXCEPTIONS
}  // namespace no_exceptions
#endif
}  // namespace voxshell

#endif
