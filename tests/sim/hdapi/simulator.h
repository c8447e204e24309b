// The other side of the simulated HDAPI: what the test sees and does.
#ifndef VOXSHELL_TESTS_SIM_HDAPI_SIMULATOR_H
#define VOXSHELL_TESTS_SIM_HDAPI_SIMULATOR_H

#include <vector>

#include "HD/hd.h"
#include "simulated_device.h"

namespace sim {

struct Hd {
  Handle handle;
  // Hz.
  int rate = 1000;
  int axes = 6, buttons = HD_DEVICE_BUTTON_1;
  bool plugged = true, open = false, force_on = false, scheduling = false, in_frame = false;
  // The cable breaks: frames end with an error.
  bool broken = false;
  double continuous_force = 8.5;
  HDSchedulerCallback callback = nullptr;
  void* user = nullptr;
  std::vector<HDerror> errors;

  // So many turns of the scheduler. False: there is nothing scheduled.
  bool tick(int times = 1);
};

Hd& hd();

}  // namespace sim

#endif
