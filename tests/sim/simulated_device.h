// What stands behind the simulated SDKs of tests/sim: a handle with mass and damping, motors, and a hand. Device frame, SI.
//
// Every axis is a mass with a damper, and what acts on it is held over the step; the motion in between is exact.
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
inline Vec cross(const Vec& a, const Vec& b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

// Columns are the body's axes.
struct Rotation {
  Vec x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};

  static Vec turn(const Vec& v, const Vec& axis, double angle) {
    const double c = std::cos(angle);
    return c * v + std::sin(angle) * cross(axis, v) + (1 - c) * axis.dot(v) * axis;
  }
  // By a rotation vector of the device frame. The axes are made orthonormal again: rounding would shear them.
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
  // For small angles from the identity: the rotation vector.
  Vec vector() const { return 0.5 * Vec{y.z - z.y, z.x - x.z, x.y - y.x}; }
  // x, y, z, w; for turns by less than half a turn.
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

  // The hand pulls the handle to its goal, and to no rotation. N/m, N·s/m, N·m/rad, N·m·s/rad.
  bool held = true;
  Vec goal;
  double hand_stiffness = 135, hand_damping = 6.45, hand_turn_stiffness = 1, hand_turn_damping = 0.02;

  // What the motors exert, as the SDK was told, in SI.
  Vec force, torque;
  // The largest that they were told.
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
  // The way in a step under a constant load, of m·v' + b·v = load; `v` becomes the velocity at its end.
  static Vec exact(const Vec& load, Vec& v, double m, double b, double dt) {
    const double decay = std::exp(-b * dt / m);
    const Vec end = (1 / b) * load, off = v - end;
    v = end + decay * off;
    return dt * end + (m / b * (1 - decay)) * off;
  }
};

}  // namespace sim

#endif
