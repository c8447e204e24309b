/* Voxshell for C++17: forces and impulses that answer to contacts, with their gradients. */
#ifndef VOXSHELL_RESPONSE_HPP
#define VOXSHELL_RESPONSE_HPP

#include <vector>

#include "base.hpp"
#include "query.hpp"
#include "response.h"
#include "shape.hpp"

VOXSHELL_NAMESPACE_BEGIN

using Twist = vxs_twist;
using Wrench = vxs_wrench;
using Kinematics = vxs_kinematics;
using Response = vxs_response;
using Sweep = vxs_sweep;
using Mobility = vxs_mobility;
using Impulses = vxs_impulses;

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

using Patch = vxs_patch;

/** `vxs_patch_query` with the stiffness of both bodies, Pa/m; infinity for a rigid one. */
struct PatchQuery : vxs_patch_query {
  PatchQuery(double stiffness_a, double stiffness_b) : vxs_patch_query{} {
    detail::check(vxs_patch_query_init(this, sizeof(vxs_patch_query), stiffness_a, stiffness_b));
  }
};

/** Writes contact patches into the caller's vector, which keeps its memory: a warm call allocates nothing. */
inline void query_patches(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b, const PatchQuery& query,
                          Workspace& workspace, std::vector<Patch>& patches) {
  const vxs_body body_a = {a.c_handle(), pose_a}, body_b = {b.c_handle(), pose_b};
  patches.resize(patches.capacity());
  std::size_t count = 0;
  vxs_status status = VXS_OK;
  do {
    if (count > patches.size()) patches.resize(count);
    status = vxs_query_patches(&body_a, &body_b, &query, workspace.c_handle(), patches.data(), patches.size(), &count);
    if (!detail::check(status)) count = 0;
  } while (status == VXS_TRUNCATED);
  patches.resize(count);
}

/** Returns the outline of a patch of the last `query_patches`: closed polylines, each of which ends with its first point. */
inline std::vector<Vec3> get_outline(Workspace& workspace, std::size_t patch) {
  std::vector<Vec3> points;
  std::size_t count = 0;
  if (!detail::check(vxs_workspace_get_outline(workspace.c_handle(), patch, nullptr, 0, &count))) return points;
  points.resize(count);
  detail::check(vxs_workspace_get_outline(workspace.c_handle(), patch, points.data(), points.size(), &count));
  return points;
}

VOXSHELL_NAMESPACE_END

#endif
