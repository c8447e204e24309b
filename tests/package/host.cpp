// A pair through the layer of the adapters. Fails unless a box 1 mm inside a half-space has its contacts, 1 mm deep.
#include <cmath>
#include <cstdio>

#include <voxshell/host.h>
#include <voxshell/voxshell.h>

int main() {
  vxs_primitive what;
  vxs_primitive_init(&what, sizeof what, VXS_PRIMITIVE_BOX);
  what.size[0] = what.size[1] = what.size[2] = 0.1;  // half extents, m
  voxshell::host::Body box, ground;
  vxs_shape *cooked = nullptr, *plane = nullptr;
  if (vxs_shape_create_primitive(&what, nullptr, &cooked) || vxs_shape_create_half_space({0, 1, 0}, 0, &plane))
    return std::puts(vxs_last_error()), 1;
  box.shape = cooked;
  box.pose = {{0, 0.099, 0}, 0, 0, 0, 1};
  box.center_of_mass = box.pose.position;
  ground.shape = plane;
  voxshell::host::PairCache pairs;
  double deepest = 0;
  const auto answer = pairs.find(1, box, 2, ground, 0, voxshell::host::PairSettings());
  for (size_t i = 0; i < answer.size(); ++i) deepest = std::fmin(deepest, answer[i].separation);
  vxs_shape_release(cooked);
  vxs_shape_release(plane);
  std::printf("host: %zu contacts, %.6f m\n", answer.size(), deepest);
  return answer.status == VXS_OK && answer.size() >= 4 && std::fabs(deepest + 0.001) < 1e-5 ? 0 : 1;
}
