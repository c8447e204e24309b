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
  double continuous_force = 8.5;
  HDSchedulerCallback callback = nullptr;
  void* user = nullptr;
  std::vector<HDerror> errors;

  // Runs the scheduler this many times. Returns false if nothing is scheduled.
  bool tick(int times = 1);
};

Hd& hd();

}  // namespace sim

#endif
