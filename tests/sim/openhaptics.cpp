// cpp/openhaptics over a simulated HDAPI: mm and mN·m, frames, torque, limits, the button, errors after which HDAPI
// goes on, a broken cable, and the end.
#include "voxshell/openhaptics.h"

#include "hdapi/simulator.h"
#include "scene.h"

namespace {

using voxshell::openhaptics::Device;
using voxshell::openhaptics::Options;

// HDAPI: x to the right, y up, z towards the operator. The block's z is the device's y.
const sim::Quaternion kTurn = sim::about({1, 0, 0}, 0.5 * 3.14159265358979323846);
const sim::Vec kUp = {0, 1, 0};

Options options_of(const sim::Scene& scene) {
  Options options;
  options.workspace = scene.workspace;
  return options;
}

void contact_and_free_space(double scale) {
  sim::Hd& hd = sim::hd() = sim::Hd();
  sim::Scene scene(VXS_RENDERER_PENALTY, scale, kTurn, -INFINITY, nullptr);
  Device device(scene.haptics, options_of(scene));
  hd.handle.position = hd.handle.goal = {0, 0.03 / scale, 0};
  CHECK(device.open() && device.limits().force == 8.5 && device.start());
  auto driver = sim::drive(hd.handle, scene, [&] { CHECK(hd.tick()); });
  driver.run(300);
  CHECK(hd.handle.force.length() < 0.02 && hd.handle.torque.length() < 0.002);
  driver.to({0, -0.03 / scale, 0}, 2000);
  sim::pushes_out(hd.handle, kUp, 0.8 * 135 * 0.03 / scale);
  CHECK(device.loop().contacts() > 0 && device.loop().failure() == VXS_OK && device.error() == HD_SUCCESS);
  device.stop();
  sim::lets_go(hd.handle);
  CHECK(!hd.tick());
  // Restarts from its position inside, without a jump.
  CHECK(device.start());
  hd.handle.most_force = 0;
  driver.run(1);
  CHECK(hd.handle.most_force < 1);
  driver.to({0, 0.03 / scale, 0}, 2000);
  CHECK(hd.handle.force.length() < 0.02 && device.loop().contacts() == 0);
  device.close();
  CHECK(!hd.open && hd.errors.empty());
}

// Only the end of the bar is above the block. The force is along y at +x, so the torque is about z.
void lever(double scale, int axes) {
  sim::Hd& hd = sim::hd() = sim::Hd();
  hd.axes = axes;
  sim::Scene scene(VXS_RENDERER_PENALTY, scale, kTurn, 0.03, nullptr);
  Device device(scene.haptics, options_of(scene));
  hd.handle.position = {0, 0.03 / scale, 0};
  CHECK(device.open() && device.start());
  auto driver = sim::drive(hd.handle, scene, [&] { CHECK(hd.tick()); });
  driver.to({0, 0, 0}, 2500);
  const sim::Vec f = hd.handle.force, t = hd.handle.torque;
  CHECK(f.y > 0.3 / scale && device.error() == HD_SUCCESS);
  if (axes == 6) {
    CHECK(t.z > 0.025 / scale * f.y && t.z < 0.065 / scale * f.y);
    CHECK(std::fabs(t.x) < 0.15 * t.z && std::fabs(t.y) < 0.15 * t.z);
  } else {
    CHECK(t.length() == 0);
  }
}

void limits() {
  sim::Hd& hd = sim::hd() = sim::Hd();
  const vxs_haptics_limits most = {2.5, 0.05, {INFINITY, INFINITY}, {INFINITY, INFINITY}};
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, kTurn, 0.03, &most);
  Device device(scene.haptics, options_of(scene));
  hd.handle.position = {0, 0.03, 0};
  CHECK(device.open() && device.start());
  auto driver = sim::drive(hd.handle, scene, [&] { CHECK(hd.tick()); });
  driver.to({0, 0.03, 0}, 300);  // until the ramp is over
  driver.to({0, -0.2, 0}, 500);
  CHECK(hd.handle.most_force > 2.4 && hd.handle.most_force < 2.5 * (1 + 1e-9));
  CHECK(hd.handle.most_torque < 0.05 * (1 + 1e-9));
}

void button_rate_and_loss() {
  sim::Hd& hd = sim::hd() = sim::Hd();
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, kTurn, -INFINITY, nullptr);
  Options options = options_of(scene);
  options.deadman_button = HD_DEVICE_BUTTON_2;
  Device device(scene.haptics, options);
  hd.plugged = false;
  CHECK(!device.open() && device.error() == HD_DEVICE_FAULT && !device.start());
  hd.plugged = true;
  hd.handle.position = {0, 0.03, 0};
  CHECK(device.open() && device.start());
  auto driver = sim::drive(hd.handle, scene, [&] { CHECK(hd.tick()); });
  driver.to({0, -0.03, 0}, 1000);
  sim::lets_go(hd.handle);
  CHECK((device.loop().status() & VXS_HAPTICS_DISENGAGED) != 0);
  driver.to({0, 0.03, 0}, 1000);
  hd.buttons |= HD_DEVICE_BUTTON_2;
  driver.to({0, -0.03, 0}, 2000);
  sim::pushes_out(hd.handle, kUp, 3);
  // At a lower rate for some time: the step must follow the actual rate instead of a millisecond.
  hd.rate = 500;
  driver.run(500);
  sim::pushes_out(hd.handle, kUp, 3);
  hd.broken = true;
  driver.run(1);
  CHECK(device.lost() && device.error() == HD_COMM_ERROR);
  // One frame per tick: the next one takes the force away, and is the last.
  driver.run(1);
  sim::lets_go(hd.handle);
  CHECK(!hd.tick() && device.recoverable_errors() == 0);
}

