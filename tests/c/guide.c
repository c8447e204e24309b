/* The program of the C API guide (docs/c-api.md), which quotes it piece by piece. */
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <voxshell/voxshell.h>

/* Every call that can fail returns a status; the message belongs to this thread. */
static void must(vxs_status status, const char *what) {
  if (status == VXS_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, vxs_status_name(status), vxs_last_error());
  exit(1);
}

/* A wedge: 0.4 m long, 0.2 m wide, 0.1 m high at its thick end. */
static const vxs_vec3 vertices[6] = {{0, 0, 0}, {0.4, 0, 0}, {0, 0, 0.2}, {0.4, 0, 0.2}, {0, 0.1, 0}, {0, 0.1, 0.2}};
static const uint32_t indices[24] = {0, 1, 2, 1, 3, 2, 0, 2, 5, 0, 5, 4, 0, 4, 1, 2, 3, 5, 1, 4, 5, 1, 5, 3};

static bool show_progress(const char *stage, double fraction, void *user) {
  (void)user;
  printf("\r%-12s %3.0f %%", stage, 100 * fraction);
  return true; /* false: stop, and the call returns VXS_CANCELLED */
}

static vxs_shape *cook(void) {
  vxs_cook_options options;
  vxs_cook_options_init(&options, sizeof options); /* defaults first, then what you want otherwise */
  options.voxel_size = 0.004;
  options.sample_count = 3000;
  options.progress = show_progress;
  vxs_shape *wedge = NULL;
  must(vxs_shape_create_from_triangles(vertices, 6, indices, 8, &options, &wedge), "cook");
  puts("");
  return wedge;
}

static void look_at(const vxs_shape *wedge) {
  vxs_shape_info info;
  vxs_shape_info_init(&info, sizeof info);
  must(vxs_shape_get_info(wedge, &info), "info");
  printf("%u x %u x %u nodes, largest error found %.2f mm; %llu samples, gaps up to %.1f mm\n", info.grid_dims[0], info.grid_dims[1],
         info.grid_dims[2], 1e3 * info.field_error_max, (unsigned long long)info.sample_count, 1e3 * info.spacing);

  vxs_mass_properties mass;
  must(vxs_shape_get_mass_properties(wedge, &mass), "mass");
  printf("%.4f m3 around (%.3f %.3f %.3f)\n", mass.volume, mass.center_of_mass.x, mass.center_of_mass.y, mass.center_of_mass.z);
  assert(fabs(mass.volume - 0.004) < 1e-9);
}

static vxs_shape *through_a_file(const vxs_shape *wedge) {
  vxs_shape *again = NULL;
  must(vxs_shape_save(wedge, "guide.vxs"), "save");
  must(vxs_shape_load("guide.vxs", &again), "load");
  remove("guide.vxs");
  return again;
}

static size_t all_contacts(const vxs_shape *wedge, const vxs_shape *ground, vxs_workspace *workspace) {
  vxs_query query;
  vxs_query_init(&query, sizeof query);
  query.max_separation = 0.002; /* also what is up to 2 mm apart */

  const vxs_body a = {wedge, {{0, -0.001, 0}, 0, 0, sin(0.005), cos(0.005)}}; /* turned about z by 0.01 rad */
  const vxs_body b = {ground, {{0, 0, 0}, 0, 0, 0, 1}};
  size_t capacity = 16, count = 0;
  vxs_contact *contacts = malloc(capacity * sizeof *contacts);
  while (vxs_query_contacts(&a, &b, &query, workspace, contacts, capacity, &count) == VXS_TRUNCATED) {
    capacity = count; /* the first `capacity` were written; make room for all */
    contacts = realloc(contacts, capacity * sizeof *contacts);
  }
  printf("%zu contacts; the first, sample %u, is %.2f mm deep\n", count, contacts[0].feature, -1e3 * contacts[0].separation);
  assert(contacts[0].normal.y < -0.99); /* from A, the wedge, to B, the ground */
  free(contacts);
  return count;
}

