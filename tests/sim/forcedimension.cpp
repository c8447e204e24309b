// cpp/forcedimension over a simulated DHD: contact, frames, torque, limits, the button, garbage, a broken cable, and the end.
#include "voxshell/forcedimension.h"

#include "dhd/simulator.h"
#include "scene.h"

namespace {

using voxshell::forcedimension::Device;
using voxshell::forcedimension::Options;

// DHD: x towards the operator, y to the right, z up. The bar lies along x.
const sim::Quaternion kTurn{};
const sim::Vec kUp = {0, 0, 1};
const double kFree = 0.03, kInto = -0.03;

void fresh() { sim::dhd() = sim::Dhd(); }

void contact_and_free_space(double scale) {
  fresh();
  sim::Scene scene(VXS_RENDERER_PENALTY, scale, kTurn, -INFINITY, nullptr);
  Options options;
  options.workspace = scene.workspace;
  Device device(scene.haptics, options);
  sim::Dhd& dhd = sim::dhd();
  dhd.handle.position = dhd.handle.goal = {0, 0, kFree / scale};
  CHECK(device.open() && dhd.force_on);
  auto driver = sim::drive(dhd.handle, scene, [&] { CHECK(device.step()); });
  driver.run(300);
  CHECK(dhd.handle.force.length() < 0.02 && dhd.handle.torque.length() < 0.002);
  // The hand pulls with 135 N/m from the face to 3 cm below its target.
  driver.to({0, 0, kInto / scale}, 2000);
  sim::pushes_out(dhd.handle, kUp, 0.8 * 135 * 0.03 / scale);
  CHECK(device.loop().contacts() > 0 && device.loop().failure() == VXS_OK);
  // A flat contact on a flat face.
  CHECK(dhd.handle.torque.length() < 0.05 * 0.06 * dhd.handle.force.length());
  driver.to({0, 0, kFree / scale}, 2000);
  CHECK(dhd.handle.force.length() < 0.02 && device.loop().contacts() == 0);
  device.close();
  CHECK(!dhd.open && !dhd.force_on);
  sim::lets_go(dhd.handle);
}

// Only the end of the bar is above the block, which gives a lever.
void lever(double scale) {
  fresh();
  sim::Scene scene(VXS_RENDERER_PENALTY, scale, kTurn, 0.03, nullptr);
  Options options;
  options.workspace = scene.workspace;
  Device device(scene.haptics, options);
  sim::Dhd& dhd = sim::dhd();
  dhd.handle.position = {0, 0, kFree / scale};
  CHECK(device.open());
  auto driver = sim::drive(dhd.handle, scene, [&] { CHECK(device.step()); });
  driver.to({0, 0, 0.0 / scale}, 2500);
  const sim::Vec f = dhd.handle.force, t = dhd.handle.torque;
  // The force is along z at +x: the torque is about -y, with an arm of 3 to 6 cm in the world.
  CHECK(f.z > 0.3 / scale && -t.y > 0.025 / scale * f.z && -t.y < 0.065 / scale * f.z);
  CHECK(std::fabs(t.x) < 0.15 * -t.y && std::fabs(t.z) < 0.15 * -t.y);
}

void limits() {
  fresh();
  const vxs_haptics_limits most = {2.5, 0.05, {INFINITY, INFINITY}, {INFINITY, INFINITY}};
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, kTurn, 0.03, &most);
  Options options;
  options.workspace = scene.workspace;
  options.max_force = 6;
  Device device(scene.haptics, options);
  sim::Dhd& dhd = sim::dhd();
  dhd.handle.position = {0, 0, kFree};
  CHECK(device.open() && dhd.max_force == 6);
  auto driver = sim::drive(dhd.handle, scene, [&] { CHECK(device.step()); });
  driver.to({0, 0, kFree}, 300);  // until the ramp is over
  driver.to({0, 0, -0.2}, 500);
  CHECK(dhd.handle.most_force > 2.4 && dhd.handle.most_force < 2.5 * (1 + 1e-9) && dhd.handle.most_torque < 0.05 * (1 + 1e-9));
  CHECK((device.loop().status() & VXS_HAPTICS_LIMITED) != 0);
}

// The hand releases the button, deep in contact, and presses it again: the force grows from zero.
void deadman_and_garbage() {
  fresh();
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, kTurn, -INFINITY, nullptr);
  Options options;
  options.workspace = scene.workspace;
  options.deadman_button = 0;
  Device device(scene.haptics, options);
  sim::Dhd& dhd = sim::dhd();
  dhd.handle.position = {0, 0, kFree};
  CHECK(device.open());
  auto driver = sim::drive(dhd.handle, scene, [&] { CHECK(device.step()); });
  driver.to({0, 0, kInto}, 2000);
  const double held = dhd.handle.force.length();
  CHECK(held > 2);
  dhd.button = false;
  driver.run(1);
  sim::lets_go(dhd.handle);
  CHECK((device.loop().status() & VXS_HAPTICS_DISENGAGED) != 0);
  dhd.button = true;
  driver.run(1);
  CHECK(dhd.handle.force.length() < 0.3 * held);
  driver.to({0, 0, kFree}, 1500);
  driver.to({0, 0, kInto}, 2000);
  CHECK(dhd.handle.force.length() > 2);
  // A reading that is NaN.
  dhd.garbage = true;
  driver.run(1);
  sim::lets_go(dhd.handle);
  CHECK((device.loop().status() & VXS_HAPTICS_BAD_STATE) != 0 && device.loop().failure() == VXS_OK);
  dhd.garbage = false;
  // The clock stops, and jumps.
  dhd.period = 0;
  driver.run(2);
  sim::lets_go(dhd.handle);
  CHECK((device.loop().status() & VXS_HAPTICS_BAD_TIME) != 0);
  dhd.period = 1e-3;
  dhd.time += 3600;
  driver.run(1);
  sim::lets_go(dhd.handle);
}

void loss_and_the_end() {
  fresh();
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, kTurn, -INFINITY, nullptr);
  Options options;
  options.workspace = scene.workspace;
  Device device(scene.haptics, options);
  sim::Dhd& dhd = sim::dhd();
  dhd.plugged = false;
  CHECK(!device.open() && !device.step());
  dhd.plugged = true;
  CHECK(device.open());
  dhd.broken = true;
  std::atomic<bool> on{true};
  CHECK(!device.run(on) && !device.is_open());
  dhd.broken = false;
  dhd.handle.position = {0, 0, -0.01};
  CHECK(device.open());
  for (int i = 0; i < 50; i++) {
    scene.simulate();
    CHECK(device.step());
  }
  on = false;
  CHECK(device.run(on));
  sim::lets_go(dhd.handle);
}

}  // namespace

int main() {
  contact_and_free_space(1);
  contact_and_free_space(2.5);
  lever(1);
  lever(2.5);
  limits();
  deadman_and_garbage();
  loss_and_the_end();
  puts("forcedimension: ok");
}
