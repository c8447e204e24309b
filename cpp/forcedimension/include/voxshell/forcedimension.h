// Forces from Voxshell on devices of Force Dimension (and others that speak DHD). Header-only; compiled against the user's
// dhdc.h. See cpp/forcedimension/README.md.
#ifndef VOXSHELL_FORCEDIMENSION_H
#define VOXSHELL_FORCEDIMENSION_H

#include <atomic>

#include <dhdc.h>

#include "voxshell/device.hpp"

namespace voxshell {
namespace forcedimension {

struct Options {
  device::Workspace workspace;
  // The device's own limits, set in its driver too: N, N·m. 0: those that it has.
  double max_force = 0, max_torque = 0;
  // The button that must be held for forces to be shown. -1: none is needed.
  int deadman_button = -1;
};

// One device. All calls but the questions come from one thread, which dhdSetForceAndTorque paces.
class Device {
 public:
  // The vxs_haptics stays the caller's, and must outlive the device.
  Device(vxs_haptics* haptics, const Options& options = Options()) : options_(options), loop_(haptics, options.workspace) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { close(); }

  // The first device that there is. False: dhdErrorGetLastStr() says why.
  bool open() {
    id_ = static_cast<char>(dhdOpen());
    if (id_ < 0) return false;
    if (options_.max_force > 0 && dhdSetMaxForce(options_.max_force, id_) < 0) return fail();
    if (options_.max_torque > 0 && dhdSetMaxTorque(options_.max_torque, id_) < 0) return fail();
    if (dhdEnableForce(DHD_ON, id_) < 0) return fail();
    vxs_haptics_reset(loop_.haptics(), nullptr);
    time_ = dhdGetTime();
    return true;
  }

  // Reads, steps, sends. False: the device does not answer, or refuses; it has been let go without force.
  bool step() {
    if (id_ < 0) return false;
    device::Sample sample;
    double m[3][3];
    vxs_vec3 &p = sample.position, &v = sample.linear, &w = sample.angular;
    if (dhdGetPositionAndOrientationFrame(&p.x, &p.y, &p.z, m, id_) < 0 || dhdGetLinearVelocity(&v.x, &v.y, &v.z, id_) < 0 ||
        dhdGetAngularVelocityRad(&w.x, &w.y, &w.z, id_) < 0)
      return fail();
    sample.rotation = device::quaternion([&m](int row, int column) { return m[row][column]; });
    sample.engaged = options_.deadman_button < 0 || dhdGetButton(options_.deadman_button, id_) == DHD_ON;
    const double now = dhdGetTime();
    const vxs_wrench wrench = loop_.step(sample, now - time_);
    time_ = now;
    // Also succeeds as DHD_TIMEGUARD, DHD_MOTOR_SATURATED.
    const int sent = dhdSetForceAndTorque(wrench.force.x, wrench.force.y, wrench.force.z, wrench.torque.x, wrench.torque.y,
                                          wrench.torque.z, id_);
    return sent >= 0 || fail();
  }

  // Steps until `on` is false or the device is lost; then no force is left on it. True if it was not lost.
  bool run(const std::atomic<bool>& on) {
    bool alive = true;
    while (alive && on.load(std::memory_order_relaxed)) alive = step();
    return alive && dhdSetForceAndTorque(0, 0, 0, 0, 0, 0, id_) >= 0;
  }

  void close() {
    if (id_ < 0) return;
    dhdSetForceAndTorque(0, 0, 0, 0, 0, 0, id_);
    dhdEnableForce(DHD_OFF, id_);
    dhdClose(id_);
    id_ = -1;
  }

  // Status and failures of the steps, for any thread.
  const device::Loop& loop() const { return loop_; }
  bool is_open() const { return id_ >= 0; }

 private:
  bool fail() {
    close();
    return false;
  }

  Options options_;
  device::Loop loop_;
  double time_ = 0;
  signed char id_ = -1;
};

}  // namespace forcedimension
}  // namespace voxshell

#endif
