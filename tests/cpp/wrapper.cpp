// The C++ header: ownership, errors as exceptions, and the same answers as the C API.
#include "voxshell/voxshell.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <type_traits>

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);     \
      std::exit(1);                                                                      \
    }                                                                                    \
  } while (0)

using namespace voxshell;

static_assert(std::is_nothrow_move_constructible_v<Shape> && std::is_copy_constructible_v<Shape>);
static_assert(!std::is_copy_constructible_v<Workspace> && std::is_nothrow_move_constructible_v<Workspace>);

template <class F>
static void refused(vxs_status status, const char* text, F call) {
  try {
    call();
  } catch (const Error& e) {
    if (e.status() == status && std::string(e.what()).find(text) != std::string::npos) return;
    std::fprintf(stderr, "%s: %s; expected %s and \"%s\"\n", vxs_status_name(e.status()), e.what(),
                 vxs_status_name(status), text);
    std::exit(1);
  }
  std::fprintf(stderr, "nothing thrown; expected %s and \"%s\"\n", vxs_status_name(status), text);
  std::exit(1);
}

static Pose at(double x, double y, double z) {
  Pose pose = identity();
  pose.position = {x, y, z};
  return pose;
}

static Shape cooked_box() {
  Primitive box(VXS_PRIMITIVE_BOX);
  box.size[0] = box.size[1] = box.size[2] = 0.5;
  CookOptions options;
  options.resolution = 24;
  return Shape::create_primitive(box, options);
}

static void contacts_and_distance(const Shape& box) {
  Shape floor = Shape::create_half_space({0, 0, 1}, 0);
  Workspace workspace;
  auto contacts = query_contacts(box, at(0, 0, 0.49), floor, identity(), {}, workspace);
  CHECK(contacts.size() >= 4);
  // A corner of the mesh is always sampled, so the depth is exact up to rounding.
  CHECK(std::fabs(contacts.front().separation + 0.01) < 1e-5);
  CHECK(std::fabs(contacts.front().normal.z + 1) < 1e-6);
  auto again = contacts;
  const Contact* memory = again.data();
  query_contacts(box, at(0, 0, 0.49), floor, identity(), {}, workspace, again);
  CHECK(again.size() == contacts.size() && again.data() == memory);

  Batch batch(2);
  const vxs_body body = {box.c_handle(), at(0, 0, 0.49)}, ground = {floor.c_handle(), identity()};
  std::vector<Contact> of_all;
  std::vector<std::size_t> offsets;
  batch.query_contacts({{body, ground, nullptr}, {body, ground, nullptr}}, {}, of_all, offsets);
  CHECK(offsets[1] == contacts.size() && offsets[2] == 2 * contacts.size() && of_all.size() == offsets[2]);
  CHECK(of_all.back().separation == contacts.back().separation);

  std::vector<Contact> known;
  query_features(box, at(0, 0, 0.49), floor, identity(), {contacts[1].feature, contacts[0].feature}, known);
  CHECK(known.size() == 2 && known[0].separation == contacts[1].separation && known[1].feature == contacts[0].feature);

  auto closest = query_distance(box, at(0, 0, 0.75), floor, identity(), {}, workspace);
  CHECK(closest && std::fabs(closest->separation - 0.25) < 1e-5);
  // One contact per segment.
  Query query;
  QuerySegmentation segmentation;
  segmentation.kind = VXS_SEGMENTATION_LEVEL;
  segmentation.level = 1;
  query.segmentation = &segmentation;
  std::vector<std::uint32_t> segments;
  contacts = query_contacts(box, at(0, 0, 0.49), floor, identity(), query, workspace);
  workspace.segments(segments);
  CHECK(segments.size() == contacts.size() && segments.size() > 1);
  std::sort(segments.begin(), segments.end());
  CHECK(std::adjacent_find(segments.begin(), segments.end()) == segments.end());
  QueryLimit limit;
  limit.max_tests = 20;
  query.limit = &limit;
  query_contacts(box, at(0, 0, 0.49), floor, identity(), query, workspace);
  CHECK(workspace.report().answer == VXS_ANSWER_PARTIAL && workspace.report().least_missed < 0);

  Query near;
  near.max_distance = 0.2;
  CHECK(!query_distance(box, at(0, 0, 0.75), floor, identity(), near, workspace));
}

