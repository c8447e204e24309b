// A CHAI3D tool whose forces and torques come from Voxshell: six degrees of freedom, any shapes, instead of
// cToolCursor. Header-only; compiled against the user's CHAI3D, version 3.3, as C++17. See cpp/chai3d/README.md.
#ifndef VOXSHELL_CHAI3D_H
#define VOXSHELL_CHAI3D_H

// First, for its message about the version of C++.
#include "voxshell/device.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <tools/CGenericTool.h>
#include <world/CMultiMesh.h>

#include "voxshell/shape.hpp"

VOXSHELL_NAMESPACE_BEGIN

namespace chai3d {

// Cooks a shape from all meshes of a multi-mesh, each placed by its local position and rotation; their children are not
// part of it. The shape's frame is that of the multi-mesh: a body at getGlobalPos(), getGlobalRot() is where CHAI3D
// draws it. `scale`: metres of the shape per unit of the multi-mesh, positive; 1 if CHAI3D draws it in metres, as it is
// after cMultiMesh::scale. Throws voxshell::Error as Shape::create_from_triangles does; without exceptions the result
// is empty. No thread may change the multi-mesh meanwhile.
inline Shape shape(const ::chai3d::cMultiMesh* mesh, const CookOptions& options = CookOptions(), double scale = 1) {
  if (!detail::require(mesh != nullptr, "mesh: null; expected a multi-mesh")) return Shape(nullptr);
  if (!detail::require(scale > 0 && std::isfinite(scale), "scale: expected a finite number above 0"))
    return Shape(nullptr);
  // CHAI3D's getters are not const.
  ::chai3d::cMultiMesh* const whole = const_cast<::chai3d::cMultiMesh*>(mesh);
  std::vector<Vec3> vertices;
  std::vector<std::uint32_t> indices;
  for (int i = 0; i < whole->getNumMeshes(); i++) {
    const ::chai3d::cMesh& part = *whole->getMesh(static_cast<unsigned int>(i));
    const ::chai3d::cVector3d origin = part.getLocalPos();
    const ::chai3d::cMatrix3d turn = part.getLocalRot();
    const std::uint32_t first = static_cast<std::uint32_t>(vertices.size());
    for (unsigned int v = 0; v < part.m_vertices->getNumElements(); v++) {
      const ::chai3d::cVector3d p = origin + turn * part.m_vertices->getLocalPos(v);
      vertices.push_back({scale * p.x(), scale * p.y(), scale * p.z()});
    }
    for (unsigned int t = 0; t < part.m_triangles->getNumElements(); t++) {
      // Triangles that were removed keep their place.
      if (!part.m_triangles->getAllocated(t)) continue;
      indices.push_back(first + part.m_triangles->getVertexIndex0(t));
      indices.push_back(first + part.m_triangles->getVertexIndex1(t));
      indices.push_back(first + part.m_triangles->getVertexIndex2(t));
    }
  }
  return Shape::create_from_triangles(vertices, indices, options);
}

}  // namespace chai3d

