/* Two shapes, their contacts and their distance, against closed form. */
#include "check.h"

#define RADIUS 0.5

static vxs_shape *cooked_sphere(void) {
  vxs_primitive primitive;
  vxs_cook_options options;
  vxs_shape *shape = NULL;
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_SPHERE));
  primitive.size[0] = RADIUS;
  primitive.detail[0] = 4;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 48;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  return shape;
}

/* Returns the largest distance of the cooked sphere from the true one: the field's error, the icosphere's sagitta,
 * and the distance of the deepest sample from the deepest point. */
static double tolerance_of(const vxs_shape *shape) {
  vxs_shape_info info;
  OK(vxs_shape_info_init(&info, sizeof info));
  OK(vxs_shape_get_info(shape, &info));
  CHECK(info.forms == (VXS_FORM_FIELD | VXS_FORM_POINTSHELL));
  CHECK(info.field_kind == VXS_FIELD_DENSE && info.sample_count > 0 && info.tree_nodes > 0);
  CHECK(info.lipschitz > 0.5 && info.lipschitz < 2 && info.uncertain_nodes == 0);
  return info.field_error_max + 0.002 * RADIUS + info.spacing * info.spacing / RADIUS;
}

static void check_contact(const vxs_contact *c, double toward_x) {
  double dx = c->point_on_b.x - c->point_on_a.x, dy = c->point_on_b.y - c->point_on_a.y,
         dz = c->point_on_b.z - c->point_on_a.z;
  NEAR(c->normal.x * c->normal.x + c->normal.y * c->normal.y + c->normal.z * c->normal.z, 1, 1e-9);
  NEAR(dx * c->normal.x + dy * c->normal.y + dz * c->normal.z, c->separation, 1e-6);
  CHECK(c->normal.x * toward_x > 0.5);
  CHECK(c->toi == 0 && c->reserved == 0);
}