static void distances(const vxs_shape *wedge, const vxs_shape *ball, vxs_workspace *workspace) {
  const vxs_body a = {wedge, {{0, 0, 0}, 0, 0, 0, 1}}, above = {ball, {{0.1, 0.5, 0.1}, 0, 0, 0, 1}};
  vxs_contact closest;
  bool found = false;
  must(vxs_query_distance(&a, &above, NULL, workspace, &closest, &found), "distance");
  printf("the ball is %.1f mm away\n", 1e3 * closest.separation);

  vxs_segment_hit hit;
  must(vxs_shape_query_segment(wedge, (vxs_vec3){0.1, 1, 0.1}, (vxs_vec3){0.1, -1, 0.1}, &hit), "segment");
  printf("straight down it is hit at y = %.3f m\n", hit.point.y);
  assert(found && hit.hit && fabs(hit.point.y - 0.075) < 1e-3);

  vxs_field *field = NULL;
  double distance = 0;
  vxs_vec3 gradient;
  must(vxs_shape_get_field(wedge, &field), "field");
  must(vxs_field_distance(field, (vxs_vec3){0.2, -0.05, 0.1}, &distance, &gradient), "distance at a point");
  assert(fabs(distance - 0.05) < 1e-3 && gradient.y < -0.99);
  vxs_field_release(field); /* its own handle: the shape lives on */
}

static void triangles_touched(const vxs_shape *wedge, const vxs_shape *ground, vxs_workspace *workspace) {
  enum { STEEL = 1, RUBBER = 2 };
  const uint32_t of_triangles[8] = {RUBBER, RUBBER, STEEL, STEEL, STEEL, STEEL, STEEL, STEEL}; /* the first two are the bottom */
  vxs_shape *shod = NULL; /* shares everything but the materials */
  must(vxs_shape_create_with_materials(wedge, of_triangles, 8, &shod), "materials");
  must(vxs_shape_prepare_triangles(shod), "prepare");

  const vxs_body a = {shod, {{0, -0.001, 0}, 0, 0, 0, 1}}, b = {ground, {{0, 0, 0}, 0, 0, 0, 1}};
  vxs_contact contacts[4];
  vxs_contact_triangles triangles[4];
  size_t count = 0;
  vxs_query query;
  vxs_query_init(&query, sizeof query);
  query.max_contacts = 4;
  must(vxs_query_contacts(&a, &b, &query, workspace, contacts, 4, &count), "contacts");
  must(vxs_query_triangles(&a, &b, contacts, count, triangles), "triangles");
  for (size_t i = 0; i < count; ++i) {
    assert(triangles[i].on_a.triangle < 2 && triangles[i].on_a.material == RUBBER);
    assert(triangles[i].on_b.triangle == VXS_TRIANGLE_NONE); /* a half-space has none */
  }
  vxs_shape_release(shod);
}

static void patch_of_a_ball(const vxs_shape *ball, const vxs_shape *ground, vxs_workspace *workspace) {
  /* A ball of 50 mm radius, 0.5 mm deep in rigid ground; its pressure grows by 1 GPa per metre of depth. */
  const vxs_body a = {ball, {{0, 0.0495, 0}, 0, 0, 0, 1}}, b = {ground, {{0, 0, 0}, 0, 0, 0, 1}};
  vxs_patch_query query;
  must(vxs_patch_query_init(&query, sizeof query, 1e9, INFINITY), "patch query");
  vxs_patch patch;
  size_t count = 0, points = 0;
  must(vxs_query_patches(&a, &b, &query, workspace, &patch, 1, &count), "patches");
  printf("%.0f mm2, %.1f N, at most %.2f MPa\n", 1e6 * patch.area, -patch.on_b.force.y, 1e-6 * patch.max_pressure);
  assert(count == 1 && fabs(-patch.on_b.force.y - 3.14159 * 1e9 * 0.05 * 0.0005 * 0.0005) < 0.5); /* pi k R d^2 */

  vxs_vec3 outline[500];
  must(vxs_workspace_get_outline(workspace, 0, outline, 500, &points), "outline");
  assert(points > 20 && outline[0].x == outline[points - 1].x);
}

