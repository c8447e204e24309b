/* Voxshell for C++17: pairs of bodies that stay near each other, with their contacts from step to step. */
#ifndef VOXSHELL_PAIR_HPP
#define VOXSHELL_PAIR_HPP

#include "base.hpp"
#include "pair.h"
#include "response.hpp"
#include "shape.hpp"

VOXSHELL_NAMESPACE_BEGIN

using PairStep = vxs_pair_step;
using PairPoint = vxs_pair_point;
using PairInStep = vxs_pair_in_step;

/** `vxs_pair_options` with its defaults. */
struct PairOptions : vxs_pair_options {
  PairOptions() : vxs_pair_options{} { detail::check(vxs_pair_options_init(this, sizeof(vxs_pair_options))); }
};

/** Points with like normals; `for (PairPoint& point : manifold)`. Of a point only `user` may be written. */
struct Manifold : vxs_manifold {
  PairPoint* begin() const noexcept { return points; }
  PairPoint* end() const noexcept { return points + count; }
};

/** The answer of a pair, valid until its next update; `for (const Manifold& manifold : manifolds)`. */
struct Manifolds : vxs_manifolds {
  const Manifold* begin() const noexcept { return static_cast<const Manifold*>(data); }
  const Manifold* end() const noexcept { return begin() + count; }
  bool empty() const noexcept { return count == 0; }
};
static_assert(sizeof(Manifold) == sizeof(vxs_manifold) && sizeof(Manifolds) == sizeof(vxs_manifolds), "no members are added");

/** Two shapes that stay near each other for a while. Used by one thread at a time. */
class Pair {
 public:
  Pair(const Shape& a, const Shape& b, const vxs_pair_options& options = PairOptions()) {
    detail::check(vxs_pair_create(a.c_handle(), b.c_handle(), &options, handle_.out()));
  }
  vxs_pair* c_handle() const noexcept { return handle_.get(); }
  /** Finds the contacts in a step. */
  Manifolds update(const PairStep& step) {
    Manifolds manifolds{};
    detail::check(vxs_pair_update(c_handle(), &step, &manifolds));
    return manifolds;
  }
  /** Forgets the points: the next answer is that of a new pair. */
  void reset() { detail::check(vxs_pair_reset(c_handle())); }
  /** Returns a pair with the same points and numbers, whose next answer is the same. */
  Pair copy() const {
    Pair copied;
    detail::check(vxs_pair_copy(c_handle(), copied.handle_.out()));
    return copied;
  }
  /** Returns the triangles of the points of the last update, in the order of the manifolds and of their points. */
  std::vector<vxs_contact_triangles> triangles() const {
    std::vector<vxs_contact_triangles> found;
    std::size_t count = 0;
    vxs_status status = VXS_OK;
    do {
      found.resize(count);
      status = vxs_pair_get_triangles(c_handle(), found.data(), found.size(), &count);
      if (!detail::check(status)) count = 0;
    } while (status == VXS_TRUNCATED);
    return found;
  }
  /** Returns whether the last update has searched, and not only turned the points with the bodies. */
  bool searched() const {
    std::uint32_t origin = VXS_PAIR_SEARCHED;
    detail::check(vxs_pair_get_report(c_handle(), &origin, nullptr));
    return origin == VXS_PAIR_SEARCHED;
  }
  /** False if it was moved from, or could not be created. */
  explicit operator bool() const noexcept { return handle_.get() != nullptr; }

 private:
  Pair() = default;
  detail::Handle<vxs_pair, vxs_pair_release> handle_;
};

/** Updates many pairs on the threads of a batch; `manifolds` has their answers in the order of the pairs. */
inline void update_pairs(Batch& batch, const std::vector<PairInStep>& pairs, std::vector<Manifolds>& manifolds) {
  manifolds.assign(pairs.size(), Manifolds{});
  if (!detail::check(vxs_pairs_update(batch.c_handle(), pairs.data(), pairs.size(), manifolds.data()))) manifolds.clear();
}

VOXSHELL_NAMESPACE_END

#endif
