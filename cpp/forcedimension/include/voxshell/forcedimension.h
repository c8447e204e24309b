// Forces from Voxshell on devices of Force Dimension (and others that speak DHD). Header-only, C++17; compiled against
// the user's dhdc.h and drdc.h. See cpp/forcedimension/README.md.
#ifndef VOXSHELL_FORCEDIMENSION_H
#define VOXSHELL_FORCEDIMENSION_H

#include "voxshell/device.hpp"

#include <atomic>

#include <dhdc.h>
#include <drdc.h>

namespace voxshell {
namespace forcedimension {

struct Options {
  device::Workspace workspace;
  // The device's own limits, set in its driver too: N, N·m. 0: those that it has.
  double max_force = 0, max_torque = 0;
  // The button that must be held for forces to be shown. -1: none is needed.
  int deadman_button = -1;
  // Which device: its serial number, or its place among the connected devices, from 0. -1: not given; without either
  // the first device that can be opened.
  int serial = -1, id = -1;
  // Whether a device that is not initialized initializes itself (drdAutoInit): the motors then move the handle through
  // its workspace, so nobody may hold it. False: open() fails for such a device.
  bool auto_initialize = true;
};

// One device. All calls but the questions come from one thread, which dhdSetForceAndTorque paces.
class Device {
 public:
  // The vxs_haptics stays the caller's, and must outlive the device.
  Device(vxs_haptics* haptics, const Options& options = Options())
      : options_(options), loop_(haptics, options.workspace) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { close(); }

  // Opens the device, initializes it if it must be, and enables its forces. False: error() says why.
  bool open() {
    close();
    error_ = nullptr;
    id_ = static_cast<signed char>(open_chosen());
    if (id_ < 0) return fail(nullptr);
    // Before it is initialized, positions and forces are wrong.
    if (!drdIsInitialized(id_)) {
      if (!options_.auto_initialize) return fail("the device is not initialized");
      // drdAutoInit leaves the handle held in place; true: without releasing the motors.
      if (drdAutoInit(id_) < 0 || drdStop(true, id_) < 0) return fail(nullptr);
      if (!drdIsInitialized(id_)) return fail("the device did not initialize itself");
    }
    senses_rotation_ = dhdHasWrist(id_);
    shows_torque_ = dhdHasActiveWrist(id_);
    if (options_.max_force > 0 && dhdSetMaxForce(options_.max_force, id_) < 0) return fail(nullptr);
    if (options_.max_torque > 0 && shows_torque_ && dhdSetMaxTorque(options_.max_torque, id_) < 0) return fail(nullptr);
    if (dhdEnableForce(DHD_ON, id_) < 0) return fail(nullptr);
    vxs_haptics_reset(loop_.haptics(), nullptr);
    time_ = dhdGetTime();
    is_first_ = true;
    return true;
  }

