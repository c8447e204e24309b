#include "simulator.h"

#include <limits>
#include <vector>

#include "drdc.h"

namespace {

std::vector<sim::Dhd> devices(1);
double now = 100;
int last_error = DHD_NO_ERROR;

int fail(int error) {
  last_error = error;
  return -1;
}

// char has no sign on ARM; -1, which stands for the default device of the SDK, is 255 in either case.
bool exists(char id) { return static_cast<unsigned char>(id) < devices.size(); }

// 0, or a failure if the device is not open or does not answer.
int answer(char id) {
  if (!exists(id) || !sim::dhd(id).open) return fail(DHD_ERROR_NO_DEVICE_FOUND);
  return sim::dhd(id).broken ? fail(DHD_ERROR_COM) : 0;
}

// DRD knows only devices that were opened by it.
int answer_drd(char id) {
  return exists(id) && sim::dhd(id).open_for_drd ? answer(id) : fail(DHD_ERROR_NO_DEVICE_FOUND);
}

int give(const sim::Vec& v, double* x, double* y, double* z, char id) {
  // The estimator has two positions within its window, or no velocity.
  sim::Dhd& d = sim::dhd(id);
  if (d.read[0] < now - d.window || d.read[0] < 0) {
    d.time_outs++;
    return fail(DHD_ERROR_TIMEOUT);
  }
  *x = v.x, *y = v.y, *z = v.z;
  return 0;
}

// Limits as the driver does when limits are set.
sim::Vec limited(const sim::Vec& v, double most, int* result) {
  if (most <= 0 || v.length() <= most) return v;
  *result = DHD_MOTOR_SATURATED;
  return (most / v.length()) * v;
}

int set(const sim::Vec& newtons, const sim::Vec& newton_metres, char id) {
  if (answer(id) < 0) return -1;
  sim::Dhd& d = sim::dhd(id);
  int result = 0;
  const sim::Vec force = limited(newtons, d.max_force, &result), torque = limited(newton_metres, d.max_torque, &result);
  if (!d.initialized && force.length() > 0) d.too_early++;
  if (d.force_on) d.handle.command(force, torque);
  d.handle.advance(d.period);
  now += d.period;
  return result;
}

}  // namespace

sim::Dhd& sim::dhd(int id) { return devices[static_cast<std::size_t>(id)]; }
void sim::connect(int count) { devices = std::vector<Dhd>(static_cast<std::size_t>(count)); }
double& sim::clock() { return now; }

int dhdErrorGetLast() { return last_error; }
const char* dhdErrorGetLastStr() {
  const char* const texts[] = {"no error",      "error",   "communication", "no device found",
                               "not available", "timeout", "device in use"};
  return texts[last_error];
}
int dhdGetDeviceCount() { return static_cast<int>(devices.size()); }
int dhdGetSerialNumber(unsigned short* sn, char ID) {
  if (answer(ID) < 0) return -1;
  *sn = sim::dhd(ID).serial;
  return 0;
}
int dhdOpenID(char ID) {
  if (!exists(ID) || !sim::dhd(ID).plugged) return fail(DHD_ERROR_NO_DEVICE_FOUND);
  if (sim::dhd(ID).open) return fail(DHD_ERROR_DEVICE_IN_USE);
  sim::Dhd& d = sim::dhd(ID);
  d.open = true;
  d.read[0] = d.read[1] = -1;
  return ID;
}
int dhdClose(char ID) {
  const int result = answer(ID);
  if (exists(ID)) sim::dhd(ID).open = sim::dhd(ID).open_for_drd = false;
  return result;
}
int drdOpenID(char ID) {
  // A device that this program has open is taken over.
  if ((!exists(ID) || !sim::dhd(ID).open) && dhdOpenID(ID) < 0) return -1;
  sim::dhd(ID).open_for_drd = true;
  return ID;
}
int drdOpen() {
  for (std::size_t i = 0; i < devices.size(); i++)
    if (!devices[i].open && drdOpenID(static_cast<char>(i)) >= 0) return static_cast<int>(i);
  return fail(DHD_ERROR_NO_DEVICE_FOUND);
}
int drdClose(char ID) { return dhdClose(ID); }
bool drdIsInitialized(char ID) { return answer_drd(ID) == 0 && sim::dhd(ID).initialized; }
int drdAutoInit(char ID) {
  if (answer_drd(ID) < 0) return -1;
  sim::dhd(ID).initializations++;
  if (!sim::dhd(ID).can_initialize) return fail(DHD_ERROR);
  sim::dhd(ID).initialized = true;
  return 0;
}
int drdStop(bool, char ID) { return answer_drd(ID); }

bool dhdHasWrist(char ID) { return answer(ID) == 0 && sim::dhd(ID).has_wrist; }
bool dhdHasActiveWrist(char ID) { return answer(ID) == 0 && sim::dhd(ID).has_active_wrist; }
int dhdEnableForce(unsigned char val, char ID) {
  if (answer(ID) < 0) return -1;
  if (val == DHD_ON && !sim::dhd(ID).initialized) sim::dhd(ID).too_early++;
  sim::dhd(ID).force_on = val == DHD_ON;
  return 0;
}
int dhdSetMaxForce(double f, char ID) {
  if (answer(ID) < 0) return -1;
  sim::dhd(ID).max_force = f;
  return 0;
}
int dhdSetMaxTorque(double t, char ID) {
  if (answer(ID) < 0) return -1;
  if (!sim::dhd(ID).has_active_wrist) return fail(DHD_ERROR_NOT_AVAILABLE);
  sim::dhd(ID).max_torque = t;
  return 0;
}
int dhdGetPositionAndOrientationFrame(double* px, double* py, double* pz, double matrix[3][3], char ID) {
  if (answer(ID) < 0) return -1;
  sim::Dhd& d = sim::dhd(ID);
  for (int row = 0; row < 3; row++)
    for (int column = 0; column < 3; column++)
      matrix[row][column] = d.has_wrist ? d.handle.rotation.at(row, column) : row == column;
  *px = d.handle.position.x, *py = d.handle.position.y, *pz = d.handle.position.z;
  if (d.garbage) *py = std::numeric_limits<double>::quiet_NaN();
  d.read[0] = d.read[1], d.read[1] = now;
  return 0;
}
int dhdGetLinearVelocity(double* vx, double* vy, double* vz, char ID) {
  return answer(ID) < 0 ? -1 : give(sim::dhd(ID).handle.velocity, vx, vy, vz, ID);
}
int dhdGetAngularVelocityRad(double* wx, double* wy, double* wz, char ID) {
  if (answer(ID) < 0) return -1;
  if (!sim::dhd(ID).has_wrist) return fail(DHD_ERROR_NOT_AVAILABLE);
  return give(sim::dhd(ID).handle.turn_rate, wx, wy, wz, ID);
}
int dhdSetForce(double fx, double fy, double fz, char ID) { return set({fx, fy, fz}, {}, ID); }
int dhdSetForceAndTorque(double fx, double fy, double fz, double tx, double ty, double tz, char ID) {
  if (answer(ID) == 0 && !sim::dhd(ID).has_active_wrist) return fail(DHD_ERROR_NOT_AVAILABLE);
  return set({fx, fy, fz}, {tx, ty, tz}, ID);
}
int dhdGetButton(int, char ID) { return answer(ID) < 0 ? -1 : sim::dhd(ID).button ? DHD_ON : DHD_OFF; }
double dhdGetTime() { return now; }