static PairStep resting(double height) {
  const Pose pose = at(0, 0, height);
  return {{pose, pose.position, {}}, {identity(), {}, {}}, 1.0 / 60, {}, {}};
}

static void pairs(const Shape& box) {
  const Shape floor = Shape::create_half_space({0, 0, 1}, 0);
  Pair pair(box, floor);
  const Manifolds found = pair.update(resting(0.4999));
  CHECK(!found.empty() && found.begin() + 1 == found.end() && pair.searched());
  const Manifold& manifold = *found.begin();
  CHECK(manifold.end() - manifold.begin() == 4 && manifold.normal.z < -0.999);
  for (PairPoint& point : manifold) {
    CHECK(std::fabs(point.separation + 1e-4) < 1e-6);
    point.user[0] = 7;
  }
  const auto triangles = pair.triangles();
  CHECK(triangles.size() == 4);
  for (const vxs_contact_triangles& t : triangles) CHECK(t.on_a.triangle < 12 && t.on_b.triangle == VXS_TRIANGLE_NONE);
  // A copy goes on with the same numbers, in a batch too.
  Pair copy = pair.copy();
  Batch batch(2);
  std::vector<Manifolds> answers;
  update_pairs(batch, {{pair.c_handle(), resting(0.4999)}, {copy.c_handle(), resting(0.4999)}}, answers);
  CHECK(answers.size() == 2 && !pair.searched() && !copy.searched());
  for (const Manifolds& answer : answers) {
    for (const Manifold& m : answer) {
      for (const PairPoint& point : m) CHECK(point.user[0] == 7);
    }
  }
  copy.reset();
  CHECK(copy.triangles().empty());
  refused(VXS_INVALID_ARGUMENT, "pose", [&] { pair.update(resting(NAN)); });
}

static void haptics(const Shape& box) {
  const HapticsLimits limits{8, 1, {2000, 20}, {40, 0.4}};
  const HapticsSettings settings(VXS_RENDERER_PENALTY, box, 0.5, &limits);
  CHECK(settings.mass == 0.5 && settings.limits.force == 8);
  // The box of half extent 0.5 on an equal box.
  Haptics pair(settings, box, {{&box, {{0, -1, 0}, 0, 0, 0, 1}}});
  CHECK(pair && pair.c_handle());
  DeviceState state{{{0, 0.1, 0}, 0, 0, 0, 1}, {}, 1, 0};
  pair.reset();
  HapticsOutput output{};
  const auto rest = [&](int steps) {
    for (int i = 0; i < steps; i++) {
      output = pair.step(state, 1e-3);
      pair.simulate();
    }
  };
  rest(100);
  CHECK(output.contacts == 0 && output.wrench.force.y == 0);
  state.pose.position.y = 0.09;
  for (; state.pose.position.y > -0.004; state.pose.position.y -= 1e-3) rest(1);
  rest(500);
  CHECK(output.contacts > 0 && output.wrench.force.y > 1 && pair.simulate().contacts > 0);
  pair.set_body_pose(0, {{0, -3, 0}, 0, 0, 0, 1});
  rest(500);
  CHECK(output.contacts == 0);
  pair.reset({{0, 1, 0}, 0, 0, 0, 1});
  CHECK(pair.step_admittance({}, true, 1e-3).pose.position.y == 1);
  pair.set_scale(2);
  CHECK(pair.faults().teleport == 0 && pair.faults().bad_state == 0);
  refused(VXS_INVALID_ARGUMENT, "scale is 0", [&] { pair.set_scale(0); });
  refused(VXS_INVALID_ARGUMENT, "index is 1", [&] { pair.set_body_pose(1, identity()); });
  // Bumps by a function that the pair keeps; if the function throws there are none.
  HapticsSettings bumpy(VXS_RENDERER_GOD_OBJECT, box, 0.5, &limits);
  double slope = 0.25;
  bumpy.height = [&slope](std::size_t body, const Vec3& point) {
    if (body > 0 || slope < 0) throw 1;
    return slope * point.x;
  };
  bumpy.surface.height_reach = 1e-3;
  // By the mass of a box this large, its rotation would bound the stiffness of the whole coupling.
  bumpy.metric = VXS_METRIC_STIFFNESS;
  Haptics made(bumpy, box, {{&box, {{0, -1, 0}, 0, 0, 0, 1}}});
  bumpy.height = nullptr;
  pair = std::move(made);
  for (state.pose.position.y = 0.005; state.pose.position.y > -0.004; state.pose.position.y -= 1e-3) rest(1);
  rest(300);
  const Vec3 force = output.wrench.force;
  CHECK(force.y > 1 && std::abs(force.x + 0.25 * force.y) < 1e-3 * force.y && !(output.status & VXS_HAPTICS_BAD_HEIGHT));
  slope = -1;
  rest(300);
  CHECK((output.status & VXS_HAPTICS_BAD_HEIGHT) && std::abs(output.wrench.force.x) < 1e-3 * output.wrench.force.y);
  refused(VXS_INVALID_ARGUMENT, "mass is 0", [&] { HapticsSettings(VXS_RENDERER_PENALTY, box, 0); });
}

