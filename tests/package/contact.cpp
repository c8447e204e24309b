// A box stands 10 mm deep in the ground. Fails unless the library reports this depth.
#include <cstdio>

#include <voxshell/voxshell.hpp>

int main() {
  voxshell::Primitive what(VXS_PRIMITIVE_BOX);
  what.size[0] = what.size[1] = what.size[2] = 0.5;  // half extents, m
  const voxshell::Shape box = voxshell::Shape::create_primitive(what);
  const voxshell::Shape ground = voxshell::Shape::create_half_space({0, 1, 0}, 0);
  voxshell::Pose pose = voxshell::identity();
  pose.position.y = 0.49;
  voxshell::Workspace workspace;
  const auto contacts = voxshell::query_contacts(box, pose, ground, voxshell::identity(), {}, workspace);
  const double depth = contacts.empty() ? 0 : -contacts.front().separation;
  std::printf("voxshell %s: %zu contacts, the deepest %.6f m\n", vxs_version_string(), contacts.size(), depth);
  return depth > 0.00999 && depth < 0.01001 ? 0 : 1;
}
