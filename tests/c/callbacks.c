/* Calls from callbacks: no function that would wait for the callback itself blocks. Such a call returns VXS_BUSY,
 * poisons nothing, and works afterwards from outside. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <time.h>
#ifndef _WIN32
#include <unistd.h>
#endif

static void sleep_milliseconds(long milliseconds) {
  const struct timespec time = {0, milliseconds * 1000000};
  nanosleep(&time, NULL);
}

static vxs_shape *cook_with(vxs_progress_fn progress, void *user) {
  vxs_shape *shape = NULL;
  vxs_primitive box;
  vxs_cook_options options;
  OK(vxs_primitive_init(&box, sizeof box, VXS_PRIMITIVE_BOX));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 12;
  options.progress = progress;
  options.progress_user = user;
  OK(vxs_shape_create_primitive(&box, &options, &shape));
  return shape;
}

static vxs_shape *cook(void) { return cook_with(NULL, NULL); }

/* --- The device and the height function of haptics
 * --------------------------------------------------------------------- */

struct hand {
  vxs_haptics *haptics;
  /* Written by one of the two threads of a run, and read when both have ended. */
  int calls, refused_stops, refused_releases, refused_runs, refused_steps, explained, moves;
  /* The hand whose run is stopped, too, and how often this one began and ended a call: both make each call at the same time, so
   * that both run. */
  struct hand *peer;
  _Atomic int begun, ended;
};

static vxs_haptics *new_haptics(vxs_shape *shape, vxs_haptics_height_fn height, void *user) {
  vxs_body body = {shape, at(0, 0, 0)};
  vxs_haptics_settings settings;
  vxs_haptics *haptics = NULL;
  OK(vxs_haptics_settings_init(&settings, sizeof settings, height ? VXS_RENDERER_GOD_OBJECT : VXS_RENDERER_PENALTY, shape, 1,
                               NULL));
  settings.timing.longest_step = 1; /* whatever else the machine does */
  if (height != NULL) {
    settings.surface.height = height;
    settings.surface.height_user = user;
    settings.surface.height_reach = 1e-4;
  }
  OK(vxs_haptics_create(&settings, shape, &body, 1, &haptics));
  return haptics;
}

static void start(vxs_haptics *haptics, vxs_haptics_device_fn device, void *user) {
  vxs_haptics_run_options options;
  OK(vxs_haptics_run_options_init(&options, sizeof options));
  options.priority = 0;
  options.lock_memory = 0;
  OK(vxs_haptics_run(haptics, &options, device, user));
}

/* Waits until the run ends by itself, because the device function returns that it is done. */
static void wait_for_the_end(vxs_haptics *haptics) {
  vxs_haptics_run_report report;
  OK(vxs_haptics_run_report_init(&report, sizeof report));
  report.running = 1;
  while (report.running) {
    sleep_milliseconds(1);
    /* VXS_BUSY while the device function calls. */
    vxs_status status = vxs_haptics_get_run_report(haptics, &report);
    CHECK(status == VXS_OK || status == VXS_BUSY);
  }
}

/* Waits until the other one counts as far. */
static void meet(_Atomic int *own, _Atomic int *other) {
  const int count = ++*own;
  while (*other < count) sleep_milliseconds(1);
}

static bool stops_itself(const vxs_wrench *wrench, uint32_t status, vxs_device_state *state, void *user) {
  struct hand *hand = user;
  vxs_haptics_output output;
  vxs_pose pose = at(0, 0, 3);
  (void)wrench, (void)status;
  state->pose = at(0, 0, 2);
  state->engaged = 1;
  if (hand->peer != NULL) meet(&hand->begun, &hand->peer->begun);
  if (vxs_haptics_stop(hand->haptics, NULL) == VXS_BUSY) hand->refused_stops++;
  if (strstr(vxs_last_error(), "vxs_haptics_stop: haptics runs") != NULL) hand->explained++;
  if (vxs_haptics_release(hand->haptics) == VXS_BUSY) hand->refused_releases++;
  if (strstr(vxs_last_error(), "vxs_haptics_release: haptics runs") != NULL) hand->explained++;
  /* It also cannot stop another run, whose device may wait for this one. */
  if (hand->peer != NULL) {
    if (vxs_haptics_stop(hand->peer->haptics, NULL) == VXS_BUSY) hand->refused_stops++;
    meet(&hand->ended, &hand->peer->ended);
  }
  if (vxs_haptics_run(hand->haptics, NULL, stops_itself, user) == VXS_BUSY) hand->refused_runs++;
  if (vxs_haptics_step(hand->haptics, state, 0.001, &output) == VXS_BUSY) hand->refused_steps++;
  if (vxs_haptics_simulate(hand->haptics, NULL) == VXS_BUSY) hand->refused_steps++;
  /* Calls that wait for no run, or only for a round, succeed. */
  if (vxs_haptics_set_body_pose(hand->haptics, 0, &pose, NULL) == VXS_OK) hand->moves++;
  return ++hand->calls < 5;
}