static void motions(const Shape& box) {
  const Shape ball = Shape::create_sphere(0.25);
  const Motion down{{{0, 2, 0}, 0, 0, 0, 1}, {{0, -2, 0}, 0, 0, 0, 1}}, still{identity(), identity()};
  Workspace workspace;
  MotionQuery query;
  const auto contact = query_time_of_impact(ball, down, box, still, query, workspace);
  CHECK(contact && std::fabs(contact->toi - 1.25 / 4) < 0.01 && contact->normal.y < -0.99);
  CHECK(std::fabs(motion_pose(down, contact->toi).position.y - 0.75) < 0.04);
  const auto lasting = query_motion_contacts(ball, down, box, still, query, workspace);
  CHECK(lasting.size() > 10 && lasting.front().contact.toi <= lasting.back().contact.toi);
  // From inside to outside: known contacts are not hits, and are not in contact at the end.
  const Motion out{{{0, 0.6, 0}, 0, 0, 0, 1}, {{0, 2, 0}, 0, 0, 0, 1}};
  std::vector<std::uint32_t> known;
  for (const Contact& c : query_contacts(box, identity(), ball, out.from, {}, workspace)) known.push_back(c.feature);
  std::sort(known.begin(), known.end());
  CHECK(!known.empty());
  query.known = known.data();
  query.known_count = std::uint32_t(known.size());
  CHECK(!query_time_of_impact(box, still, ball, out, query, workspace));
  CHECK(query_known_contacts(box, still, ball, out, query, workspace).empty());
  const auto hits = ball.query_segments({{-1, 0, 0}, {-1, 1, 0}}, {{1, 0, 0}, {1, 1, 0}});
  CHECK(hits.size() == 2 && hits[0].hit && !hits[1].hit);
}

// Materials are kept, and contacts tell the triangles that have them.
static void materials(const Shape& box) {
  const std::size_t count = box.get_triangles().indices.size() / 3;
  std::vector<std::uint32_t> numbers(count);
  for (std::size_t i = 0; i < count; i++) numbers[i] = std::uint32_t(100 + i);
  const Shape painted = Shape::create_with_materials(box, numbers);
  painted.prepare_triangles();
  CHECK(painted.get_materials() == numbers && box.get_materials().empty());
  CHECK(Shape::create_scaled(painted, 2).get_materials() == numbers);
  const std::vector<unsigned char> bytes = painted.serialize();
  CHECK(Shape::deserialize(bytes.data(), bytes.size()).get_materials() == numbers);
  refused(VXS_INVALID_ARGUMENT, "one for each", [&] { Shape::create_with_materials(box, {1, 2, 3}); });
  const Shape floor = Shape::create_half_space({0, 0, 1}, 0);
  Workspace workspace;
  const std::vector<Contact> contacts = query_contacts(painted, at(0, 0, 0.499), floor, identity(), {}, workspace);
  std::vector<ContactTriangles> triangles;
  query_triangles(painted, at(0, 0, 0.499), floor, identity(), contacts, triangles);
  CHECK(!contacts.empty() && triangles.size() == contacts.size());
  for (const ContactTriangles& t : triangles) {
    CHECK(t.on_a.triangle < count && t.on_a.material == 100 + t.on_a.triangle);
    CHECK(t.on_b.triangle == VXS_TRIANGLE_NONE && t.on_b.material == VXS_MATERIAL_NONE);
  }
}

