// A simulated OpenHaptics SDK: the functions of HDAPI that the adapter calls, with their signatures, units and frames
// (mm, mm/s, N, mN·m, matrices by columns), over a simulated handle. Written for the tests; it contains no code of the
// vendor, and its numeric constants are its own.
#ifndef VOXSHELL_TESTS_SIM_HD_H
#define VOXSHELL_TESTS_SIM_HD_H

// As the SDK's header does, which knows Linux by this name only.
#if defined(__linux__) && !defined(linux)
#error Unsupported platform.
#endif

#define HDAPI
#define HDAPIENTRY
#define HDCALLBACK

typedef unsigned int HHD, HDenum, HDerror, HDCallbackCode;
typedef unsigned short HDushort;
typedef unsigned long HDSchedulerHandle;
typedef int HDint;
typedef double HDdouble;
typedef const char* HDstring;
typedef HDCallbackCode(HDCALLBACK* HDSchedulerCallback)(void* pUserData);
typedef struct {
  HDerror errorCode;
  int internalErrorCode;
  HHD hHD;
} HDErrorInfo;

#define HD_INVALID_HANDLE 0xFFFFFFFF
#define HD_MAX_SCHEDULER_PRIORITY 65535
enum { HD_CALLBACK_DONE, HD_CALLBACK_CONTINUE };
enum { HD_SUCCESS, HD_INVALID_ENUM, HD_INVALID_OPERATION, HD_BAD_HANDLE, HD_DEVICE_FAULT, HD_COMM_ERROR };
enum { HD_FRAME_ERROR = 50, HD_ILLEGAL_BEGIN };
enum { HD_WARM_MOTORS = 100, HD_EXCEEDED_MAX_FORCE, HD_EXCEEDED_MAX_FORCE_IMPULSE };
enum { HD_EXCEEDED_MAX_VELOCITY = 110, HD_FORCE_ERROR };
enum { HD_DEVICE_BUTTON_1 = 1, HD_DEVICE_BUTTON_2 = 2 };
enum {
  HD_FORCE_OUTPUT = 1,
  HD_OUTPUT_DOF,
  HD_NOMINAL_MAX_CONTINUOUS_FORCE,
  HD_NOMINAL_MAX_STIFFNESS,
  HD_NOMINAL_MAX_DAMPING,
  HD_NOMINAL_MAX_TORQUE_CONTINUOUS_FORCE,
  HD_NOMINAL_MAX_TORQUE_STIFFNESS,
  HD_NOMINAL_MAX_TORQUE_DAMPING,
  HD_INSTANTANEOUS_UPDATE_RATE,
  HD_CURRENT_BUTTONS,
  HD_CURRENT_TRANSFORM,
  HD_CURRENT_VELOCITY,
  HD_CURRENT_ANGULAR_VELOCITY,
  HD_CURRENT_FORCE,
  HD_CURRENT_TORQUE
};

extern "C" {
HDAPI HHD HDAPIENTRY hdInitDevice(HDstring pConfigName);
HDAPI void HDAPIENTRY hdDisableDevice(HHD hHD);
HDAPI void HDAPIENTRY hdMakeCurrentDevice(HHD hHD);
HDAPI void HDAPIENTRY hdBeginFrame(HHD hHD);
HDAPI void HDAPIENTRY hdEndFrame(HHD hHD);
HDAPI HDErrorInfo HDAPIENTRY hdGetError();
HDAPI void HDAPIENTRY hdEnable(HDenum cap);
HDAPI void HDAPIENTRY hdGetIntegerv(HDenum pname, HDint* params);
HDAPI void HDAPIENTRY hdGetDoublev(HDenum pname, HDdouble* params);
HDAPI void HDAPIENTRY hdSetDoublev(HDenum pname, const HDdouble* params);
HDAPI HDSchedulerHandle HDAPIENTRY hdScheduleAsynchronous(HDSchedulerCallback pCallback, void* pUserData, HDushort nPriority);
HDAPI void HDAPIENTRY hdUnschedule(HDSchedulerHandle hHandle);
HDAPI void HDAPIENTRY hdStartScheduler();
HDAPI void HDAPIENTRY hdStopScheduler();
}

#endif