static void a_device_that_stops_its_own_run_is_told_that_it_is_busy(void) {
  vxs_shape *shape = cook();
  struct hand hand = {0};
  vxs_device_state state = {at(0, 0, 2), {{0, 0, 0}, {0, 0, 0}}, 1, 0};
  vxs_haptics_output output;
  hand.haptics = new_haptics(shape, NULL, NULL);
  start(hand.haptics, stops_itself, &hand);
  wait_for_the_end(hand.haptics);
  OK(vxs_haptics_stop(hand.haptics, NULL));
  /* One more call after the run, for the last wrench. */
  CHECK(hand.calls == 6 && hand.refused_stops == 6 && hand.refused_releases == 6);
  CHECK(hand.refused_runs == 6 && hand.refused_steps == 12 && hand.explained > 0 && hand.moves > 0);
  /* Nothing is poisoned: it steps, and runs again. */
  OK(vxs_haptics_step(hand.haptics, &state, 0.001, &output));
  OK(vxs_haptics_simulate(hand.haptics, NULL));
  hand.calls = 0;
  start(hand.haptics, stops_itself, &hand);
  wait_for_the_end(hand.haptics);
  OK(vxs_haptics_release(hand.haptics));
  CHECK(hand.calls == 6);
  OK(vxs_shape_release(shape));
}

/* Each would wait for the other. */
static void devices_that_stop_each_other_are_told_that_they_are_busy(void) {
  vxs_shape *shape = cook();
  struct hand left = {0}, right = {0};
  left.haptics = new_haptics(shape, NULL, NULL), left.peer = &right;
  right.haptics = new_haptics(shape, NULL, NULL), right.peer = &left;
  start(left.haptics, stops_itself, &left);
  start(right.haptics, stops_itself, &right);
  wait_for_the_end(left.haptics);
  wait_for_the_end(right.haptics);
  OK(vxs_haptics_stop(left.haptics, NULL));
  OK(vxs_haptics_release(right.haptics));
  OK(vxs_haptics_release(left.haptics));
  CHECK(left.refused_stops == 12 && right.refused_stops == 12);
  OK(vxs_shape_release(shape));
}

static struct {
  vxs_haptics *haptics;
  _Atomic int busy, done;
} bumps;

/* Called by the stepping thread and by the simulating one. */
static double moves_its_body(size_t body, const vxs_vec3 *point, void *user) {
  vxs_pose pose = at(0, 0, 0);
  (void)body, (void)point, (void)user;
  vxs_haptics *haptics = bumps.haptics;
  if (vxs_haptics_stop(haptics, NULL) != VXS_BUSY) exit(3);
  if (vxs_haptics_release(haptics) != VXS_BUSY) exit(4);
  vxs_status status = vxs_haptics_set_body_pose(haptics, 0, &pose, NULL);
  if (status == VXS_BUSY) bumps.busy++;
  if (status == VXS_OK) bumps.done++;
  return 0;
}

static bool presses(const vxs_wrench *wrench, uint32_t status, vxs_device_state *state, void *user) {
  int *calls = user;
  (void)wrench, (void)status;
  /* Slowly down onto the body, and into it. */
  double down = *calls < 100 ? *calls * 0.003 : 0.3;
  state->pose = at(0, 0, 1.2 - down);
  state->engaged = 1;
  return ++*calls < 300 || (bumps.busy == 0 && *calls < 30000);
}

static void heights_that_move_bodies_are_told_that_they_are_busy(void) {
  vxs_shape *shape = cook();
  int calls = 0;
  bumps.haptics = new_haptics(shape, moves_its_body, NULL);
  start(bumps.haptics, presses, &calls);
  wait_for_the_end(bumps.haptics);
  /* The device has ended. A last round of the simulation may still be in a call. */
  vxs_status stopped = vxs_haptics_stop(bumps.haptics, NULL);
  while (stopped == VXS_BUSY) stopped = vxs_haptics_stop(bumps.haptics, NULL);
  OK(stopped);
  CHECK(calls >= 300 && bumps.busy > 0);
  OK(vxs_haptics_release(bumps.haptics));
  OK(vxs_shape_release(shape));
}

/* --- Progress ------------------------------------------------------------------------------------------------------------ */

struct work {
  vxs_shape *kept;
  int calls, refused;
};

static void hear(uint32_t level, const char *message, void *user) { (void)level, (void)message, (void)user; }

