// A ball is set into a ring with an Inverse3, or over a simulated Inverse Service (VOXSHELL_SIMULATED_DEVICE).
#include <voxshell/haply.h>

#include "touch.h"

#ifdef VOXSHELL_SIMULATED_DEVICE
#include "service.h"
#endif

int main() {
  const vxs_haptics_limits limits = {8, INFINITY, {2000, INFINITY}, {20, INFINITY}};
  touch::Scene scene(limits);
  voxshell::haply::Options options;
  options.workspace = touch::workspace();
  options.max_force = limits.force;
#ifdef VOXSHELL_SIMULATED_DEVICE
  sim::Service service;
  options.port = service.port();
  const auto turn = [&](double seconds) {
    service.with([&](sim::Service::State& s) { touch::lead(s.devices[0].handle, options.workspace, seconds); });
  };
#else
  const auto turn = [](double) {};
#endif
  voxshell::haply::Device device(scene.haptics, options);
  if (!device.open()) return std::puts(device.error()), 1;
  std::atomic<bool> running{true};
  std::thread servo([&] { device.run(running); });
  bool was_felt = touch::show(scene, turn, [&] { return touch::reading(device.loop()); });
#ifndef VOXSHELL_SIMULATED_DEVICE
  was_felt = device.is_open();
#endif
  running = false;
  servo.join();
  return was_felt ? 0 : 1;
}
