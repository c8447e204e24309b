// The scene of the examples for haptic devices, and their display in a terminal: a ball in the hand that is set into a
// ring. The ball is larger than the hole, so it comes to rest in it, and the hand that goes on down feels a force.
#ifndef VOXSHELL_EXAMPLES_TOUCH_H
#define VOXSHELL_EXAMPLES_TOUCH_H

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "picture.h"
#include "voxshell/device.hpp"

namespace touch {

// Metres. World: z up; the ring lies around the origin. The middle of the device's workspace is above it.
constexpr double kBall = 0.020, kRing = 0.030, kTube = 0.012, kStart = 0.060;
// Seconds that an example takes.
constexpr double kEnd = 2.5;

// Ends the program with the library's message if a call failed.
inline void check(vxs_status status) {
  if (status == VXS_OK) return;
  std::fprintf(stderr, "%s\n", vxs_last_error());
  std::exit(1);
}

class Scene {
 public:
  explicit Scene(const vxs_haptics_limits& device) {
    vxs_primitive sphere;
    check(vxs_primitive_init(&sphere, sizeof sphere, VXS_PRIMITIVE_SPHERE));
    sphere.size[0] = kBall;
    check(vxs_shape_create_primitive(&sphere, nullptr, &ball_));
    check(vxs_shape_create_torus(kRing, kTube, 2, &ring_));
    const vxs_body body = {ring_, {{0, 0, 0}, 0, 0, 0, 1}};
    vxs_haptics_settings settings;
    check(vxs_haptics_settings_init(&settings, sizeof settings, VXS_RENDERER_GOD_OBJECT, ball_, 0.2, &device));
    check(vxs_haptics_create(&settings, ball_, &body, 1, &haptics));
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene() {
    vxs_haptics_release(haptics);
    vxs_shape_release(ball_);
    vxs_shape_release(ring_);
  }

  const vxs_shape* ball() const { return ball_; }
  const vxs_shape* ring() const { return ring_; }

  vxs_haptics* haptics = nullptr;

 private:
  vxs_shape *ball_ = nullptr, *ring_ = nullptr;
};

// `base`: rotation of the device's frame to the world. By default the device's z is up too.
inline voxshell::device::Workspace workspace(const voxshell::device::Quaternion& base = {}) {
  voxshell::device::Workspace placed;
  placed.base = {{0, 0, kStart}, base.x, base.y, base.z, base.w};
  return placed;
}
// For devices whose y is up.
inline voxshell::device::Workspace workspace_with_y_up() { return workspace({std::sqrt(0.5), 0, 0, std::sqrt(0.5)}); }

// Where a simulated hand wants to be, in the world: down, through the place where the ball rests, and up again.
inline double hand_height(double seconds) {
  const double lowest = -0.020, down = std::clamp((seconds - 0.3) / 0.7, 0.0, 1.0);
  const double up = std::clamp((seconds - 1.6) / 0.7, 0.0, 1.0);
  return kStart + (lowest - kStart) * (down - up);
}

// Gives the hand on a simulated handle (tests/sim) its place.
template <class Handle>
void lead(Handle& handle, const voxshell::device::Workspace& workspace, double seconds) {
  const vxs_vec3 above = {0, 0, hand_height(seconds) - workspace.base.position.z};
  const vxs_vec3 goal = workspace.turn().conjugate().rotate(above);
  handle.goal.x = goal.x, handle.goal.y = goal.y, handle.goal.z = goal.z;
}

struct Reading {
  // Metres, newtons.
  double tool_height, force;
  unsigned contacts;
  unsigned long long steps;
};

inline Reading reading(const voxshell::device::Loop& loop) {
  const vxs_vec3 f = loop.wrench().force;
  return {loop.tool().position.z, std::sqrt(f.x * f.x + f.y * f.y + f.z * f.z), loop.contacts(), loop.steps()};
}

// Finds contacts on this thread, and prints a line each tenth of a second. `turn` is called each millisecond with the
// seconds since the beginning, and `read` gives a Reading. Returns whether the ball was held in the ring, the hand felt
// it, and felt nothing at the end. Writes a picture to the file that the environment names in VOXSHELL_PICTURE.
template <class Turn, class Read>
bool show(const Scene& scene, Turn turn, Read read) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  // The ball's centre is at the distance of both radii from the middle of the tube.
  const double rest = std::sqrt((kBall + kTube) * (kBall + kTube) - kRing * kRing);
  double most_force = 0, lowest = kStart;
  Reading last = read();
  Picture picture(kBall, kRing, kTube);
  std::printf("   time      tool     force  contacts     rate\n");
  for (int ms = 0; ms <= 1000 * kEnd; ms++) {
    std::this_thread::sleep_until(begin + std::chrono::milliseconds(ms));
    turn(1e-3 * ms);
    vxs_haptics_simulate(scene.haptics, nullptr);
    const Reading now = read();
    most_force = std::max(most_force, now.force);
    // The first steps may have no time to count from; the tool has no place before a step that counts.
    if (ms > 100) lowest = std::min(lowest, now.tool_height);
    if (ms > 100 && ms % 5 == 0) picture.add({1e-3 * ms, hand_height(1e-3 * ms), now.tool_height, now.force});
    if (ms % 100 != 0 || ms == 0) continue;
    const double rate = static_cast<double>(now.steps - last.steps) / 0.1;
    std::printf("%5.1f s  %5.1f mm  %6.2f N  %8u  %4.0f Hz\n", 1e-3 * ms, 1e3 * now.tool_height, now.force,
                now.contacts, rate);
    last = now;
  }
  std::printf("largest force %.2f N; the ball came down to %.1f mm, and rests at %.1f mm\n", most_force, 1e3 * lowest,
              1e3 * rest);
  const char* path = std::getenv("VOXSHELL_PICTURE");
  if (path && !picture.write(path)) {
    std::fprintf(stderr, "%s: the picture was not written\n", path);
    return false;
  }
  return most_force > 1 && std::fabs(lowest - rest) < 5e-4 && read().force < 0.05;
}

}  // namespace touch

#endif
