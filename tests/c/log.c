/* The log hook: who receives which messages, and what a hook may call. */
#include "check.h"

/* Arguments of the hook's calls. */
struct heard {
  int count[5];
  char last[5][512];
};

static void hear(uint32_t level, const char *message, void *user) {
  struct heard *heard = user;
  CHECK(level >= VXS_LOG_ERROR && level <= VXS_LOG_DEBUG && strchr(message, '\n') == NULL);
  heard->count[level]++;
  snprintf(heard->last[level], sizeof heard->last[level], "%s", message);
}

static int all(const struct heard *heard) {
  return heard->count[1] + heard->count[2] + heard->count[3] + heard->count[4];
}

#define SAYS(level, text)                                                                               \
  do {                                                                                                  \
    if (strstr(heard.last[level], (text)) == NULL) fprintf(stderr, "it says: %s\n", heard.last[level]); \
    CHECK(strstr(heard.last[level], (text)) != NULL);                                                   \
  } while (0)

static const vxs_vec3 CUBE[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
static const uint32_t SIDES[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                   2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static vxs_status cook(const uint32_t *indices, size_t triangle_count) {
  vxs_shape *shape = NULL;
  vxs_cook_options options;
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 16;
  vxs_status status = vxs_shape_create_from_triangles(CUBE, 8, indices, triangle_count, &options, &shape);
  if (status == VXS_OK) OK(vxs_shape_release(shape));
  return status;
}

static void levels(void) {
  struct heard heard = {0};
  for (uint32_t wanted = VXS_LOG_ERROR; wanted <= VXS_LOG_DEBUG; wanted++) {
    memset(&heard, 0, sizeof heard);
    OK(vxs_set_log(hear, wanted, &heard));
    for (uint32_t level = VXS_LOG_ERROR; level <= VXS_LOG_DEBUG; level++) OK(vxs_log(level, "from the host"));
    for (uint32_t level = VXS_LOG_ERROR; level <= VXS_LOG_DEBUG; level++) CHECK(heard.count[level] == (level <= wanted));
    SAYS(VXS_LOG_ERROR, "from the host");
  }
  /* Without a hook no messages are delivered, at any level. */
  OK(vxs_set_log(NULL, 99, &heard));
  int before = all(&heard);
  OK(vxs_log(VXS_LOG_ERROR, "to nobody"));
  OK(cook(SIDES, 12));
  CHECK(all(&heard) == before);
}

/* A refused hook leaves the present one installed. */
static void refused(void) {
  struct heard heard = {0}, other = {0};
  OK(vxs_set_log(hear, VXS_LOG_INFO, &heard));
  REFUSED(VXS_INVALID_ARGUMENT, "level is 0; expected one of the VXS_LOG_", vxs_set_log(hear, 0, &other));
  REFUSED(VXS_INVALID_ARGUMENT, "level is 5; expected one of the VXS_LOG_", vxs_set_log(hear, 5, &other));
  REFUSED(VXS_INVALID_ARGUMENT, "level is 0; expected one of the VXS_LOG_", vxs_log(0, "x"));
  REFUSED(VXS_INVALID_ARGUMENT, "level is 5; expected one of the VXS_LOG_", vxs_log(5, "x"));
  REFUSED(VXS_INVALID_ARGUMENT, "message is null", vxs_log(VXS_LOG_ERROR, NULL));
  CHECK(all(&heard) == 0);
  OK(vxs_log(VXS_LOG_INFO, "still here"));
  CHECK(heard.count[VXS_LOG_INFO] == 1 && all(&other) == 0);
}

static void cooking_says_what_it_made_and_what_is_wrong_with_the_mesh(void) {
  struct heard heard = {0};
  uint32_t indices[39];
  OK(vxs_set_log(hear, VXS_LOG_DEBUG, &heard));
  OK(cook(SIDES, 12));
  CHECK(heard.count[VXS_LOG_INFO] == 1 && heard.count[VXS_LOG_WARNING] == 0);
  SAYS(VXS_LOG_INFO, "vxs_shape_create_from_triangles: 12 triangles, field of ");
  SAYS(VXS_LOG_INFO, " samples (");
  /* A box without a lid. */
  OK(cook(SIDES, 10));
  CHECK(heard.count[VXS_LOG_WARNING] >= 1);
  memset(&heard, 0, sizeof heard);
  memcpy(indices, SIDES, sizeof SIDES);
  memcpy(indices + 36, SIDES, 3 * sizeof *indices);
  OK(cook(indices, 13));
  SAYS(VXS_LOG_WARNING, "1 triangles repeat another one");
  memcpy(indices, SIDES, sizeof SIDES);
  indices[0] = SIDES[1], indices[1] = SIDES[0];
  OK(cook(indices, 12));
  SAYS(VXS_LOG_WARNING, "1 triangles were turned");
  /* A failure is reported by the status and the last error; the log does not repeat it. */
  memset(&heard, 0, sizeof heard);
  CHECK(cook(SIDES, 0) == VXS_INVALID_MESH && all(&heard) == 0);
}

static void files_are_named(void) {
  struct heard heard = {0};
  vxs_shape *shape = NULL;
  vxs_primitive box;
  vxs_cook_options options;
  OK(vxs_set_log(hear, VXS_LOG_DEBUG, &heard));
  OK(vxs_primitive_init(&box, sizeof box, VXS_PRIMITIVE_BOX));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 16;
  OK(vxs_shape_create_primitive(&box, &options, &shape));
  SAYS(VXS_LOG_INFO, "vxs_shape_create_primitive: ");
  OK(vxs_shape_save(shape, "log_test.voxshell"));
  SAYS(VXS_LOG_DEBUG, "vxs_shape_save: wrote log_test.voxshell");
  OK(vxs_shape_release(shape));
  OK(vxs_shape_load("log_test.voxshell", &shape));
  SAYS(VXS_LOG_DEBUG, "vxs_shape_load: read log_test.voxshell");
  OK(vxs_shape_release(shape));
  remove("log_test.voxshell");
}

static int inside;

/* Calls library functions that log, and tries those that are forbidden. */
static void busy(uint32_t level, const char *message, void *user) {
  (void)level, (void)message;
  struct heard *heard = user;
  inside++;
  CHECK(inside == 1);
  heard->count[VXS_LOG_ERROR]++;
  OK(cook(SIDES, 12));
  OK(vxs_log(VXS_LOG_ERROR, "dropped"));
  REFUSED(VXS_BUSY, "called by the log hook", vxs_set_log(NULL, 0, NULL));
  inside--;
}

static void a_hook_may_use_the_library(void) {
  struct heard heard = {0};
  OK(vxs_set_log(busy, VXS_LOG_DEBUG, &heard));
  OK(vxs_log(VXS_LOG_ERROR, "once"));
  OK(vxs_log(VXS_LOG_ERROR, "twice"));
  CHECK(heard.count[VXS_LOG_ERROR] == 2);
}

/* Jumps of a haptic device are logged by the simulation: the first one, and whenever their number has doubled. */
static void jumps_of_a_device(void) {
  struct heard heard = {0};
  OK(vxs_set_log(NULL, 0, NULL));
  vxs_shape *box = NULL, *cooked = NULL;
  vxs_cook_options options;
  OK(vxs_shape_create_half_space((vxs_vec3){0, 0, 1}, 0, &box));
  OK(vxs_cook_options_init(&options, sizeof options));
  options.resolution = 16;
  OK(vxs_shape_create_from_triangles(CUBE, 8, SIDES, 12, &options, &cooked));
  vxs_haptics_settings settings;
  vxs_haptics *haptics = NULL;
  OK(vxs_haptics_settings_init(&settings, sizeof settings, VXS_RENDERER_GOD_OBJECT, cooked, 0.2, NULL));
  const vxs_body body = {box, {{0, 0, -5}, 0, 0, 0, 1}};
  OK(vxs_haptics_create(&settings, cooked, &body, 1, &haptics));
  OK(vxs_set_log(hear, VXS_LOG_DEBUG, &heard));
  vxs_haptics_output output;
  for (int i = 0; i < 9; i++) {
    const vxs_device_state state = {{{0.5 * i, 0, 3}, 0, 0, 0, 1}, {{0, 0, 0}, {0, 0, 0}}, 1, 0};
    OK(vxs_haptics_step(haptics, &state, 0.001, &output));
    /* The step itself logs nothing. */
    CHECK(heard.count[VXS_LOG_WARNING] == (i > 1) + (i > 2) + (i > 4));
    OK(vxs_haptics_simulate(haptics, NULL));
    if (i == 1) SAYS(VXS_LOG_WARNING, "moved 0.500 m and 0.00 rad within 5.0 ms; expected at most 10 m/s");
  }
  /* After the first, second, fourth and eighth jump. */
  CHECK(heard.count[VXS_LOG_WARNING] == 4);
  SAYS(VXS_LOG_WARNING, "8 times so far");
  OK(vxs_haptics_release(haptics));
  OK(vxs_shape_release(cooked));
  OK(vxs_shape_release(box));
}

int main(void) {
  levels();
  refused();
  cooking_says_what_it_made_and_what_is_wrong_with_the_mesh();
  files_are_named();
  a_hook_may_use_the_library();
  jumps_of_a_device();
  OK(vxs_set_log(NULL, 0, NULL));
  puts("log: ok");
  return 0;
}
