/* The library writes nothing to standard error, even for a defect inside: that goes into the last error and the log. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

/* Exists only in a library built for tests: the next call of this thread panics. */
#ifdef VOXSHELL_TEST_PANIC
void vxs_test_panic_in_next_call(void);
#endif

static char logged[1024];

static void hear(uint32_t level, const char *message, void *user) {
  (void)user;
  CHECK(level == VXS_LOG_ERROR);
  snprintf(logged, sizeof logged, "%s", message);
}

int main(void) {
  const char *path = "quiet_test.txt";
  vxs_shape *shape = NULL;
  vxs_aabb bounds;
  int standard_error = dup(2), file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
  CHECK(standard_error >= 0 && file >= 0 && dup2(file, 2) >= 0);
  OK(vxs_set_log(hear, VXS_LOG_ERROR, NULL));
  OK(vxs_shape_create_sphere(1, &shape));
  vxs_status status = VXS_PANIC;
#ifdef VOXSHELL_TEST_PANIC
  vxs_test_panic_in_next_call();
  status = vxs_shape_get_bounds(shape, &bounds);
#else
  (void)bounds;
#endif
  CHECK(vxs_shape_create_sphere(-1, &shape) == VXS_INVALID_ARGUMENT);
  CHECK(dup2(standard_error, 2) >= 0 && lseek(file, 0, SEEK_END) == 0 && close(file) == 0 && remove(path) == 0);
  CHECK(status == VXS_PANIC);
#ifdef VOXSHELL_TEST_PANIC
  /* With the source location, which a host can report. */
  CHECK(strstr(logged, "vxs_shape_get_bounds: a defect inside the library (asked for by a test, at ") != NULL);
  CHECK(strstr(logged, "guard.rs:") != NULL);
#endif
  OK(vxs_set_log(NULL, 0, NULL));
  OK(vxs_shape_release(shape));
  puts("quiet: ok");
  return 0;
}
