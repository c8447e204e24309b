/* Conversion between a haptic device's workspace and the world, for hosts that connect a device of their own: the
 * common part of the adapters for CHAI3D, Virtuose, DHD, HDAPI and the Inverse3. Header-only, over the C API; nothing
 * in it throws, allocates or locks.
 *
 * Device frame: the frame of the device's SDK, SI units. World frame: the frame of the bodies. The workspace holds the
 * pose of the device's base in the world, and the number of metres in the world per metre of the device.
 *
 *     voxshell::device::Loop loop(haptics, {base, 5.0});       // five times as large as the device's motion
 *     ...
 *     // Device frame, about the handle; zero if anything is wrong.
 *     vxs_wrench wrench = loop.step(sample, dt);
 */
#ifndef VOXSHELL_DEVICE_HPP
#define VOXSHELL_DEVICE_HPP

/* The templates of CHAI3D set -std=c++11 in CMAKE_CXX_FLAGS; an SDK compiled so links with a program in C++17. */
#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 201703L
#error "Voxshell's adapters for haptic devices need C++17: replace -std=c++11 by -std=c++17 in CMAKE_CXX_FLAGS"
#endif

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "voxshell.h"

namespace voxshell {
namespace device {

inline vxs_vec3 scaled(double factor, const vxs_vec3& v) { return {factor * v.x, factor * v.y, factor * v.z}; }
inline vxs_vec3 plus(const vxs_vec3& a, const vxs_vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline vxs_vec3 cross(const vxs_vec3& a, const vxs_vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/** Unit quaternion x, y, z, w. */
struct Quaternion {
  double x = 0, y = 0, z = 0, w = 1;

  Quaternion conjugate() const { return {-x, -y, -z, w}; }
  /** Rotates first by `b`, then by this. */
  Quaternion operator*(const Quaternion& b) const {
    return {w * b.x + x * b.w + y * b.z - z * b.y, w * b.y - x * b.z + y * b.w + z * b.x,
            w * b.z + x * b.y - y * b.x + z * b.w, w * b.w - x * b.x - y * b.y - z * b.z};
  }
  vxs_vec3 rotate(const vxs_vec3& v) const {
    const vxs_vec3 axis = {x, y, z}, t = scaled(2, cross(axis, v));
    return plus(plus(v, scaled(w, t)), cross(axis, t));
  }
  /** Normalizes a quaternion from a device, which may be off by rounding (float, encoders). A quaternion that is far
   * from unit length stays unchanged, so that the library refuses it. */
  Quaternion cleaned() const {
    const double norm = std::sqrt(x * x + y * y + z * z + w * w);
    if (!(std::fabs(norm - 1) < 1e-3)) return *this;
    return {x / norm, y / norm, z / norm, w / norm};
  }
};

/** Converts a rotation matrix; `m(row, column)`. Shepperd 1978: computes the largest of the four components first, so
 * that no component is a quotient of small numbers. Not finite if the matrix is not. */
template <class Matrix>
Quaternion quaternion(const Matrix& m) {
  const double xx = m(0, 0), yy = m(1, 1), zz = m(2, 2);
  Quaternion q;
  if (xx + yy + zz > 0) {
    q.w = 0.5 * std::sqrt(1 + xx + yy + zz);
    const double s = 0.25 / q.w;
    q.x = s * (m(2, 1) - m(1, 2)), q.y = s * (m(0, 2) - m(2, 0)), q.z = s * (m(1, 0) - m(0, 1));
  } else if (xx >= yy && xx >= zz) {
    q.x = 0.5 * std::sqrt(1 + xx - yy - zz);
    const double s = 0.25 / q.x;
    q.w = s * (m(2, 1) - m(1, 2)), q.y = s * (m(0, 1) + m(1, 0)), q.z = s * (m(0, 2) + m(2, 0));
  } else if (yy >= zz) {
    q.y = 0.5 * std::sqrt(1 + yy - xx - zz);
    const double s = 0.25 / q.y;
    q.w = s * (m(0, 2) - m(2, 0)), q.x = s * (m(0, 1) + m(1, 0)), q.z = s * (m(1, 2) + m(2, 1));
  } else {
    q.z = 0.5 * std::sqrt(1 + zz - xx - yy);
    const double s = 0.25 / q.z;
    q.w = s * (m(1, 0) - m(0, 1)), q.x = s * (m(0, 2) + m(2, 0)), q.y = s * (m(1, 2) + m(2, 1));
  }
  return q.cleaned();
}

/** Returns the velocity from one pose to another in `dt` seconds, rad/s; for rotations of less than half a turn. */
inline vxs_vec3 angular_velocity(const Quaternion& from, const Quaternion& to, double dt) {
  const Quaternion turn = to * from.conjugate();
  const double sine = std::sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
  /* The shorter rotation: q and -q are the same. */
  const double angle = 2 * std::atan2(sine, std::fabs(turn.w)), sign = turn.w < 0 ? -1 : 1;
  return scaled(sine > 0 ? sign * angle / (sine * dt) : 0.0, {turn.x, turn.y, turn.z});
}

/** A value that one thread writes and any thread reads as a whole. The writer never waits; a reader repeats its reading
 * if a write came in between (a sequence lock; Boehm 2012, "Can seqlocks get along with programming language memory
 * models?", section 4). */
template <class T>
class Published {
  static_assert(std::is_trivially_copyable<T>::value, "it is copied word by word");

 public:
  explicit Published(const T& value) { write(value); }

  /** For one thread. */
  void write(const T& value) {
    std::uint64_t words[kWords] = {0};
    std::memcpy(words, &value, sizeof value);
    const std::uint32_t sequence = sequence_.load(std::memory_order_relaxed);
    /* A reader that sees any of the words sees this number too. No fences: ThreadSanitizer does not know them. */
    sequence_.store(sequence + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < kWords; i++) words_[i].store(words[i], std::memory_order_release);
    sequence_.store(sequence + 2, std::memory_order_release);
  }
  /** For any thread. */
  T read() const {
    std::uint64_t words[kWords];
    std::uint32_t before = 0, after = 0;
    do {
      before = sequence_.load(std::memory_order_acquire);
      for (std::size_t i = 0; i < kWords; i++) words[i] = words_[i].load(std::memory_order_acquire);
      after = sequence_.load(std::memory_order_relaxed);
    } while (before != after || before % 2 != 0);
    T value;
    std::memcpy(&value, words, sizeof value);
    return value;
  }

 private:
  static constexpr std::size_t kWords = (sizeof(T) + 7) / 8;
  std::atomic<std::uint32_t> sequence_{0};
  std::atomic<std::uint64_t> words_[kWords] = {};
};

/** State of a device in its own frame, SI. */
struct Sample {
  vxs_vec3 position{0, 0, 0};
  Quaternion rotation;
  /** Velocities of the handle, m/s and rad/s. */
  vxs_vec3 linear{0, 0, 0}, angular{0, 0, 0};
  /** True if the hand is on the device. */
  bool engaged = false;
};

/** Commanded pose and velocity of a device, in its own frame. */
struct Target {
  vxs_vec3 position{0, 0, 0};
  Quaternion rotation;
  vxs_vec3 linear{0, 0, 0}, angular{0, 0, 0};
};

/** Placement of a device in the world. */
struct Workspace {
  /** Pose of the device's frame: device to world. */
  vxs_pose base{{0, 0, 0}, 0, 0, 0, 1};
  /** Metres of the world per metre of the device. Forces are unscaled. Torques are divided by the scale, so that a
   * lever of the world feels as long as the hand sees it move, and the hand gets the power of the world divided by the
   * scale. */
  double scale = 1;

  Quaternion turn() const { return {base.qx, base.qy, base.qz, base.qw}; }

  vxs_device_state to_world(const Sample& s) const {
    const Quaternion turn = this->turn(), q = turn * s.rotation;
    const vxs_vec3 position = plus(base.position, turn.rotate(scaled(scale, s.position)));
    vxs_device_state state{};
    state.pose = {position, q.x, q.y, q.z, q.w};
    state.twist = {turn.rotate(scaled(scale, s.linear)), turn.rotate(s.angular)};
    state.engaged = s.engaged ? 1u : 0u;
    return state;
  }
  /** Converts the wrench on the hand, about the handle. */
  vxs_wrench to_device(const vxs_wrench& world) const {
    const Quaternion back = turn().conjugate();
    return {back.rotate(world.force), back.rotate(scaled(1 / scale, world.torque))};
  }
  /** Converts the wrench of the hand, about the handle. */
  vxs_wrench to_world(const vxs_wrench& device) const {
    return {turn().rotate(device.force), turn().rotate(scaled(scale, device.torque))};
  }
  Target to_device(const vxs_haptics_motion& m) const {
    const Quaternion back = turn().conjugate();
    const vxs_vec3 from_base = plus(m.pose.position, scaled(-1, base.position));
    Target target;
    target.position = back.rotate(scaled(1 / scale, from_base));
    target.rotation = back * Quaternion{m.pose.qx, m.pose.qy, m.pose.qz, m.pose.qw};
    target.linear = back.rotate(scaled(1 / scale, m.twist.linear));
    target.angular = back.rotate(m.twist.angular);
    return target;
  }
  /** Converts the limits of a device to the world's scale: a spring of the world feels `scale` times as stiff in the
   * hand, a rotational spring 1/scale times. */
  vxs_haptics_limits to_world(vxs_haptics_limits l) const {
    l.torque *= scale;
    l.stiffness[0] /= scale, l.damping[0] /= scale;
    l.stiffness[1] *= scale, l.damping[1] *= scale;
    return l;
  }
};

/** Effector of a device, whose weight the device is to carry instead of the hand. */
struct Effector {
  /** kg. */
  double mass = 0;
  /** Centre of mass in the frame of the handle, metres. */
  vxs_vec3 center{0, 0, 0};
  /** Gravity in the frame of the device, m/s². */
  vxs_vec3 gravity{0, 0, 0};
};

/** The servo half of a `vxs_haptics`, in a device's own frame. After any error the wrench is zero, and `status()` or
 * `failure()` gives the cause. One thread steps; any thread may read, and call the functions `set_...`. */
class Loop {
 public:
  /** Time in which forces fade out and in with the clutch, and in which the weight of the effector is taken over,
   * seconds. */
  static constexpr double kRamp = 0.1;

  /** Sets the scale of the `vxs_haptics` to that of the workspace, so that the speed limit is that of the hand. */
  Loop(vxs_haptics* haptics, const Workspace& workspace)
      : haptics_(haptics),
        workspace_(workspace),
        wanted_scale_(workspace.scale),
        shown_scale_(workspace.scale),
        first_scale_(workspace.scale) {
    const vxs_status result = vxs_haptics_set_scale(haptics, workspace.scale);
    if (result != VXS_OK) failure_.store(result, std::memory_order_relaxed);
  }

  /** Impedance: returns the wrench for the hand. Device frame, N and N·m about the handle. */
  vxs_wrench step(const Sample& sample, double dt) {
    change_scale(sample, dt);
    const vxs_device_state state = index(workspace_.to_world(sample), dt);
    hand_.write(state.pose);
    vxs_haptics_output output{};
    const vxs_status result = vxs_haptics_step(haptics_, &state, dt, &output);
    note(result, output.status, output.contacts, {output.tool, output.wrench});
    vxs_wrench wrench = workspace_.to_device(output.wrench);
    /* The limit of torques holds for the scale that the settings were made for. */
    const double torque = workspace_.scale < first_scale_ ? workspace_.scale / first_scale_ : 1;
    wrench = {scaled(grip_, wrench.force), scaled(grip_ * torque, wrench.torque)};
    return plus_weight(wrench, sample, result == VXS_OK && (output.status & kNoForce) == 0, dt);
  }
  /** Admittance: computes the motion of the handle for the hand's wrench `hand`. Writes `target` only if it returns
   * true. Clutch, scale and effector have no effect. */
  bool step_admittance(const vxs_wrench& hand, bool engaged, double dt, Target& target) {
    const vxs_wrench in_world = workspace_.to_world(hand);
    vxs_haptics_motion motion{};
    const vxs_status result = vxs_haptics_step_admittance(haptics_, &in_world, engaged, dt, &motion);
    note(result, motion.status, motion.contacts, {motion.tool, in_world});
    if (result == VXS_OK) target = workspace_.to_device(motion);
    return result == VXS_OK;
  }

  /** Opens or closes the clutch (indexing). While it is open, the tool stays where it is, and the hand moves the
   * device without force, to a place from which it reaches farther. The force fades out and in over `kRamp`, and the
   * tool does not jump. */
  void set_clutch(bool open) { clutch_.store(open, std::memory_order_relaxed); }
  bool clutch() const { return clutch_.load(std::memory_order_relaxed); }

  /** Changes the scale of the workspace evenly over `seconds`. The tool stays where the hand holds it: only further
   * motions count by the new scale. The scale must be positive, and not above that of the constructor: for a larger
   * one, the coupling would be stiffer in the hand than the device bears. Returns false for any other one. Torques
   * stay within the limit. */
  bool set_scale(double scale, double seconds) {
    if (!(scale > 0 && scale <= first_scale_ && seconds >= 0)) return false;
    scale_time_.store(seconds, std::memory_order_relaxed);
    wanted_scale_.store(scale, std::memory_order_relaxed);
    return true;
  }
  /** Scale at the last step. */
  double scale() const { return shown_scale_.load(std::memory_order_relaxed); }

  /** Lets the device carry the weight of its effector while the hand is on it. The weight is added to the wrench, so
   * the limits of the settings have to leave room for it. */
  void set_effector(const Effector& effector) { effector_.write(effector); }

  vxs_haptics* haptics() const { return haptics_; }
  /** For the thread that steps. */
  const Workspace& workspace() const { return workspace_; }
  /** Flags `VXS_HAPTICS_` of the last step. */
  std::uint32_t status() const { return status_.load(std::memory_order_relaxed); }
  std::uint32_t contacts() const { return contacts_.load(std::memory_order_relaxed); }
  /** First call of the library that did not succeed: its status; VXS_OK if none. */
  vxs_status failure() const { return failure_.load(std::memory_order_relaxed); }
  std::uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  /** Steps without force because of a state that is not finite, a time or a jump (VXS_HAPTICS_TELEPORT), since the
   * `vxs_haptics` was created. */
  vxs_haptics_faults faults() const {
    vxs_haptics_faults found{};
    vxs_haptics_get_faults(haptics_, &found);
    return found;
  }
  /** Rates of the steps and of the simulation. */
  vxs_haptics_rates rates() const {
    vxs_haptics_rates found{};
    vxs_haptics_get_rates(haptics_, &found);
    return found;
  }
  /** Pose of the simulated tool at the last step that succeeded, which is the pose to draw: body to world. */
  vxs_pose tool() const { return shown_.read().tool; }
  /** Wrench on the hand at the last step, in admittance that of the hand; about the tool's origin, world frame. Zero
   * after a call that failed. */
  vxs_wrench wrench() const { return shown_.read().wrench; }
  /** Pose of the tool as the hand holds it, at the last step of impedance: a ghost to draw beside the tool. Body to
   * world. */
  vxs_pose hand() const { return hand_.read(); }

 private:
  /** The part of a step's result that is displayed. */
  struct Shown {
    vxs_pose tool;
    vxs_wrench wrench;
  };

  /** Flags of steps without force. */
  static constexpr std::uint32_t kNoForce =
      VXS_HAPTICS_BAD_STATE | VXS_HAPTICS_BAD_TIME | VXS_HAPTICS_TELEPORT | VXS_HAPTICS_DISENGAGED;

  /** Returns the part of the ramp that a step is. */
  static double ramp(double dt) { return dt > 0 && dt < kRamp ? dt / kRamp : 1; }

  /** Moves the scale toward the wanted one, with the tool where it is. */
  void change_scale(const Sample& sample, double dt) {
    const double wanted = wanted_scale_.load(std::memory_order_relaxed), scale = workspace_.scale;
    if (wanted != ramp_to_) {
      ramp_to_ = wanted;
      const double seconds = scale_time_.load(std::memory_order_relaxed);
      slope_ = seconds > 0 ? std::fabs(wanted - scale) / seconds : HUGE_VAL;
    }
    if (scale == wanted || !(dt > 0)) return;
    const double most = slope_ * dt, change = wanted - scale;
    const double next = std::fabs(change) <= most ? wanted : scale + (change > 0 ? most : -most);
    const vxs_vec3 shift = workspace_.turn().rotate(scaled(scale - next, sample.position));
    workspace_.base.position = plus(workspace_.base.position, shift);
    workspace_.scale = next;
    shown_scale_.store(next, std::memory_order_relaxed);
    const vxs_status result = vxs_haptics_set_scale(haptics_, next);
    vxs_status none = VXS_OK;
    if (result != VXS_OK) failure_.compare_exchange_strong(none, result, std::memory_order_relaxed);
  }

  /** Applies the clutch to a state: while it is open, the pose of its opening counts; afterwards the device goes on
   * from there. */
  vxs_device_state index(vxs_device_state state, double dt) {
    const bool open = clutch_.load(std::memory_order_relaxed);
    const Quaternion q{state.pose.qx, state.pose.qy, state.pose.qz, state.pose.qw};
    if (open && !was_open_) frozen_ = indexed(state.pose, q);
    if (!open && was_open_) {
      const vxs_vec3 from = scaled(-1, state.pose.position);
      shift_ = plus(frozen_.position, from);
      turn_ = (q.conjugate() * Quaternion{frozen_.qx, frozen_.qy, frozen_.qz, frozen_.qw}).cleaned();
    }
    was_open_ = open;
    grip_ = open ? std::fmax(grip_ - ramp(dt), 0) : std::fmin(grip_ + ramp(dt), 1);
    if (!open) {
      state.pose = indexed(state.pose, q);
      return state;
    }
    /* A device that fails with the clutch open has failed all the same. */
    const double sum = state.pose.position.x + state.pose.position.y + state.pose.position.z + q.x + q.y + q.z + q.w;
    if (std::isfinite(sum)) state.pose = frozen_, state.twist = {{0, 0, 0}, {0, 0, 0}};
    return state;
  }
  /** Rotations of the device turn the tool about the same axes, whatever it was turned by the clutch. */
  vxs_pose indexed(const vxs_pose& pose, const Quaternion& q) const {
    const Quaternion turned = q * turn_;
    return {plus(pose.position, shift_), turned.x, turned.y, turned.z, turned.w};
  }

  vxs_wrench plus_weight(vxs_wrench wrench, const Sample& sample, bool has_force, double dt) {
    carried_ = has_force ? std::fmin(carried_ + ramp(dt), 1) : 0;
    const Effector effector = effector_.read();
    if (carried_ == 0 || effector.mass == 0) return wrench;
    const vxs_vec3 force = scaled(-carried_ * effector.mass, effector.gravity);
    const vxs_vec3 torque = cross(sample.rotation.rotate(effector.center), force);
    return {plus(wrench.force, force), plus(wrench.torque, torque)};
  }

  void note(vxs_status result, std::uint32_t status, std::uint32_t contacts, Shown shown) {
    vxs_status none = VXS_OK;
    if (result != VXS_OK) failure_.compare_exchange_strong(none, result, std::memory_order_relaxed);
    status_.store(status, std::memory_order_relaxed);
    contacts_.store(contacts, std::memory_order_relaxed);
    steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (result != VXS_OK) shown = {shown_.read().tool, vxs_wrench{}};
    shown_.write(shown);
  }

  vxs_haptics* haptics_;
  Workspace workspace_;
  std::atomic<bool> clutch_{false};
  std::atomic<double> wanted_scale_, shown_scale_, scale_time_{0};
  const double first_scale_;
  /** Of the thread that steps: the scale at the end of the ramp and its slope, 1/s. */
  double ramp_to_ = 0, slope_ = HUGE_VAL;
  bool was_open_ = false;
  vxs_pose frozen_{{0, 0, 0}, 0, 0, 0, 1};
  /** What the clutch has added to the pose: before all, and after the device's rotation. */
  vxs_vec3 shift_{0, 0, 0};
  Quaternion turn_;
  /** Fractions of the wrench and of the weight. */
  double grip_ = 1, carried_ = 0;
  Published<Effector> effector_{Effector{}};
  std::atomic<std::uint32_t> status_{0}, contacts_{0};
  std::atomic<vxs_status> failure_{VXS_OK};
  std::atomic<std::uint64_t> steps_{0};
  Published<Shown> shown_{Shown{vxs_pose{{0, 0, 0}, 0, 0, 0, 1}, vxs_wrench{}}};
  Published<vxs_pose> hand_{vxs_pose{{0, 0, 0}, 0, 0, 0, 1}};
};

}  // namespace device
}  // namespace voxshell

#endif
