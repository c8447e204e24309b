// The test's side of the simulated Virtuose.
#ifndef VOXSHELL_TESTS_SIM_VIRTUOSE_SIMULATOR_H
#define VOXSHELL_TESTS_SIM_VIRTUOSE_SIMULATOR_H

#include "VirtuoseAPI.h"
#include "simulated_device.h"

namespace sim {

struct Virtuose {
  Handle handle;
  bool plugged = true, open = false, power = false, looping = false, attached = false, placed = false;
  bool deadman = true, operational = true, shifting = false, garbage = false;
  float step = 0, max_force = 0, max_torque = 0, mass = 0;
  VirtCommandType type = COMMAND_TYPE_NONE;
  void (*function)(VirtContext, void*) = nullptr;
  void* user = nullptr;
  float* period = nullptr;
  int error = VIRT_E_NO_ERROR;
  // The virtual object as last set, and the gains of the controller's coupling to the handle: N/m, N·s/m, N·m/rad,
  // N·m·s/rad.
  Vec object, object_velocity, object_turn_rate;
  Rotation object_rotation;
  double coupling = 1500, coupling_damping = 12, turn_coupling = 4, turn_coupling_damping = 0.02;
  // Calls of the periodic function that set neither force nor position: the controller's watchdog would act.
  int silent = 0;
  bool answered = false;

  // Runs this many periods of the controller. Between calls it serves the handle ten times. Returns false if its loop
  // is not running.
  bool tick(int times = 1);
  // Returns the force of the coupling on the object.
  Vec coupling_force() const;
  Vec coupling_torque() const;

 private:
  void command_motors();
};

Virtuose& virtuose();

}  // namespace sim

#endif
