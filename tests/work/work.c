/* Fixed work, each part with its own counts of instructions and memory accesses when it runs under callgrind:
 * `tests/work/run`. Without valgrind it is a test that the parts find what they look for. */
#include <valgrind/callgrind.h>

#include "../c/check.h"

enum { POSES = 50, SEGMENTS = 10000, MOTIONS = 10, STEPS = 400 };

static uint64_t state = 1, field_samples = 0;

/* Numbers from 0 to 1, the same in each run. */
static double number(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / 9007199254740992.0;
}

static vxs_pose turned(double x, double y, double z) {
  vxs_pose pose = at(x, y, z);
  double norm = 0, q[4];
  for (int i = 0; i < 4; i++) q[i] = 2 * number() - 1, norm += q[i] * q[i];
  pose.qx = q[0] / sqrt(norm), pose.qy = q[1] / sqrt(norm), pose.qz = q[2] / sqrt(norm), pose.qw = q[3] / sqrt(norm);
  return pose;
}

static void begin(void) {
  state = 1, field_samples = 0;
  CALLGRIND_DUMP_STATS_AT("before"); /* resets the counts of all threads */
}

/* `count` is the number of answers of which the part has some. */
static void end(const char *part, size_t count) {
  (void)part; /* without callgrind */
  CALLGRIND_DUMP_STATS_AT(part);
  printf("%s: %zu answers, %llu field samples\n", part, count, (unsigned long long)field_samples);
  CHECK(count > 0);
}

/* Adds the places at which the last query in a workspace asked a field. */
static void add_field_samples(const vxs_workspace *workspace) {
  vxs_query_report report;
  OK(vxs_query_report_init(&report, sizeof report));
  OK(vxs_workspace_get_report(workspace, &report));
  field_samples += report.node_tests + report.sample_tests;
}

static vxs_shape *cooked(uint32_t kind, uint32_t cells, uint32_t storage, uint32_t samples) {
  vxs_primitive primitive;
  vxs_cook_options options;
  vxs_shape *shape = NULL;
  OK(vxs_primitive_init(&primitive, sizeof primitive, kind));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = cells;
  options.field_storage = storage;
  options.sample_count = samples;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  return shape;
}

static void contacts(const char *part, const vxs_shape *a, const vxs_shape *b, double apart, uint32_t coverage, bool rests) {
  static vxs_contact found[20000];
  vxs_workspace *workspace = NULL;
  vxs_query query;
  size_t total = 0;
  OK(vxs_query_init(&query, sizeof query));
  query.coverage = coverage;
  query.max_separation = 0.002;
  OK(vxs_workspace_create(&workspace));
  begin();
  const vxs_pose still = turned(0, 0, 0);
  for (int i = 0; i < POSES; i++) {
    vxs_pose pose = rests ? still : turned(0, 0, 0);
    pose.position = vec3(apart, 1e-5 * i, 0);
    size_t count = 0;
    OK(vxs_query_contacts(BODY(a, pose), BODY(b, at(0, 0, 0)), &query, workspace, found, 20000, &count));
    add_field_samples(workspace);
    total += count;
  }
  end(part, total);
  OK(vxs_workspace_destroy(workspace));
}

static void distances(const vxs_shape *a, const vxs_shape *b) {
  vxs_workspace *workspace = NULL;
  vxs_contact contact;
  size_t total = 0;
  OK(vxs_workspace_create(&workspace));
  begin();
  for (int i = 0; i < POSES; i++) {
    bool found = false;
    OK(vxs_query_distance(BODY(a, turned(1.5, 0, 0)), BODY(b, at(0, 0, 0)), NULL, workspace, &contact, &found));
    add_field_samples(workspace);
    total += found;
  }
  end("distance", total);
  OK(vxs_workspace_destroy(workspace));
}

static void segments(const char *part, const vxs_shape *shape) {
  static vxs_vec3 from[SEGMENTS], to[SEGMENTS];
  static vxs_segment_hit hits[SEGMENTS];
  size_t total = 0;
  state = 1;
  for (int i = 0; i < SEGMENTS; i++) {
    from[i] = vec3(2 * number() - 1, 2 * number() - 1, 2 * number() - 1);
    to[i] = vec3(2 * number() - 1, 2 * number() - 1, 2 * number() - 1);
  }
  begin();
  OK(vxs_shape_query_segments(shape, from, to, SEGMENTS, hits));
  for (int i = 0; i < SEGMENTS; i++) total += hits[i].hit;
  end(part, total);
}

