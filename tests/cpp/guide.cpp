// The program of the C++ part of the API guide (docs/c-api.md), which quotes it piece by piece.
#include <cassert>
#include <cstdio>
#include <stdexcept>

#include <voxshell/voxshell.hpp>

namespace {

/// Handles are owned; a failing call throws with the library's message.
void errors_are_exceptions() {
  try {
    voxshell::Shape::create_sphere(-1);
    assert(false);
  } catch (const voxshell::Error& error) {
    std::printf("%s: %s\n", vxs_status_name(error.status()), error.what());
    assert(error.status() == VXS_INVALID_ARGUMENT);
  }
}

/// Progress is any function, and may throw: the exception comes out of the call that cooks.
void cooking_can_be_given_up() {
  struct Enough : std::runtime_error {
    Enough() : std::runtime_error("enough") {}
  };
  voxshell::CookOptions options;
  options.resolution = 32;
  options.on_progress = [](const char*, double) -> bool { throw Enough(); };
  try {
    voxshell::Shape::create_primitive(voxshell::Primitive(VXS_PRIMITIVE_TORUS), options);
    assert(false);
  } catch (const Enough&) {
  }
}

/// A loop that allocates nothing once its vector has grown.
void the_vector_is_yours() {
  const auto torus = voxshell::Shape::create_primitive(voxshell::Primitive(VXS_PRIMITIVE_TORUS));
  const auto ground = voxshell::Shape::create_half_space({0, 1, 0}, 0);
  voxshell::Workspace workspace;
  voxshell::Query query;
  query.max_separation = 0.001;
  std::vector<voxshell::Contact> contacts;
  const double minor = -torus.get_bounds().min.y;
  for (int step = 0; step < 10; ++step) {
    const voxshell::Pose pose{{0, minor - 0.0005 * step, 0}, 0, 0, 0, 1};
    query_contacts(torus, pose, ground, voxshell::identity(), query, workspace, contacts);
    assert(!contacts.empty());
  }
  std::printf("%zu contacts at the end\n", contacts.size());
}

/// Between the two APIs: the C++ class takes a handle over, and lends one.
void with_the_c_api() {
  vxs_shape* raw = nullptr;
  vxs_shape_create_sphere(0.1, &raw);
  const voxshell::Shape owned(raw);     // released by its destructor
  const voxshell::Shape copy = owned;   // shares the data
  vxs_aabb bounds;
  vxs_shape_get_bounds(copy.c_handle(), &bounds);
  assert(bounds.max.x >= 0.1 && bounds.max.x < 0.101);
}

}  // namespace

int main() {
  errors_are_exceptions();
  cooking_can_be_given_up();
  the_vector_is_yours();
  with_the_c_api();
  return 0;
}