/* Sphere on the exact half-space: every contact is below the plane, and the deepest has the exact depth. */
static void sphere_on_plane(const vxs_shape *sphere, vxs_workspace *workspace) {
  double tolerance = tolerance_of(sphere);
  vxs_shape *plane = NULL;
  vxs_pose ground = at(0, 0, 0), sunk = at(3, -2, RADIUS - 0.05);
  vxs_contact contacts[4096], closest;
  size_t count = 0;
  bool found = false;
  OK(vxs_shape_create_half_space(vec3(0, 0, 2), 0, &plane));
  OK(vxs_query_contacts(BODY(sphere, sunk), BODY(plane, ground), NULL, workspace, contacts, 4096, &count));
  CHECK(count > 3 && count < 4096);
  NEAR(contacts[0].separation, -0.05, tolerance);
  for (size_t i = 0; i < count; i++) {
    NEAR(contacts[i].normal.z, -1, 1e-6);
    NEAR(contacts[i].point_on_b.z, 0, 1e-6);
    CHECK(contacts[i].separation <= 0 && (i == 0 || contacts[i - 1].separation <= contacts[i].separation));
    CHECK((contacts[i].feature & 0x80000000u) == 0);
  }
  /* The other order gives the same contacts reversed, with the pointshell on B's side. */
  size_t turned = 0;
  OK(vxs_query_contacts(BODY(plane, ground), BODY(sphere, sunk), NULL, workspace, &closest, 0, &turned) == VXS_TRUNCATED ? VXS_OK : 1);
  CHECK(turned == count);
  OK(vxs_query_distance(BODY(plane, ground), BODY(sphere, sunk), NULL, workspace, &closest, &found));
  CHECK(found && (closest.feature & 0x80000000u) != 0 && (closest.feature & 0x7fffffffu) == contacts[0].feature);
  NEAR(closest.separation, contacts[0].separation, 0);
  NEAR(closest.normal.z, 1, 1e-6);
  /* Reduced to four: the deepest is still first. */
  vxs_query query;
  OK(vxs_query_init(&query, sizeof query));
  query.max_contacts = 4;
  OK(vxs_query_contacts(BODY(sphere, sunk), BODY(plane, ground), &query, workspace, contacts + 1, 4, &count));
  CHECK(count == 4 && contacts[1].feature == contacts[0].feature);
  /* The sphere rests on one region; at the root there is one segment, and its contact is the deepest. */
  uint32_t segments[4096];
  vxs_query_report report;
  OK(vxs_query_report_init(&report, sizeof report));
  vxs_query_segmentation segmentation;
  OK(vxs_query_segmentation_init(&segmentation, sizeof segmentation));
  query.segmentation = &segmentation;
  OK(vxs_query_contacts(BODY(sphere, sunk), BODY(plane, ground), &query, workspace, contacts + 1, 4, &count));
  OK(vxs_workspace_get_segments(workspace, segments, 4096, &count));
  CHECK(count == 4 && segments[0] == 0 && segments[3] == 0);
  uint32_t feature = contacts[1].feature, region = 7;
  query.preferred = &feature;
  segmentation.preferred_segments = &region;
  query.preferred_count = 1;
  OK(vxs_query_contacts(BODY(sphere, sunk), BODY(plane, ground), &query, workspace, contacts + 1, 4, &count));
  OK(vxs_workspace_get_segments(workspace, segments, 4096, &count));
  CHECK(count == 4 && segments[0] == 7 && segments[3] == 7);
  OK(vxs_workspace_get_report(workspace, &report));
  CHECK(report.answer == VXS_ANSWER_COMPLETE && isinf(report.least_missed) && report.sample_tests >= turned);
  segmentation.kind = VXS_SEGMENTATION_LEVEL;
  OK(vxs_query_contacts(BODY(sphere, sunk), BODY(plane, ground), &query, workspace, contacts + 1, 4, &count));
  CHECK(count == 1 && contacts[1].feature == contacts[0].feature);
  segmentation.level = 2;
  CHECK(vxs_query_contacts(BODY(sphere, sunk), BODY(plane, ground), &query, workspace, NULL, 0, &count) == VXS_TRUNCATED && count > 1);
  CHECK(vxs_workspace_get_segments(workspace, segments, 1, &count) == VXS_TRUNCATED && count > 1);
  /* The samples of a segment are contiguous, so the segment of a contact also follows from its feature. */
  uint32_t first[4096];
  size_t all_segments = 0;
  OK(vxs_query_contacts(BODY(sphere, sunk), BODY(plane, ground), &query, workspace, contacts, 4096, &count));
  OK(vxs_workspace_get_segments(workspace, segments, 4096, &count));
  OK(vxs_shape_get_segments(sphere, segmentation.level, first, 4096, &all_segments));
  CHECK(all_segments > count && first[0] == 0);
  for (size_t i = 0; i < count; ++i) {
    size_t segment = all_segments - 1;
    while (first[segment] > contacts[i].feature) --segment;
    CHECK(segments[i] == segment);
  }
  CHECK(vxs_shape_get_segments(sphere, 0, first, 0, &all_segments) == VXS_TRUNCATED && all_segments == 1);
  /* Two cubes whose edges cross: the edges are found with their exact depth, 0.01 over the square root of 2. */
  vxs_shape *cube = NULL;
  const vxs_vec3 corners[8] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}};
  const uint32_t sides[36] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4, 3, 7, 6, 3, 6, 2, 0, 4, 7, 0, 7, 3, 1, 2, 6, 1, 6, 5};
  OK(vxs_shape_create_from_triangles(corners, 8, sides, 12, NULL, &cube));
  const double quarter = 3.14159265358979323846 / 8;
  const vxs_body above = {cube, {{0.123, 2 * sqrt(2) - 0.01, 0.017}, sin(quarter), 0, 0, cos(quarter)}};
  const vxs_body below = {cube, {{0, 0, 0}, 0, 0, sin(quarter), cos(quarter)}};
  OK(vxs_shape_prepare_coverage(cube, VXS_COVERAGE_EDGES));
  OK(vxs_query_contacts(&above, &below, NULL, workspace, contacts, 4096, &count));
  size_t edge_count = 0;
  for (size_t i = 0; i < count; ++i) {
    if ((contacts[i].feature & VXS_FEATURE_OF_EDGE) == 0) continue;
    ++edge_count;
    NEAR(contacts[i].separation, -0.01 / sqrt(2), 1e-6);
    NEAR(contacts[i].normal.y, -1, 1e-6);
  }
  CHECK(edge_count == 2);
  vxs_query deepest;
  bool touches = false;
  OK(vxs_query_init(&deepest, sizeof deepest));
  deepest.max_distance = 0;
  OK(vxs_query_distance(&above, &below, &deepest, workspace, contacts, &touches));
  CHECK(touches && (contacts->feature & VXS_FEATURE_OF_EDGE) != 0);
  NEAR(contacts->separation, -0.01 / sqrt(2), 1e-6);
  /* Edges are only found by a search. */
  vxs_contact again;
  OK(vxs_query_features(&above, &below, VXS_COVERAGE_EDGES, &contacts->feature, 1, &again));
  CHECK(again.feature == contacts->feature && again.separation == INFINITY && isnan(again.normal.x));
  vxs_motion_query motion;
  vxs_contact kept;
  OK(vxs_motion_query_init(&motion, sizeof motion));
  motion.known = &contacts->feature;
  motion.known_count = 1;
  const vxs_moving_body up = {cube, {above.pose, above.pose}}, down = {cube, {below.pose, below.pose}};
  OK(vxs_query_known_contacts(&up, &down, &motion, workspace, &kept, 1, &count));
  CHECK(count == 0);
  /* In motion the edges meet at the exact time: 0.01 above each other, and 0.1 down in the step. */
  vxs_moving_body falls = {cube, {above.pose, above.pose}};
  falls.motion.from.position.y += 0.02;
  falls.motion.to.position.y -= 0.08;
  vxs_contact first_touch;
  OK(vxs_query_time_of_impact(&falls, &down, NULL, workspace, &first_touch, &touches));
  CHECK(touches && (first_touch.feature & VXS_FEATURE_OF_EDGE) != 0);
  NEAR(first_touch.toi, 0.1, 1e-3);
  NEAR(first_touch.normal.y, -1, 1e-9);
  CHECK(first_touch.separation >= 0 && first_touch.separation < 1e-4);
  OK(vxs_motion_query_init(&motion, sizeof motion));
  motion.coverage = VXS_COVERAGE_SAMPLES;
  vxs_contact sampled;
  bool is_sampled = false;
  OK(vxs_query_time_of_impact(&falls, &down, &motion, workspace, &sampled, &is_sampled));
  CHECK(!is_sampled || (sampled.feature & VXS_FEATURE_OF_EDGE) == 0);
  OK(vxs_shape_release(cube));
  /* With few tests there are fewer contacts, and no missed contact is deeper than the report says. */
  uint64_t all = report.node_tests + report.sample_tests;
  vxs_query_limit limit;
  OK(vxs_query_limit_init(&limit, sizeof limit));
  query.segmentation = NULL;
  query.limit = &limit;
  query.max_contacts = 0;
  limit.max_tests = all / 3;
  OK(vxs_query_contacts(BODY(sphere, sunk), BODY(plane, ground), &query, workspace, contacts + 1, 4095, &count));
  OK(vxs_workspace_get_report(workspace, &report));
  CHECK(report.answer == VXS_ANSWER_PARTIAL && count < turned && report.node_tests + report.sample_tests <= all / 3);
  CHECK(report.least_missed <= 0 && report.least_missed > -2 * RADIUS);
  limit.max_tests = 0;
  limit.accuracy = 10;
  OK(vxs_query_contacts(BODY(sphere, sunk), BODY(plane, ground), &query, workspace, contacts + 1, 4095, &count));
  OK(vxs_workspace_get_report(workspace, &report));
  CHECK(report.answer == VXS_ANSWER_COARSE && report.node_tests == 1 && report.sample_tests == 1 && count <= 1);
  OK(vxs_shape_release(plane));
}

