// The test's side of the simulated DHD.
#ifndef VOXSHELL_TESTS_SIM_DHD_SIMULATOR_H
#define VOXSHELL_TESTS_SIM_DHD_SIMULATOR_H

#include "simulated_device.h"

namespace sim {

// One connected device. It fails as the SDK does: see simulator.cpp.
struct Dhd {
  Handle handle;
  // Duration of dhdSetForceAndTorque, seconds: it paces the loop. Positions of the last `window` seconds give the
  // velocity.
  double period = 1e-3, window = 0.020;
  unsigned short serial = 1234;
  bool plugged = true, force_on = false, button = true;
  // The cable is broken: no call answers any more.
  bool broken = false;
  // A reading with invalid numbers.
  bool garbage = false;
  // Encoders are calibrated. A device that cannot initialize itself stays as it is.
  bool initialized = true, can_initialize = true;
  bool has_wrist = true, has_active_wrist = true;
  double max_force = 0, max_torque = 0;
  // Opened through DHD or DRD, and through DRD.
  bool open = false, open_for_drd = false;
  // Calls of drdAutoInit, calls that were made before initialization, and velocities that were not known.
  int initializations = 0, too_early = 0, time_outs = 0;
  // Times of the last two readings of the position.
  double read[2] = {-1, -1};
};

// The first device, or another one.
Dhd& dhd(int id = 0);
// Removes all devices, and connects this many new ones.
void connect(int count);
// Time of the SDK's clock, seconds.
double& clock();

}  // namespace sim

#endif
