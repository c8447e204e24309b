// A ball is set into a ring with a Touch or a Phantom, or with a simulated one (VOXSHELL_SIMULATED_DEVICE).
#include <voxshell/openhaptics.h>

#include "touch.h"

#ifdef VOXSHELL_SIMULATED_DEVICE
#include "simulator.h"
#endif

int main() {
  // Of a Touch; device.limits() names those of the open device.
  const vxs_haptics_limits limits = {3.3, INFINITY, {1000, INFINITY}, {3, INFINITY}};
  touch::Scene scene(limits);
  voxshell::openhaptics::Options options;
  options.workspace = touch::workspace_with_y_up();
  voxshell::openhaptics::Device device(scene.haptics, options);
  if (!device.open() || !device.start()) return std::printf("error %x of HDAPI\n", device.error()), 1;
  const auto read = [&] { return touch::reading(device.loop()); };
#ifdef VOXSHELL_SIMULATED_DEVICE
  // HDAPI's scheduler calls by itself; the simulated one does so each time that it is asked.
  const auto turn = [&](double seconds) {
    touch::lead(sim::hd().handle, options.workspace, seconds);
    sim::hd().tick();
  };
  const bool was_felt = touch::show(scene, turn, read);
#else
  touch::show(scene, [](double) {}, read);
  const bool was_felt = !device.lost();
#endif
  device.stop();
  return was_felt ? 0 : 1;
}
