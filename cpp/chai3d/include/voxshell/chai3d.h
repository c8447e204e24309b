// A CHAI3D tool whose forces and torques come from Voxshell: six degrees of freedom, any shapes, instead of cToolCursor.
// Header-only; compiled against the user's CHAI3D, version 3.3. See cpp/chai3d/README.md.
#ifndef VOXSHELL_CHAI3D_H
#define VOXSHELL_CHAI3D_H

#include <chrono>
#include <limits>

#include <tools/CGenericTool.h>

#include "voxshell/device.hpp"

// Used like any tool of CHAI3D's, on its haptic thread: updateFromDevice(), computeInteractionForces(), applyToDevice().
// Bodies and tool shape are those of the vxs_haptics, in CHAI3D's world frame; vxs_haptics_simulate runs on another thread.
class cVoxshellTool : public chai3d::cGenericTool {
 public:
  // The vxs_haptics stays the caller's, and must outlive the tool.
  cVoxshellTool(chai3d::cWorld* a_parentWorld, vxs_haptics* a_haptics) : chai3d::cGenericTool(a_parentWorld), m_haptics(a_haptics) {}

  std::string getClassName() override { return "VoxshellTool"; }

  // Sets the seconds from one computeInteractionForces() to the next. 0, the default: measured by the clock.
  void setTimeStep(double a_seconds) { m_timeStep = a_seconds; }

  // Sets the user switch that must be held for forces. -1, the default: forces need no switch.
  void setDeadmanSwitch(int a_switchIndex) { m_deadmanSwitch = a_switchIndex; }

  // Restarts the forces from zero. This tool has a body instead of the haptic points of the base class.
  void initialize() override {
    chai3d::cGenericTool::initialize();
    vxs_haptics_reset(m_haptics, nullptr);
    m_lastTime = Clock::time_point();
  }

  // Position and linear velocity have the workspace's scale in them, rotation and force have not. So that the hand feels a lever
  // as long as it moves it, the torque is divided by that scale. It is about the handle, where the device exerts it; CHAI3D's
  // own tools sum torques about the world's origin.
  void computeInteractionForces() override {
    using voxshell::device::quaternion;
    const double scale = m_workspaceScaleFactor;
    const voxshell::device::Quaternion q = quaternion(m_deviceGlobalRot);
    vxs_device_state state{};
    state.pose = {vec(m_deviceGlobalPos), q.x, q.y, q.z, q.w};
    state.twist = {vec(m_deviceGlobalLinVel), vec(m_deviceGlobalAngVel)};
    state.engaged = m_deadmanSwitch < 0 || getUserSwitch(static_cast<unsigned int>(m_deadmanSwitch)) ? 1u : 0u;
    m_output = vxs_haptics_output{};
    m_failure = vxs_haptics_step(m_haptics, &state, elapsed(), &m_output);
    const vxs_wrench& w = m_output.wrench;
    setDeviceGlobalForce(w.force.x, w.force.y, w.force.z);
    setDeviceGlobalTorque(w.torque.x / scale, w.torque.y / scale, w.torque.z / scale);
    setGripperForce(0.0);
  }

  // Output of the last step: status (VXS_HAPTICS_ flags), contacts, age.
  const vxs_haptics_output& output() const { return m_output; }
  // VXS_OK, or the reason why the last step gave no force; vxs_last_error() of that thread has the message.
  vxs_status failure() const { return m_failure; }

  // For vxs_haptics_settings: what a device bears, seen from a world that is `a_scale` times as large. No limit for what the
  // device does not name, and for torques that it cannot exert.
  static vxs_haptics_limits limits(const chai3d::cHapticDeviceInfo& a_device, double a_scale = 1.0) {
    const bool turns = a_device.m_actuatedRotation;
    voxshell::device::Workspace workspace;
    workspace.scale = a_scale;
    return workspace.to_world(vxs_haptics_limits{
        named(a_device.m_maxLinearForce), named(turns ? a_device.m_maxAngularTorque : 0),
        {named(a_device.m_maxLinearStiffness), named(turns ? a_device.m_maxAngularStiffness : 0)},
        {named(a_device.m_maxLinearDamping), named(turns ? a_device.m_maxAngularDamping : 0)}});
  }

 private:
  using Clock = std::chrono::steady_clock;

  static vxs_vec3 vec(const chai3d::cVector3d& v) { return {v.x(), v.y(), v.z()}; }
  static double named(double limit) { return limit > 0 ? limit : std::numeric_limits<double>::infinity(); }

  double elapsed() {
    if (m_timeStep > 0) return m_timeStep;
    const Clock::time_point now = Clock::now();
    // The first step has none before it; a thousandth of a second is what haptic loops are meant to take.
    const double seconds = m_lastTime == Clock::time_point() ? 1e-3 : std::chrono::duration<double>(now - m_lastTime).count();
    m_lastTime = now;
    return seconds;
  }

  vxs_haptics* m_haptics;
  double m_timeStep = 0.0;
  int m_deadmanSwitch = -1;
  Clock::time_point m_lastTime;
  vxs_haptics_output m_output{};
  vxs_status m_failure = VXS_OK;
};

#endif
