// A simulated Force Dimension SDK: the functions of DHD that the adapter calls, with their signatures, units and frames
// (SI, rotation by rows), over a simulated handle. Written for the tests; it contains no code of the vendor.
#ifndef VOXSHELL_TESTS_SIM_DHDC_H
#define VOXSHELL_TESTS_SIM_DHDC_H

enum { DHD_OFF, DHD_ON };
enum { DHD_TIMEGUARD = 1, DHD_MOTOR_SATURATED = 2 };

int dhdOpen();
int dhdClose(char ID = -1);
int dhdEnableForce(unsigned char val, char ID = -1);
int dhdSetMaxForce(double f, char ID = -1);
int dhdSetMaxTorque(double t, char ID = -1);
int dhdGetPositionAndOrientationFrame(double* px, double* py, double* pz, double matrix[3][3], char ID = -1);
int dhdGetLinearVelocity(double* vx, double* vy, double* vz, char ID = -1);
int dhdGetAngularVelocityRad(double* wx, double* wy, double* wz, char ID = -1);
int dhdSetForceAndTorque(double fx, double fy, double fz, double tx, double ty, double tz, char ID = -1);
int dhdGetButton(int index, char ID = -1);
double dhdGetTime();

#endif
