// Forces from Voxshell on devices of OpenHaptics (Touch, Touch X, Phantom), through HDAPI. Header-only, C++17; compiled
// against the user's HD/hd.h. See cpp/openhaptics/README.md.
#ifndef VOXSHELL_OPENHAPTICS_H
#define VOXSHELL_OPENHAPTICS_H

#include "voxshell/device.hpp"

#include <atomic>
#include <limits>

// hd.h recognises Linux by `linux`, which compilers define only with their extensions (-std=gnu++17).
#if defined(__linux__) && !defined(linux)
#define linux 1
#define VOXSHELL_DEFINED_LINUX
#endif
#include <HD/hd.h>
#ifdef VOXSHELL_DEFINED_LINUX
#undef linux
#undef VOXSHELL_DEFINED_LINUX
#endif

namespace voxshell {
namespace openhaptics {

struct Options {
  device::Workspace workspace;
  // As in the device's configuration; null: the default device.
  const char* name = nullptr;
  // HD_DEVICE_BUTTON_ that must be held for forces to be shown. 0: none is needed.
  int deadman_button = 0;
  // Seconds without force after the last recoverable error (is_recoverable); then the force grows from zero again.
  double recovery = 0.1;
};

// Whether HDAPI goes on after an error: warm motors, too much force, too fast. It lists the same in hduIsForceError.
inline bool is_recoverable(HDerror error) {
  return error == HD_WARM_MOTORS || error == HD_EXCEEDED_MAX_FORCE || error == HD_EXCEEDED_MAX_FORCE_IMPULSE ||
         error == HD_EXCEEDED_MAX_VELOCITY || error == HD_FORCE_ERROR;
}

// One device, served by HDAPI's scheduler. HDAPI speaks of mm, mm/s, N, mN·m; the workspace and everything else here is
// SI.
class Device {
 public:
  // The vxs_haptics stays the caller's, and must outlive the device.
  Device(vxs_haptics* haptics, const Options& options = Options())
      : options_(options), loop_(haptics, options.workspace) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { close(); }

  // False: error() says why.
  bool open() {
    handle_ = hdInitDevice(options_.name);
    if (!succeeded()) {
      handle_ = HD_INVALID_HANDLE;
      return false;
    }
    hdMakeCurrentDevice(handle_);
    HDint axes = 0;
    hdGetIntegerv(HD_OUTPUT_DOF, &axes);
    turns_ = axes >= 6;
    hdEnable(HD_FORCE_OUTPUT);
    if (succeeded()) return true;
    close();
    return false;
  }

  // For vxs_haptics_settings: what the open device says it can hold, in the world's scale. No limit for what it does
  // not name, and for torques that it cannot exert. Torques are taken to be in the unit of HD_CURRENT_TORQUE, mN·m.
  vxs_haptics_limits limits() const {
    const double milli = 1e-3, per_mm = 1e3;
    vxs_haptics_limits found{};
    found.force = nominal(HD_NOMINAL_MAX_CONTINUOUS_FORCE, 1);
    found.stiffness[0] = nominal(HD_NOMINAL_MAX_STIFFNESS, per_mm);
    found.damping[0] = nominal(HD_NOMINAL_MAX_DAMPING, per_mm);
    const double none = std::numeric_limits<double>::infinity();
    found.torque = turns_ ? nominal(HD_NOMINAL_MAX_TORQUE_CONTINUOUS_FORCE, milli) : none;
    found.stiffness[1] = turns_ ? nominal(HD_NOMINAL_MAX_TORQUE_STIFFNESS, milli) : none;
    found.damping[1] = turns_ ? nominal(HD_NOMINAL_MAX_TORQUE_DAMPING, milli) : none;
    return options_.workspace.to_world(found);
  }

  // From now on the scheduler steps, at its own rate (usually 1 kHz). False: error() says why.
  bool start() {
    if (handle_ == HD_INVALID_HANDLE || running_) return false;
    vxs_haptics_reset(loop_.haptics(), nullptr);
    lost_ = recovering_ = false;
    pause_ = 0;
    callback_ = hdScheduleAsynchronous(scheduled, this, HD_MAX_SCHEDULER_PRIORITY);
    hdStartScheduler();
    running_ = succeeded();
    return running_;
  }

  // After this no force is on the device. The scheduler is stopped: it has one for all devices of the program.
  void stop() {
    if (!running_) return;
    running_ = false;
    hdStopScheduler();
    hdUnschedule(callback_);
    hdBeginFrame(handle_);
    send(vxs_wrench{});
    hdEndFrame(handle_);
  }

  void close() {
    stop();
    if (handle_ == HD_INVALID_HANDLE) return;
    hdDisableDevice(handle_);
    handle_ = HD_INVALID_HANDLE;
  }