// One body 5 mm inside another: every kind of response pushes them apart.
static void responses(const Shape& box) {
  const Shape floor = Shape::create_half_space({0, 1, 0}, 0);
  Workspace workspace;
  const Kinematics above{{{0, 0.495, 0}, 0, 0, 0, 1}, {0, 0.495, 0}, {}}, still{identity(), {}, {}};
  const Penalty penalty(100, 0);
  const Response once = query_penalty(box, above, floor, still, penalty, workspace);
  CHECK(once.wrench.force.y > 1);
  const Response step = query_continuous_penalty(box, {{above.pose, above.pose}, {0, 0, 0}, {}}, floor,
                                                 {{identity(), identity()}, {0, 0, 0}, {}}, penalty, workspace);
  CHECK(std::fabs(step.wrench.force.y - once.wrench.force.y) < 1e-4 * once.wrench.force.y);
  const Mobility loose{0.5, {1, 1, 1, 0, 0, 0}}, fixed{};
  const Impulses apart = query_impulse(box, above, loose, floor, still, fixed, Impulse(0.01), workspace);
  CHECK(apart.resolved == 1 && apart.on_a.force.y > 0.95 * 2 * 0.5 && apart.on_a.force.y < 2 && apart.on_b.force.y == -apart.on_a.force.y);
  refused(VXS_INVALID_ARGUMENT, "dt is 0", [&] { Impulse(0); });
}

// A box of 1 m, 2 mm deep in rigid ground, is an elastic foundation of 1 m².
static void patches(const Shape& box) {
  const Shape floor = Shape::create_half_space({0, 1, 0}, 0);
  Workspace workspace;
  std::vector<Patch> found;
  query_patches(box, at(0, 0.498, 0), floor, identity(), PatchQuery(INFINITY, 1e6), workspace, found);
  CHECK(found.size() == 1 && std::fabs(found[0].area - 1) < 0.05 && std::fabs(found[0].on_b.force.y + 2000) < 100);
  const std::vector<Vec3> outline = get_outline(workspace, 0);
  CHECK(outline.size() > 20 && outline.front().x == outline.back().x && get_outline(workspace, 1).empty());
  refused(VXS_INVALID_ARGUMENT, "stiffness_a is 0", [] { PatchQuery(0, 1); });
}

static void voxelmaps(const Shape& box) {
  VoxelmapOptions options;
  options.resolution = 32;
  const Voxelmap map = Voxelmap::create(box, options);
  CHECK(map.get_info().interior_voxels > 20000 && map.get_layers({{0, 0, 0}})[0] > 10 && map.get_distances({{0, 0, 0}})[0] > 0.3);
  CHECK(map.get_penetrations({{0, 0, 0}}, {{0, 0, 1}})[0] > 0.3);
  Workspace workspace;
  std::vector<VoxelContact> contacts;
  const VoxelmapAnswer in = query_voxelmap(map, identity(), box.get_pointshell(), at(0, 0.99, 0), VoxelmapQuery(), workspace, contacts);
  CHECK(in.count > 10 && contacts.size() == in.count && in.wrench.force.y > 0 && in.penetration < 0.1);
  const VoxelmapAnswer out = query_voxelmap(map, identity(), box.get_pointshell(), at(0, 1.5, 0), VoxelmapQuery(), workspace, contacts);
  CHECK(contacts.empty() && std::fabs(out.penetration + 0.5) < 0.08);
  CHECK(Voxelmap::of(create_with_voxelmap(box, map)).get_info().bytes == map.get_info().bytes);
  refused(VXS_UNSUPPORTED, "shape has no voxelmap", [&] { Voxelmap::of(box); });
}

