// A ball is set into a ring with CHAI3D's tool, over a simulated device. For a device of yours, ask
// cHapticDeviceHandler for it and run the three calls of the tool on a thread of its own.
#include <voxshell/chai3d.h>

#include "chai3d_device.h"
#include "touch.h"

int main() {
  const auto device = std::make_shared<sim::SimulatedDevice>();
  touch::Scene scene(cVoxshellTool::limits(device->getSpecifications()));
  const voxshell::device::Workspace workspace = touch::workspace();
  const vxs_vec3& base = workspace.base.position;

  chai3d::cWorld world;
  cVoxshellTool tool(&world, scene.haptics);
  tool.setLocalPos(chai3d::cVector3d(base.x, base.y, base.z));
  tool.computeGlobalPositions(true);
  tool.setHapticDevice(device);
  tool.setWorkspaceScaleFactor(workspace.scale);
  if (!tool.start()) return std::puts("the device did not open"), 1;

  unsigned long long steps = 0;
  const auto turn = [&](double seconds) {
    touch::lead(device->handle, workspace, seconds);
    tool.updateFromDevice();
    tool.computeInteractionForces();
    tool.applyToDevice();
    steps++;
  };
  const auto read = [&] {
    const vxs_haptics_output output = tool.output();
    const vxs_vec3& f = output.wrench.force;
    return touch::Reading{output.tool.position.z, std::sqrt(f.x * f.x + f.y * f.y + f.z * f.z), output.contacts, steps};
  };
  const bool was_felt = touch::show(scene, turn, read);
  tool.stop();
  return was_felt ? 0 : 1;
}
