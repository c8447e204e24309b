// Forces from Voxshell on Haption's Virtuose devices, in both of their causalities. Header-only; compiled against the
// user's VirtuoseAPI.h, version 4. See cpp/haption/README.md.
#ifndef VOXSHELL_HAPTION_H
#define VOXSHELL_HAPTION_H

#include "voxshell/device.hpp"

#include <atomic>

#include <VirtuoseAPI.h>

namespace voxshell {
namespace haption {

enum class Mode {
  // COMMAND_TYPE_IMPEDANCE: position in, force out.
  impedance,
  // COMMAND_TYPE_VIRTMECH: the controller couples the handle to a virtual object, whose motion is ours. Force in,
  // motion out.
  virtual_mechanism,
};

struct Options {
  Mode mode = Mode::virtual_mechanism;
  // The scale stays 1 if the device's own factors do the scaling.
  device::Workspace workspace;
  // Seconds from call to call, what the controller is told and what it keeps. Seen in use: 1 to 20 ms.
  float time_step = 0.003f;
  // Virtuose's own scaling of motion and force.
  float speed_factor = 1, force_factor = 1;
  VirtIndexingType indexing = INDEXING_ALL_FORCE_FEEDBACK_INHIBITION;
  // virtSaturateTorque: N, N·m. 0: what the device is set to.
  float max_force = 0, max_torque = 0;
  // Virtual mechanism: what the controller couples the handle to, kg and kg·m² about the handle, row by row; those of
  // the tool, or the controller chooses a coupling that is too stiff or too soft for it.
  float mass = 0.5f;
  float inertia[9] = {1e-3f, 0, 0, 0, 1e-3f, 0, 0, 0, 1e-3f};
};

// One device. Its controller calls once per time step, on a thread of the Virtuose API.
class Device {
 public:
  // The vxs_haptics stays the caller's, and must outlive the device.
  Device(vxs_haptics* haptics, const Options& options = Options())
      : options_(options), loop_(haptics, options.workspace) {
    // The hand moves by Virtuose's own factor less than the poses that it reports.
    vxs_haptics_set_scale(haptics, options.workspace.scale * static_cast<double>(options.speed_factor));
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { close(); }

  // "ip#port", as virtOpen takes it. False: error() says why.
  bool open(const char* name) {
    close();
    error_ = VIRT_E_NO_ERROR;
    context_ = virtOpen(name);
    if (context_ == nullptr) {
      error_ = virtGetErrorCode(nullptr);
      return false;
    }
    // Time step and factors are taken over by the command type that follows them.
    const VirtCommandType type = options_.mode == Mode::impedance ? COMMAND_TYPE_IMPEDANCE : COMMAND_TYPE_VIRTMECH;
    period_ = options_.time_step;
    const bool ok = did(virtSetIndexingMode(context_, options_.indexing)) &&
                    did(virtSetSpeedFactor(context_, options_.speed_factor)) &&
                    did(virtSetForceFactor(context_, options_.force_factor)) &&
                    did(virtSetTimeStep(context_, options_.time_step)) && did(virtSetCommandType(context_, type)) &&
                    (options_.max_force <= 0 ||
                     did(virtSaturateTorque(context_, options_.max_force, options_.max_torque))) &&
                    did(virtSetPeriodicFunction(context_, called, &period_, this));
    if (!ok) close();
    return ok;
  }

  // From now on the controller calls. False: error() says why.
  bool start() {
    if (context_ == nullptr || running_) return false;
    const bool is_impedance = options_.mode == Mode::impedance;
    const bool ok = did(virtSetPowerOn(context_, 1)) &&
                    (is_impedance ? vxs_haptics_reset(loop_.haptics(), nullptr) == VXS_OK : attach());
    running_ = ok && did(virtStartLoop(context_));
    if (!running_) let_go();
    return running_;
  }

  // After this the device is free.
  void stop() {
    if (!running_) return;
    running_ = false;
    did(virtStopLoop(context_));
    let_go();
  }

  void close() {
    stop();
    if (context_ == nullptr) return;
    virtClose(context_);
    context_ = nullptr;
  }

  // Status and failures of the steps, for any thread.
  const device::Loop& loop() const { return loop_; }
  // VIRT_E_NO_ERROR, or the first error of the Virtuose API, for virtGetErrorMessage.
  int error() const { return error_; }
  // The VIRT_ALARM_ bits of the last call: overheating, saturation, an overrun of the time step, …
  unsigned alarm() const { return alarm_; }
  VirtContext context() const { return context_; }

 private:
  static void called(VirtContext, void* self) { static_cast<Device*>(self)->period(); }

  void period() {
    unsigned int alarm = 0;
    if (virtGetAlarm(context_, &alarm) == 0) alarm_ = alarm;
    if (options_.mode == Mode::impedance) {
      impedance();
    } else {
      virtual_mechanism();
    }
  }

  void impedance() {
    float pose[7] = {0}, speed[6] = {0};
    device::Sample sample;
    // A device that cannot be read counts as not held.
    const bool read = did(virtGetPosition(context_, pose)) && did(virtGetSpeed(context_, speed));
    sample.position = {pose[0], pose[1], pose[2]};
    sample.rotation = device::Quaternion{pose[3], pose[4], pose[5], pose[6]}.cleaned();
    sample.linear = {speed[0], speed[1], speed[2]};
    sample.angular = {speed[3], speed[4], speed[5]};
    sample.engaged = read && held();
    float force[6];
    put(read ? loop_.step(sample, period_) : vxs_wrench{}, force);
    did(virtSetForce(context_, force));
  }

  void virtual_mechanism() {
    float f[6] = {0};
    const bool read = did(virtGetForce(context_, f));
    const vxs_wrench hand = {{f[0], f[1], f[2]}, {f[3], f[4], f[5]}};
    // Without a step the object stays where it is.
    if (!loop_.step_admittance(read ? hand : vxs_wrench{}, read && held(), period_, target_))
      target_.linear = target_.angular = {0, 0, 0};
    send_target();
  }

  // The object begins where the handle is, at rest: virtAttachVO couples the two as they stand.
  bool attach() {
    float pose[7] = {0};
    if (!did(virtGetPosition(context_, pose))) return false;
    target_ = device::Target();
    target_.position = {pose[0], pose[1], pose[2]};
    target_.rotation = device::Quaternion{pose[3], pose[4], pose[5], pose[6]}.cleaned();
    device::Sample sample;
    sample.position = target_.position;
    sample.rotation = target_.rotation;
    const vxs_device_state start = options_.workspace.to_world(sample);
    if (vxs_haptics_reset(loop_.haptics(), &start.pose) != VXS_OK) return false;
    return send_target() && did(virtAttachVO(context_, options_.mass, options_.inertia));
  }

  bool send_target() {
    const vxs_vec3 &p = target_.position, &v = target_.linear, &w = target_.angular;
    const device::Quaternion& q = target_.rotation;
    const double pose[7] = {p.x, p.y, p.z, q.x, q.y, q.z, q.w}, speed[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    float pose_f[7], speed_f[6];
    for (int i = 0; i < 7; i++) pose_f[i] = static_cast<float>(pose[i]);
    for (int i = 0; i < 6; i++) speed_f[i] = static_cast<float>(speed[i]);
    return did(virtSetPosition(context_, pose_f)) && did(virtSetSpeed(context_, speed_f));
  }

  // The hand is on the device, nobody has stopped it, and it is not being moved apart from the object.
  bool held() {
    int deadman = 0, operational = 0, shifting = 1;
    return did(virtGetDeadMan(context_, &deadman)) && did(virtGetEmergencyStop(context_, &operational)) &&
           did(virtIsInShiftPosition(context_, &shifting)) && deadman != 0 && operational != 0 && shifting == 0;
  }

  void let_go() {
    float none[6] = {0};
    if (options_.mode == Mode::impedance) virtSetForce(context_, none);
    if (options_.mode == Mode::virtual_mechanism) virtDetachVO(context_);
    virtSetPowerOn(context_, 0);
  }

  static void put(const vxs_wrench& w, float out[6]) {
    const double all[6] = {w.force.x, w.force.y, w.force.z, w.torque.x, w.torque.y, w.torque.z};
    for (int i = 0; i < 6; i++) out[i] = static_cast<float>(all[i]);
  }

  bool did(int result) {
    int none = VIRT_E_NO_ERROR;
    if (result != 0) error_.compare_exchange_strong(none, virtGetErrorCode(context_));
    return result == 0;
  }

  Options options_;
  device::Loop loop_;
  VirtContext context_ = nullptr;
  float period_ = 0;
  bool running_ = false;
  device::Target target_;
  std::atomic<int> error_{VIRT_E_NO_ERROR};
  std::atomic<unsigned> alarm_{0};
};

}  // namespace haption
}  // namespace voxshell

#endif