static void voxels_of_two_balls(const vxs_shape *ball, vxs_workspace *workspace) {
  vxs_voxtree_options options;
  must(vxs_voxtree_options_init(&options, sizeof options, 0.004), "tree options");
  vxs_voxtree *tree = NULL;
  must(vxs_voxtree_create_from_shape(ball, &options, &tree), "tree");
  /* Two balls of 50 mm radius, 2 mm deep in each other. */
  const vxs_voxtree_body a = {tree, {{{0, 0, 0}, 0, 0, 0, 1}, {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}}};
  const vxs_voxtree_body b = {tree, {{{0.098, 0, 0}, 0, 0, 0, 1}, {0.098, 0, 0}, {{-1, 0, 0}, {0, 0, 0}}}};
  vxs_voxel_pair pairs[1000];
  size_t count = 0;
  must(vxs_query_voxtrees(&a, &b, NULL, workspace, pairs, 1000, &count), "voxel pairs");
  vxs_voxtree_report report;
  must(vxs_workspace_get_voxtree_report(workspace, &report), "report");
  printf("%zu pairs of voxels by %llu sphere tests\n", count, (unsigned long long)report.tests);
  assert(count > 0 && report.complete == 1 && pairs[0].normal_a.x > 0.9 && pairs[0].velocity.x == -1);
  vxs_voxtree_release(tree);
}

static void hulls_of_two_wedges(const vxs_shape *wedge, vxs_workspace *workspace) {
  vxs_hulls *hulls = NULL;
  must(vxs_hulls_create_from_shape(wedge, NULL, &hulls), "hulls");
  vxs_hull_level levels[64];
  size_t level_count = 0, count = 0;
  must(vxs_hulls_get_levels(hulls, levels, 64, &level_count), "levels");
  const vxs_hulls_body a = {hulls, {{0, 0, 0}, 0, 0, 0, 1}};
  const vxs_hulls_body b = {hulls, {{0, 0.101, 0}, 0, 0, 0, 1}}; /* 1 mm above */
  vxs_hulls_query query;
  must(vxs_hulls_query_init(&query, sizeof query), "query of hulls");
  query.max_separation = 0.002;
  query.tolerance = 0.0001; /* what cannot be felt */
  vxs_contact contacts[100];
  must(vxs_query_hull_contacts(&a, &b, &query, workspace, contacts, 100, &count), "contacts of hulls");
  printf("%zu levels, %zu contacts, %.2f mm apart\n", level_count, count, 1e3 * contacts[0].separation);
  assert(count > 0 && fabs(contacts[0].separation - 0.001) < 1e-9);
  vxs_hulls_release(hulls);
}

/* One per thread: shapes are shared, workspaces are not. */
struct job {
  const vxs_shape *wedge, *ground;
  double height;
  size_t count;
};

static void *run(void *argument) {
  struct job *job = argument;
  vxs_workspace *workspace = NULL;
  must(vxs_workspace_create(&workspace), "workspace");
  const vxs_body a = {job->wedge, {{0, job->height, 0}, 0, 0, 0, 1}}, b = {job->ground, {{0, 0, 0}, 0, 0, 0, 1}};
  vxs_query_contacts(&a, &b, NULL, workspace, NULL, 0, &job->count); /* count only */
  vxs_workspace_destroy(workspace);
  return NULL;
}

