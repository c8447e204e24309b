/* Moving shapes against closed form: time and duration of contacts, and known contacts. */
#include "check.h"

#define PI 3.14159265358979323846
#define RADIUS 0.1

static vxs_shape *cooked_sphere(void) {
  vxs_primitive primitive;
  vxs_cook_options options;
  vxs_shape *shape = NULL;
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_SPHERE));
  primitive.size[0] = RADIUS;
  primitive.detail[0] = 4;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 32;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  return shape;
}

static vxs_pose turned(double x, double y, double angle) {
  vxs_pose pose = at(x, y, 0);
  pose.qz = sin(0.5 * angle);
  pose.qw = cos(0.5 * angle);
  return pose;
}

/* Largest depth of the samples below the sphere's surface, metres. */
static const double SAGITTA = 0.002 * RADIUS;

/* A ball on a quarter circle around the origin, under a ceiling. */
static void ball_on_an_arc(const vxs_shape *ball, const vxs_shape *ceiling, vxs_workspace *workspace) {
  const double height = 0.6;
  const vxs_motion arc = {turned(1, 0, 0), turned(0, 1, 0.5 * PI)}, still = {at(0, height, 0), at(0, height, 0)};
  const double expected = asin(height - RADIUS) / (0.5 * PI);
  vxs_contact contact;
  bool found = false;
  vxs_pose pose;
  OK(vxs_query_time_of_impact(MOVING(ball, arc), MOVING(ceiling, still), NULL, workspace, &contact, &found));
  CHECK(found);
  NEAR(contact.toi, expected, 2 * SAGITTA);
  CHECK(contact.normal.y > 0.999 && fabs(contact.separation) < 2e-5);
  NEAR(contact.point_on_b.y, height, 1e-6);
  /* The pose at the reported time touches. */
  OK(vxs_motion_pose(&arc, contact.toi, &pose));
  NEAR(hypot(pose.position.x, pose.position.y), 1, 1e-12);
  NEAR(atan2(pose.position.y, pose.position.x), contact.toi * 0.5 * PI, 1e-12);
  NEAR(2 * atan2(pose.qz, pose.qw), contact.toi * 0.5 * PI, 1e-12);
  /* The ceiling may move instead. */
  const vxs_motion fixed = {turned(1, 0, 0), turned(1, 0, 0)};
  const vxs_motion down = {at(0, height, 0), at(0, height - 1, 0)};
  OK(vxs_query_time_of_impact(MOVING(ceiling, down), MOVING(ball, fixed), NULL, workspace, &contact, &found));
  CHECK(found && contact.normal.y < -0.999);
  NEAR(contact.toi, height - RADIUS, 2 * SAGITTA);
  /* With less time there is no contact. */
  vxs_motion_query query;
  OK(vxs_motion_query_init(&query, sizeof query));
  query.until = height - RADIUS - 0.01;
  OK(vxs_query_time_of_impact(MOVING(ceiling, down), MOVING(ball, fixed), &query, workspace, &contact, &found));
  CHECK(!found);
}

/* Straight through a ball and out again. */
static void ball_through_ball(const vxs_shape *ball, const vxs_shape *exact, vxs_workspace *workspace) {
  const vxs_motion through = {at(-1, 0, 0), at(1, 0, 0)}, still = {at(0, 0, 0), at(0, 0, 0)};
  vxs_motion_query query;
  size_t count = 0, again = 0;
  double first = 1, last = 0;
  OK(vxs_motion_query_init(&query, sizeof query));
  query.path = VXS_PATH_STRAIGHT;
  CHECK(vxs_query_motion_contacts(MOVING(ball, through), MOVING(exact, still), &query, workspace, NULL, 0, &count) == VXS_TRUNCATED);
  vxs_motion_contact *contacts = malloc(count * sizeof *contacts);
  OK(vxs_query_motion_contacts(MOVING(ball, through), MOVING(exact, still), &query, workspace, contacts, count, &again));
  CHECK(again == count && count > 100);
  for (size_t i = 0; i < count; i++) {
    const vxs_motion_contact *c = &contacts[i];
    CHECK(c->contact.toi <= c->until && fabs(c->contact.separation) < 1e-6);
    CHECK(i == 0 || contacts[i - 1].contact.toi <= c->contact.toi);
    first = fmin(first, c->contact.toi);
    last = fmax(last, c->until);
  }
  NEAR(first, 0.5 - 0.5 * (2 * RADIUS), SAGITTA);
  NEAR(last, 0.5 + 0.5 * (2 * RADIUS), SAGITTA);
  free(contacts);
}

/* Contacts at the start end the step at once unless they are known; known ones that remain can be requested at the
 * end. */
