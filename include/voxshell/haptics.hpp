/* Voxshell for C++17: a tool in a hand among bodies, at the rate of a haptic device. */
#ifndef VOXSHELL_HAPTICS_HPP
#define VOXSHELL_HAPTICS_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base.hpp"
#include "haptics.h"
#include "response.hpp"
#include "shape.hpp"

VOXSHELL_NAMESPACE_BEGIN

using DeviceState = vxs_device_state;
using HapticsLimits = vxs_haptics_limits;
using HapticsOutput = vxs_haptics_output;
using HapticsMotion = vxs_haptics_motion;
using HapticsConstraint = vxs_haptics_constraint;
using HapticsFaults = vxs_haptics_faults;
using HapticsLoad = vxs_haptics_load;
using HapticsFeel = vxs_haptics_feel;
using HapticsBodyMotion = vxs_haptics_body_motion;
using HapticsRates = vxs_haptics_rates;

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
  /** Writes the constraints of the last round into the caller's vector, which keeps its memory. */
  void get_constraints(std::vector<HapticsConstraint>& constraints) {
    std::size_t count = 0;
    constraints.resize(256);  // always enough
    const vxs_status got = vxs_haptics_get_constraints(c_handle(), constraints.data(), constraints.size(), &count);
    constraints.resize(detail::check(got) ? count : 0);
  }
  void set_scale(double scale) { detail::check(vxs_haptics_set_scale(c_handle(), scale)); }
  HapticsFaults faults() const {
    HapticsFaults found{};
    detail::check(vxs_haptics_get_faults(c_handle(), &found));
    return found;
  }
  void set_body_pose(std::size_t index, const Pose& pose, const Twist& twist = {}) {
    detail::check(vxs_haptics_set_body_pose(c_handle(), index, &pose, &twist));
  }
  HapticsLoad load(std::size_t index) const {
    HapticsLoad found{};
    detail::check(vxs_haptics_get_load(c_handle(), index, &found));
    return found;
  }
  /** Puts a body in the place of another one, or of none. */
  void set_body(std::size_t index, const Shape& shape, const Pose& pose) {
    const vxs_body body = {shape.c_handle(), pose};
    detail::check(vxs_haptics_set_body(c_handle(), index, &body));
  }
  void remove_body(std::size_t index) { detail::check(vxs_haptics_set_body(c_handle(), index, nullptr)); }
  void set_body_feel(std::size_t index, const HapticsFeel& feel) {
    detail::check(vxs_haptics_set_body_feel(c_handle(), index, &feel));
  }
  void set_body_motion(std::size_t index, const HapticsBodyMotion& motion) {
    detail::check(vxs_haptics_set_body_motion(c_handle(), index, &motion));
  }
  void set_settings(const vxs_haptics_settings& settings) {
    detail::check(vxs_haptics_set_settings(c_handle(), &settings));
  }
  HapticsRates rates() const {
    HapticsRates found{};
    detail::check(vxs_haptics_get_rates(c_handle(), &found));
    return found;
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

VOXSHELL_NAMESPACE_END

#endif
