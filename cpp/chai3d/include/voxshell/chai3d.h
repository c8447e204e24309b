// A CHAI3D tool whose forces and torques come from Voxshell: six degrees of freedom, any shapes, instead of
// cToolCursor. Header-only; compiled against the user's CHAI3D, version 3.3, as C++17. See cpp/chai3d/README.md.
#ifndef VOXSHELL_CHAI3D_H
#define VOXSHELL_CHAI3D_H

// First, for its message about the version of C++.
#include "voxshell/device.hpp"

#include <atomic>
#include <chrono>
#include <limits>
#include <vector>

#include <tools/CGenericTool.h>

// Used like any tool of CHAI3D's, on its haptic thread: updateFromDevice(), computeInteractionForces(),
// applyToDevice(). Bodies and tool shape are those of the vxs_haptics, in CHAI3D's world frame; vxs_haptics_simulate
// runs on another thread, the picture (render) on a third.
class cVoxshellTool : public chai3d::cGenericTool {
 public:
  // The vxs_haptics stays the caller's, and must outlive the tool or its replacement by setHaptics.
  cVoxshellTool(chai3d::cWorld* a_parentWorld, vxs_haptics* a_haptics)
      : chai3d::cGenericTool(a_parentWorld), m_haptics(a_haptics) {}

  std::string getClassName() override { return "VoxshellTool"; }

  // Sets the seconds from one computeInteractionForces() to the next. 0, the default: measured by the clock.
  void setTimeStep(double a_seconds) { m_timeStep = a_seconds; }

  // Sets the user switch that must be held for forces. -1, the default: forces need no switch.
  void setDeadmanSwitch(int a_switchIndex) { m_deadmanSwitch = a_switchIndex; }

  // Replaces the scene, from the next computeInteractionForces() on: the forces then grow from zero. Any thread may
  // call it. The vxs_haptics of before may be released once getHaptics() returns the new one.
  void setHaptics(vxs_haptics* a_haptics) { m_next.store(a_haptics, std::memory_order_release); }
  // The scene in use, for any thread.
  vxs_haptics* getHaptics() const { return m_haptics.load(std::memory_order_acquire); }

  // Names the objects that show the bodies of the vxs_haptics, in the order of vxs_haptics_create: for isInContact. To
  // be called on the thread that calls isInContact.
  void setBodyObjects(const std::vector<chai3d::cGenericObject*>& a_objects) { m_objects = a_objects; }

  // Whether the tool touches the body that an object shows. Without setBodyObjects: whether it touches anything. For
  // the bodies from the 64th on: whether it touches one of them.
  bool isInContact(chai3d::cGenericObject* a_object) override {
    const vxs_haptics_output shown = output();
    if (m_objects.empty()) return shown.contacts > 0;
    for (std::size_t i = 0; i < m_objects.size(); i++)
      if (m_objects[i] == a_object && (shown.touched >> (i < 63 ? i : 63) & 1u) != 0) return true;
    return false;
  }

  // Restarts the forces from zero. This tool has a body instead of the haptic points of the base class.
  void initialize() override {
    chai3d::cGenericTool::initialize();
    vxs_haptics_reset(getHaptics(), nullptr);
    m_lastTime = Clock::time_point();
  }

  // Position and linear velocity have the workspace's scale in them, rotation and force have not. So that the hand
  // feels a lever as long as it moves it, the torque is divided by that scale. It is about the handle, where the device
  // exerts it; CHAI3D's own tools sum torques about the world's origin.
  void computeInteractionForces() override {
    using voxshell::device::quaternion;
    const double scale = m_workspaceScaleFactor;
    vxs_haptics* const haptics = current(scale);
    const voxshell::device::Quaternion q = quaternion(m_deviceGlobalRot), base = quaternion(m_globalRot);
    vxs_device_state state{};
    state.pose = {vec(m_deviceGlobalPos), q.x, q.y, q.z, q.w};
    state.twist = {vec(m_deviceGlobalLinVel), vec(m_deviceGlobalAngVel)};
    state.engaged = m_deadmanSwitch < 0 || getUserSwitch(static_cast<unsigned int>(m_deadmanSwitch)) ? 1u : 0u;
    vxs_haptics_output output{};
    const vxs_status failure = vxs_haptics_step(haptics, &state, elapsed(), &output);
    // A step that failed has no pose: the last one stays.
    if (failure != VXS_OK) output.tool = m_lastTool;
    m_lastTool = output.tool;
    m_failure.store(failure, std::memory_order_relaxed);
    m_shown.write({output, {vec(m_globalPos), base.x, base.y, base.z, base.w}, 1});
    const vxs_wrench& w = output.wrench;
    setDeviceGlobalForce(w.force.x, w.force.y, w.force.z);
    setDeviceGlobalTorque(w.torque.x / scale, w.torque.y / scale, w.torque.z / scale);
    setGripperForce(0.0);
  }

  // Draws m_image at the pose of the simulated tool, on the picture's thread. Nothing is drawn before the first step.
  void render(chai3d::cRenderOptions& a_options) override {
    const Shown shown = m_shown.read();
    if (shown.known == 0 || m_image == nullptr) return;
    place(shown);
    m_image->renderSceneGraph(a_options);
  }

