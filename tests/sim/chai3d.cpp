// cpp/chai3d over a simulated CHAI3D: a tool with a base at any place in the world and a scaled workspace.
#include "voxshell/chai3d.h"

#include "scene.h"

namespace {

using chai3d::cMatrix3d;
using chai3d::cVector3d;

cVector3d given(const sim::Vec& v) { return {v.x, v.y, v.z}; }

cMatrix3d given(const sim::Rotation& r) {
  cMatrix3d m;
  for (int row = 0; row < 3; row++)
    for (int column = 0; column < 3; column++) m(row, column) = r.at(row, column);
  return m;
}

class SimulatedDevice : public chai3d::cGenericHapticDevice {
 public:
  SimulatedDevice() {
    m_specifications = {12, 0.3, 3000, 20, 40, 0.1, 0.08, true, true};
  }
  bool open() override { return true; }
  bool close() override {
    handle.command({}, {});
    return true;
  }
  bool getPosition(cVector3d& p) override {
    p = given(handle.position);
    return true;
  }
  bool getLinearVelocity(cVector3d& v) override {
    v = given(handle.velocity);
    return true;
  }
  bool getRotation(cMatrix3d& r) override {
    r = given(handle.rotation);
    if (garbage) r(1, 2) = NAN;
    return true;
  }
  bool getAngularVelocity(cVector3d& w) override {
    w = given(handle.turn_rate);
    return true;
  }
  bool getUserSwitches(unsigned int& switches) override {
    switches = user_switches;
    return true;
  }
  bool setForceAndTorqueAndGripperForce(const cVector3d& f, const cVector3d& t, double grip) override {
    CHECK(grip == 0);
    handle.command({f.x(), f.y(), f.z()}, {t.x(), t.y(), t.z()});
    handle.advance(1e-3);
    return true;
  }

  sim::Handle handle;
  unsigned int user_switches = 0;
  bool garbage = false;
};

// CHAI3D: x towards the user, y to the right, z up. The bar lies along x.
const sim::Vec kUp = {0, 0, 1};

struct Rig {
  sim::Scene scene;
  chai3d::cWorld world;
  std::shared_ptr<SimulatedDevice> device = std::make_shared<SimulatedDevice>();
  cVoxshellTool tool;

  // The tool's pose in CHAI3D's world is that of the device's base in the workspace.
  Rig(uint32_t renderer, double scale, double aside, const vxs_haptics_limits* limits)
      : scene(renderer, scale, sim::Quaternion(), aside, limits), tool(&world, scene.haptics) {
    const vxs_pose& base = scene.workspace.base;
    const sim::Quaternion turn = scene.workspace.turn();
    cMatrix3d rotation;
    for (int column = 0; column < 3; column++) {
      const vxs_vec3 axis = turn.rotate({column == 0 ? 1.0 : 0.0, column == 1 ? 1.0 : 0.0, column == 2 ? 1.0 : 0.0});
      rotation(0, column) = axis.x, rotation(1, column) = axis.y, rotation(2, column) = axis.z;
    }
    tool.setLocalPos(cVector3d(base.position.x, base.position.y, base.position.z));
    tool.setLocalRot(rotation);
    tool.setHapticDevice(device);
    tool.setWorkspaceScaleFactor(scale);
    tool.setTimeStep(1e-3);
    device->handle.position = device->handle.goal = {0, 0, 0.03 / scale};
    CHECK(tool.start());
  }

