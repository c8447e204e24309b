// A ball is set into a ring with a Virtuose, or with a simulated one (VOXSHELL_SIMULATED_DEVICE). The argument is the
// address of its controller, as virtOpen takes it.
#include <voxshell/haption.h>

#include "touch.h"

#ifdef VOXSHELL_SIMULATED_DEVICE
#include "simulator.h"
#endif

int main(int count, char** arguments) {
  const vxs_haptics_limits limits = {10, 1, {2000, 20}, {50, 0.5}};
  touch::Scene scene(limits);
  voxshell::haption::Options options;
  options.mode = voxshell::haption::Mode::impedance;
  options.time_step = 1e-3f;
  options.workspace = touch::workspace();
  options.max_force = 10, options.max_torque = 1;
  voxshell::haption::Device device(scene.haptics, options);
  if (!device.open(count > 1 ? arguments[1] : "127.0.0.1#53210") || !device.start())
    return std::printf("error %d of the Virtuose API\n", device.error()), 1;
  const auto read = [&] { return touch::reading(device.loop()); };
#ifdef VOXSHELL_SIMULATED_DEVICE
  // A controller calls by itself; the simulated one does so each time that it is asked.
  const auto turn = [&](double seconds) {
    touch::lead(sim::virtuose().handle, options.workspace, seconds);
    sim::virtuose().tick();
  };
  const bool was_felt = touch::show(scene, turn, read);
#else
  touch::show(scene, [](double) {}, read);
  const bool was_felt = device.error() == VIRT_E_NO_ERROR;
#endif
  device.stop();
  return was_felt ? 0 : 1;
}
