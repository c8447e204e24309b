/* Voxshell for C++17: voxelmaps of the literature, and a pointshell in one. */
#ifndef VOXSHELL_VOXELMAP_HPP
#define VOXSHELL_VOXELMAP_HPP

#include <cstdint>
#include <vector>

#include "base.hpp"
#include "query.hpp"
#include "shape.hpp"
#include "voxelmap.h"

VOXSHELL_NAMESPACE_BEGIN

using VoxelmapInfo = vxs_voxelmap_info;
using VoxelmapAnswer = vxs_voxelmap_answer;
using VoxelContact = vxs_voxel_contact;

/** `vxs_voxelmap_options` with the defaults. */
struct VoxelmapOptions : vxs_voxelmap_options {
  VoxelmapOptions() : vxs_voxelmap_options{} {
    detail::check(vxs_voxelmap_options_init(this, sizeof(vxs_voxelmap_options)));
  }
};

/** `vxs_voxelmap_query` with the defaults. */
struct VoxelmapQuery : vxs_voxelmap_query {
  VoxelmapQuery() : vxs_voxelmap_query{} {
    detail::check(vxs_voxelmap_query_init(this, sizeof(vxs_voxelmap_query)));
  }
};

/** A voxelmap. Its numbers are positive inside, as in the papers. */
class Voxelmap {
 public:
  static Voxelmap create(const Shape& shape, const vxs_voxelmap_options& options = VoxelmapOptions()) {
    Voxelmap map;
    detail::check(vxs_voxelmap_create(shape.c_handle(), &options, map.handle_.out()));
    return map;
  }
  static Voxelmap create_from_triangles(const std::vector<Vec3>& vertices, const std::vector<std::uint32_t>& indices,
                                        const vxs_voxelmap_options& options = VoxelmapOptions()) {
    Voxelmap map;
    if (!detail::require_triangles(indices)) return map;
    detail::check(vxs_voxelmap_create_from_triangles(vertices.data(), vertices.size(), indices.data(), indices.size() / 3,
                                                     &options, map.handle_.out()));
    return map;
  }
  /** Returns the voxelmap of a shape, which is shared. */
  static Voxelmap of(const Shape& shape) {
    Voxelmap map;
    detail::check(vxs_shape_get_voxelmap(shape.c_handle(), map.handle_.out()));
    return map;
  }

  VoxelmapInfo get_info() const {
    VoxelmapInfo info{};
    detail::check(vxs_voxelmap_info_init(&info, sizeof info));
    detail::check(vxs_voxelmap_get_info(handle_.get(), &info));
    return info;
  }
  std::vector<std::int32_t> get_layers(const std::vector<Vec3>& points) const {
    std::vector<std::int32_t> layers(points.size());
    detail::check(vxs_voxelmap_get_layers(handle_.get(), points.data(), points.size(), layers.data()));
    return layers;
  }
  std::vector<double> get_distances(const std::vector<Vec3>& points, std::vector<Vec3>* gradients = nullptr) const {
    std::vector<double> distances(points.size());
    if (gradients != nullptr) gradients->resize(points.size());
    detail::check(vxs_voxelmap_get_distances(handle_.get(), points.data(), points.size(), distances.data(),
                                             gradients != nullptr ? gradients->data() : nullptr));
    return distances;
  }
  /** Returns V of many points; `normals` has as many elements as `points`, or more. */
  std::vector<double> get_penetrations(const std::vector<Vec3>& points, const std::vector<Vec3>& normals,
                                       std::uint32_t rule = VXS_PENETRATION_AUTO) const {
    std::vector<double> penetrations(points.size() < normals.size() ? points.size() : normals.size());
    detail::check(vxs_voxelmap_get_penetrations(handle_.get(), points.data(), normals.data(), penetrations.size(), rule,
                                                penetrations.data()));
    return penetrations;
  }
  const vxs_voxelmap* c_handle() const noexcept { return handle_.get(); }
  /** False if it was moved from, or could not be created. */
  explicit operator bool() const noexcept { return handle_.get() != nullptr; }

 private:
  detail::Handle<vxs_voxelmap, vxs_voxelmap_release> handle_;
};

/** Returns a shape that shares all data of another one and has a voxelmap. */
inline Shape create_with_voxelmap(const Shape& shape, const Voxelmap& map) {
  vxs_shape* made = nullptr;
  detail::check(vxs_shape_create_with_voxelmap(shape.c_handle(), map.c_handle(), &made));
  return Shape(made);
}

/** Runs a pointshell against a voxelmap. Writes the contacts into the caller's vector, which keeps its memory: a warm call
 * allocates nothing. */
inline VoxelmapAnswer query_voxelmap(const Voxelmap& a, const Pose& pose_a, const PointShell& b, const Pose& pose_b,
                                     const vxs_voxelmap_query& query, Workspace& workspace,
                                     std::vector<VoxelContact>& contacts) {
  const vxs_voxelmap_body body_a = {a.c_handle(), pose_a};
  const vxs_pointshell_body body_b = {b.c_handle(), pose_b};
  VoxelmapAnswer answer{};
  contacts.resize(contacts.capacity());
  vxs_status status = VXS_OK;
  do {
    if (answer.count > contacts.size()) contacts.resize(static_cast<std::size_t>(answer.count));
    status = vxs_query_voxelmap(&body_a, &body_b, &query, workspace.c_handle(), &answer, contacts.data(), contacts.size());
    if (!detail::check(status)) answer = VoxelmapAnswer{};
  } while (status == VXS_TRUNCATED);
  contacts.resize(static_cast<std::size_t>(answer.count));
  return answer;
}

VOXSHELL_NAMESPACE_END

#endif