static void known_contacts(const vxs_shape *ball, const vxs_shape *ceiling, vxs_workspace *workspace) {
  const vxs_motion away = {at(0, -RADIUS + 0.01, 0), at(0, -RADIUS + 0.004, 0)}, still = {at(0, 0, 0), at(0, 0, 0)};
  vxs_contact contacts[1024], contact, left[1024];
  uint32_t known[1024];
  size_t count = 0, stay = 0;
  bool found = false;
  OK(vxs_query_contacts(BODY(ball, away.from), BODY(ceiling, still.from), NULL, workspace, contacts, 1024, &count));
  CHECK(count > 3);
  OK(vxs_query_time_of_impact(MOVING(ball, away), MOVING(ceiling, still), NULL, workspace, &contact, &found));
  CHECK(found && contact.toi == 0);

  vxs_motion_query query;
  OK(vxs_motion_query_init(&query, sizeof query));
  for (size_t i = 0; i < count; i++) known[i] = contacts[i].feature;
  for (size_t i = 1; i < count; i++) /* ascending */
    for (size_t j = i; j > 0 && known[j] < known[j - 1]; j--) {
      const uint32_t kept = known[j];
      known[j] = known[j - 1];
      known[j - 1] = kept;
    }
  query.known = known;
  query.known_count = (uint32_t)count;
  OK(vxs_query_time_of_impact(MOVING(ball, away), MOVING(ceiling, still), &query, workspace, &contact, &found));
  CHECK(!found);
  OK(vxs_query_known_contacts(MOVING(ball, away), MOVING(ceiling, still), &query, workspace, left, 1024, &stay));
  CHECK(stay > 0 && stay < count);
  for (size_t i = 0; i < stay; i++) CHECK(left[i].toi == 1 && left[i].separation <= 0 && (i == 0 || left[i - 1].feature < left[i].feature));
}

/* Segments one by one and in a batch give the same result. */
static void segments(const vxs_shape *ball) {
  enum { COUNT = 150 };
  vxs_vec3 from[COUNT], to[COUNT];
  vxs_segment_hit hits[COUNT], one;
  int hit = 0;
  for (int i = 0; i < COUNT; i++) {
    from[i] = vec3(-1, 0.2 * i / COUNT, 0.01);
    to[i] = vec3(1, 0.01, 0.2 - 0.3 * i / COUNT);
  }
  OK(vxs_shape_query_segments(ball, from, to, COUNT, hits));
  for (int i = 0; i < COUNT; i++) {
    OK(vxs_shape_query_segment(ball, from[i], to[i], &one));
    CHECK(one.hit == hits[i].hit);
    if (!one.hit) continue;
    hit++;
    CHECK(one.fraction == hits[i].fraction && one.normal.x == hits[i].normal.x && one.point.z == hits[i].point.z);
  }
  CHECK(hit > 30 && hit < COUNT);
  OK(vxs_shape_query_segments(ball, NULL, NULL, 0, NULL));
}

/* Two sharp tetrahedra from triangles: their edges meet between the samples. */
static void edges_of_meshes(vxs_workspace *workspace) {
  /* An upper edge along x, and below it a lower one along z: both at height 0 in their bodies. */
  const vxs_vec3 upper[] = {{-1, 0, 0}, {1, 0, 0}, {0, 1, -0.5}, {0, 1, 0.5}};
  const vxs_vec3 lower[] = {{0, 0, -1}, {0, 0, 1}, {-0.5, -1, 0}, {0.5, -1, 0}};
  const uint32_t triangles[] = {0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2};
  const vxs_motion down = {at(0, 1, 0), at(0, -1, 0)}, still = {at(0, 0, 0), at(0, 0, 0)};
  vxs_shape *a = NULL, *b = NULL;
  vxs_mesh_motion_query query;
  vxs_mesh_impact impact;
  bool found = false;
  OK(vxs_shape_create_triangles(upper, 4, triangles, 4, 0, &a));
  OK(vxs_shape_create_triangles(lower, 4, triangles, 4, 0, &b));
  OK(vxs_mesh_time_of_impact(MOVING(a, down), MOVING(b, still), NULL, workspace, &impact, &found));
  CHECK(found && impact.time <= 0.5 && impact.width >= 0);
  NEAR(impact.time, 0.5, 1e-5);
  NEAR(impact.normal.y, -1, 1e-9);
  NEAR(impact.point_on_b.x, 0, 1e-9);
  CHECK(impact.features.a.kind == VXS_MESH_FEATURE_EDGE && impact.features.b.kind == VXS_MESH_FEATURE_EDGE);
  /* Without this pair nothing touches before the end of the step. */
  OK(vxs_mesh_motion_query_init(&query, sizeof query));
  query.known = &impact.features;
  query.known_count = 1;
  query.until = 0.6;
  vxs_mesh_impact second;
  OK(vxs_mesh_time_of_impact(MOVING(a, down), MOVING(b, still), &query, workspace, &second, &found));
  CHECK(!found);
  OK(vxs_shape_release(a));
  OK(vxs_shape_release(b));
}

int main(void) {
  vxs_shape *ball = cooked_sphere(), *exact = NULL, *ceiling = NULL;
  vxs_workspace *workspace = NULL;
  OK(vxs_shape_create_sphere(RADIUS, &exact));
  OK(vxs_shape_create_half_space(vec3(0, -1, 0), 0, &ceiling));
  OK(vxs_workspace_create(&workspace));
  ball_on_an_arc(ball, ceiling, workspace);
  ball_through_ball(ball, exact, workspace);
  known_contacts(ball, ceiling, workspace);
  segments(ball);
  edges_of_meshes(workspace);
  OK(vxs_workspace_destroy(workspace));
  OK(vxs_shape_release(ceiling));
  OK(vxs_shape_release(exact));
  OK(vxs_shape_release(ball));
  puts("motions: ok");
  return 0;
}
