/* Voxshell for C++17: two shapes that move: time of impact and contacts over a step. */
#ifndef VOXSHELL_MOTION_HPP
#define VOXSHELL_MOTION_HPP

#include <cstddef>
#include <optional>
#include <vector>

#include "base.hpp"
#include "motion.h"
#include "query.hpp"
#include "shape.hpp"

VOXSHELL_NAMESPACE_BEGIN

using Motion = vxs_motion;
using MotionContact = vxs_motion_contact;

/** `vxs_motion_query` with its defaults. */
struct MotionQuery : vxs_motion_query {
  MotionQuery() { detail::check(vxs_motion_query_init(this, sizeof(vxs_motion_query))); }
};

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

using MeshImpact = vxs_mesh_impact;

/** `vxs_mesh_motion_query` with its defaults. */
struct MeshMotionQuery : vxs_mesh_motion_query {
  MeshMotionQuery() { detail::check(vxs_mesh_motion_query_init(this, sizeof(vxs_mesh_motion_query))); }
};

/** Returns the first contact of the meshes of two moving shapes, triangle by triangle; nothing if they do not touch. */
inline std::optional<MeshImpact> mesh_time_of_impact(const Shape& a, const Motion& motion_a, const Shape& b,
                                                     const Motion& motion_b, const MeshMotionQuery& query,
                                                     Workspace& workspace) {
  const vxs_moving_body body_a = {a.c_handle(), motion_a}, body_b = {b.c_handle(), motion_b};
  MeshImpact impact{};
  bool found = false;
  detail::check(vxs_mesh_time_of_impact(&body_a, &body_b, &query, workspace.c_handle(), &impact, &found));
  if (!found) return std::nullopt;
  return impact;
}

VOXSHELL_NAMESPACE_END

#endif
