#include "simulator.h"

#include <limits>
#include <string>

namespace {

sim::Vec told_force, told_torque;

int result(int error) {
  if (error != VIRT_E_NO_ERROR) sim::virtuose().error = error;
  return error == VIRT_E_NO_ERROR ? 0 : -1;
}

int checked(VirtContext vc, bool holds = true, int error = VIRT_E_WRONG_MODE) {
  const bool known = vc == &sim::virtuose() && sim::virtuose().open;
  return result(!known ? VIRT_E_INVALID_CONTEXT : holds ? VIRT_E_NO_ERROR : error);
}

// Calls that must come before the command type.
int before_type(VirtContext vc, bool good) {
  return checked(vc, good && sim::virtuose().type == COMMAND_TYPE_NONE, good ? VIRT_E_CALL_TIME : VIRT_E_INCORRECT_VALUE);
}

void give(const sim::Vec& v, float* out) {
  out[0] = static_cast<float>(v.x), out[1] = static_cast<float>(v.y), out[2] = static_cast<float>(v.z);
}
sim::Vec take(const float* in) { return {in[0], in[1], in[2]}; }

sim::Vec limited(const sim::Vec& v, double most) { return most > 0 && v.length() > most ? (most / v.length()) * v : v; }

// Returns the axes of a unit quaternion.
sim::Rotation axes(const float* q) {
  const double x = q[0], y = q[1], z = q[2], w = q[3];
  sim::Rotation r;
  r.x = {1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)};
  r.y = {2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)};
  r.z = {2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)};
  return r;
}

}  // namespace

sim::Virtuose& sim::virtuose() {
  static Virtuose device;
  return device;
}

sim::Vec sim::Virtuose::coupling_force() const {
  if (!attached || shifting || !power) return {};
  return coupling * (handle.position - object) + coupling_damping * (handle.velocity - object_velocity);
}

sim::Vec sim::Virtuose::coupling_torque() const {
  if (!attached || shifting || !power) return {};
  // Half the sum of crossed axes: the rotation vector from the object to the handle, for small angles.
  const Rotation &o = object_rotation, &h = handle.rotation;
  const Vec away = 0.5 * (cross(o.x, h.x) + cross(o.y, h.y) + cross(o.z, h.z));
  return turn_coupling * away + turn_coupling_damping * (handle.turn_rate - object_turn_rate);
}

void sim::Virtuose::command_motors() {
  Vec f, t;
  if (power && deadman && operational && !shifting) {
    const bool mechanism = type == COMMAND_TYPE_VIRTMECH;
    f = limited(mechanism ? -1 * coupling_force() : told_force, max_force);
    t = limited(mechanism ? -1 * coupling_torque() : told_torque, max_torque);
  }
  handle.command(f, t);
}

bool sim::Virtuose::tick(int times) {
  const int inner = 10;
  for (; times > 0; times--) {
    if (!looping) return false;
    answered = false;
    function(this, user);
    if (!answered) silent++;
    for (int i = 0; i < inner; i++) {
      command_motors();
      handle.advance(*period / inner);
    }
  }
  return true;
}

