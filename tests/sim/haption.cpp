// cpp/haption over a simulated Virtuose, in both causalities and at several time steps: contact, frames, torque, the
// deadman switch, the emergency stop, indexing, garbage, and the end.
#include "voxshell/haption.h"

#include "scene.h"
#include "virtuose/simulator.h"

namespace {

using voxshell::haption::Device;
using voxshell::haption::Mode;
using voxshell::haption::Options;

// Virtuose: x to the front, y to the left, z up. The bar lies along x.
const sim::Vec kUp = {0, 0, 1};

Options options_of(const sim::Scene& scene, Mode mode, float time_step) {
  Options options;
  options.mode = mode;
  options.time_step = time_step;
  options.workspace = scene.workspace;
  options.mass = 0.2f;
  return options;
}

sim::Virtuose& fresh() {
  sim::virtuose() = sim::Virtuose();
  sim::virtuose().handle.position = sim::virtuose().handle.goal = {0, 0, 0.03};
  return sim::virtuose();
}

void contact_and_free_space(Mode mode, float time_step) {
  sim::Virtuose& v = fresh();
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, sim::Quaternion(), -INFINITY, nullptr);
  Device device(scene.haptics, options_of(scene, mode, time_step));
  CHECK(device.open("127.0.0.1#53210") && v.step == time_step && device.start() && v.power && v.looping);
  CHECK((mode == Mode::virtual_mechanism) == v.attached);
  auto driver = sim::drive(v.handle, scene, [&] { CHECK(v.tick()); });
  const int second = static_cast<int>(1 / time_step);
  driver.run(second);
  CHECK(v.handle.force.length() < 0.05);
  driver.to({0, 0, -0.03}, 3 * second);
  sim::pushes_out(v.handle, kUp, 0.7 * 135 * 0.03);
  CHECK(device.loop().contacts() > 0 && device.loop().failure() == VXS_OK);
  CHECK(device.error() == VIRT_E_NO_ERROR && v.silent == 0);
  if (mode == Mode::virtual_mechanism) {
    // The object penetrates by the deflection of the virtual coupling.
    CHECK(v.object.z > sim::Scene::kHalfWidth - 0.01 && v.object.z < sim::Scene::kHalfWidth);
    CHECK(v.handle.position.z < v.object.z);
  }
  // The displayed tool stays outside, except for the depth that a penalty needs.
  const double height = scene.height(device.loop().tool());
  CHECK(height > sim::Scene::kHalfWidth - 0.001 && height < sim::Scene::kHalfWidth + 0.0005);
  driver.to({0, 0, 0.03}, 3 * second);
  CHECK(v.handle.force.length() < 0.05 && device.loop().contacts() == 0);
  device.stop();
  CHECK(!v.looping && !v.power && !v.attached && !v.tick());
  sim::lets_go(v.handle);
  device.close();
  CHECK(!v.open && device.error() == VIRT_E_NO_ERROR);
}

void lever(Mode mode) {
  sim::Virtuose& v = fresh();
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, sim::Quaternion(), 0.03, nullptr);
  Device device(scene.haptics, options_of(scene, mode, 0.001f));
  CHECK(device.open("here") && device.start());
  auto driver = sim::drive(v.handle, scene, [&] { CHECK(v.tick()); });
  driver.to({0, 0, 0}, 3000);
  const sim::Vec f = v.handle.force, t = v.handle.torque;
  CHECK(f.z > 0.3 && -t.y > 0.025 * f.z && -t.y < 0.065 * f.z);
  CHECK(std::fabs(t.x) < 0.15 * -t.y && std::fabs(t.z) < 0.15 * -t.y);
}

// Deep in contact, the hand leaves, comes back, is stopped by the emergency stop, and moves the handle apart from the
// object.
void switches(Mode mode) {
  sim::Virtuose& v = fresh();
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, sim::Quaternion(), -INFINITY, nullptr);
  Device device(scene.haptics, options_of(scene, mode, 0.001f));
  CHECK(device.open("here") && device.start());
  auto driver = sim::drive(v.handle, scene, [&] { CHECK(v.tick()); });
  driver.to({0, 0, -0.03}, 2000);
  CHECK(v.handle.force.z > 2);
  bool* const switches[3] = {&v.deadman, &v.operational, &v.shifting};
  for (bool* one : switches) {
    *one = !*one;
    driver.run(1);
    sim::lets_go(v.handle);
    CHECK((device.loop().status() & VXS_HAPTICS_DISENGAGED) != 0);
    const sim::Vec before = v.object;
    driver.to({0, 0, 0.01}, 300);
    CHECK((v.object - before).length() < 1e-6);
    *one = !*one;
    v.handle.most_force = 0;
    driver.to({0, 0, 0.03}, 1500);
    CHECK(v.handle.most_force < 60 && v.handle.force.length() < 0.05);
    driver.to({0, 0, -0.03}, 2000);
    sim::pushes_out(v.handle, kUp, 2);
  }
}

void limits_and_garbage() {
  sim::Virtuose& v = fresh();
  const vxs_haptics_limits most = {2.5, 0.05, {INFINITY, INFINITY}, {INFINITY, INFINITY}};
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, sim::Quaternion(), -INFINITY, &most);
  Options options = options_of(scene, Mode::impedance, 0.001f);
  options.max_force = 20, options.max_torque = 2;
  Device device(scene.haptics, options);
  CHECK(device.open("here") && v.max_force == 20 && v.max_torque == 2 && device.start());
  auto driver = sim::drive(v.handle, scene, [&] { CHECK(v.tick()); });
  driver.to({0, 0, 0.03}, 300);  // until the ramp is over
  driver.to({0, 0, -0.2}, 500);
  CHECK(v.handle.most_force > 2.4 && v.handle.most_force < 2.5 * (1 + 1e-6));
  CHECK(v.handle.most_torque < 0.05 * (1 + 1e-6));
  v.garbage = true;
  driver.run(1);
  sim::lets_go(v.handle);
  CHECK((device.loop().status() & VXS_HAPTICS_BAD_STATE) != 0);
}

void refusals() {
  sim::Virtuose& v = fresh();
  sim::Scene scene(VXS_RENDERER_PENALTY, 1, sim::Quaternion(), -INFINITY, nullptr);
  Device device(scene.haptics, options_of(scene, Mode::impedance, 0));
  v.plugged = false;
  CHECK(!device.open("nowhere") && device.error() == VIRT_E_COMMUNICATION_FAILURE && !device.start());
  v.plugged = true;
  CHECK(!device.open("here") && device.error() == VIRT_E_INCORRECT_VALUE && !v.open && !device.start());
}

}  // namespace

int main() {
  const float time_steps[2] = {0.001f, 0.003f};
  for (float time_step : time_steps) {
    contact_and_free_space(Mode::impedance, time_step);
    contact_and_free_space(Mode::virtual_mechanism, time_step);
  }
  contact_and_free_space(Mode::virtual_mechanism, 0.0067f);
  lever(Mode::impedance);
  lever(Mode::virtual_mechanism);
  switches(Mode::impedance);
  switches(Mode::virtual_mechanism);
  limits_and_garbage();
  refusals();
  puts("haption: ok");
  return 0;
}
