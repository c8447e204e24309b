/* Voxshell for C++17: options of cooking, primitives, the memory that cooking takes. */
#ifndef VOXSHELL_COOK_HPP
#define VOXSHELL_COOK_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "base.hpp"
#include "cook.h"

VOXSHELL_NAMESPACE_BEGIN

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

namespace detail {

inline bool require_triangles(const std::vector<std::uint32_t>& indices) {
  return require(indices.size() % 3 == 0, "indices: expected three for each triangle");
}

/** Progress callback of the C API that calls `on_progress` of the options. */
struct CookProgress {
  const CookOptions* options;
#ifdef VOXSHELL_NO_EXCEPTIONS
  void rethrow() const {}

  static bool call(const char* stage, double fraction, void* user) {
    return static_cast<CookProgress*>(user)->options->on_progress(stage, fraction);
  }
#else
  /** An exception of the callback, which must not pass through the C API. */
  std::exception_ptr thrown{};

  void rethrow() const {
    if (thrown) std::rethrow_exception(thrown);
  }

  static bool call(const char* stage, double fraction, void* user) {
    auto* self = static_cast<CookProgress*>(user);
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

}  // namespace detail

/** Returns an upper bound on the memory that cooking these triangles holds at any time, bytes. */
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

VOXSHELL_NAMESPACE_END

#endif
