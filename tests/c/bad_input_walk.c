/* Walks through all functions of voxshell.h: each refuses every kind of bad input in each of its arguments, names
 * the argument, and leaves its outputs unchanged. The rows are in bad_input/; bad_input/rows.h explains how to add
 * some. */
#include "bad_input/rows.h"

#include "bad_input/making.h"
#include "bad_input/motions.h"
#include "bad_input/queries.h"
#include "bad_input/batches.h"
#include "bad_input/pairs.h"
#include "bad_input/shapes.h"
/* These files use the rows of motions. */
#include "bad_input/haptics.h"
#include "bad_input/haptics_bodies.h"
#include "bad_input/responses.h"
#include "bad_input/voxelmaps.h"
#include "bad_input/voxtrees.h"
#include "bad_input/hulls.h"
#include "bad_input/record.h"

/* A function without rows is an undeclared name here. */
static const struct function {
  const char *name;
  const char *arguments;
  void (*rows)(void);
} FUNCTIONS[] = {
#define FUNCTION(name, arguments) {#name, arguments, rows_of_##name},
#include "functions.h"
};

static void walk(const struct function *function) {
  char arguments[256];
  memset(&now, 0, sizeof now);
  now.function = function->name;
  function->rows();
  snprintf(arguments, sizeof arguments, "%s", function->arguments);
  for (char *argument = strtok(arguments, " "); argument != NULL; argument = strtok(NULL, " ")) {
    if (!seen(argument)) {
      fprintf(stderr, "%s: no row for the argument %s; see tests/c/bad_input/rows.h\n", function->name, argument);
      exit(1);
    }
  }
  /* For a function that refused something, also tests the effect of a defect inside it. */
  if (now.rows > 0 && !now.panicked) {
    fprintf(stderr, "%s: its rows do not end with PANIC()\n", function->name);
    exit(1);
  }
}

int main(void) {
  const size_t count = sizeof FUNCTIONS / sizeof *FUNCTIONS;
  int rows = 0;
  CHECK(vxs_last_error()[0] == '\0');
  make_bad_handles();
  for (size_t i = 0; i < count; i++) {
    walk(&FUNCTIONS[i]);
    rows += now.rows;
  }
  release_bad_handles();
  printf("bad_input_walk: ok, %zu functions, %d rows\n", count, rows);
  return 0;
}
