/* Checks of the C tests: a failing check prints its place and reason, and the program ends with 1. */
#ifndef VOXSHELL_TESTS_CHECK_H
#define VOXSHELL_TESTS_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "voxshell/voxshell.h"

#define CHECK(condition)                                                                                          \
  do {                                                                                                            \
    if (!(condition)) {                                                                                           \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                   \
      exit(1);                                                                                                    \
    }                                                                                                             \
  } while (0)

/* Checks that the call succeeds. */
#define OK(call) check_status((call), VXS_OK, "", #call, __FILE__, __LINE__)

/* Checks that the call is refused with this status, and that the message contains this text. */
#define REFUSED(status, text, call) check_status((call), (status), (text), #call, __FILE__, __LINE__)

#define NEAR(value, expected, tolerance)                                                                          \
  do {                                                                                                            \
    double value_ = (value), expected_ = (expected), tolerance_ = (tolerance);                                    \
    if (!(fabs(value_ - expected_) <= tolerance_)) {                                                              \
      fprintf(stderr, "%s:%d: %s is %.9g; expected %.9g within %.3g\n", __FILE__, __LINE__, #value, value_,       \
              expected_, tolerance_);                                                                             \
      exit(1);                                                                                                    \
    }                                                                                                             \
  } while (0)

/* Returns true under valgrind or a sanitizer, which are some 40 times slower; tests then repeat less. */
static inline int runs_slowly(void) { return getenv("VOXSHELL_VALGRIND") != NULL; }

static inline void check_status(vxs_status got, vxs_status expected, const char *text, const char *call,
                                const char *file, int line) {
  const char *message = vxs_last_error();
  if (message == NULL) message = "(null, which it never should be)";
  if (got != expected) {
    fprintf(stderr, "%s:%d: %s gave %s; expected %s\n  last error: %s\n", file, line, call, vxs_status_name(got),
            vxs_status_name(expected), message);
    exit(1);
  }
  if (strstr(message, text) == NULL) {
    fprintf(stderr, "%s:%d: %s says \"%s\"; expected it to contain \"%s\"\n", file, line, call, message, text);
    exit(1);
  }
}

static inline vxs_vec3 vec3(double x, double y, double z) {
  vxs_vec3 v = {x, y, z};
  return v;
}

/* Returns a pose without rotation. */
static inline vxs_pose at(double x, double y, double z) {
  vxs_pose pose = {{x, y, z}, 0, 0, 0, 1};
  return pose;
}

/* Pointers to bodies for one call. */
#define BODY(shape, pose) (&(vxs_body){(shape), (pose)})
#define MOVING(shape, motion) (&(vxs_moving_body){(shape), (motion)})
#define DYNAMIC(shape, kinematics) (&(vxs_dynamic_body){(shape), (kinematics)})
#define SWEPT(shape, sweep) (&(vxs_swept_body){(shape), (sweep)})

#endif
