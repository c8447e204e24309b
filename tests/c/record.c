/* Recordings: sessions of each renderer and of a pair, without allocations in a warm step, and the time that a record
 * adds to a step. VOXSHELL_CLI names the program `voxshell`, which replays the files. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "check.h"

/* The calls that this test makes while it records. */
static uint64_t calls;

static vxs_shape *box(double half) {
  vxs_primitive primitive;
  vxs_cook_options options;
  vxs_shape *shape = NULL;
  OK(vxs_primitive_init(&primitive, sizeof primitive, VXS_PRIMITIVE_BOX));
  primitive.size[0] = primitive.size[1] = primitive.size[2] = half;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 16;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  calls++;
  return shape;
}

static uint64_t allocations(void) {
  uint64_t count = 0;
  return vxs_allocation_count(&count) == VXS_OK ? count : 0;
}

static double seconds(void) {
  struct timespec now;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static vxs_haptics *cube_over_block(uint32_t renderer) {
  const vxs_haptics_limits limits = {8, 0.4, {2000, 20}, {40, 0.2}};
  vxs_shape *cube = box(0.02), *block = box(0.1);
  vxs_haptics_settings settings;
  vxs_haptics *haptics = NULL;
  OK(vxs_haptics_settings_init(&settings, sizeof settings, renderer, cube, 0.2, &limits));
  OK(vxs_haptics_create(&settings, cube, BODY(block, at(0, 0, -0.1)), 1, &haptics));
  OK(vxs_shape_release(cube));
  OK(vxs_shape_release(block));
  calls += 3;
  return haptics;
}

static vxs_haptics_output step(vxs_haptics *haptics, double height) {
  const vxs_device_state state = {at(0, 0, height), {{0, 0, 0}, {0, 0, 0}}, 1, 0};
  vxs_haptics_output output;
  OK(vxs_haptics_step(haptics, &state, 1e-3, &output));
  calls++;
  return output;
}

/* Down into the block and up again. */
static void press(uint32_t renderer) {
  vxs_haptics *haptics = cube_over_block(renderer);
  uint64_t before = 0;
  uint32_t contacts = 0;
  for (int i = 0; i < 400; i++) {
    if (i == 200) before = allocations();
    contacts += step(haptics, 0.018 + 0.01 * cos(i * 0.0314)).contacts;
    OK(vxs_haptics_simulate(haptics, NULL));
    calls++;
  }
  CHECK(contacts > 0 && allocations() == before);
  OK(vxs_haptics_release(haptics));
  calls++;
}

static void pair(void) {
  vxs_shape *a = box(0.3), *b = box(0.5);
  vxs_workspace *workspace = NULL;
  OK(vxs_workspace_create(&workspace));
  calls++;
  for (int i = 0; i < 50; i++) {
    vxs_contact contacts[64];
    size_t count = 0;
    const vxs_pose pose = at(0.01 * i, 0, 0.85 - 0.002 * i);
    CHECK(vxs_query_contacts(BODY(a, pose), BODY(b, at(0, 0, 0)), NULL, workspace, contacts, 64, &count) <= VXS_TRUNCATED);
    calls++;
  }
  OK(vxs_workspace_destroy(workspace));
  OK(vxs_shape_release(a));
  OK(vxs_shape_release(b));
  calls += 3;
}

static void replay(const char *file) {
  const char *program = getenv("VOXSHELL_CLI");
  char command[1024];
  if (program == NULL) return;
  snprintf(command, sizeof command, "\"%s\" replay \"%s\"", program, file);
  CHECK(system(command) == 0);
}

static void record(void) {
  vxs_record_options options;
  vxs_record_report report;
  OK(vxs_record_options_init(&options, sizeof options));
  OK(vxs_record_report_init(&report, sizeof report));
  /* This test has no device to keep up with: nothing is lost. */
  options.wait = 1;
  OK(vxs_record_start("record.vxr", &options));
  REFUSED(VXS_BUSY, "a recording is in progress", vxs_record_start("other.vxr", NULL));
  for (uint32_t renderer = VXS_RENDERER_VPS; renderer <= VXS_RENDERER_IMPULSE; renderer++) press(renderer);
  pair();
  OK(vxs_record_stop(&report));
  CHECK(report.lost == 0 && report.records == 2 * calls && report.bytes > 100 * calls);
  REFUSED(VXS_INVALID_ARGUMENT, "no recording is in progress", vxs_record_stop(&report));
  replay("record.vxr");
}

/* Least mean time of a step in free space, where a step costs least, nanoseconds. */
static double step_time(vxs_haptics *haptics) {
  const int rounds = runs_slowly() ? 2 : 40, steps = 500;
  double least = INFINITY;
  for (int round = 0; round < rounds; round++) {
    const double start = seconds();
    for (int i = 0; i < steps; i++) step(haptics, 0.05);
    least = fmin(least, 1e9 * (seconds() - start) / steps);
  }
  return least;
}

static void overhead(void) {
  vxs_haptics *haptics = cube_over_block(VXS_RENDERER_GOD_OBJECT);
  vxs_record_options options;
  OK(vxs_record_options_init(&options, sizeof options));
  options.buffer_bytes = 1 << 24;
  const double without = step_time(haptics);
  OK(vxs_record_start("overhead.vxr", &options));
  /* The shapes of this one are known to the recording, so that a step has its whole record. */
  vxs_haptics *recorded = cube_over_block(VXS_RENDERER_GOD_OBJECT);
  const double with = step_time(recorded);
  OK(vxs_haptics_release(recorded));
  OK(vxs_record_stop(NULL));
  const double after = step_time(haptics);
  OK(vxs_haptics_release(haptics));
  printf("{\"bench\":\"record/step\",\"without_ns\":%.0f,\"recorded_ns\":%.0f,\"after_ns\":%.0f,\"overhead_ns\":%.0f}\n",
         without, with, after, with - without);
}

int main(void) {
  record();
  overhead();
  puts("record: ok");
  return 0;
}