static void sphere_and_sphere(const vxs_shape *sphere, vxs_workspace *workspace) {
  double tolerance = 2 * tolerance_of(sphere);
  vxs_query query;
  vxs_contact c;
  bool found = false;
  size_t count = 77;
  OK(vxs_query_init(&query, sizeof query));
  for (uint32_t roles = VXS_ROLES_AUTO; roles <= VXS_ROLES_BOTH; roles++) {
    query.roles = roles;
    for (double gap = -0.2; gap < 0.3; gap += 0.05) {
      vxs_pose a = at(1, 2, 3), b = at(1 + 2 * RADIUS + gap, 2, 3);
      OK(vxs_query_distance(BODY(sphere, a), BODY(sphere, b), &query, workspace, &c, &found));
      CHECK(found);
      NEAR(c.separation, gap, tolerance);
      check_contact(&c, 1);
      OK(vxs_query_distance(BODY(sphere, b), BODY(sphere, a), &query, workspace, &c, &found));
      CHECK(found);
      check_contact(&c, -1);
      /* Beyond the requested distance nothing is found and nothing is written. */
      query.max_distance = gap - 2 * tolerance;
      c.toi = 42;
      OK(vxs_query_distance(BODY(sphere, a), BODY(sphere, b), &query, workspace, &c, &found));
      CHECK(!found && c.toi == 42);
      query.max_distance = INFINITY;
    }
  }
  vxs_pose a = at(0, 0, 0), b = at(2 * RADIUS + 0.1, 0, 0);
  OK(vxs_query_contacts(BODY(sphere, a), BODY(sphere, b), NULL, workspace, NULL, 0, &count));
  CHECK(count == 0);
  query.roles = VXS_ROLES_AUTO;
  query.max_separation = 0.1 + 2 * tolerance;
  vxs_status status = vxs_query_contacts(BODY(sphere, a), BODY(sphere, b), &query, workspace, &c, 1, &count);
  CHECK(status == (count > 1 ? VXS_TRUNCATED : VXS_OK) && count >= 1);
  NEAR(c.separation, 0.1, tolerance);
}

