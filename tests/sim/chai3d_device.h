// The simulated handle as a device of CHAI3D, for the simulated CHAI3D and for CHAI3D itself.
#ifndef VOXSHELL_TESTS_SIM_CHAI3D_DEVICE_H
#define VOXSHELL_TESTS_SIM_CHAI3D_DEVICE_H

#include <cmath>

#include "../c/check.h"
#include "simulated_device.h"
#include "voxshell/chai3d.h"

namespace sim {

inline chai3d::cVector3d given(const sim::Vec& v) { return {v.x, v.y, v.z}; }

inline chai3d::cMatrix3d given(const sim::Rotation& r) {
  chai3d::cMatrix3d m;
  for (int row = 0; row < 3; row++)
    for (int column = 0; column < 3; column++) m(row, column) = r.at(row, column);
  return m;
}

// A device of CHAI3D's kind with a hand on it.
class SimulatedDevice : public chai3d::cGenericHapticDevice {
 public:
  SimulatedDevice() {
    m_specifications.m_maxLinearForce = 12, m_specifications.m_maxAngularTorque = 0.3;
    m_specifications.m_maxLinearStiffness = 3000, m_specifications.m_maxAngularStiffness = 20;
    m_specifications.m_maxLinearDamping = 40, m_specifications.m_maxAngularDamping = 0.1;
    m_specifications.m_actuatedPosition = m_specifications.m_actuatedRotation = true;
  }
  bool open() override { return true; }
  bool close() override {
    handle.command({}, {});
    return true;
  }
  // CHAI3D returns whether it succeeded; the base class cannot.
  bool calibrate(bool) override { return true; }
  bool getPosition(chai3d::cVector3d& p) override {
    p = given(handle.position);
    return true;
  }
  bool getLinearVelocity(chai3d::cVector3d& v) override {
    v = given(handle.velocity);
    return true;
  }
  bool getRotation(chai3d::cMatrix3d& r) override {
    r = given(handle.rotation);
    if (garbage) r(1, 2) = NAN;
    return true;
  }
  bool getAngularVelocity(chai3d::cVector3d& w) override {
    w = given(handle.turn_rate);
    return true;
  }
  bool getUserSwitches(unsigned int& switches) override {
    switches = user_switches;
    return true;
  }
  bool setForceAndTorqueAndGripperForce(const chai3d::cVector3d& f, const chai3d::cVector3d& t,
                                        const double grip) override {
    CHECK(grip == 0);
    handle.command({f.x(), f.y(), f.z()}, {t.x(), t.y(), t.z()});
    if (!led) handle.advance(1e-3);
    return true;
  }

  sim::Handle handle;
  // The test moves the handle; the motors do not.
  bool led = false;
  unsigned int user_switches = 0;
  bool garbage = false;
};

}  // namespace sim

#endif