static void motions(const char *part, const vxs_shape *a, const vxs_shape *b, bool turns, bool all) {
  static vxs_motion_contact found[20000];
  vxs_workspace *workspace = NULL;
  vxs_motion_query query;
  size_t total = 0;
  OK(vxs_motion_query_init(&query, sizeof query));
  OK(vxs_workspace_create(&workspace));
  begin();
  for (int i = 0; i < MOTIONS; i++) {
    vxs_motion way = {turned(2, 0, 0), turned(-2, 0.2, 0.1)};
    if (!turns) way.to.qx = way.from.qx, way.to.qy = way.from.qy, way.to.qz = way.from.qz, way.to.qw = way.from.qw;
    const vxs_motion still = {at(0, 0, 0), at(0, 0, 0)};
    size_t count = 0;
    bool touches = false;
    if (all) {
      OK(vxs_query_motion_contacts(MOVING(a, way), MOVING(b, still), &query, workspace, found, 20000, &count));
    } else {
      OK(vxs_query_time_of_impact(MOVING(a, way), MOVING(b, still), &query, workspace, &found[0].contact, &touches));
      count = touches;
    }
    total += count;
  }
  end(part, total);
  OK(vxs_workspace_destroy(workspace));
}

/* A tool pressed on a block and moved along it, with a round of the simulation in every fourth step. */
static void haptics(const char *part, uint32_t renderer, vxs_shape *tool, vxs_shape *block) {
  const vxs_haptics_limits limits = {8, 0.4, {2000, 20}, {40, 0.2}};
  vxs_haptics_settings settings;
  vxs_haptics *haptics = NULL;
  size_t total = 0;
  OK(vxs_haptics_settings_init(&settings, sizeof settings, renderer, tool, 0.2, &limits));
  OK(vxs_haptics_create(&settings, tool, BODY(block, at(0, 0, 0)), 1, &haptics));
  begin();
  for (int i = 0; i < STEPS; i++) {
    const double t = 1e-3 * i;
    const vxs_device_state device = {at(0.05 * sin(t), 0.05 * sin(1.7 * t), 0.53 - 0.25 * t), {{0, 0, 0}, {0, 0, 0}}, 1, 0};
    vxs_haptics_output output;
    OK(vxs_haptics_step(haptics, &device, 1e-3, &output));
    if (i % 4 == 0) OK(vxs_haptics_simulate(haptics, NULL));
    total += output.wrench.force.z != 0;
  }
  end(part, total);
  OK(vxs_haptics_release(haptics));
}

int main(void) {
  begin();
  vxs_shape *torus = cooked(VXS_PRIMITIVE_TORUS, 48, VXS_STORAGE_DENSE, 2000);
  end("cook_dense", 1);
  begin();
  vxs_shape *bricks = cooked(VXS_PRIMITIVE_TORUS, 96, VXS_STORAGE_BRICKS, 2000);
  end("cook_bricks", 1);
  vxs_shape *box = cooked(VXS_PRIMITIVE_BOX, 32, VXS_STORAGE_DENSE, 1000);
  OK(vxs_shape_prepare_coverage(torus, VXS_COVERAGE_EDGES));
  OK(vxs_shape_prepare_coverage(box, VXS_COVERAGE_EDGES));
  vxs_shape *tool = NULL;
  {
    vxs_primitive primitive;
    vxs_cook_options options;
    OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_BOX));
    primitive.size[0] = primitive.size[1] = primitive.size[2] = 0.02;
    OK(vxs_cook_options_init(&options, sizeof options));
    options.resolution = 32;
    options.sample_count = 1000;
    OK(vxs_shape_create_primitive(&primitive, &options, &tool));
  }
  contacts("contacts_at_rest", torus, bricks, 0.7, VXS_COVERAGE_SAMPLES, true);
  contacts("contacts_at_random", torus, bricks, 0.7, VXS_COVERAGE_SAMPLES, false);
  contacts("contacts_of_facets", box, torus, 0.8, VXS_COVERAGE_FACETS, false);
  contacts("contacts_of_edges", box, torus, 0.8, VXS_COVERAGE_EDGES, false);
  distances(torus, bricks);
  segments("segments_dense", torus);
  segments("segments_bricks", bricks);
  motions("impact_straight", torus, bricks, false, false);
  motions("impact_screw", torus, bricks, true, false);
  motions("all_contacts_of_screws", torus, bricks, true, true);
  haptics("haptics_vps", VXS_RENDERER_VPS, tool, box);
  haptics("haptics_penalty", VXS_RENDERER_PENALTY, tool, box);
  haptics("haptics_continuous_penalty", VXS_RENDERER_CONTINUOUS_PENALTY, tool, box);
  haptics("haptics_god_object", VXS_RENDERER_GOD_OBJECT, tool, box);
  haptics("haptics_impulse", VXS_RENDERER_IMPULSE, tool, box);
  OK(vxs_shape_release(torus));
  OK(vxs_shape_release(bricks));
  OK(vxs_shape_release(box));
  OK(vxs_shape_release(tool));
  return 0;
}
