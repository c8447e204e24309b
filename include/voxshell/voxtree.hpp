/* Voxshell for C++17: implicit sphere trees, for queries of volume against volume. */
#ifndef VOXSHELL_VOXTREE_HPP
#define VOXSHELL_VOXTREE_HPP

#include <string>
#include <vector>

#include "base.hpp"
#include "query.hpp"
#include "response.hpp"
#include "shape.hpp"
#include "voxtree.h"

VOXSHELL_NAMESPACE_BEGIN

using VoxelPair = vxs_voxel_pair;
using VoxTreeInfo = vxs_voxtree_info;
using VoxTreeReport = vxs_voxtree_report;

/** `vxs_voxtree_options` with the edge of a voxel, metres; 0 if `level` is set. */
struct VoxTreeOptions : vxs_voxtree_options {
  explicit VoxTreeOptions(double voxel_size) : vxs_voxtree_options{} {
    detail::check(vxs_voxtree_options_init(this, sizeof(vxs_voxtree_options), voxel_size));
  }
};

/** `vxs_voxtree_query` with its defaults. */
struct VoxTreeQuery : vxs_voxtree_query {
  VoxTreeQuery() : vxs_voxtree_query{} { detail::check(vxs_voxtree_query_init(this, sizeof(vxs_voxtree_query))); }
};

/** An implicit sphere tree. */
class VoxTree {
 public:
  static VoxTree create_from_shape(const Shape& shape, const VoxTreeOptions& options) {
    VoxTree tree;
    detail::check(vxs_voxtree_create_from_shape(shape.c_handle(), &options, tree.handle_.out()));
    return tree;
  }
  static VoxTree load(const std::string& path) {
    VoxTree tree;
    detail::check(vxs_voxtree_load(path.c_str(), tree.handle_.out()));
    return tree;
  }
  void save(const std::string& path) const { detail::check(vxs_voxtree_save(handle_.get(), path.c_str())); }
  VoxTreeInfo get_info() const {
    VoxTreeInfo info{};
    detail::check(vxs_voxtree_get_info(handle_.get(), &info));
    return info;
  }
  const vxs_voxtree* c_handle() const noexcept { return handle_.get(); }
  /** False if it was moved from, or could not be created. */
  explicit operator bool() const noexcept { return handle_.get() != nullptr; }

 private:
  VoxTree() = default;
  detail::Handle<vxs_voxtree, vxs_voxtree_release> handle_;
};

/** Writes voxel pairs, deepest first, into the caller's vector, which keeps its memory: a warm call allocates nothing. */
inline void query_voxtrees(const VoxTree& a, const Kinematics& kinematics_a, const VoxTree& b,
                           const Kinematics& kinematics_b, const VoxTreeQuery& query, Workspace& workspace,
                           std::vector<VoxelPair>& pairs) {
  const vxs_voxtree_body body_a = {a.c_handle(), kinematics_a}, body_b = {b.c_handle(), kinematics_b};
  pairs.resize(pairs.capacity());
  std::size_t count = 0;
  vxs_status status = VXS_OK;
  do {
    if (count > pairs.size()) pairs.resize(count);
    status = vxs_query_voxtrees(&body_a, &body_b, &query, workspace.c_handle(), pairs.data(), pairs.size(), &count);
    if (!detail::check(status)) count = 0;
  } while (status == VXS_TRUNCATED);
  pairs.resize(count);
}

/** Returns the report on the last `query_voxtrees` in the workspace. */
inline VoxTreeReport get_voxtree_report(Workspace& workspace) {
  VoxTreeReport report{};
  detail::check(vxs_workspace_get_voxtree_report(workspace.c_handle(), &report));
  return report;
}

/** Computes the impulses that separate two trees at their voxel pairs, deepest pair first. */
inline Impulses query_voxtree_impulse(const VoxTree& a, const Kinematics& kinematics_a, const Mobility& mobility_a,
                                      const VoxTree& b, const Kinematics& kinematics_b, const Mobility& mobility_b,
                                      const vxs_impulse& impulse, Workspace& workspace) {
  const vxs_voxtree_body body_a = {a.c_handle(), kinematics_a}, body_b = {b.c_handle(), kinematics_b};
  Impulses impulses{};
  detail::check(vxs_query_voxtree_impulse(&body_a, &mobility_a, &body_b, &mobility_b, &impulse, workspace.c_handle(),
                                          &impulses));
  return impulses;
}

VOXSHELL_NAMESPACE_END

#endif