static void ownership(const Shape& box) {
  Shape copy = box, moved = std::move(copy);
  copy = moved;
  moved = Shape::create_sphere(1);
  CHECK(copy.get_info().sample_count == box.get_info().sample_count);
  CHECK(std::fabs(moved.get_bounds().max.x - 1) < 1e-6);
  Field field = box.get_field();
  PointShell shell = box.get_pointshell();
  Shape parts = Shape::create(&field, &shell);
  CHECK(parts.get_info().forms == (VXS_FORM_FIELD | VXS_FORM_POINTSHELL));
  CHECK(std::fabs(field.distance({0.7, 0, 0}) - 0.2) < 0.01);
  CHECK(field.distance_gradient({0.7, 0, 0}).second.x > 0.9);
  Samples samples = shell.get_samples();
  CHECK(samples.points.size() == box.get_info().sample_count && samples.normals.size() == samples.points.size());
  CHECK(box.get_segments(0) == std::vector<std::uint32_t>{0} && box.get_segments(1).size() > 1);
  Triangles triangles = box.get_triangles();
  CHECK(triangles.vertices.size() >= 8 && triangles.indices.size() % 3 == 0);
  Shape rebuilt = Shape::create_triangles(triangles.vertices, triangles.indices);
  CHECK(rebuilt.get_mass_properties().exact && std::fabs(rebuilt.get_mass_properties().volume - 1) < 1e-9);
  // An open mesh: the box without its last side.
  Shape ball = Shape::create_sphere_hull({{0, 0, 0}}, {0.5});
  CHECK(ball.query_crossings({-1, 0, 0}, {1, 0, 0}).size() == 2);
  CHECK(ball.query_intervals({-1, 0, 0}, {1, 0, 0}).size() == 1);
  CHECK(Shape::create_scaled(ball, 2).get_bounds().max.x >= 1);
  CHECK(Shape::create_sheet(triangles.vertices, triangles.indices, 0.01).get_info().field_kind == VXS_FIELD_SHEET);
  triangles.indices.resize(triangles.indices.size() - 6);
  MassProperties open = Shape::create_triangles(triangles.vertices, triangles.indices).get_mass_properties();
  CHECK(!open.exact && open.volume > 0.5 && open.volume < 1.1);
  auto hit = rebuilt.query_segment({-2, 0.1, 0.2}, {2, 0.1, 0.2});
  CHECK(hit && std::fabs(hit->point.x + 0.5) < 1e-4 && hit->normal.x < -0.99);
  CHECK(!rebuilt.query_segment({-2, 0.6, 0.2}, {2, 0.6, 0.2}));
  CHECK(std::fabs(box.get_mass_properties().volume - 1) < 1e-9);

  CookOptions exact;
  exact.target_error = 0.02;
  CHECK(Shape::create_from_triangles(triangles.vertices, triangles.indices, exact).get_info().field_error_max <= 0.02);
  CookOptions limited;
  limited.resolution = 40;
  limited.memory_limit = cook_estimate_memory(triangles.vertices, triangles.indices, limited);
  CHECK(Shape::create_from_triangles(triangles.vertices, triangles.indices, limited));
  limited.memory_limit = 1000;
  refused(VXS_TOO_LARGE, "limit", [&] { Shape::create_from_triangles(triangles.vertices, triangles.indices, limited); });
}

