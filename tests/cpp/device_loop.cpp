// The loop of a device of the caller's own: clutch, change of scale, weight of the effector, ghost pose and rates.
#include "voxshell/device.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "voxshell/voxshell.hpp"

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);     \
      std::exit(1);                                                                      \
    }                                                                                    \
  } while (0)

using voxshell::device::Effector;
using voxshell::device::Loop;
using voxshell::device::plus;
using voxshell::device::Quaternion;
using voxshell::device::Sample;
using voxshell::device::scaled;

static const double kStep = 1e-3;

static double length(const vxs_vec3& v) { return std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }
static double distance(const vxs_vec3& a, const vxs_vec3& b) { return length(plus(a, scaled(-1, b))); }
static Quaternion rotation(const vxs_pose& p) { return {p.qx, p.qy, p.qz, p.qw}; }
static double angle(const Quaternion& a, const Quaternion& b) {
  return length(voxshell::device::angular_velocity(a, b, 1));
}
static Quaternion about_z(double a) { return {0, 0, std::sin(0.5 * a), std::cos(0.5 * a)}; }

// A box of 4 cm in the hand, over the plane z = 0 of the world. The device is turned about x against the world.
struct Bench {
  voxshell::Shape box, plane;
  voxshell::device::Workspace workspace;
  voxshell::Haptics haptics;
  Loop loop;
  Sample sample;
  vxs_wrench wrench{};
  double largest_change = 0;

  static voxshell::Shape cooked() {
    voxshell::Primitive what(VXS_PRIMITIVE_BOX);
    what.size[0] = what.size[1] = what.size[2] = 0.02;
    voxshell::CookOptions options;
    options.resolution = 24;
    return voxshell::Shape::create_primitive(what, options);
  }
  static voxshell::HapticsSettings settings(const voxshell::Shape& box, const voxshell::device::Workspace& workspace) {
    const vxs_haptics_limits device = {10, 1, {2000, 20}, {50, 0.5}}, world = workspace.to_world(device);
    return voxshell::HapticsSettings(VXS_RENDERER_GOD_OBJECT, box, 0.1, &world);
  }
  static voxshell::device::Workspace placed(double scale) {
    return {{{0.1, -0.2, 0.02}, std::sqrt(0.5), 0, 0, std::sqrt(0.5)}, scale};
  }

  explicit Bench(double scale)
      : box(cooked()),
        plane(voxshell::Shape::create_half_space({0, 0, 1}, 0)),
        workspace(placed(scale)),
        haptics(settings(box, workspace), box, {{&plane, voxshell::identity()}}),
        loop(haptics.c_handle(), workspace) {
    sample.engaged = true;
  }

  void run(int steps) {
    for (int i = 0; i < steps; i++) {
      const vxs_wrench next = loop.step(sample, kStep);
      largest_change = std::fmax(largest_change, distance(next.force, wrench.force));
      wrench = next;
      haptics.simulate();
    }
  }
  // Moves the device in a straight line, device frame.
  void move(const vxs_vec3& by, int steps) {
    for (int i = 0; i < steps; i++) {
      sample.position = plus(sample.position, scaled(1.0 / steps, by));
      run(1);
    }
  }
};

