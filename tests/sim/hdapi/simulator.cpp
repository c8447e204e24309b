// The SDK's own code is compiled with the compiler's extensions.
#if defined(__linux__) && !defined(linux)
#define linux 1
#endif
#include "simulator.h"

#include <limits>

namespace {

sim::Vec told_force, told_torque;

void fail(HDerror error) { sim::hd().errors.push_back(error); }

// Reads and writes are allowed only between the beginning and the end of a frame.
bool in_frame() {
  if (!sim::hd().in_frame) fail(HD_FRAME_ERROR);
  return sim::hd().in_frame;
}

void give(const sim::Vec& v, double unit, HDdouble* out) {
  out[0] = unit * v.x, out[1] = unit * v.y, out[2] = unit * v.z;
}

}  // namespace

sim::Hd& sim::hd() {
  static Hd device;
  return device;
}

bool sim::Hd::tick(int times) {
  for (; times > 0; times--) {
    if (!scheduling || callback == nullptr) return false;
    had_frame = false;
    if (callback(user) == HD_CALLBACK_DONE) callback = nullptr;
    had_frame = false;
    handle.advance(1.0 / rate);
  }
  return true;
}

HHD hdInitDevice(HDstring pConfigName) {
  // Only the default device is configured.
  sim::hd().open = sim::hd().plugged && pConfigName == nullptr;
  if (!sim::hd().open) fail(HD_DEVICE_FAULT);
  return sim::hd().open ? 1 : HD_INVALID_HANDLE;
}
void hdDisableDevice(HHD) { sim::hd().open = sim::hd().force_on = false; }
void hdMakeCurrentDevice(HHD hHD) {
  if (hHD != 1) fail(HD_BAD_HANDLE);
}
void hdBeginFrame(HHD hHD) {
  if (hHD != 1 || sim::hd().in_frame) fail(HD_FRAME_ERROR);
  // HD_ONE_FRAME_LIMIT, which is on by default: what a second frame sets is not used.
  if (sim::hd().had_frame) return fail(HD_ILLEGAL_BEGIN);
  sim::hd().in_frame = true;
}
void hdEndFrame(HHD) {
  sim::Hd& d = sim::hd();
  if (!in_frame()) return;
  d.in_frame = false;
  d.had_frame = true;
  if (d.broken) fail(HD_COMM_ERROR);
  if (d.frames_with_error > 0) d.frames_with_error--, fail(d.error);
  if (told_force.length() > d.guard_force) fail(HD_EXCEEDED_MAX_FORCE);
  if (d.handle.velocity.length() > d.guard_speed) fail(HD_EXCEEDED_MAX_VELOCITY);
  if (d.open && d.force_on) d.handle.command(told_force, told_torque);
}
HDErrorInfo hdGetError() {
  std::vector<HDerror>& errors = sim::hd().errors;
  const HDErrorInfo latest = {errors.empty() ? static_cast<HDerror>(HD_SUCCESS) : errors.back(), 0, 1};
  if (!errors.empty()) errors.pop_back();
  return latest;
}
void hdEnable(HDenum cap) {
  if (cap == HD_FORCE_OUTPUT) {
    sim::hd().force_on = true;
  } else {
    fail(HD_INVALID_ENUM);
  }
}
void hdGetIntegerv(HDenum pname, HDint* params) {
  const sim::Hd& d = sim::hd();
  if (pname == HD_OUTPUT_DOF) {
    *params = d.axes;
  } else if (pname == HD_INSTANTANEOUS_UPDATE_RATE) {
    *params = d.rate;
  } else if (pname == HD_CURRENT_BUTTONS) {
    if (in_frame()) *params = d.buttons;
  } else {
    fail(HD_INVALID_ENUM);
  }
}
void hdGetDoublev(HDenum pname, HDdouble* params) {
  const sim::Hd& d = sim::hd();
  const double torques = d.axes == 6 ? 1 : 0;
  if (pname == HD_NOMINAL_MAX_CONTINUOUS_FORCE) {
    *params = d.continuous_force;
  } else if (pname == HD_NOMINAL_MAX_STIFFNESS) {
    *params = d.stiffness;
  } else if (pname == HD_NOMINAL_MAX_DAMPING) {
    *params = d.damping;
  } else if (pname == HD_NOMINAL_MAX_TORQUE_CONTINUOUS_FORCE) {
    *params = torques * d.torque;
  } else if (pname == HD_NOMINAL_MAX_TORQUE_STIFFNESS) {
    *params = torques * d.torque_stiffness;
  } else if (pname == HD_NOMINAL_MAX_TORQUE_DAMPING) {
    *params = torques * d.torque_damping;
  } else if (!in_frame()) {
    return;
  } else if (pname == HD_CURRENT_TRANSFORM) {
    for (int column = 0; column < 3; column++)
      for (int row = 0; row < 3; row++) params[4 * column + row] = d.handle.rotation.at(row, column);
    give(d.handle.position, 1e3, params + 12);
    params[3] = params[7] = params[11] = 0, params[15] = 1;
  } else if (pname == HD_CURRENT_VELOCITY) {
    give(d.handle.velocity, 1e3, params);
  } else if (pname == HD_CURRENT_ANGULAR_VELOCITY) {
    give(d.handle.turn_rate, 1, params);
  } else {
    fail(HD_INVALID_ENUM);
  }
}
void hdSetDoublev(HDenum pname, const HDdouble* params) {
  if (!in_frame()) return;
  if (pname == HD_CURRENT_FORCE) {
    told_force = {params[0], params[1], params[2]};
  } else if (pname == HD_CURRENT_TORQUE && sim::hd().axes == 6) {
    told_torque = 1e-3 * sim::Vec{params[0], params[1], params[2]};
  } else {
    fail(HD_INVALID_OPERATION);
  }
}
HDSchedulerHandle hdScheduleAsynchronous(HDSchedulerCallback pCallback, void* pUserData, HDushort) {
  sim::hd().callback = pCallback;
  sim::hd().user = pUserData;
  return 7;
}
void hdUnschedule(HDSchedulerHandle hHandle) {
  if (hHandle == 7) sim::hd().callback = nullptr;
}
void hdStartScheduler() { sim::hd().scheduling = true; }
void hdStopScheduler() { sim::hd().scheduling = false; }