VirtContext virtOpen(const char* name) {
  // Nothing serves port 1.
  const std::string address = name;
  const bool answers = address.size() < 2 || address.compare(address.size() - 2, 2, "#1") != 0;
  sim::virtuose().open = sim::virtuose().plugged && answers;
  if (!sim::virtuose().open) sim::virtuose().error = VIRT_E_COMMUNICATION_FAILURE;
  return sim::virtuose().open ? &sim::virtuose() : nullptr;
}
int virtClose(VirtContext VC) {
  const int closed = checked(VC);
  sim::virtuose().open = sim::virtuose().power = false;
  sim::virtuose().type = COMMAND_TYPE_NONE;
  return closed;
}
int virtGetErrorCode(VirtContext) { return sim::virtuose().error; }
int virtSetIndexingMode(VirtContext VC, VirtIndexingType) { return checked(VC); }
int virtSetSpeedFactor(VirtContext VC, float speed_factor) { return before_type(VC, speed_factor > 0); }
int virtSetForceFactor(VirtContext VC, float force_factor) { return before_type(VC, force_factor > 0); }
int virtSetTimeStep(VirtContext VC, float step) {
  sim::virtuose().step = step;
  return before_type(VC, step > 0);
}
int virtSetCommandType(VirtContext VC, VirtCommandType type) {
  sim::virtuose().type = type;
  return checked(VC, sim::virtuose().step > 0, VIRT_E_CALL_TIME);
}
int virtSaturateTorque(VirtContext VC, float forceThreshold, float momentThreshold) {
  sim::virtuose().max_force = forceThreshold;
  sim::virtuose().max_torque = momentThreshold;
  return checked(VC, forceThreshold > 0 && momentThreshold > 0, VIRT_E_INCORRECT_VALUE);
}
int virtSetPowerOn(VirtContext VC, int power) {
  told_force = told_torque = {};
  sim::virtuose().power = power != 0;
  sim::virtuose().handle.command({}, {});
  return checked(VC, sim::virtuose().type != COMMAND_TYPE_NONE);
}
int virtSetPeriodicFunction(VirtContext VC, void (*fn)(VirtContext, void*), float* period, void* arg) {
  sim::Virtuose& d = sim::virtuose();
  d.function = fn, d.period = period, d.user = arg;
  return checked(VC, *period == d.step, VIRT_E_INCORRECT_VALUE);
}
int virtStartLoop(VirtContext VC) {
  sim::virtuose().looping = true;
  return checked(VC, sim::virtuose().function != nullptr, VIRT_E_CALL_TIME);
}
int virtStopLoop(VirtContext VC) {
  sim::virtuose().looping = false;
  return checked(VC);
}
int virtAttachVO(VirtContext VC, float mass, float* mxmymz) {
  sim::virtuose().attached = sim::virtuose().placed;
  sim::virtuose().mass = mass;
  if (!(mass > 0 && mxmymz[0] > 0 && mxmymz[4] > 0 && mxmymz[8] > 0)) return checked(VC, false, VIRT_E_INCORRECT_VALUE);
  return checked(VC, sim::virtuose().type == COMMAND_TYPE_VIRTMECH && sim::virtuose().placed);
}
int virtDetachVO(VirtContext VC) {
  sim::virtuose().attached = sim::virtuose().placed = false;
  return checked(VC);
}
int virtGetPosition(VirtContext VC, float* pos) {
  const sim::Virtuose& d = sim::virtuose();
  double q[4];
  d.handle.rotation.quaternion(q);
  give(d.handle.position, pos);
  for (int i = 0; i < 4; i++) pos[3 + i] = static_cast<float>(q[i]);
  if (d.garbage) pos[4] = std::numeric_limits<float>::quiet_NaN();
  return checked(VC);
}
int virtGetSpeed(VirtContext VC, float* speed) {
  give(sim::virtuose().handle.velocity, speed);
  give(sim::virtuose().handle.turn_rate, speed + 3);
  return checked(VC);
}
int virtGetForce(VirtContext VC, float* force) {
  give(sim::virtuose().coupling_force(), force);
  give(sim::virtuose().coupling_torque(), force + 3);
  return checked(VC, sim::virtuose().type == COMMAND_TYPE_VIRTMECH);
}
int virtSetForce(VirtContext VC, float* force) {
  told_force = take(force), told_torque = take(force + 3);
  sim::virtuose().answered = true;
  return checked(VC, sim::virtuose().type == COMMAND_TYPE_IMPEDANCE);
}
int virtSetPosition(VirtContext VC, float* pos) {
  sim::Virtuose& d = sim::virtuose();
  d.object = take(pos), d.object_rotation = axes(pos + 3);
  d.placed = d.answered = true;
  return checked(VC, d.type == COMMAND_TYPE_VIRTMECH);
}
int virtSetSpeed(VirtContext VC, float* speed) {
  sim::virtuose().object_velocity = take(speed);
  sim::virtuose().object_turn_rate = take(speed + 3);
  return checked(VC, sim::virtuose().type == COMMAND_TYPE_VIRTMECH);
}
int virtGetDeadMan(VirtContext VC, int* dead_man) {
  *dead_man = sim::virtuose().deadman;
  return checked(VC);
}
int virtGetEmergencyStop(VirtContext VC, int* emergency_stop) {
  *emergency_stop = sim::virtuose().operational;
  return checked(VC);
}
int virtIsInShiftPosition(VirtContext VC, int* decalage) {
  *decalage = sim::virtuose().shifting;
  return checked(VC);
}
int virtGetAlarm(VirtContext VC, unsigned int* alarm) {
  *alarm = 0;
  return checked(VC);
}
