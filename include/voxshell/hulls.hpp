/* Voxshell for C++17: hierarchies of convex hulls, and queries that refine only what can be felt. */
#ifndef VOXSHELL_HULLS_HPP
#define VOXSHELL_HULLS_HPP

#include <cstdint>
#include <optional>
#include <vector>

#include "base.hpp"
#include "hulls.h"
#include "query.hpp"
#include "shape.hpp"

VOXSHELL_NAMESPACE_BEGIN

using HullsInfo = vxs_hulls_info;
using HullLevel = vxs_hull_level;
using HullDistance = vxs_hull_distance;
using HullsReport = vxs_hulls_report;

/** `vxs_hulls_options` with its defaults. */
struct HullsOptions : vxs_hulls_options {
  HullsOptions() : vxs_hulls_options{} { detail::check(vxs_hulls_options_init(this, sizeof(vxs_hulls_options))); }
};

/** `vxs_hulls_query` with its defaults. */
struct HullsQuery : vxs_hulls_query {
  HullsQuery() : vxs_hulls_query{} { detail::check(vxs_hulls_query_init(this, sizeof(vxs_hulls_query))); }
};

/** A hierarchy of convex hulls. */
class Hulls {
 public:
  static Hulls create_from_shape(const Shape& shape, const HullsOptions& options = {}) {
    Hulls hulls;
    detail::check(vxs_hulls_create_from_shape(shape.c_handle(), &options, hulls.handle_.out()));
    return hulls;
  }
  static Hulls create_from_triangles(const std::vector<Vec3>& vertices, const std::vector<std::uint32_t>& indices,
                                     const HullsOptions& options = {}) {
    Hulls hulls;
    detail::check(vxs_hulls_create_from_triangles(vertices.data(), vertices.size(), indices.data(), indices.size() / 3,
                                                  &options, hulls.handle_.out()));
    return hulls;
  }
  HullsInfo get_info() const {
    HullsInfo info{};
    detail::check(vxs_hulls_get_info(handle_.get(), &info));
    return info;
  }
  /** Returns the levels of detail, finest first. */
  std::vector<HullLevel> get_levels() const {
    std::vector<HullLevel> levels(get_info().level_count);
    std::size_t count = 0;
    detail::check(vxs_hulls_get_levels(handle_.get(), levels.data(), levels.size(), &count));
    return levels;
  }
  const vxs_hulls* c_handle() const noexcept { return handle_.get(); }
  /** False if it was moved from, or could not be created. */
  explicit operator bool() const noexcept { return handle_.get() != nullptr; }

 private:
  Hulls() = default;
  detail::Handle<vxs_hulls, vxs_hulls_release> handle_;
};

/** Writes contacts, deepest first, into the caller's vector, which keeps its memory: a warm call allocates nothing. */
inline void query_hull_contacts(const Hulls& a, const Pose& pose_a, const Hulls& b, const Pose& pose_b,
                                const HullsQuery& query, Workspace& workspace, std::vector<Contact>& contacts) {
  const vxs_hulls_body body_a = {a.c_handle(), pose_a}, body_b = {b.c_handle(), pose_b};
  contacts.resize(contacts.capacity());
  std::size_t count = 0;
  vxs_status status = VXS_OK;
  do {
    if (count > contacts.size()) contacts.resize(count);
    status = vxs_query_hull_contacts(&body_a, &body_b, &query, workspace.c_handle(), contacts.data(), contacts.size(),
                                     &count);
    if (!detail::check(status)) count = 0;
  } while (status == VXS_TRUNCATED);
  contacts.resize(count);
}

/** Returns the distance of two surfaces; nothing if it is above `query.max_distance`. */
inline std::optional<HullDistance> query_hull_distance(const Hulls& a, const Pose& pose_a, const Hulls& b,
                                                       const Pose& pose_b, const HullsQuery& query,
                                                       Workspace& workspace) {
  const vxs_hulls_body body_a = {a.c_handle(), pose_a}, body_b = {b.c_handle(), pose_b};
  HullDistance closest{};
  bool found = false;
  if (!detail::check(vxs_query_hull_distance(&body_a, &body_b, &query, workspace.c_handle(), &closest, &found)) ||
      !found) {
    return std::nullopt;
  }
  return closest;
}

/** Returns the cost of the last query of hulls in the workspace. */
inline HullsReport get_hulls_report(Workspace& workspace) {
  HullsReport report{};
  detail::check(vxs_workspace_get_hulls_report(workspace.c_handle(), &report));
  return report;
}

VOXSHELL_NAMESPACE_END

#endif