  // Reads, steps, sends. False: the device does not answer, or refuses; it has been let go without force.
  bool step() {
    if (id_ < 0) return false;
    device::Sample sample;
    double m[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    vxs_vec3& p = sample.position;
    if (dhdGetPositionAndOrientationFrame(&p.x, &p.y, &p.z, m, id_) < 0) return fail(nullptr);
    sample.rotation = device::quaternion([&m](int row, int column) { return m[row][column]; });
    const double now = dhdGetTime(), dt = now - time_;
    if (!velocities(sample, dt)) return fail(nullptr);
    sample.engaged = options_.deadman_button < 0 || dhdGetButton(options_.deadman_button, id_) == DHD_ON;
    const vxs_wrench wrench = loop_.step(sample, dt);
    time_ = now, last_ = sample, is_first_ = false;
    return send(wrench) || fail(nullptr);
  }

  // Steps until `on` is false or the device is lost; then no force is left on it. True if it was not lost.
  bool run(const std::atomic<bool>& on) {
    bool alive = true;
    while (alive && on.load(std::memory_order_relaxed)) alive = step();
    return alive && send(vxs_wrench{});
  }

  void close() {
    if (id_ < 0) return;
    send(vxs_wrench{});
    dhdEnableForce(DHD_OFF, id_);
    drdClose(id_);
    id_ = -1;
  }

  // Status and failures of the steps, for any thread.
  const device::Loop& loop() const { return loop_; }
  bool is_open() const { return id_ >= 0; }
  // Why the device was not opened or was let go; "" if neither has happened.
  const char* error() const { return error_ != nullptr ? error_ : ""; }
  // Of the open device: whether it has a wrist, without which it reports no rotation, and motors in it, without which
  // it shows no torque.
  bool senses_rotation() const { return senses_rotation_; }
  bool shows_torque() const { return shows_torque_; }
  // Steps in which DHD knew no velocity yet, and the difference of the last two positions was used.
  std::uint64_t estimated() const { return estimated_; }

 private:
  int open_chosen() {
    if (options_.serial >= 0) return open_serial();
    return options_.id >= 0 ? drdOpenID(static_cast<char>(options_.id)) : drdOpen();
  }

  // Opens the device with the serial number. dhdOpenSerial would open it for DHD only, and not for drdIsInitialized.
  int open_serial() {
    const int count = dhdGetDeviceCount();
    for (int i = 0; i < count; i++) {
      // Fails for a device in use, which stays as it is.
      const int opened = dhdOpenID(static_cast<char>(i));
      if (opened < 0) continue;
      const char id = static_cast<char>(opened);
      unsigned short serial = 0;
      const bool is_it = dhdGetSerialNumber(&serial, id) >= 0 && serial == options_.serial;
      dhdClose(id);
      if (is_it) return drdOpenID(static_cast<char>(i));
    }
    error_ = "no device with this serial number can be opened";
    return -1;
  }

  // Reads the velocities. DHD computes them from the positions of its last 20 ms, and reports a time-out (-1) until two
  // positions are in that time: at the start, and after a pause of the loop.
  bool velocities(device::Sample& sample, double dt) {
    vxs_vec3 &v = sample.linear, &w = sample.angular;
    bool is_known = dhdGetLinearVelocity(&v.x, &v.y, &v.z, id_) >= 0;
    if (!is_known && dhdErrorGetLast() != DHD_ERROR_TIMEOUT) return false;
    if (is_known && senses_rotation_ && dhdGetAngularVelocityRad(&w.x, &w.y, &w.z, id_) < 0) {
      if (dhdErrorGetLast() != DHD_ERROR_TIMEOUT) return false;
      is_known = false;
    }
    if (is_known) return true;
    v = w = vxs_vec3{0, 0, 0};
    estimated_++;
    if (is_first_ || !(dt > 0)) return true;
    v = device::scaled(1 / dt, device::plus(sample.position, device::scaled(-1, last_.position)));
    if (senses_rotation_) w = device::angular_velocity(last_.rotation, sample.rotation, dt);
    return true;
  }

  // Also succeeds as DHD_TIMEGUARD, DHD_MOTOR_SATURATED.
  bool send(const vxs_wrench& wrench) const {
    const vxs_vec3 &f = wrench.force, &t = wrench.torque;
    if (!shows_torque_) return dhdSetForce(f.x, f.y, f.z, id_) >= 0;
    return dhdSetForceAndTorque(f.x, f.y, f.z, t.x, t.y, t.z, id_) >= 0;
  }

  bool fail(const char* why) {
    if (error_ == nullptr) error_ = why != nullptr ? why : dhdErrorGetLastStr();
    close();
    return false;
  }

  Options options_;
  device::Loop loop_;
  double time_ = 0;
  device::Sample last_;
  const char* error_ = nullptr;
  signed char id_ = -1;
  bool is_first_ = true, senses_rotation_ = false, shows_torque_ = false;
  std::atomic<std::uint64_t> estimated_{0};
};

}  // namespace forcedimension
}  // namespace voxshell

#endif