  void to(const sim::Vec& goal, int steps) {
    device->handle.goal = goal;
    for (int i = 0; i < steps; i++) {
      scene.simulate();
      tool.updateFromDevice();
      tool.computeInteractionForces();
      CHECK(tool.applyToDevice());
    }
  }
};

void contact_and_free_space(double scale) {
  Rig rig(VXS_RENDERER_PENALTY, scale, -INFINITY, nullptr);
  sim::Handle& handle = rig.device->handle;
  rig.to({0, 0, 0.03 / scale}, 300);
  CHECK(handle.force.length() < 0.02 && handle.torque.length() < 0.002);
  rig.to({0, 0, -0.03 / scale}, 2000);
  sim::pushes_out(handle, kUp, 0.8 * 135 * 0.03 / scale);
  CHECK(rig.tool.output().contacts > 0 && rig.tool.failure() == VXS_OK);
  rig.to({0, 0, 0.03 / scale}, 2000);
  CHECK(handle.force.length() < 0.02 && rig.tool.output().contacts == 0);
  CHECK(rig.tool.stop());
  sim::lets_go(handle);
}

void lever(double scale) {
  Rig rig(VXS_RENDERER_PENALTY, scale, 0.03, nullptr);
  rig.to({0, 0, 0}, 2500);
  const sim::Vec f = rig.device->handle.force, t = rig.device->handle.torque;
  CHECK(f.z > 0.3 / scale && -t.y > 0.025 / scale * f.z && -t.y < 0.065 / scale * f.z);
  CHECK(std::fabs(t.x) < 0.15 * -t.y && std::fabs(t.z) < 0.15 * -t.y);
}

void limits_of_the_device() {
  chai3d::cHapticDeviceInfo info = SimulatedDevice().getSpecifications();
  info.m_maxLinearForce = 2.5;
  vxs_haptics_limits most = cVoxshellTool::limits(info, 2);
  CHECK(most.force == 2.5 && most.torque == 0.6 && most.stiffness[0] == 1500 && most.stiffness[1] == 40);
  CHECK(most.damping[0] == 20 && most.damping[1] == 0.2);
  info.m_actuatedRotation = false;
  CHECK(std::isinf(cVoxshellTool::limits(info).torque) && std::isinf(cVoxshellTool::limits(info).stiffness[1]));
  Rig rig(VXS_RENDERER_PENALTY, 2, 0.03, &most);
  rig.to({0, 0, 0.03 / 2}, 300);  // until the ramp is over
  rig.to({0, 0, -0.1}, 500);
  const sim::Handle& handle = rig.device->handle;
  CHECK(handle.most_force > 2.4 && handle.most_force < 2.5 * (1 + 1e-9) && handle.most_torque < 0.3 * (1 + 1e-9));
}

void switch_and_garbage() {
  Rig rig(VXS_RENDERER_PENALTY, 1, -INFINITY, nullptr);
  const sim::Handle& handle = rig.device->handle;
  rig.tool.setDeadmanSwitch(1);
  rig.to({0, 0, -0.03}, 500);
  sim::lets_go(handle);
  CHECK((rig.tool.output().status & VXS_HAPTICS_DISENGAGED) != 0);
  rig.to({0, 0, 0.03}, 1000);
  rig.device->user_switches = 2;
  rig.to({0, 0, -0.03}, 2000);
  sim::pushes_out(handle, kUp, 3);
  rig.device->garbage = true;
  rig.to({0, 0, -0.03}, 1);
  sim::lets_go(handle);
  CHECK((rig.tool.output().status & VXS_HAPTICS_BAD_STATE) != 0);
}

// With the adapter's own clock.
void own_time() {
  Rig rig(VXS_RENDERER_PENALTY, 1, -INFINITY, nullptr);
  rig.tool.setTimeStep(0);
  for (int i = 0; i < 20; i++) {
    rig.to({0, 0, 0.03}, 1);
    CHECK(rig.tool.failure() == VXS_OK && rig.device->handle.force.length() < 0.5);
  }
}

}  // namespace

int main() {
  CHECK(cVoxshellTool(nullptr, nullptr).getClassName() == "VoxshellTool");
  contact_and_free_space(1);
  contact_and_free_space(2.5);
  lever(1);
  lever(2.5);
  limits_of_the_device();
  switch_and_garbage();
  own_time();
  puts("chai3d: ok");
}
