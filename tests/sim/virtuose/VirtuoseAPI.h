/* A simulated Virtuose SDK: the functions that the adapter calls, with their signatures, units and frames (SI,
 * float, quaternions x y z w, 0 for success), over a simulated handle. Written for the tests; it contains no code of
 * the vendor, and its numeric constants are its own, except for the two command types. */
#ifndef VOXSHELL_TESTS_SIM_VIRTUOSE_H
#define VOXSHELL_TESTS_SIM_VIRTUOSE_H

typedef void* VirtContext;
typedef enum { COMMAND_TYPE_NONE = 0, COMMAND_TYPE_IMPEDANCE = 3, COMMAND_TYPE_VIRTMECH = 5 } VirtCommandType;
typedef enum { INDEXING_ALL, INDEXING_NONE, INDEXING_ALL_FORCE_FEEDBACK_INHIBITION } VirtIndexingType;
enum {
  VIRT_E_NO_ERROR,
  VIRT_E_COMMUNICATION_FAILURE,
  VIRT_E_INVALID_CONTEXT,
  VIRT_E_INCORRECT_VALUE,
  VIRT_E_WRONG_MODE,
  VIRT_E_CALL_TIME
};
enum { VIRT_ALARM_SATURATE = 1, VIRT_ALARM_CALLBACK_OVERRUN = 2 };

#ifdef __cplusplus
extern "C" {
#endif
VirtContext virtOpen(const char* nom);
int virtClose(VirtContext VC);
int virtGetErrorCode(VirtContext VC);
int virtSetIndexingMode(VirtContext VC, VirtIndexingType indexing_mode);
int virtSetSpeedFactor(VirtContext VC, float speed_factor);
int virtSetForceFactor(VirtContext VC, float force_factor);
int virtSetTimeStep(VirtContext VC, float step);
int virtSetCommandType(VirtContext VC, VirtCommandType type);
int virtSaturateTorque(VirtContext VC, float forceThreshold, float momentThreshold);
int virtSetPowerOn(VirtContext VC, int power);
int virtSetPeriodicFunction(VirtContext VC, void (*fn)(VirtContext, void*), float* period, void* arg);
int virtStartLoop(VirtContext VC);
int virtStopLoop(VirtContext VC);
int virtAttachVO(VirtContext VC, float mass, float* mxmymz);
int virtDetachVO(VirtContext VC);
int virtGetPosition(VirtContext VC, float* pos);
int virtGetSpeed(VirtContext VC, float* speed);
int virtGetForce(VirtContext VC, float* force);
int virtSetForce(VirtContext VC, float* force);
int virtSetPosition(VirtContext VC, float* pos);
int virtSetSpeed(VirtContext VC, float* speed);
int virtGetDeadMan(VirtContext VC, int* dead_man);
int virtGetEmergencyStop(VirtContext VC, int* emergency_stop);
int virtIsInShiftPosition(VirtContext VC, int* decalage);
int virtGetAlarm(VirtContext VC, unsigned int* alarm);
#ifdef __cplusplus
}
#endif

#endif
