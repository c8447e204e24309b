// The handle behind the simulated SDKs of tests/sim, with mass and damping, motors, and a hand. Device frame, SI.
//
// Every axis is a mass with a damper. Loads are held over the step; the motion within the step is exact.
#ifndef VOXSHELL_TESTS_SIM_DEVICE_H
#define VOXSHELL_TESTS_SIM_DEVICE_H

#include <cmath>

namespace sim {

struct Vec {
  double x = 0, y = 0, z = 0;
  Vec operator+(const Vec& b) const { return {x + b.x, y + b.y, z + b.z}; }
  Vec operator-(const Vec& b) const { return {x - b.x, y - b.y, z - b.z}; }
  double dot(const Vec& b) const { return x * b.x + y * b.y + z * b.z; }
  double length() const { return std::sqrt(dot(*this)); }
};
inline Vec operator*(double s, const Vec& v) { return {s * v.x, s * v.y, s * v.z}; }
inline Vec cross(const Vec& a, const Vec& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Columns are the body's axes.
struct Rotation {
  Vec x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};

  static Vec turn(const Vec& v, const Vec& axis, double angle) {
    const double c = std::cos(angle);
    return c * v + std::sin(angle) * cross(axis, v) + (1 - c) * axis.dot(v) * axis;
  }
  // Rotates by a rotation vector of the device frame. The axes are orthonormalised again, because rounding would shear
  // them.
  void turn(const Vec& by) {
    const double angle = by.length();
    if (angle > 0) {
      const Vec axis = (1 / angle) * by;
      x = turn(x, axis, angle), y = turn(y, axis, angle);
    }
    x = (1 / x.length()) * x;
    y = y - x.dot(y) * x;
    y = (1 / y.length()) * y;
    z = cross(x, y);
  }
  double at(int row, int column) const {
    const Vec& c = column == 0 ? x : column == 1 ? y : z;
    return row == 0 ? c.x : row == 1 ? c.y : c.z;
  }
  // Returns the rotation vector from the identity, for small angles.
  Vec vector() const { return 0.5 * Vec{y.z - z.y, z.x - x.z, x.y - y.x}; }
  // Returns x, y, z, w; for rotations of less than half a turn.
  void quaternion(double q[4]) const {
    const double w = 0.5 * std::sqrt(1 + x.x + y.y + z.z), s = 0.25 / w;
    q[0] = s * (y.z - z.y), q[1] = s * (z.x - x.z), q[2] = s * (x.y - y.x), q[3] = w;
  }
};

struct Handle {
  // kg, N·s/m, kg·m², N·m·s/rad.
  double mass = 0.3, damping = 1, inertia = 4e-4, turn_damping = 4e-3;
  Vec position, velocity, turn_rate;
  Rotation rotation;

  // The hand pulls the handle to its goal and to zero rotation. N/m, N·s/m, N·m/rad, N·m·s/rad.
  bool held = true;
  Vec goal;
  double hand_stiffness = 135, hand_damping = 6.45, hand_turn_stiffness = 1, hand_turn_damping = 0.02;

  // Load of the motors as commanded through the SDK, in SI.
  Vec force, torque;
  // Largest commanded load.
  double most_force = 0, most_torque = 0;

  Vec hand_force() const { return held ? hand_stiffness * (goal - position) : Vec(); }

  void command(const Vec& newtons, const Vec& newton_metres) {
    force = newtons, torque = newton_metres;
    most_force = std::fmax(most_force, force.length());
    most_torque = std::fmax(most_torque, torque.length());
  }

  void advance(double dt) {
    const double b = damping + (held ? hand_damping : 0), c = turn_damping + (held ? hand_turn_damping : 0);
    const Vec pull = force + hand_force();
    const Vec twist = torque - (held ? hand_turn_stiffness : 0.0) * rotation.vector();
    position = position + exact(pull, velocity, mass, b, dt);
    rotation.turn(exact(twist, turn_rate, inertia, c, dt));
  }

 private:
  // Returns the displacement in a step under a constant load, of m·v' + b·v = load; `v` becomes the velocity at its
  // end.
  static Vec exact(const Vec& load, Vec& v, double m, double b, double dt) {
    const double decay = std::exp(-b * dt / m);
    const Vec end = (1 / b) * load, off = v - end;
    v = end + decay * off;
    return dt * end + (m / b * (1 - decay)) * off;
  }
};

}  // namespace sim

#endif