  // Output of the last step: status (VXS_HAPTICS_ flags), contacts, age, pose of the tool. For any thread.
  vxs_haptics_output output() const { return m_shown.read().output; }
  // VXS_OK, or the reason why the last step gave no force; vxs_last_error() of the haptic thread has the message.
  vxs_status failure() const { return m_failure.load(std::memory_order_relaxed); }
  // Steps without force because of a state that is not finite, a time, or a jump of the device. For any thread.
  vxs_haptics_faults faults() const {
    vxs_haptics_faults found{};
    vxs_haptics_get_faults(getHaptics(), &found);
    return found;
  }

  // For vxs_haptics_settings: what a device bears, seen from a world that is `a_scale` times as large. No limit for
  // what the device does not name, and for torques that it cannot exert.
  static vxs_haptics_limits limits(const chai3d::cHapticDeviceInfo& a_device, double a_scale = 1.0) {
    const bool turns = a_device.m_actuatedRotation;
    voxshell::device::Workspace workspace;
    workspace.scale = a_scale;
    return workspace.to_world(vxs_haptics_limits{
        named(a_device.m_maxLinearForce), named(turns ? a_device.m_maxAngularTorque : 0),
        {named(a_device.m_maxLinearStiffness), named(turns ? a_device.m_maxAngularStiffness : 0)},
        {named(a_device.m_maxLinearDamping), named(turns ? a_device.m_maxAngularDamping : 0)}});
  }

 protected:
  // CHAI3D calls these on the haptic thread, which must not touch an image that another thread draws: render() places
  // it.
  void updateToolImagePosition() override {}
  void updateGlobalPositions(const bool) override {}

 private:
  using Clock = std::chrono::steady_clock;

  // What the picture needs of a step.
  struct Shown {
    vxs_haptics_output output;
    // Pose of this object, the frame of m_image: to the world.
    vxs_pose base;
    // Not 0 after the first step.
    std::uint64_t known;
  };

  static vxs_vec3 vec(const chai3d::cVector3d& v) { return {v.x(), v.y(), v.z()}; }
  static double named(double limit) { return limit > 0 ? limit : std::numeric_limits<double>::infinity(); }

  static chai3d::cMatrix3d matrix(const voxshell::device::Quaternion& q) {
    const vxs_vec3 axes[3] = {q.rotate({1, 0, 0}), q.rotate({0, 1, 0}), q.rotate({0, 0, 1})};
    chai3d::cMatrix3d m;
    for (int i = 0; i < 3; i++) m(0, i) = axes[i].x, m(1, i) = axes[i].y, m(2, i) = axes[i].z;
    return m;
  }

  // Places the image, whose frame is that of this object, at the pose of the tool in the world.
  void place(const Shown& a_shown) {
    using voxshell::device::Quaternion;
    const vxs_pose &tool = a_shown.output.tool, &base = a_shown.base;
    const Quaternion turn{base.qx, base.qy, base.qz, base.qw}, back = turn.conjugate();
    const vxs_vec3 from = voxshell::device::plus(tool.position, voxshell::device::scaled(-1, base.position));
    const vxs_vec3 local = back.rotate(from);
    m_image->setLocalPos(chai3d::cVector3d(local.x, local.y, local.z));
    m_image->setLocalRot(matrix(back * Quaternion{tool.qx, tool.qy, tool.qz, tool.qw}));
    const vxs_vec3& origin = base.position;
    m_image->computeGlobalPositions(true, chai3d::cVector3d(origin.x, origin.y, origin.z), matrix(turn));
  }

  // Returns the scene for this step, with the scale of the workspace, by which its limit of the speed is multiplied.
  vxs_haptics* current(double a_scale) {
    vxs_haptics* const next = m_next.exchange(nullptr, std::memory_order_acq_rel);
    if (next != nullptr) {
      vxs_haptics_reset(next, nullptr);
      m_haptics.store(next, std::memory_order_release);
      m_scale = 0;
    }
    vxs_haptics* const haptics = m_haptics.load(std::memory_order_relaxed);
    if (m_scale != a_scale && vxs_haptics_set_scale(haptics, a_scale) == VXS_OK) m_scale = a_scale;
    return haptics;
  }

  double elapsed() {
    if (m_timeStep > 0) return m_timeStep;
    const Clock::time_point now = Clock::now();
    // The first step has none before it; a thousandth of a second is what haptic loops are meant to take.
    const double seconds = m_lastTime == Clock::time_point() ? 1e-3 : std::chrono::duration<double>(now - m_lastTime).count();
    m_lastTime = now;
    return seconds;
  }

  std::atomic<vxs_haptics*> m_haptics;
  std::atomic<vxs_haptics*> m_next{nullptr};
  std::vector<chai3d::cGenericObject*> m_objects;
  double m_timeStep = 0.0;
  // Scale that the scene was told; 0: none.
  double m_scale = 0.0;
  int m_deadmanSwitch = -1;
  Clock::time_point m_lastTime;
  vxs_pose m_lastTool{{0, 0, 0}, 0, 0, 0, 1};
  std::atomic<vxs_status> m_failure{VXS_OK};
  voxshell::device::Published<Shown> m_shown{Shown{nothing(), {{0, 0, 0}, 0, 0, 0, 1}, 0}};

  static vxs_haptics_output nothing() {
    vxs_haptics_output output{};
    output.tool.qw = 1;
    return output;
  }
};

#endif