static void in_two_threads(const vxs_shape *wedge, const vxs_shape *ground) {
  struct job jobs[2] = {{wedge, ground, -0.001, 0}, {wedge, ground, 0.001, 0}};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, run, &jobs[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  printf("%zu contacts 1 mm deep, %zu at 1 mm height\n", jobs[0].count, jobs[1].count);
  assert(jobs[0].count > 0 && jobs[1].count == 0);
}

static void in_a_batch(const vxs_shape *wedge, const vxs_shape *ground) {
  enum { HEIGHTS = 20, MOST = 30000 };
  static vxs_body_pair pairs[HEIGHTS];
  static vxs_contact contacts[MOST];
  static size_t offsets[HEIGHTS + 1];
  for (int i = 0; i < HEIGHTS; ++i) {
    pairs[i].a = (vxs_body){wedge, {{0, 5e-5 * i - 9e-4, 0}, 0, 0, 0, 1}};
    pairs[i].b = (vxs_body){ground, {{0, 0, 0}, 0, 0, 0, 1}};
  }
  vxs_batch *batch = NULL;
  must(vxs_batch_create(0, &batch), "batch"); /* a thread for each processor */
  must(vxs_query_contacts_batch(batch, pairs, HEIGHTS, NULL, contacts, MOST, offsets), "contacts of all");
  printf("%zu contacts at all heights, %zu at the last one\n", offsets[HEIGHTS], offsets[HEIGHTS] - offsets[HEIGHTS - 1]);
  vxs_batch_destroy(batch);
  assert(offsets[1] > 0 && offsets[HEIGHTS] == offsets[HEIGHTS - 1]);
}

static void to_stderr(uint32_t level, const char *message, void *user) {
  ++*(int *)user;
  fprintf(stderr, "voxshell %s: %s\n", level <= VXS_LOG_WARNING ? "warns" : "says", message);
}

static int cook_an_open_mesh(void) {
  int messages = 0;
  vxs_set_log(to_stderr, VXS_LOG_WARNING, &messages);
  vxs_shape *open_wedge = NULL; /* without its slope, the last two triangles */
  must(vxs_shape_create_from_triangles(vertices, 6, indices, 6, NULL, &open_wedge), "cook");
  vxs_set_log(NULL, 0, NULL);
  vxs_shape_release(open_wedge);
  return messages;
}

static void nothing_is_allocated(const vxs_shape *wedge, const vxs_shape *ground, vxs_workspace *workspace) {
  uint64_t before = 0, after = 0;
  if (vxs_allocation_count(&before) == VXS_UNSUPPORTED) return; /* built without the counter */
  all_contacts(wedge, ground, workspace);                       /* malloc of ours does not count */
  vxs_allocation_count(&after);
  assert(after == before);
}

static void what_goes_wrong_is_said(void) {
  vxs_shape *none = NULL;
  const vxs_status status = vxs_shape_create_sphere(-1, &none);
  printf("%s: %s\n", vxs_status_name(status), vxs_last_error());
  assert(status == VXS_INVALID_ARGUMENT && strstr(vxs_last_error(), "radius") != NULL);
  assert(none == NULL); /* outputs are written only by calls that succeed */
}

static void on_the_way(const vxs_shape *wedge, const vxs_shape *ball, vxs_workspace *workspace) {
  /* A ball at 300 m/s, in a step of 5 ms; the wedge turns about its origin meanwhile. */
  const vxs_moving_body fast = {ball, {{{0.1, 1, 0.1}, 0, 0, 0, 1}, {{0.1, -0.5, 0.1}, 0, 0, 0, 1}}};
  const vxs_moving_body turning = {wedge, {{{0, 0, 0}, 0, 0, 0, 1}, {{0, 0, 0}, 0, sin(0.1), 0, cos(0.1)}}};
  vxs_contact first;
  bool found = false;
  must(vxs_query_time_of_impact(&turning, &fast, NULL, workspace, &first, &found), "time of impact");
  assert(found && first.normal.y > 0.5);

  vxs_pose struck; /* where the ball is then */
  must(vxs_motion_pose(&fast.motion, first.toi, &struck), "pose");
  printf("struck after %.2f ms, the ball at y = %.3f m\n", 5 * first.toi, struck.position.y);
}

int main(void) {
  vxs_shape *wedge = cook(), *ground = NULL, *ball = NULL;
  vxs_workspace *workspace = NULL;
  must(vxs_shape_create_half_space((vxs_vec3){0, 1, 0}, 0, &ground), "ground");
  must(vxs_shape_create_sphere(0.05, &ball), "ball");
  must(vxs_workspace_create(&workspace), "workspace");

  look_at(wedge);
  vxs_shape *again = through_a_file(wedge);
  const size_t count = all_contacts(wedge, ground, workspace);
  assert(count > 16 && all_contacts(again, ground, workspace) == count);
  distances(wedge, ball, workspace);
  triangles_touched(wedge, ground, workspace);
  patch_of_a_ball(ball, ground, workspace);
  voxels_of_two_balls(ball, workspace);
  hulls_of_two_wedges(wedge, workspace);
  on_the_way(wedge, ball, workspace);
  in_two_threads(wedge, ground);
  in_a_batch(wedge, ground);
  assert(cook_an_open_mesh() > 0);
  nothing_is_allocated(wedge, ground, workspace);
  what_goes_wrong_is_said();

  vxs_workspace_destroy(workspace);
  vxs_shape_release(again);
  vxs_shape_release(ball);
  vxs_shape_release(ground);
  vxs_shape_release(wedge);
  return 0;
}