// Errors after which HDAPI goes on: no force while they last and for a moment more, then a ramp to what it was.
void recoverable(HDerror error) {
  sim::Hd& hd = sim::hd() = sim::Hd();
  sim::Scene scene(VXS_RENDERER_GOD_OBJECT, 1, kTurn, -INFINITY, nullptr);
  Options options = options_of(scene);
  options.recovery = 0.05;
  Device device(scene.haptics, options);
  hd.handle.position = {0, 0.03, 0};
  CHECK(device.open() && device.start());
  auto driver = sim::drive(hd.handle, scene, [&] { CHECK(hd.tick()); });
  driver.to({0, -0.03, 0}, 800);
  const double held = hd.handle.force.length();
  CHECK(held > 2);
  hd.error = error, hd.frames_with_error = 30;
  driver.run(1);
  CHECK(device.recovering() && !device.lost() && device.error() == error && device.recoverable_errors() == 1);
  for (int i = 1; i < 30 + 49; i++) {
    driver.run(1);
    sim::lets_go(hd.handle);
  }
  CHECK(device.recoverable_errors() == 30 && hd.errors.empty());
  // The ramp lasts 0.1 s. The hand is deeper by now, so that the force may grow to the limit of 10 N.
  double last = 0;
  for (int i = 0; i < 100; i++) {
    driver.run(1);
    const double force = hd.handle.force.length();
    CHECK(force - last < 1.1 * 10 * 0.01);
    last = force;
  }
  CHECK(!device.recovering() && !device.lost());
  driver.run(800);
  sim::pushes_out(hd.handle, kUp, 0.7 * 135 * 0.03);
  CHECK(scene.height(device.loop().tool()) > sim::Scene::kHalfWidth - 1e-4);
  device.stop();
  sim::lets_go(hd.handle);
}

// The device's own guards against force and speed: the hand strikes the block, the guard acts, and the force comes
// back.
void guards() {
  sim::Hd& hd = sim::hd() = sim::Hd();
  // Below the guard, or the force that brings the hand back would trip it again.
  const vxs_haptics_limits most = {7.5, 0.1, {1000, 2}, {20, 0.05}};
  sim::Scene scene(VXS_RENDERER_GOD_OBJECT, 1, kTurn, -INFINITY, &most);
  Device device(scene.haptics, options_of(scene));
  hd.guard_speed = 0.6, hd.guard_force = 8;
  hd.handle.position = {0, 0.03, 0};
  CHECK(device.open() && device.start());
  auto driver = sim::drive(hd.handle, scene, [&] { CHECK(hd.tick()); });
  driver.to({0, 0.03, 0}, 200);
  hd.handle.hand_stiffness = 300;
  driver.to({0, -0.03, 0}, 300);
  CHECK(device.recoverable_errors() > 0 && !device.lost());
  hd.handle.hand_stiffness = 135;
  driver.to({0, -0.03, 0}, 1500);
  sim::pushes_out(hd.handle, kUp, 0.7 * 135 * 0.03);
  CHECK(!device.recovering());
}

void limits_of_the_device(int axes, double scale) {
  sim::Hd& hd = sim::hd() = sim::Hd();
  hd.axes = axes, hd.damping = 0;
  sim::Scene scene(VXS_RENDERER_PENALTY, scale, kTurn, -INFINITY, nullptr);
  Device device(scene.haptics, options_of(scene));
  CHECK(device.open());
  const vxs_haptics_limits most = device.limits();
  CHECK(most.force == 8.5 && std::fabs(most.stiffness[0] * scale - 1020) < 1e-9 && std::isinf(most.damping[0]));
  if (axes == 6) {
    CHECK(std::fabs(most.torque / scale - 0.188) < 1e-12 && std::fabs(most.stiffness[1] / scale - 2) < 1e-12);
    CHECK(std::fabs(most.damping[1] / scale - 0.005) < 1e-15);
  } else {
    CHECK(std::isinf(most.torque) && std::isinf(most.stiffness[1]) && std::isinf(most.damping[1]));
  }
  CHECK(hd.errors.empty());
}

}  // namespace

int main() {
  contact_and_free_space(1);
  contact_and_free_space(2.5);
  lever(1, 6);
  lever(2.5, 6);
  lever(1, 3);
  limits();
  button_rate_and_loss();
  const HDerror errors[] = {HD_WARM_MOTORS, HD_EXCEEDED_MAX_FORCE, HD_EXCEEDED_MAX_VELOCITY, HD_FORCE_ERROR};
  for (HDerror error : errors) recoverable(error);
  guards();
  limits_of_the_device(6, 1);
  limits_of_the_device(6, 5);
  limits_of_the_device(3, 5);
  puts("openhaptics: ok");
  return 0;
}
