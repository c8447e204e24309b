// A ball is set into a ring with a device of Force Dimension, or with a simulated one (VOXSHELL_SIMULATED_DEVICE).
#include <voxshell/forcedimension.h>

#include "touch.h"

#ifdef VOXSHELL_SIMULATED_DEVICE
#include "simulator.h"
#endif

int main() {
  // From the data sheet of an omega.6: N, N·m, N/m, ….
  const vxs_haptics_limits limits = {12, INFINITY, {3000, INFINITY}, {40, INFINITY}};
  touch::Scene scene(limits);
  voxshell::forcedimension::Options options;
  options.workspace = touch::workspace();
  options.max_force = limits.force;
  voxshell::forcedimension::Device device(scene.haptics, options);
  if (!device.open()) return std::puts(device.error()), 1;
#ifdef VOXSHELL_SIMULATED_DEVICE
  // The simulated SDK does not wait for the device: this thread steps, each millisecond.
  const auto turn = [&](double seconds) {
    touch::lead(sim::dhd().handle, options.workspace, seconds);
    device.step();
  };
  const bool was_felt = touch::show(scene, turn, [&] { return touch::reading(device.loop()); });
#else
  std::atomic<bool> running{true};
  std::thread servo([&] { device.run(running); });
  touch::show(scene, [](double) {}, [&] { return touch::reading(device.loop()); });
  running = false;
  servo.join();
  const bool was_felt = device.is_open();
#endif
  device.close();
  return was_felt ? 0 : 1;
}