static void the_clutch_moves_the_device_and_not_the_tool() {
  Bench bench(4);
  // World z is the device's y: 1 mm of the device presses 4 mm into the plane.
  bench.move({0, -0.001, 0}, 200);
  bench.run(300);
  const double pressed = length(bench.wrench.force);
  CHECK(pressed > 0.5 && bench.wrench.force.y > 0.99 * pressed);
  const vxs_pose tool = bench.loop.tool(), hand = bench.loop.hand();
  CHECK(tool.position.z > 0.0199 && hand.position.z < 0.0165);

  bench.loop.set_clutch(true);
  bench.largest_change = 0;
  bench.run(150);
  CHECK(length(bench.wrench.force) == 0 && length(bench.wrench.torque) == 0);
  CHECK(bench.largest_change < 1.05 * pressed * kStep / Loop::kRamp);
  bench.sample.rotation = about_z(0.5);
  bench.move({0.03, 0.05, -0.02}, 300);
  CHECK(length(bench.wrench.force) == 0);
  CHECK(distance(bench.loop.tool().position, tool.position) < 1e-6 && distance(bench.loop.hand().position, hand.position) == 0);

  bench.loop.set_clutch(false);
  bench.largest_change = 0;
  bench.run(300);
  CHECK(distance(bench.loop.hand().position, hand.position) < 1e-12 && angle(rotation(bench.loop.hand()), rotation(hand)) < 1e-9);
  CHECK(std::fabs(length(bench.wrench.force) - pressed) < 0.02 * pressed && bench.largest_change < 1.05 * pressed * kStep / Loop::kRamp);
  // It goes on from there: up by 2 mm of the device, which are 8 of the world.
  bench.move({0, 0.002, 0}, 200);
  CHECK(std::fabs(bench.loop.hand().position.z - hand.position.z - 0.008) < 1e-12 && length(bench.wrench.force) < 1e-9);
  // A rotation about the device's z, which is the world's -y, turns the tool about that axis.
  bench.sample.rotation = about_z(0.7);
  bench.run(1);
  const vxs_vec3 turn = voxshell::device::angular_velocity(rotation(hand), rotation(bench.loop.hand()), 1);
  CHECK(std::fabs(turn.y + 0.2) < 1e-9 && std::fabs(turn.x) + std::fabs(turn.z) < 1e-9);
}

static void the_scale_changes_without_moving_the_tool() {
  Bench bench(5);
  bench.move({0.01, 0.004, 0}, 100);
  bench.run(300);
  const vxs_pose before = bench.loop.hand();
  CHECK(!bench.loop.set_scale(5.5, 1) && !bench.loop.set_scale(0, 1) && !bench.loop.set_scale(-1, 1) && !bench.loop.set_scale(2, -1));
  CHECK(!bench.loop.set_scale(std::nan(""), 1));
  CHECK(bench.loop.set_scale(2, 0.3));
  bench.run(150);
  CHECK(std::fabs(bench.loop.scale() - 3.5) < 1e-9);
  bench.run(200);
  CHECK(bench.loop.scale() == 2);
  CHECK(distance(bench.loop.hand().position, before.position) < 1e-12);
  bench.move({0, 0.003, 0}, 50);
  CHECK(std::fabs(bench.loop.hand().position.z - before.position.z - 0.006) < 1e-12);
  CHECK(bench.loop.failure() == VXS_OK);
}

static void the_device_carries_its_effector() {
  Bench bench(1);
  bench.move({0, 0.02, 0}, 50);
  bench.run(100);
  CHECK(length(bench.wrench.force) == 0);
  bench.loop.set_effector({0.2, {0.05, 0, 0}, {0, -9.81, 0}});
  bench.sample.rotation = about_z(0.2);
  bench.run(1);
  CHECK(std::fabs(bench.wrench.force.y - 0.2 * 9.81) < 1e-12 && std::fabs(bench.wrench.torque.z - 0.05 * std::cos(0.2) * 0.2 * 9.81) < 1e-12);
  // Off the device the hand gets nothing, and afterwards the weight comes by a ramp.
  bench.sample.engaged = false;
  bench.run(1);
  CHECK(length(bench.wrench.force) == 0 && length(bench.wrench.torque) == 0);
  bench.sample.engaged = true;
  bench.run(50);
  CHECK(std::fabs(bench.wrench.force.y - 0.5 * 0.2 * 9.81) < 0.03);
  bench.run(100);
  CHECK(std::fabs(bench.wrench.force.y - 0.2 * 9.81) < 1e-12);
}

static void the_rates_are_those_of_the_loops() {
  Bench bench(1);
  for (int i = 0; i < 500; i++) bench.move({0, 1e-6, 0}, 1);
  const vxs_haptics_rates rates = bench.loop.rates();
  CHECK(std::fabs(rates.servo - 1000) < 1e-6 && std::fabs(rates.simulation - 1000) < 10 && rates.steps == 500 && rates.rounds == 500);
}

int main() {
  the_clutch_moves_the_device_and_not_the_tool();
  the_scale_changes_without_moving_the_tool();
  the_device_carries_its_effector();
  the_rates_are_those_of_the_loops();
  return 0;
}
