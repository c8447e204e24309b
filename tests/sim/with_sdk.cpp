// An adapter compiled and linked against an SDK: the vendor's, where CMake finds it (sdk.*), or the simulators in the
// places and under the names of the vendors' (sim.find_sdks). It looks for a device that cannot be there, and touches
// no other one.
#include VOXSHELL_ADAPTER

#include <cstdio>
#include <cstring>

namespace {

#if defined(VOXSHELL_FORCEDIMENSION_H)

template <class Device>
bool refuses(Device& device) {
  return !device.open() && std::strlen(device.error()) > 0;
}
bool refuses_what_is_not_there(vxs_haptics* haptics) {
  voxshell::forcedimension::Options options;
  options.id = 100;
  voxshell::forcedimension::Device none(haptics, options);
  options.serial = 65535;
  voxshell::forcedimension::Device nor(haptics, options);
  std::atomic<bool> on{true};
  return refuses(none) && refuses(nor) && !none.run(on) && !nor.step();
}

#elif defined(VOXSHELL_HAPTION_H)

bool refuses_what_is_not_there(vxs_haptics* haptics) {
  voxshell::haption::Device none(haptics);
  // Nothing serves this port.
  const bool refused = !none.open("127.0.0.1#1") && !none.start();
  none.stop();
  return refused;
}

#elif defined(VOXSHELL_OPENHAPTICS_H)

bool refuses_what_is_not_there(vxs_haptics* haptics) {
  voxshell::openhaptics::Options options;
  options.name = "a device that nobody has configured";
  voxshell::openhaptics::Device none(haptics, options);
  return !none.open() && none.error() != HD_SUCCESS && !none.start();
}

#elif defined(VOXSHELL_HAPLY_H)

bool refuses_what_is_not_there(vxs_haptics* haptics) {
  voxshell::haply::Options options;
  // Nothing serves this port.
  options.port = 1;
  voxshell::haply::Device none(haptics, options);
  return !none.open() && std::strlen(none.error()) > 0 && !none.step();
}

#elif defined(VOXSHELL_CHAI3D_H)

// CHAI3D's devices are the caller's.
bool refuses_what_is_not_there(vxs_haptics* haptics) {
  chai3d::cWorld world;
  cVoxshellTool tool(&world, haptics);
  return !tool.start() && !tool.isInContact(nullptr);
}

#endif

}  // namespace

int main() {
  if (!refuses_what_is_not_there(nullptr)) return 1;
  std::puts("linked");
}