  // Status and failures of the steps, for any thread.
  const device::Loop& loop() const { return loop_; }
  // The scheduler has let the device go after an error that is not recoverable.
  bool lost() const { return lost_; }
  // The force is zero since a recoverable error, or has not begun to grow again.
  bool recovering() const { return recovering_; }
  // Frames with a recoverable error so far.
  std::uint64_t recoverable_errors() const { return recoverable_; }
  // The last error of HDAPI, for hdGetErrorString; HD_SUCCESS if there was none.
  HDerror error() const { return error_; }

 private:
  enum class Outcome { fine, recoverable, fatal };

  static HDCallbackCode HDCALLBACK scheduled(void* self) { return static_cast<Device*>(self)->frame(); }

  HDCallbackCode frame() {
    hdBeginFrame(handle_);
    if (lost_) {
      // HDAPI allows one frame per tick, so that the force of the last one ends here.
      send(vxs_wrench{});
      hdEndFrame(handle_);
      outcome();
      return HD_CALLBACK_DONE;
    }
    device::Sample sample;
    HDdouble m[16] = {0}, v[3] = {0}, w[3] = {0};
    HDint buttons = 0, rate = 0;
    hdGetDoublev(HD_CURRENT_TRANSFORM, m);
    hdGetDoublev(HD_CURRENT_VELOCITY, v);
    hdGetDoublev(HD_CURRENT_ANGULAR_VELOCITY, w);
    hdGetIntegerv(HD_CURRENT_BUTTONS, &buttons);
    hdGetIntegerv(HD_INSTANTANEOUS_UPDATE_RATE, &rate);
    sample.position = device::scaled(1e-3, {m[12], m[13], m[14]});
    sample.rotation = device::quaternion([&m](int row, int column) { return m[4 * column + row]; });
    sample.linear = device::scaled(1e-3, {v[0], v[1], v[2]});
    sample.angular = {w[0], w[1], w[2]};
    // Before the rate is known the step is refused, and its wrench is zero.
    const double dt = rate > 0 ? 1.0 / rate : 0.0;
    const Outcome read = outcome();
    after(read);
    pause_ = pause_ > dt ? pause_ - dt : 0;
    recovering_ = pause_ > 0;
    // As if the hand were off the device: no force, and a ramp when it is back.
    const bool held = options_.deadman_button == 0 || (buttons & options_.deadman_button) != 0;
    sample.engaged = held && read == Outcome::fine && pause_ == 0;
    send(loop_.step(sample, dt));
    hdEndFrame(handle_);
    after(outcome());
    return HD_CALLBACK_CONTINUE;
  }

  void after(Outcome outcome) {
    if (outcome == Outcome::fatal) lost_ = true;
    if (outcome != Outcome::recoverable) return;
    recoverable_++;
    recovering_ = true;
    pause_ = options_.recovery;
  }

  void send(const vxs_wrench& wrench) const {
    const vxs_vec3 newtons = wrench.force, millis = device::scaled(1e3, wrench.torque);
    const HDdouble force[3] = {newtons.x, newtons.y, newtons.z}, torque[3] = {millis.x, millis.y, millis.z};
    hdSetDoublev(HD_CURRENT_FORCE, force);
    if (turns_) hdSetDoublev(HD_CURRENT_TORQUE, torque);
  }

  // In SI; infinity for what the device does not name.
  double nominal(HDenum name, double unit) const {
    HDdouble value = 0;
    hdMakeCurrentDevice(handle_);
    hdGetDoublev(name, &value);
    const bool is_known = hdGetError().errorCode == HD_SUCCESS && value > 0;
    return is_known ? unit * value : std::numeric_limits<double>::infinity();
  }

  // Takes all errors from HDAPI's stack: the worst of them.
  Outcome outcome() {
    Outcome worst = Outcome::fine;
    for (int i = 0; i < kMostErrors; i++) {
      const HDErrorInfo info = hdGetError();
      if (info.errorCode == HD_SUCCESS) break;
      const Outcome found = is_recoverable(info.errorCode) ? Outcome::recoverable : Outcome::fatal;
      if (found < worst) continue;
      worst = found;
      error_ = info.errorCode;
    }
    return worst;
  }
  bool succeeded() { return outcome() == Outcome::fine; }

  static constexpr int kMostErrors = 64;

  Options options_;
  device::Loop loop_;
  HHD handle_ = HD_INVALID_HANDLE;
  HDSchedulerHandle callback_ = 0;
  bool turns_ = false, running_ = false;
  // Seconds left without force.
  double pause_ = 0;
  std::atomic<bool> lost_{false}, recovering_{false};
  std::atomic<std::uint64_t> recoverable_{0};
  std::atomic<HDerror> error_{HD_SUCCESS};
};

}  // namespace openhaptics
}  // namespace voxshell

#endif