/* All cooking is refused; other functions work. */
static bool works_meanwhile(const char *stage, double fraction, void *user) {
  static const vxs_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  struct work *work = user;
  vxs_shape *made = NULL;
  vxs_primitive box;
  size_t size = 0;
  uint64_t bytes = 0;
  (void)stage, (void)fraction;
  OK(vxs_primitive_init(&box, sizeof box, VXS_PRIMITIVE_BOX));
  const vxs_status refused[] = {
      vxs_shape_create_primitive(&box, NULL, &made),
      vxs_shape_create_from_triangles(corners, 4, faces, 4, NULL, &made),
      vxs_cook_estimate_memory(corners, 4, faces, 4, NULL, &bytes),
      vxs_shape_create_triangles(corners, 4, faces, 4, 0, &made),
      vxs_shape_create_sheet(corners, 4, faces, 4, 0.1, &made),
      vxs_shape_create_convex_hull(corners, 4, &made),
      vxs_shape_create_scaled(work->kept, 2, &made),
      vxs_shape_serialize(work->kept, NULL, 0, &size),
      vxs_shape_save(work->kept, "callbacks_test.voxshell"),
      vxs_shape_load("callbacks_test.voxshell", &made),
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) work->refused += refused[i] == VXS_BUSY;
  CHECK(made == NULL && strstr(vxs_last_error(), "called by a progress callback") != NULL);
  if (work->calls++ > 0) return true;
  vxs_aabb bounds;
  vxs_shape *ball = NULL, *again = NULL;
  OK(vxs_shape_get_bounds(work->kept, &bounds));
  OK(vxs_shape_retain(work->kept, &again));
  OK(vxs_shape_release(again));
  OK(vxs_shape_create_sphere(1, &ball));
  OK(vxs_shape_release(ball));
  OK(vxs_set_log(hear, VXS_LOG_DEBUG, NULL));
  OK(vxs_log(VXS_LOG_INFO, "from a progress callback"));
  OK(vxs_set_log(NULL, 0, NULL));
  vxs_haptics *haptics = new_haptics(work->kept, NULL, NULL);
  OK(vxs_haptics_release(haptics));
  return true;
}

static void progress_that_cooks_is_told_that_it_is_busy(void) {
  struct work work = {cook(), 0, 0};
  OK(vxs_shape_release(cook_with(works_meanwhile, &work)));
  CHECK(work.calls > 0 && work.refused == 10 * work.calls);
  /* Afterwards all functions work again, also for shapes that were inspected meanwhile. */
  vxs_shape *twice = NULL;
  OK(vxs_shape_create_scaled(work.kept, 2, &twice));
  OK(vxs_shape_release(twice));
  OK(vxs_shape_release(work.kept));
}

/* --- The log ------------------------------------------------------------------------------------------------------------- */

static int heard;

static void uses_the_library(uint32_t level, const char *message, void *user) {
  vxs_haptics **haptics = user;
  (void)level, (void)message;
  heard++;
  REFUSED(VXS_BUSY, "called by the log hook", vxs_set_log(NULL, 0, NULL));
  OK(vxs_log(VXS_LOG_ERROR, "dropped"));
  OK(vxs_shape_release(cook()));
  if (*haptics != NULL) OK(vxs_haptics_stop(*haptics, NULL));
}

static bool logs(const vxs_wrench *wrench, uint32_t status, vxs_device_state *state, void *user) {
  int *calls = user;
  (void)wrench, (void)status;
  state->pose = at(0, 0, 2);
  OK(vxs_log(VXS_LOG_DEBUG, "not wanted"));
  return ++*calls > 0;
}

/* A hook that stops a run whose device logs: the device does not wait for the hook. */
static void a_log_hook_may_cook_and_stop_runs(void) {
  vxs_shape *shape = cook();
  int calls = 0;
  vxs_haptics *haptics = NULL;
  OK(vxs_set_log(uses_the_library, VXS_LOG_ERROR, &haptics));
  OK(vxs_log(VXS_LOG_ERROR, "once"));
  haptics = new_haptics(shape, NULL, NULL);
  start(haptics, logs, &calls);
  sleep_milliseconds(20);
  OK(vxs_log(VXS_LOG_ERROR, "twice"));
  OK(vxs_set_log(NULL, 0, NULL));
  CHECK(heard == 2 && calls > 0);
  OK(vxs_haptics_release(haptics));
  OK(vxs_shape_release(shape));
}

int main(void) {
#ifndef _WIN32
  /* A deadlock would block the test for ever. (ctest's limit of time ends it too.) */
  alarm(runs_slowly() ? 600 : 120);
#endif
  a_device_that_stops_its_own_run_is_told_that_it_is_busy();
  devices_that_stop_each_other_are_told_that_they_are_busy();
  heights_that_move_bodies_are_told_that_they_are_busy();
  progress_that_cooks_is_told_that_it_is_busy();
  a_log_hook_may_cook_and_stop_runs();
  puts("callbacks: ok");
  return 0;
}