/* The distance does not depend on the position and orientation of the pair in the world. */
static void anywhere(const vxs_shape *sphere, vxs_workspace *workspace) {
  vxs_pose a = {{1e5, -1e5, 1e5}, 0.5, 0.5, 0.5, 0.5};
  vxs_pose b = {{1e5, -1e5, 1e5 + 2 * RADIUS + 0.125}, -0.5, 0.5, -0.5, 0.5};
  vxs_contact c;
  bool found = false;
  OK(vxs_query_distance(BODY(sphere, a), BODY(sphere, b), NULL, workspace, &c, &found));
  CHECK(found);
  NEAR(c.separation, 0.125, 2 * tolerance_of(sphere));
  CHECK(c.normal.z > 0.9);
}

static void segments(const vxs_shape *sphere) {
  double tolerance = tolerance_of(sphere);
  vxs_segment_hit hit;
  OK(vxs_shape_query_segment(sphere, vec3(-2, 0.3, 0), vec3(2, 0.3, 0), &hit));
  CHECK(hit.hit);
  NEAR(hit.point.x, -0.4, 2 * tolerance);
  NEAR(hit.point.y, 0.3, 1e-9);
  NEAR(hit.fraction, (2 + hit.point.x) / 4, 1e-9);
  NEAR(hit.normal.x, -0.8, 0.1);
  OK(vxs_shape_query_segment(sphere, vec3(-2, 0.51, 0), vec3(2, 0.51, 0), &hit));
  CHECK(!hit.hit && isnan(hit.fraction) && isnan(hit.point.x));
}

