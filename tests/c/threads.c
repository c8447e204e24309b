/* Operations that threads may do at once: query, cook, retain and release shared shapes, log, and read their own
 * errors. tests/campaign runs this under ThreadSanitizer. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <pthread.h>

enum { THREADS = 8 };

/* Everything is some 40 times slower under valgrind. */
static int times(int count) { return runs_slowly() ? 1 + count / 20 : count; }

/* Runs `work` on all threads, each with its number, from a common start. */
struct start {
  void (*work)(int number);
  int number;
  pthread_barrier_t *barrier;
};

static void *begin(void *argument) {
  struct start *start = argument;
  pthread_barrier_wait(start->barrier);
  start->work(start->number);
  return NULL;
}

static void on_all_threads(void (*work)(int number)) {
  pthread_t threads[THREADS];
  struct start starts[THREADS];
  pthread_barrier_t barrier;
  CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
  for (int i = 0; i < THREADS; i++) {
    starts[i] = (struct start){work, i, &barrier};
    CHECK(pthread_create(&threads[i], NULL, begin, &starts[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(pthread_barrier_destroy(&barrier) == 0);
}

/* Small, because other threads cook at the same time, with instrumentation. */
static vxs_shape *cook_reporting(uint32_t kind, vxs_progress_fn progress, void *user) {
  vxs_shape *shape = NULL;
  vxs_primitive primitive;
  vxs_cook_options options;
  OK(vxs_primitive_init(&primitive, sizeof primitive, kind));
  if (kind == VXS_PRIMITIVE_TORUS) primitive.detail[0] = 24, primitive.detail[1] = 12;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 12;
  options.progress = progress;
  options.progress_user = user;
  OK(vxs_shape_create_primitive(&primitive, &options, &shape));
  return shape;
}

static vxs_shape *cook(uint32_t kind) { return cook_reporting(kind, NULL, NULL); }

static vxs_workspace *new_workspace(void) {
  vxs_workspace *workspace = NULL;
  OK(vxs_workspace_create(&workspace));
  return workspace;
}

/* Shapes shared by the threads. */
static vxs_shape *torus, *gear;

/* --- Queries of shared shapes ------------------------------------------------------------------------------------------- */

enum { POSES = 40, MOST = 64 };

struct answer {
  size_t count;
  vxs_contact contacts[MOST];
  vxs_contact closest;
  vxs_segment_hit hit;
};

static struct answer expected[POSES];

static struct answer ask(int pose, vxs_workspace *workspace) {
  struct answer answer;
  vxs_pose a = at(0, 0, 0), b = at(0.02 * pose, 0.01, 0.3);
  vxs_query query;
  bool found;
  memset(&answer, 0, sizeof answer);
  OK(vxs_query_init(&query, sizeof query));
  query.roles = VXS_ROLES_BOTH;
  query.max_contacts = MOST;
  query.max_separation = 0.05;
  OK(vxs_query_contacts(BODY(torus, a), BODY(gear, b), &query, workspace, answer.contacts, MOST, &answer.count));
  OK(vxs_query_distance(BODY(torus, a), BODY(gear, b), NULL, workspace, &answer.closest, &found));
  OK(vxs_shape_query_segment(torus, vec3(-2, 0.01 * pose, 0), vec3(2, 0, 0), &answer.hit));
  return answer;
}

static bool same(const struct answer *x, const struct answer *y) {
  return x->count == y->count && memcmp(x->contacts, y->contacts, sizeof x->contacts) == 0 &&
         memcmp(&x->closest, &y->closest, sizeof x->closest) == 0 && x->hit.hit == y->hit.hit &&
         memcmp(&x->hit.point, &y->hit.point, sizeof x->hit.point) == 0;
}

/* Every thread gets the same bytes. */
static void query(int number) {
  vxs_workspace *workspace = new_workspace();
  for (int i = 0; i < times(100); i++) {
    int pose = (i + 5 * number) % POSES;
    struct answer answer = ask(pose, workspace);
    CHECK(same(&answer, &expected[pose]));
  }
  OK(vxs_workspace_destroy(workspace));
}

static void shared_shapes_answer_all_threads_alike(void) {
  vxs_workspace *workspace = new_workspace();
  size_t most = 0;
  for (int pose = 0; pose < POSES; pose++) {
    expected[pose] = ask(pose, workspace);
    if (expected[pose].count > most) most = expected[pose].count;
  }
  CHECK(most > 0);
  OK(vxs_workspace_destroy(workspace));
  on_all_threads(query);
}

/* --- Handles ------------------------------------------------------------------------------------------------------------- */

static void retain_and_release(int number) {
  (void)number;
  for (int i = 0; i < times(300); i++) {
    vxs_shape *mine = NULL, *parts = NULL;
    vxs_field *field = NULL;
    vxs_pointshell *pointshell = NULL;
    vxs_aabb bounds;
    OK(vxs_shape_retain(torus, &mine));
    OK(vxs_shape_get_field(mine, &field));
    OK(vxs_shape_get_pointshell(mine, &pointshell));
    OK(vxs_shape_release(mine));
    OK(vxs_shape_create(field, pointshell, &parts));
    OK(vxs_field_release(field));
    OK(vxs_pointshell_release(pointshell));
    OK(vxs_shape_get_bounds(parts, &bounds));
    OK(vxs_shape_release(parts));
  }
}

/* The last owner, on any thread, frees the data. */
enum { SHARED = 6 };
static vxs_shape *owned[SHARED][THREADS];

static void release_one_each(int number) {
  for (int i = 0; i < times(SHARED); i++) {
    vxs_aabb bounds;
    OK(vxs_shape_get_bounds(owned[i][number], &bounds));
    OK(vxs_shape_release(owned[i][number]));
  }
}

static void the_last_owner_may_be_any_thread(void) {
  for (int i = 0; i < times(SHARED); i++) {
    owned[i][0] = cook(VXS_PRIMITIVE_BOX);
    for (int t = 1; t < THREADS; t++) OK(vxs_shape_retain(owned[i][0], &owned[i][t]));
  }
  on_all_threads(release_one_each);
}

/* Releasing one handle twice is an error, reported to the second thread. */
enum { CONTESTED = 100 };
static vxs_shape *contested[CONTESTED];
static int won[THREADS];

static void release_all(int number) {
  for (int i = 0; i < CONTESTED; i++) {
    vxs_status status = vxs_shape_release(contested[i]);
    CHECK(status == VXS_OK || status == VXS_INVALID_HANDLE);
    won[number] += status == VXS_OK;
  }
}

static void of_threads_that_release_one_handle_one_wins(void) {
  int winners = 0;
  for (int i = 0; i < CONTESTED; i++) OK(vxs_shape_create_sphere(1, &contested[i]));
  on_all_threads(release_all);
  for (int t = 0; t < THREADS; t++) winners += won[t];
  CHECK(winners == CONTESTED);
}

/* --- A workspace used by two threads, which is forbidden
 * --------------------------------------------------------------- */

static vxs_workspace *shared;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static int refused, working;

static void use_the_shared_workspace(int number) {
  (void)number;
  for (bool go_on = true; go_on;) {
    vxs_pose pose = at(0, 0, 0);
    size_t count = 77;
    vxs_status status = vxs_query_contacts(BODY(torus, pose), BODY(torus, pose), NULL, shared, NULL, 0, &count);
    if (status == VXS_BUSY) {
      check_status(status, VXS_BUSY, "workspace is in use by another call", "query", __FILE__, __LINE__);
      CHECK(count == 77);
    } else {
      CHECK(status == VXS_TRUNCATED && count > 0 && count != 77);
    }
    pthread_mutex_lock(&counting);
    if (status == VXS_BUSY) refused++;
    else working++;
    go_on = refused < 10 || working < 10;
    pthread_mutex_unlock(&counting);
  }
}

static void a_workspace_of_two_threads_is_refused_to_one(void) {
  shared = new_workspace();
  on_all_threads(use_the_shared_workspace);
  OK(vxs_workspace_destroy(shared));
}

/* --- Cooking ------------------------------------------------------------------------------------------------------------- */

static vxs_shape_info cooked[3];
static const uint32_t KINDS[3] = {VXS_PRIMITIVE_TORUS, VXS_PRIMITIVE_GEAR, VXS_PRIMITIVE_BOX};

static bool progress(const char *stage, double fraction, void *user) {
  int *calls = user;
  CHECK(stage[0] != '\0' && fraction >= 0 && fraction <= 1);
  /* Without a lock: the calls must not overlap. */
  ++*calls;
  return true;
}

static vxs_shape_info cook_again(int which) {
  vxs_shape_info info;
  int calls = 0;
  vxs_shape *shape = cook_reporting(KINDS[which], progress, &calls);
  CHECK(calls > 0);
  OK(vxs_shape_info_init(&info, sizeof info));
  OK(vxs_shape_get_info(shape, &info));
  OK(vxs_shape_release(shape));
  return info;
}

static void cook_some(int number) {
  for (int i = 0; i < times(3); i++) {
    int which = (i + number) % 3;
    vxs_shape_info info = cook_again(which);
    CHECK(memcmp(&info, &cooked[which], sizeof info) == 0);
  }
}

/* --- Log and errors ------------------------------------------------------------------------------------------------------- */

struct listener {
  pthread_mutex_t lock;
  int heard;
};

static void hear(uint32_t level, const char *message, void *user) {
  struct listener *listener = user;
  CHECK(level >= VXS_LOG_ERROR && level <= VXS_LOG_INFO && message[0] != '\0');
  pthread_mutex_lock(&listener->lock);
  listener->heard++;
  pthread_mutex_unlock(&listener->lock);
}

static int heard_by_all;

/* Thread 0 replaces one listener by another and frees the old one at once, because no call is inside it any more. */
static void log_meanwhile(int number) {
  if (number > 0) {
    for (int i = 0; i < times(2000); i++) OK(vxs_log(1 + i % 4, "a message"));
    cook_some(number);
    return;
  }
  struct listener *last = NULL;
  for (int i = 0; i < times(500); i++) {
    struct listener *next = malloc(sizeof *next);
    CHECK(next != NULL && pthread_mutex_init(&next->lock, NULL) == 0);
    next->heard = 0;
    OK(vxs_set_log(hear, VXS_LOG_INFO, next));
    if (last != NULL) heard_by_all += last->heard;
    free(last);
    last = next;
    OK(vxs_log(VXS_LOG_ERROR, "to the new one"));
  }
  OK(vxs_set_log(NULL, 0, NULL));
  heard_by_all += last->heard;
  free(last);
}

static void fail_in_its_own_way(int number) {
  char text[64];
  snprintf(text, sizeof text, "radius is -%d; expected", number + 1);
  for (int i = 0; i < times(2000); i++) {
    vxs_shape *shape = NULL;
    REFUSED(VXS_INVALID_ARGUMENT, text, vxs_shape_create_sphere(-1 - number, &shape));
  }
}

int main(void) {
  torus = cook(VXS_PRIMITIVE_TORUS);
  gear = cook(VXS_PRIMITIVE_GEAR);
  for (int i = 0; i < 3; i++) cooked[i] = cook_again(i);

  shared_shapes_answer_all_threads_alike();
  on_all_threads(retain_and_release);
  the_last_owner_may_be_any_thread();
  of_threads_that_release_one_handle_one_wins();
  a_workspace_of_two_threads_is_refused_to_one();
  on_all_threads(cook_some);
  on_all_threads(log_meanwhile);
  CHECK(heard_by_all >= times(500));
  on_all_threads(fail_in_its_own_way);

  OK(vxs_shape_release(torus));
  OK(vxs_shape_release(gear));
  puts("threads: ok");
  return 0;
}