static void errors() {
  refused(VXS_INVALID_ARGUMENT, "radius is -1", [] { Shape::create_sphere(-1); });
  refused(VXS_INVALID_MESH, "triangle_count is 0", [] { Shape::create_from_triangles({}, {}); });
  refused(VXS_INVALID_ARGUMENT, "three for each", [] { Shape::create_from_triangles({{0, 0, 0}}, {0, 0}); });
  refused(VXS_INVALID_ARGUMENT, "three for each", [] { cook_estimate_memory({{0, 0, 0}}, {0, 0}); });
  refused(VXS_IO, "nowhere.obj", [] { Shape::create_from_file("nowhere.obj"); });
  refused(VXS_UNSUPPORTED, "pointshell", [] { Shape::create_sphere(1).get_pointshell(); });
  CookOptions options;
  options.on_progress = [](const char*, double) { return false; };
  refused(VXS_CANCELLED, "cancelled", [&] { Shape::create_primitive(Primitive(VXS_PRIMITIVE_BOX), options); });
  options.on_progress = [](const char*, double) -> bool { throw 42; };
  bool caught = false;
  try {
    Shape::create_primitive(Primitive(VXS_PRIMITIVE_BOX), options);
  } catch (int thrown) {
    caught = thrown == 42;
  }
  CHECK(caught);
}

// Threads share shapes and each have a workspace; the answers are the same bytes.
static void threads(const Shape& box) {
  auto count = [&box] {
    Workspace workspace;
    Shape floor = Shape::create_half_space({0, 0, 1}, 0);
    std::size_t sum = 0;
    for (int i = 0; i < 50; i++) sum += query_contacts(box, at(0, 0, 0.5 - 0.001 * i), floor, identity(), {}, workspace).size();
    return sum;
  };
  const std::size_t expected = count();
  std::size_t got[4] = {};
  std::vector<std::thread> running;
  for (std::size_t& sum : got) running.emplace_back([&sum, &count] { sum = count(); });
  for (std::thread& t : running) t.join();
  for (std::size_t sum : got) CHECK(sum == expected && sum > 0);
}

static void log() {
  std::vector<std::string> heard;
  const auto hear = [&heard](std::uint32_t level, const char* message) {
    heard.push_back(std::to_string(level) + " " + message);
    throw 42;
  };
  set_log(hear);
  vxs_log(VXS_LOG_WARNING, "first");
  vxs_log(VXS_LOG_INFO, "not wanted");
  refused(VXS_INVALID_ARGUMENT, "level is 7", [&] { set_log(hear, 7); });
  vxs_log(VXS_LOG_ERROR, "to nobody");
  set_log(hear, VXS_LOG_INFO);
  cooked_box();
  set_log({});
  vxs_log(VXS_LOG_ERROR, "to nobody");
  CHECK(heard.size() == 2 && heard[0] == "2 first" && heard[1].find("3 vxs_shape_create_primitive: ") == 0);
}

static void recordings() {
  RecordOptions options;
  options.wait = 1;
  Recording recording("wrapper.vxr", options);
  CHECK(recording);
  refused(VXS_BUSY, "a recording is in progress", [] { Recording("other.vxr"); });
  const Shape ball = Shape::create_sphere(1);
  const vxs_record_report report = recording.stop();
  CHECK(!recording && report.records >= 2 && report.lost == 0);
  refused(VXS_INVALID_ARGUMENT, "no recording is in progress", [&] { recording.stop(); });
}

int main() {
  Shape box = cooked_box();
  contacts_and_distance(box);
  pairs(box);
  ownership(box);
  motions(box);
  materials(box);
  patches(box);
  voxelmaps(box);
  responses(box);
  haptics(box);
  errors();
  log();
  threads(box);
  recordings();
  box.save("wrapper_test.voxshell");
  CHECK(Shape::load("wrapper_test.voxshell").get_info().sample_count == box.get_info().sample_count);
  box.save("wrapper_test.voxshell", VXS_STORE_RAW);
  const std::vector<unsigned char> bytes = box.serialize();
  CHECK(Shape::deserialize(bytes.data(), bytes.size()).serialize() == bytes);
  CHECK(Shape::load("wrapper_test.voxshell").serialize() == bytes);
  std::remove("wrapper.vxr");
  std::remove("wrapper_test.voxshell");
  std::puts("wrapper: ok");
  return 0;
}
