// The C++ header as engines use it: compiled with -fno-exceptions -fno-rtti.
#include "voxshell/voxshell.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#ifndef VOXSHELL_NO_EXCEPTIONS
#error "the header did not see that there are no exceptions"
#endif

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);     \
      std::exit(1);                                                                      \
    }                                                                                    \
  } while (0)

using namespace voxshell;

static vxs_status last_status = VXS_OK;
static std::string last_message;

static void remember(vxs_status status, const char* message) {
  last_status = status;
  last_message = message;
}

// Returns true if a call has failed since the last check with this status and a message that contains this text.
static bool failed(vxs_status status, const char* text) {
  const bool expected = last_status == status && last_message.find(text) != std::string::npos;
  if (!expected) std::fprintf(stderr, "%s: %s\n", vxs_status_name(last_status), last_message.c_str());
  last_status = VXS_OK;
  last_message.clear();
  return expected;
}

static Shape cooked_box() {
  Primitive box(VXS_PRIMITIVE_BOX);
  CookOptions options;
  options.resolution = 16;
  int calls = 0;
  options.on_progress = [&calls](const char*, double) { return ++calls > 0; };
  Shape shape = Shape::create_primitive(box, options);
  CHECK(shape && calls > 0);
  return shape;
}

static void what_works_is_the_same(const Shape& box) {
  Shape floor = Shape::create_half_space({0, 0, 1}, 0);
  Workspace workspace;
  CHECK(floor && workspace);
  CHECK(!query_contacts(box, identity(), floor, identity(), {}, workspace).empty());
  CHECK(query_distance(box, identity(), floor, identity(), {}, workspace));
  CHECK(box.query_segment({-9, 0, 0}, {9, 0, 0}));
  CHECK(box.get_mass_properties().volume > 0 && !box.get_triangles().indices.empty());
  Field field = box.get_field();
  PointShell pointshell = box.get_pointshell();
  CHECK(field && pointshell && Shape::create(&field, &pointshell));
  CHECK(field.distance({0, 0, 0}) < 0 && !pointshell.get_samples().points.empty());
  std::vector<std::string> heard;
  set_log([&heard](std::uint32_t, const char* message) { heard.push_back(message); }, VXS_LOG_INFO);
  cooked_box();
  set_log({});
  CHECK(heard.size() == 1);
  CHECK(last_status == VXS_OK);
}

static void what_fails_is_told_to_the_handler_and_empty(const Shape& box) {
  Workspace workspace;
  Shape none = Shape::create_sphere(-1);
  CHECK(!none && failed(VXS_INVALID_ARGUMENT, "radius is -1"));
  CHECK(!Shape::create_from_file("nowhere.obj") && failed(VXS_IO, "nowhere.obj"));
  CHECK(!Shape::create_from_triangles({{0, 0, 0}}, {0, 0}) && failed(VXS_INVALID_ARGUMENT, "three for each"));
  CHECK(!Shape::create_triangles({{0, 0, 0}}, {0, 0}) && failed(VXS_INVALID_ARGUMENT, "three for each"));
  CHECK(!Shape::create_sphere_hull({{0, 0, 0}}, {}) && failed(VXS_INVALID_ARGUMENT, "one for each center"));
  CHECK(!Shape::create_scaled(none, 2) && failed(VXS_INVALID_ARGUMENT, "shape is null"));
  CookOptions options;
  options.on_progress = [](const char*, double) { return false; };
  CHECK(!Shape::create_primitive(Primitive(VXS_PRIMITIVE_BOX), options) && failed(VXS_CANCELLED, "cancelled"));
  CHECK(!Shape::create_sphere(1).get_pointshell() && failed(VXS_UNSUPPORTED, "pointshell"));
  CHECK(!Shape::create_box({1, 1, 1}).query_segment({NAN, 0, 0}, {0, 0, 0}) && failed(VXS_INVALID_ARGUMENT, "from.x"));

  // An empty shape is refused like any null handle, and can be copied and moved.
  Shape copy = none;
  CHECK(!copy && last_status == VXS_OK);
  CHECK(query_contacts(box, identity(), none, identity(), {}, workspace).empty());
  CHECK(failed(VXS_INVALID_ARGUMENT, "b->shape is null"));
  CHECK(!query_distance(none, identity(), box, identity(), {}, workspace) && failed(VXS_INVALID_ARGUMENT, "a->shape is null"));
  CHECK(none.get_bounds().max.x == 0 && failed(VXS_INVALID_ARGUMENT, "shape is null"));
  CHECK(none.get_mass_properties().volume == 0 && failed(VXS_INVALID_ARGUMENT, "shape is null"));
  CHECK(none.get_triangles().vertices.empty() && failed(VXS_INVALID_ARGUMENT, "shape is null"));
  CHECK(none.query_crossings({0, 0, 0}, {1, 0, 0}).empty() && failed(VXS_INVALID_ARGUMENT, "shape is null"));
  CHECK(none.query_segments({{0, 0, 0}}, {{1, 0, 0}}).empty() && failed(VXS_INVALID_ARGUMENT, "shape is null"));
  CHECK(none.query_segments({{0, 0, 0}}, {}).empty() && failed(VXS_INVALID_ARGUMENT, "to: expected one for each"));
  const Motion still{identity(), identity()};
  CHECK(!query_time_of_impact(none, still, box, still, {}, workspace) && failed(VXS_INVALID_ARGUMENT, "a->shape is null"));
  CHECK(query_motion_contacts(box, still, none, still, {}, workspace).empty() && failed(VXS_INVALID_ARGUMENT, "b->shape is null"));
  CHECK(query_known_contacts(box, still, none, still, {}, workspace).empty() && failed(VXS_INVALID_ARGUMENT, "b->shape is null"));
  CHECK(motion_pose(still, 2).qw == 1 && failed(VXS_INVALID_ARGUMENT, "t is 2"));
  CHECK(none.get_info().forms == 0 && failed(VXS_INVALID_ARGUMENT, "shape is null"));
  Field no_field = none.get_field();
  CHECK(!no_field && failed(VXS_INVALID_ARGUMENT, "shape is null"));
  CHECK(no_field.distance({0, 0, 0}) == 0 && failed(VXS_INVALID_ARGUMENT, "field is null"));
  set_log([](std::uint32_t, const char*) {}, 9);
  CHECK(failed(VXS_INVALID_ARGUMENT, "level is 9"));

  // Without a handler the caller checks for errors.
  CHECK(set_error_handler(nullptr) == remember);
  CHECK(!Shape::create_sphere(-2) && std::strstr(vxs_last_error(), "radius is -2") != nullptr);
  CHECK(last_status == VXS_OK);
}

int main() {
  const ErrorHandler aborting = set_error_handler(remember);
  CHECK(aborting != nullptr && aborting != remember);
  const Shape box = cooked_box();
  what_works_is_the_same(box);
  what_fails_is_told_to_the_handler_and_empty(box);
  std::puts("no_exceptions: ok");
  return 0;
}
