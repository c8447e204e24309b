// Scene of the simulated devices: a cooked bar in the hand, above a cooked block whose top face is not perpendicular to
// an axis; and the checks that every adapter must pass. Device frames are rotated and scaled against the world.
#ifndef VOXSHELL_TESTS_SIM_SCENE_H
#define VOXSHELL_TESTS_SIM_SCENE_H

#include "../c/check.h"
#include "simulated_device.h"
#include "voxshell/device.hpp"

namespace sim {

using voxshell::device::Quaternion;
using voxshell::device::Workspace;

inline Quaternion about(const Vec& axis, double angle) {
  const Vec v = (std::sin(0.5 * angle) / axis.length()) * axis;
  return {v.x, v.y, v.z, std::cos(0.5 * angle)};
}

// A cooked box, released when the program ends.
struct Box {
  vxs_shape* shape = nullptr;

  Box(double x, double y, double z) {
    vxs_primitive primitive;
    vxs_cook_options options;
    OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_BOX));
    primitive.size[0] = x, primitive.size[1] = y, primitive.size[2] = z;
    OK(vxs_cook_options_init(&options, sizeof options));
    options.resolution = 40;
    OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;
  ~Box() { OK(vxs_shape_release(shape)); }
};

// The pose of the device's base in the world is such that `up` of the device is the outward normal of the block's top
// face, and this face passes through the device's origin. `aside`: start of the block along the device's `along`, in
// metres of the world; minus infinity for a block below everything. Sizes in the world: a bar of 120 x 20 x 20 mm.
class Scene {
 public:
  static constexpr double kHalfLength = 0.06, kHalfWidth = 0.01;

  Scene(uint32_t renderer, double scale, const Quaternion& device_to_block, double aside,
        const vxs_haptics_limits* limits) {
    const Quaternion& block = block_;
    const vxs_vec3 place = {0.31, -0.22, 0.57};
    const double half = 0.1;
    static const Box bar(kHalfLength, kHalfWidth, kHalfWidth), below(half, half, half);
    const Quaternion base = block * device_to_block;
    workspace.base = {place, base.x, base.y, base.z, base.w};
    workspace.scale = scale;
    const double shift = std::isfinite(aside) ? half + aside : 0;
    const vxs_vec3 center = voxshell::device::plus(place, block.rotate({shift, 0, -half}));
    const vxs_body body = {below.shape, {center, block.x, block.y, block.z, block.w}};
    vxs_haptics_settings settings;
    OK(vxs_haptics_settings_init(&settings, sizeof settings, renderer, bar.shape, 0.2, limits));
    OK(vxs_haptics_create(&settings, bar.shape, &body, 1, &haptics));
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene() { OK(vxs_haptics_release(haptics)); }

  // Returns the height of a pose of the world above the block's top face, metres.
  double height(const vxs_pose& pose) const {
    const vxs_vec3 normal = block_.rotate({0, 0, 1});
    const vxs_vec3 from = voxshell::device::plus(pose.position, voxshell::device::scaled(-1, workspace.base.position));
    return from.x * normal.x + from.y * normal.y + from.z * normal.z;
  }
  void simulate() const { OK(vxs_haptics_simulate(haptics, nullptr)); }

  Workspace workspace;
  vxs_haptics* haptics = nullptr;

 private:
  // The block's frame: z out of its top face.
  Quaternion block_ = about({1, 2, -1}, 0.9);
};

// Drives a device in a test: one iteration of its own loop, and the target of the hand.
template <class Step>
struct Driver {
  Handle& handle;
  const Scene& scene;
  Step step;

  void run(int steps) {
    for (int i = 0; i < steps; i++) {
      scene.simulate();
      step();
    }
  }
  void to(const Vec& goal, int steps) {
    handle.goal = goal;
    run(steps);
  }
};
template <class Step>
Driver<Step> drive(Handle& handle, const Scene& scene, Step step) {
  return {handle, scene, step};
}

// Checks that the motors hold the handle against a hand with its target inside the block, and push along `up`; both in
// the device frame.
inline void pushes_out(const Handle& handle, const Vec& up, double least_newtons) {
  const Vec f = handle.force;
  CHECK(f.dot(up) >= least_newtons);
  CHECK(f.dot(up) > 0.98 * f.length());
  // At rest the forces balance: the hand pushes as hard as the motors.
  const Vec rest = f + handle.hand_force();
  CHECK(rest.length() < 0.05 * f.length() + 0.02);
}

inline void lets_go(const Handle& handle) { CHECK(handle.force.length() < 1e-9 && handle.torque.length() < 1e-9); }

}  // namespace sim

#endif
