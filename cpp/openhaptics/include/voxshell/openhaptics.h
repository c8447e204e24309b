// Forces from Voxshell on devices of OpenHaptics (Touch, Touch X, Phantom), through HDAPI. Header-only; compiled against the
// user's HD/hd.h. See cpp/openhaptics/README.md.
#ifndef VOXSHELL_OPENHAPTICS_H
#define VOXSHELL_OPENHAPTICS_H

#include <atomic>

#include <HD/hd.h>

#include "voxshell/device.hpp"

namespace voxshell {
namespace openhaptics {

struct Options {
  device::Workspace workspace;
  // As in the device's configuration; null: the default device.
  const char* name = nullptr;
  // HD_DEVICE_BUTTON_ that must be held for forces to be shown. 0: none is needed.
  int deadman_button = 0;
};

// One device, served by HDAPI's scheduler. HDAPI speaks of mm, mm/s, N, mN·m; the workspace and everything else here is SI.
class Device {
 public:
  // The vxs_haptics stays the caller's, and must outlive the device.
  Device(vxs_haptics* haptics, const Options& options = Options()) : options_(options), loop_(haptics, options.workspace) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { close(); }

  // False: error() says why.
  bool open() {
    handle_ = hdInitDevice(options_.name);
    if (failed()) {
      handle_ = HD_INVALID_HANDLE;
      return false;
    }
    hdMakeCurrentDevice(handle_);
    HDint axes = 0;
    hdGetIntegerv(HD_OUTPUT_DOF, &axes);
    turns_ = axes >= 6;
    hdEnable(HD_FORCE_OUTPUT);
    if (!failed()) return true;
    close();
    return false;
  }

  // For vxs_haptics_settings: the force that the open device says it can hold, in the world. No limit of torque is told by HDAPI.
  double max_force() const {
    HDdouble newtons = 0;
    hdMakeCurrentDevice(handle_);
    hdGetDoublev(HD_NOMINAL_MAX_CONTINUOUS_FORCE, &newtons);
    return newtons;
  }

  // From now on the scheduler steps, at its own rate (usually 1 kHz). False: error() says why.
  bool start() {
    if (handle_ == HD_INVALID_HANDLE || running_) return false;
    vxs_haptics_reset(loop_.haptics(), nullptr);
    lost_ = false;
    callback_ = hdScheduleAsynchronous(scheduled, this, HD_MAX_SCHEDULER_PRIORITY);
    hdStartScheduler();
    running_ = !failed();
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
  // The scheduler has let the device go after an error.
  bool lost() const { return lost_; }
  // The last error of HDAPI, for hdGetErrorString; HD_SUCCESS if there was none.
  HDerror error() const { return error_; }

 private:
  static HDCallbackCode HDCALLBACK scheduled(void* self) { return static_cast<Device*>(self)->frame(); }

  HDCallbackCode frame() {
    hdBeginFrame(handle_);
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
    const bool held = options_.deadman_button == 0 || (buttons & options_.deadman_button) != 0;
    sample.engaged = held && !failed();
    // Before the rate is known the step is refused, and its wrench is zero.
    send(loop_.step(sample, rate > 0 ? 1.0 / rate : 0.0));
    hdEndFrame(handle_);
    if (!failed()) return HD_CALLBACK_CONTINUE;
    hdBeginFrame(handle_);
    send(vxs_wrench{});
    hdEndFrame(handle_);
    lost_ = true;
    return HD_CALLBACK_DONE;
  }

  void send(const vxs_wrench& wrench) const {
    const vxs_vec3 newtons = wrench.force, millis = device::scaled(1e3, wrench.torque);
    const HDdouble force[3] = {newtons.x, newtons.y, newtons.z}, torque[3] = {millis.x, millis.y, millis.z};
    hdSetDoublev(HD_CURRENT_FORCE, force);
    if (turns_) hdSetDoublev(HD_CURRENT_TORQUE, torque);
  }

  // Takes what is on HDAPI's stack of errors.
  bool failed() {
    const HDErrorInfo info = hdGetError();
    if (info.errorCode == HD_SUCCESS) return false;
    error_ = info.errorCode;
    return true;
  }

  Options options_;
  device::Loop loop_;
  HHD handle_ = HD_INVALID_HANDLE;
  HDSchedulerHandle callback_ = 0;
  bool turns_ = false, running_ = false;
  std::atomic<bool> lost_{false};
  std::atomic<HDerror> error_{HD_SUCCESS};
};

}  // namespace openhaptics
}  // namespace voxshell

#endif