VOXSHELL_NAMESPACE_END

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

  // Shows also where the hand is: a translucent copy of m_image at the pose of the device, which may be inside a body.
  // It is copied now, by copy() of each object in it: call this again after a change of m_image, and only on the thread
  // of the picture. `a_opacity`: 0 to 1. (CHAI3D's own setGhostEnabled takes an object out of collisions instead.)
  void setShowHand(bool a_show, float a_opacity = 0.3f) {
    m_hand.reset();
    if (!a_show || m_image == nullptr) return;
    m_hand.reset(duplicate(*m_image));
    m_hand->setTransparencyLevel(a_opacity, true, true, true, true);
  }
  bool getShowHand() const { return m_hand != nullptr; }

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
    // A state that was refused is no place to draw the hand at.
    if (failure == VXS_OK && (output.status & VXS_HAPTICS_BAD_STATE) == 0) m_lastHand = state.pose;
    m_failure.store(failure, std::memory_order_relaxed);
    m_shown.write({output, m_lastHand, {vec(m_globalPos), base.x, base.y, base.z, base.w}, 1});
    const vxs_wrench& w = output.wrench;
    setDeviceGlobalForce(w.force.x, w.force.y, w.force.z);
    setDeviceGlobalTorque(w.torque.x / scale, w.torque.y / scale, w.torque.z / scale);
    setGripperForce(0.0);
  }

  // Draws m_image at the pose of the simulated tool, and its copy at the hand if setShowHand says so, on the picture's
  // thread. Nothing is drawn before the first step.
  void render(chai3d::cRenderOptions& a_options) override {
    const Shown shown = m_shown.read();
    if (shown.known == 0 || m_image == nullptr) return;
    place(*m_image, shown.output.tool, shown.base);
    m_image->renderSceneGraph(a_options);
    if (m_hand == nullptr) return;
    place(*m_hand, shown.hand, shown.base);
    m_hand->renderSceneGraph(a_options);
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

  // The part of a step's result that the picture shows.
  struct Shown {
    vxs_haptics_output output;
    // Pose of the device: to the world.
    vxs_pose hand;
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

  // Places an image, whose frame is that of this object (`base`), at a pose in the world.
  static void place(chai3d::cGenericObject& a_image, const vxs_pose& a_pose, const vxs_pose& a_base) {
    using voxshell::device::Quaternion;
    const Quaternion turn{a_base.qx, a_base.qy, a_base.qz, a_base.qw}, back = turn.conjugate();
    const vxs_vec3& origin = a_base.position;
    const vxs_vec3 from = voxshell::device::plus(a_pose.position, voxshell::device::scaled(-1, origin));
    const vxs_vec3 local = back.rotate(from);
    a_image.setLocalPos(chai3d::cVector3d(local.x, local.y, local.z));
    a_image.setLocalRot(matrix(back * Quaternion{a_pose.qx, a_pose.qy, a_pose.qz, a_pose.qw}));
    a_image.computeGlobalPositions(true, chai3d::cVector3d(origin.x, origin.y, origin.z), matrix(turn));
  }

  // Copies an object and its children, with materials, textures and meshes of their own: setTransparencyLevel changes
  // these. CHAI3D 3.3 copies no cMultiMesh that can be used: cMultiMesh::addMesh, which its copy() calls, makes it a
  // component and the parent of itself, so that no object takes it as a child, and setTransparencyLevel never ends.
  // The copies of its meshes therefore become children of an empty one. So do the children of an object whose class has
  // no copy().
  static chai3d::cGenericObject* duplicate(chai3d::cGenericObject& a_object) {
    chai3d::cMultiMesh* const meshes = dynamic_cast<chai3d::cMultiMesh*>(&a_object);
    chai3d::cGenericObject* copy = meshes == nullptr ? a_object.copy(true, true, true, false) : nullptr;
    if (copy == nullptr) {
      copy = new chai3d::cMultiMesh;
      copy->setLocalPos(a_object.getLocalPos());
      copy->setLocalRot(a_object.getLocalRot());
    }
    for (int i = 0; meshes != nullptr && i < meshes->getNumMeshes(); i++)
      copy->addChild(duplicate(*meshes->getMesh(static_cast<unsigned int>(i))));
    for (unsigned int i = 0; i < a_object.getNumChildren(); i++) copy->addChild(duplicate(*a_object.getChild(i)));
    return copy;
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
    const bool isFirst = m_lastTime == Clock::time_point();
    const double seconds = std::chrono::duration<double>(now - m_lastTime).count();
    m_lastTime = now;
    // The first step has none before it; a thousandth of a second is what haptic loops are meant to take.
    return isFirst ? 1e-3 : seconds;
  }

  std::atomic<vxs_haptics*> m_haptics;
  std::atomic<vxs_haptics*> m_next{nullptr};
  std::vector<chai3d::cGenericObject*> m_objects;
  double m_timeStep = 0.0;
  // Scale that the scene was told; 0: none.
  double m_scale = 0.0;
  int m_deadmanSwitch = -1;
  Clock::time_point m_lastTime;
  vxs_pose m_lastTool{{0, 0, 0}, 0, 0, 0, 1}, m_lastHand{{0, 0, 0}, 0, 0, 0, 1};
  // Null: not shown.
  std::unique_ptr<chai3d::cGenericObject> m_hand;
  std::atomic<vxs_status> m_failure{VXS_OK};
  voxshell::device::Published<Shown> m_shown{
      Shown{nothing(), {{0, 0, 0}, 0, 0, 0, 1}, {{0, 0, 0}, 0, 0, 0, 1}, 0}};

  static vxs_haptics_output nothing() {
    vxs_haptics_output output{};
    output.tool.qw = 1;
    return output;
  }
};

#endif
