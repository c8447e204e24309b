// The test's side of the simulated HDAPI.
#ifndef VOXSHELL_TESTS_SIM_HDAPI_SIMULATOR_H
#define VOXSHELL_TESTS_SIM_HDAPI_SIMULATOR_H

#include <vector>

#include "HD/hd.h"
#include "simulated_device.h"

namespace sim {

struct Hd {
  Handle handle;
  // Rate, Hz.
  int rate = 1000;
  int axes = 6, buttons = HD_DEVICE_BUTTON_1;
  bool plugged = true, open = false, force_on = false, scheduling = false, in_frame = false;
  // The cable is broken: frames end with an error.
  bool broken = false;
  // Error of the next frames, after which HDAPI goes on: pushed at the end of each of them.
  HDerror error = HD_SUCCESS;
  int frames_with_error = 0;
  // As the motors do: above these, in N and m/s, a frame ends with an error.
  double guard_force = 1e9, guard_speed = 1e9;
  // N, N/mm, N·s/mm, mN·m, mN·m/rad, mN·m·s/rad; 0: the device does not know it.
  double continuous_force = 8.5, stiffness = 1.02, damping = 0.003;
  double torque = 188, torque_stiffness = 2000, torque_damping = 5;
  // HDAPI allows one frame per device and tick.
  bool had_frame = false;
  HDSchedulerCallback callback = nullptr;
  void* user = nullptr;
  std::vector<HDerror> errors;

  // Runs the scheduler this many times. Returns false if nothing is scheduled.
  bool tick(int times = 1);
};

Hd& hd();

}  // namespace sim

#endif
