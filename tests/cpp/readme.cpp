// The example of the README and of the C API guide, which quote the lines between the marks.
#include <cstdio>
#include <exception>

#include <voxshell/voxshell.hpp>

int main()
try
{
  // README begin
  const auto knot = voxshell::Shape::create_primitive(voxshell::Primitive(VXS_PRIMITIVE_TORUS_KNOT));  // or create_from_file("part.stl")
  const auto ground = voxshell::Shape::create_half_space({0, 1, 0}, 0);
  const voxshell::Pose on_the_ground{{0, 0.1, 0}, 0, 0, 0, 1};
  voxshell::Workspace workspace;  // one per thread
  const auto contacts = query_contacts(knot, on_the_ground, ground, voxshell::identity(), {}, workspace);
  std::printf("%zu contacts, the deepest %.1f mm\n", contacts.size(), contacts.empty() ? 0.0 : -1e3 * contacts[0].separation);
  // README end
  return contacts.empty() ? 1 : 0;
}
catch (const std::exception& error)
{
  std::printf("%s\n", error.what());
  return 1;
}
