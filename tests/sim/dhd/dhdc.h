// A simulated Force Dimension SDK: the functions of DHD that the adapter calls, with their signatures, units, frames
// (SI, rotation by rows) and failures, over simulated handles. Written for the tests; it contains no code of the
// vendor, and its numeric constants are its own.
#ifndef VOXSHELL_TESTS_SIM_DHDC_H
#define VOXSHELL_TESTS_SIM_DHDC_H

enum { DHD_OFF, DHD_ON };
enum { DHD_TIMEGUARD = 1, DHD_MOTOR_SATURATED = 2 };
enum {
  DHD_NO_ERROR,
  DHD_ERROR,
  DHD_ERROR_COM,
  DHD_ERROR_NO_DEVICE_FOUND,
  DHD_ERROR_NOT_AVAILABLE,
  DHD_ERROR_TIMEOUT,
  DHD_ERROR_DEVICE_IN_USE
};

int dhdErrorGetLast();
const char* dhdErrorGetLastStr();
int dhdGetDeviceCount();
int dhdGetSerialNumber(unsigned short* sn, char ID = -1);
int dhdOpenID(char ID);
int dhdClose(char ID = -1);
bool dhdHasWrist(char ID = -1);
bool dhdHasActiveWrist(char ID = -1);
int dhdEnableForce(unsigned char val, char ID = -1);
int dhdSetMaxForce(double f, char ID = -1);
int dhdSetMaxTorque(double t, char ID = -1);
int dhdGetPositionAndOrientationFrame(double* px, double* py, double* pz, double matrix[3][3], char ID = -1);
int dhdGetLinearVelocity(double* vx, double* vy, double* vz, char ID = -1);
int dhdGetAngularVelocityRad(double* wx, double* wy, double* wz, char ID = -1);
int dhdSetForce(double fx, double fy, double fz, char ID = -1);
int dhdSetForceAndTorque(double fx, double fy, double fz, double tx, double ty, double tz, char ID = -1);
int dhdGetButton(int index, char ID = -1);
double dhdGetTime();

#endif
