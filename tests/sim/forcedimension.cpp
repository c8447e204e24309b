// cpp/forcedimension over a simulated DHD: contact, frames, torque, limits, the button, garbage, a broken cable, and
// the end; velocities that are not known yet, initialization, devices without a wrist, and one of several devices.
#include "voxshell/forcedimension.h"

#include <initializer_list>

#include "dhd/simulator.h"
#include "scene.h"

namespace {

using voxshell::forcedimension::Device;
using voxshell::forcedimension::Options;

// DHD: x towards the operator, y to the right, z up. The bar lies along x.
const sim::Quaternion kTurn{};
const sim::Vec kUp = {0, 0, 1};
const double kFree = 0.03, kInto = -0.03;

void fresh() { sim::connect(1); }

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
  CHECK(dhd.handle.most_force > 2.4 && dhd.handle.most_force < 2.5 * (1 + 1e-9));
  CHECK(dhd.handle.most_torque < 0.05 * (1 + 1e-9));
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
  sim::clock() += 3600;
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

// DHD knows no velocity at the first step, and at no step of a loop that is slower than its window.
void unknown_velocities(double period) {
  fresh();
  // Stable also at 40 Hz: K T/2 < b + B (Colgate & Schenkel 1997).
  const vxs_haptics_limits soft = {10, 0.5, {200, 1}, {INFINITY, INFINITY}};
  sim::Scene scene(VXS_RENDERER_GOD_OBJECT, 1, kTurn, -INFINITY, &soft);
  Options options;
  options.workspace = scene.workspace;
  Device device(scene.haptics, options);
  sim::Dhd& dhd = sim::dhd();
  dhd.period = period;
  dhd.handle.position = dhd.handle.goal = {0, 0, kFree};
  CHECK(device.open());
  auto driver = sim::drive(dhd.handle, scene, [&] { CHECK(device.step()); });
  driver.to({0, 0, kInto}, 1000);
  const bool always = period > dhd.window;
  CHECK(dhd.time_outs == (always ? 1000 : 1) && device.estimated() == static_cast<std::uint64_t>(dhd.time_outs));
  CHECK(device.is_open() && device.loop().failure() == VXS_OK && device.error()[0] == 0);
  CHECK((device.loop().status() & (VXS_HAPTICS_BAD_STATE | VXS_HAPTICS_TELEPORT)) == 0);
  sim::pushes_out(dhd.handle, kUp, 0.5 * 135 * 0.03);
}

// Forces come after initialization, by which the device moves itself.
void initialization() {
  fresh();
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, kTurn, -INFINITY, nullptr);
  Options options;
  options.workspace = scene.workspace;
  sim::Dhd& dhd = sim::dhd();
  dhd.initialized = false;
  options.auto_initialize = false;
  Device careful(scene.haptics, options);
  CHECK(!careful.open() && !dhd.open && !dhd.force_on && dhd.initializations == 0);
  CHECK(strstr(careful.error(), "not initialized") != nullptr);
  options.auto_initialize = true;
  Device device(scene.haptics, options);
  dhd.can_initialize = false;
  CHECK(!device.open() && !dhd.open && !dhd.force_on && dhd.initializations == 1 && device.error()[0] != 0);
  dhd.can_initialize = true;
  CHECK(device.open() && dhd.initializations == 2 && dhd.force_on && dhd.too_early == 0 && device.error()[0] == 0);
  device.close();
  CHECK(device.open() && dhd.initializations == 2);
}

// A delta.3 has no wrist, an omega.6 has one without motors: no torque, and without a wrist no angular velocity.
void wrists(bool has_wrist) {
  fresh();
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, kTurn, 0.03, nullptr);
  Options options;
  options.workspace = scene.workspace;
  options.max_torque = 0.2;
  Device device(scene.haptics, options);
  sim::Dhd& dhd = sim::dhd();
  dhd.has_wrist = has_wrist, dhd.has_active_wrist = false;
  dhd.handle.position = {0, 0, kFree};
  CHECK(device.open() && device.senses_rotation() == has_wrist && !device.shows_torque() && dhd.max_torque == 0);
  auto driver = sim::drive(dhd.handle, scene, [&] { CHECK(device.step()); });
  driver.to({0, 0, 0}, 2500);
  CHECK(dhd.handle.force.z > 0.3 && dhd.handle.most_torque == 0 && device.loop().failure() == VXS_OK);
  CHECK(device.estimated() == 1);
}

// One device of three, by its place or its serial number; those that are open stay so.
void one_of_several() {
  sim::connect(3);
  for (int i = 0; i < 3; i++) sim::dhd(i).serial = static_cast<unsigned short>(100 + i);
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, kTurn, -INFINITY, nullptr);
  Options options;
  options.workspace = scene.workspace;
  options.id = 1;
  Device second(scene.haptics, options);
  CHECK(second.open() && sim::dhd(1).open && !sim::dhd(0).open && !sim::dhd(2).open);
  options.id = -1, options.serial = 102;
  Device third(scene.haptics, options);
  CHECK(third.open() && sim::dhd(2).open && sim::dhd(2).force_on && !sim::dhd(0).open);
  CHECK(sim::dhd(1).open && sim::dhd(1).force_on);
  CHECK(second.step() && third.step());
  // In use, and not there.
  for (int serial : {101, 77}) {
    options.serial = serial;
    Device none(scene.haptics, options);
    CHECK(!none.open() && strstr(none.error(), "serial number") != nullptr);
  }
  CHECK(sim::dhd(1).open && sim::dhd(1).force_on && second.step());
  options.serial = -1;
  Device any(scene.haptics, options);
  CHECK(any.open() && sim::dhd(0).open);
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
  unknown_velocities(1e-3);
  unknown_velocities(0.025);
  initialization();
  wrists(false);
  wrists(true);
  one_of_several();
  puts("forcedimension: ok");
  return 0;
}
