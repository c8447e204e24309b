/* Voxshell for C++17: two shapes at two poses: contacts and distance. */
#ifndef VOXSHELL_QUERY_HPP
#define VOXSHELL_QUERY_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base.hpp"
#include "query.h"
#include "shape.hpp"

VOXSHELL_NAMESPACE_BEGIN

using Contact = vxs_contact;
using ContactTriangles = vxs_contact_triangles;

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

/** Two bodies, and scratch of their own or null. */
using BodyPair = vxs_body_pair;

/** Queries of many pairs in one call, on several threads, with the same answers for any number of threads. */
class Batch {
 public:
  /** `threads`: with the caller's own; 0: one for each processor. */
  explicit Batch(std::uint32_t threads = 0) { detail::check(vxs_batch_create(threads, handle_.out())); }
  vxs_batch* c_handle() const noexcept { return handle_.get(); }
  /** Writes the contacts of all pairs into the caller's vectors, which keep their memory; those of pair i are at `offsets[i]`
   * to `offsets[i + 1]`. */
  void query_contacts(const std::vector<BodyPair>& pairs, const Query& query, std::vector<Contact>& contacts,
                      std::vector<std::size_t>& offsets) {
    vxs_status status = VXS_OK;
    offsets.assign(pairs.size() + 1, 0);
    contacts.resize(contacts.capacity());
    do {
      if (offsets.back() > contacts.size()) contacts.resize(offsets.back());
      status = vxs_query_contacts_batch(c_handle(), pairs.data(), pairs.size(), &query, contacts.data(), contacts.size(),
                                        offsets.data());
      if (!detail::check(status)) offsets.assign(pairs.size() + 1, 0);
    } while (status == VXS_TRUNCATED);
    contacts.resize(offsets.back());
  }
  /** False if it was moved from, or could not be created. */
  explicit operator bool() const noexcept { return handle_.get() != nullptr; }

 private:
  detail::Handle<vxs_batch, vxs_batch_destroy> handle_;
};

/** Computes the contacts of samples given by their feature numbers, at any separation, in the order of the features. */
inline void query_features(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b,
                           const std::vector<std::uint32_t>& features, std::vector<Contact>& contacts,
                           std::uint32_t coverage = VXS_COVERAGE_EDGES) {
  const vxs_body body_a = {a.c_handle(), pose_a}, body_b = {b.c_handle(), pose_b};
  contacts.resize(features.size());
  if (!detail::check(vxs_query_features(&body_a, &body_b, coverage, features.data(), features.size(),
                                        contacts.data())))
    contacts.clear();
}

/** Finds the triangles of contacts, in their order, into the caller's vector, which keeps its memory. */
inline void query_triangles(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b,
                            const std::vector<Contact>& contacts, std::vector<ContactTriangles>& triangles) {
  const vxs_body body_a = {a.c_handle(), pose_a}, body_b = {b.c_handle(), pose_b};
  triangles.resize(contacts.size());
  if (!detail::check(vxs_query_triangles(&body_a, &body_b, contacts.data(), contacts.size(), triangles.data())))
    triangles.clear();
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

VOXSHELL_NAMESPACE_END

#endif
