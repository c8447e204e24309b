// The test's side of the simulated DHD.
#ifndef VOXSHELL_TESTS_SIM_DHD_SIMULATOR_H
#define VOXSHELL_TESTS_SIM_DHD_SIMULATOR_H

#include "simulated_device.h"

namespace sim {

struct Dhd {
  Handle handle;
  // Duration of dhdSetForceAndTorque, seconds: it paces the loop.
  double period = 1e-3, time = 100;
  bool plugged = true, open = false, force_on = false, button = true;
  // The cable is broken: no call answers any more.
  bool broken = false;
  // A reading with invalid numbers.
  bool garbage = false;
  double max_force = 0, max_torque = 0;
};

Dhd& dhd();

}  // namespace sim

#endif