static void insides(const vxs_shape *sphere) {
  double tolerance = tolerance_of(sphere), distance = 0;
  double pi = 3.14159265358979323846, volume = 4.0 / 3.0 * pi * RADIUS * RADIUS * RADIUS;
  vxs_mass_properties mass;
  vxs_aabb bounds;
  vxs_field *field = NULL;
  vxs_pointshell *shell = NULL;
  vxs_shape *parts = NULL;
  vxs_vec3 gradient;
  vxs_vec3 *points, *normals;
  size_t count = 0, again = 0;
  OK(vxs_shape_get_mass_properties(sphere, &mass));
  CHECK(mass.exact);
  NEAR(mass.volume, volume, 0.02 * volume);
  NEAR(mass.inertia[0], 0.4 * RADIUS * RADIUS, 0.02 * RADIUS * RADIUS);
  NEAR(mass.center_of_mass.y, 0, 1e-6);
  OK(vxs_shape_get_bounds(sphere, &bounds));
  NEAR(bounds.max.x, RADIUS, 0.01);
  NEAR(bounds.min.z, -RADIUS, 0.01);

  OK(vxs_shape_get_field(sphere, &field));
  OK(vxs_field_distance(field, vec3(0, 0.7, 0), &distance, &gradient));
  NEAR(distance, 0.2, tolerance);
  NEAR(gradient.y, 1, 0.05);
  OK(vxs_field_distance(field, vec3(0, 0, 0.3), &distance, NULL));
  NEAR(distance, -0.2, tolerance);

  OK(vxs_shape_get_pointshell(sphere, &shell));
  CHECK(vxs_pointshell_get_samples(shell, NULL, NULL, 0, &count) == VXS_TRUNCATED && count > 0);
  points = malloc(count * sizeof *points);
  normals = malloc(count * sizeof *normals);
  CHECK(points != NULL && normals != NULL);
  OK(vxs_pointshell_get_samples(shell, points, normals, count, &again));
  CHECK(again == count);
  for (size_t i = 0; i < count; i++) {
    vxs_vec3 p = points[i], n = normals[i];
    double length = sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
    NEAR(length, RADIUS, 0.01 * RADIUS);
    NEAR((p.x * n.x + p.y * n.y + p.z * n.z) / length, 1, 0.05);
  }
  /* The forms outlive the shape from which they were taken, and can make another. */
  OK(vxs_shape_create(field, shell, &parts));
  OK(vxs_field_release(field));
  OK(vxs_pointshell_release(shell));
  OK(vxs_shape_get_bounds(parts, &bounds));
  NEAR(bounds.max.x, RADIUS, 0.01);
  OK(vxs_shape_release(parts));
  free(points);
  free(normals);
}

static void triangles(const vxs_shape *sphere) {
  size_t vertices = 0, indices = 0, again[2];
  vxs_vec3 *v;
  uint32_t *i;
  CHECK(vxs_shape_get_triangles(sphere, NULL, 0, &vertices, NULL, 0, &indices) == VXS_TRUNCATED);
  CHECK(vertices == 2562 && indices == 3 * 5120);
  v = malloc(vertices * sizeof *v);
  i = malloc(indices * sizeof *i);
  CHECK(v != NULL && i != NULL);
  OK(vxs_shape_get_triangles(sphere, v, vertices, &again[0], i, indices, &again[1]));
  for (size_t k = 0; k < indices; k++) CHECK(i[k] < vertices);
  free(v);
  free(i);
}

static bool cancel_at_third_call(const char *stage, double fraction, void *user) {
  CHECK(stage[0] != '\0' && fraction >= 0 && fraction <= 1);
  return ++*(int *)user < 3;
}

static void progress(void) {
  vxs_primitive primitive;
  vxs_cook_options options;
  vxs_shape *shape = NULL;
  int calls = 0;
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_BOX));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.progress = cancel_at_third_call;
  options.progress_user = &calls;
  REFUSED(VXS_CANCELLED, "cancelled", vxs_shape_create_primitive(&primitive, &options, &shape));
  CHECK(calls == 3 && shape == NULL);
}

int main(void) {
  vxs_shape *sphere = cooked_sphere();
  vxs_workspace *workspace = NULL;
  CHECK(vxs_version() == (VXS_VERSION_MAJOR << 16 | VXS_VERSION_MINOR << 8 | VXS_VERSION_PATCH));
  CHECK(strcmp(vxs_status_name(VXS_TOO_LARGE), "VXS_TOO_LARGE") == 0);
  CHECK(strcmp(vxs_status_name(VXS_OUT_OF_MEMORY), "VXS_OUT_OF_MEMORY") == 0);
  OK(vxs_workspace_create(&workspace));
  sphere_on_plane(sphere, workspace);
  sphere_and_sphere(sphere, workspace);
  anywhere(sphere, workspace);
  segments(sphere);
  insides(sphere);
  triangles(sphere);
  progress();
  OK(vxs_workspace_destroy(workspace));
  OK(vxs_shape_release(sphere));
  puts("contacts: ok");
  return 0;
}
