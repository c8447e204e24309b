#include "simulator.h"

#include <limits>

#include "dhdc.h"

namespace {

const char kId = 0;

int answer(char id) { return sim::dhd().open && !sim::dhd().broken && id == kId ? 0 : -1; }

int give(const sim::Vec& v, double* x, double* y, double* z, char id) {
  *x = v.x, *y = v.y, *z = v.z;
  return answer(id);
}

// Limits as the driver does when limits are set.
sim::Vec limited(const sim::Vec& v, double most, int* result) {
  if (most <= 0 || v.length() <= most) return v;
  *result = DHD_MOTOR_SATURATED;
  return (most / v.length()) * v;
}

}  // namespace

sim::Dhd& sim::dhd() {
  static Dhd device;
  return device;
}

int dhdOpen() {
  sim::dhd().open = sim::dhd().plugged;
  return sim::dhd().open ? kId : -1;
}
int dhdClose(char ID) {
  const int result = answer(ID);
  sim::dhd().open = false;
  return result;
}
int dhdEnableForce(unsigned char val, char ID) {
  sim::dhd().force_on = val == DHD_ON;
  return answer(ID);
}
int dhdSetMaxForce(double f, char ID) {
  sim::dhd().max_force = f;
  return answer(ID);
}
int dhdSetMaxTorque(double t, char ID) {
  sim::dhd().max_torque = t;
  return answer(ID);
}
int dhdGetPositionAndOrientationFrame(double* px, double* py, double* pz, double matrix[3][3], char ID) {
  const sim::Dhd& d = sim::dhd();
  for (int row = 0; row < 3; row++)
    for (int column = 0; column < 3; column++) matrix[row][column] = d.handle.rotation.at(row, column);
  const int result = give(d.handle.position, px, py, pz, ID);
  if (d.garbage) *py = std::numeric_limits<double>::quiet_NaN();
  return result;
}
int dhdGetLinearVelocity(double* vx, double* vy, double* vz, char ID) { return give(sim::dhd().handle.velocity, vx, vy, vz, ID); }
int dhdGetAngularVelocityRad(double* wx, double* wy, double* wz, char ID) {
  return give(sim::dhd().handle.turn_rate, wx, wy, wz, ID);
}
int dhdSetForceAndTorque(double fx, double fy, double fz, double tx, double ty, double tz, char ID) {
  sim::Dhd& d = sim::dhd();
  if (answer(ID) < 0) return -1;
  int result = 0;
  const sim::Vec force = limited({fx, fy, fz}, d.max_force, &result), torque = limited({tx, ty, tz}, d.max_torque, &result);
  if (d.force_on) d.handle.command(force, torque);
  d.handle.advance(d.period);
  d.time += d.period;
  return result;
}
int dhdGetButton(int, char ID) { return answer(ID) < 0 ? -1 : sim::dhd().button ? DHD_ON : DHD_OFF; }
double dhdGetTime() { return sim::dhd().time; }
