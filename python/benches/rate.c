// Rate of queries from C, on one thread. rate SHAPE_A SHAPE_B POSES COUNT: POSES is a file of COUNT poses, 7 doubles each.
// Prints the seconds of the queries of distances and of 16 contacts, and a sum of all separations.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <voxshell/voxshell.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(vxs_status status) {
  if (status == VXS_OK || status == VXS_TRUNCATED) return;
  fprintf(stderr, "%s\n", vxs_last_error());
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const size_t count = strtoul(argv[4], NULL, 10);
  vxs_pose* poses = malloc(count * sizeof *poses);
  FILE* file = fopen(argv[3], "rb");
  if (!poses || !file || fread(poses, sizeof *poses, count, file) != count) return fprintf(stderr, "%s\n", argv[3]), 1;
  fclose(file);
  vxs_body a = {NULL, {{0, 0, 0}, 0, 0, 0, 1}}, b = a;
  vxs_shape *shape_a, *shape_b;
  check(vxs_shape_load(argv[1], &shape_a));
  check(vxs_shape_load(argv[2], &shape_b));
  a.shape = shape_a, b.shape = shape_b;
  vxs_workspace* workspace;
  check(vxs_workspace_create(&workspace));
  vxs_query query;
  check(vxs_query_init(&query, sizeof query));
  query.coverage = VXS_COVERAGE_SAMPLES;
  query.max_contacts = 16;
  static vxs_contact contacts[65536];
  double seconds[2], sum = 0;
  for (int what = 0; what < 2; what++) {
    const double begin = now();
    for (size_t i = 0; i < count; i++) {
      a.pose = poses[i];
      size_t found = 0;
      if (what == 0) {
        bool is_found;
        check(vxs_query_distance(&a, &b, &query, workspace, contacts, &is_found));
        found = is_found;
      } else {
        check(vxs_query_contacts(&a, &b, &query, workspace, contacts, sizeof contacts / sizeof *contacts, &found));
      }
      for (size_t k = 0; k < found; k++) sum += contacts[k].separation;
    }
    seconds[what] = now() - begin;
  }
  printf("%.9f %.9f %.17g\n", seconds[0], seconds[1], sum);
  return 0;
}
