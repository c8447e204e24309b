// Rate of queries from C. rate SHAPE_A SHAPE_B POSES COUNT THREADS COVERAGE MOST: POSES is a file of COUNT poses, 7 doubles
// each; COVERAGE a value of VXS_COVERAGE_; MOST the number of contacts of a query. Each thread has a workspace, and takes the
// next 64 poses when it is done. Prints the seconds of the queries of distances and of contacts, and a sum of all separations.
#include <pthread.h>
#include <stdatomic.h>
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

enum { PIECE = 64, MOST_CONTACTS = 65536, MOST_THREADS = 256 };

static const vxs_shape *shape_a, *shape_b;
static vxs_pose* poses;
static size_t count;
static vxs_query query;
static int what; // 0: distances, 1: contacts
static atomic_size_t next;

// Returns the sum of separations of its poses, as a double of its own.
static void* work(void* result) {
  const vxs_pose identity = {{0, 0, 0}, 0, 0, 0, 1};
  vxs_body a = {shape_a, identity}, b = {shape_b, identity};
  vxs_workspace* workspace;
  check(vxs_workspace_create(&workspace));
  vxs_contact* contacts = malloc(MOST_CONTACTS * sizeof *contacts);
  double sum = 0;
  for (size_t from; (from = atomic_fetch_add(&next, PIECE)) < count;) {
    for (size_t i = from; i < count && i < from + PIECE; i++) {
      a.pose = poses[i];
      size_t found = 0;
      if (what == 0) {
        bool is_found;
        check(vxs_query_distance(&a, &b, &query, workspace, contacts, &is_found));
        found = is_found;
      } else {
        check(vxs_query_contacts(&a, &b, &query, workspace, contacts, MOST_CONTACTS, &found));
      }
      for (size_t k = 0; k < found; k++) sum += contacts[k].separation;
    }
  }
  free(contacts);
  vxs_workspace_destroy(workspace);
  *(double*)result = sum;
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  count = strtoul(argv[4], NULL, 10);
  const size_t threads = strtoul(argv[5], NULL, 10);
  if (threads < 1 || threads > MOST_THREADS) return 2;
  poses = malloc(count * sizeof *poses);
  FILE* file = fopen(argv[3], "rb");
  if (!poses || !file || fread(poses, sizeof *poses, count, file) != count) return fprintf(stderr, "%s\n", argv[3]), 1;
  fclose(file);
  vxs_shape *a, *b;
  check(vxs_shape_load(argv[1], &a));
  check(vxs_shape_load(argv[2], &b));
  shape_a = a, shape_b = b;
  check(vxs_query_init(&query, sizeof query));
  query.coverage = (uint32_t)strtoul(argv[6], NULL, 10);
  query.max_contacts = (uint32_t)strtoul(argv[7], NULL, 10);
  double seconds[2], sum = 0;
  for (what = 0; what < 2; what++) {
    pthread_t handles[MOST_THREADS];
    double sums[MOST_THREADS];
    const double begin = now();
    atomic_store(&next, 0);
    for (size_t i = 0; i < threads; i++) {
      if (pthread_create(&handles[i], NULL, work, &sums[i]) != 0) return perror("pthread_create"), 1;
    }
    for (size_t i = 0; i < threads; i++) pthread_join(handles[i], NULL), sum += sums[i];
    seconds[what] = now() - begin;
  }
  printf("%.9f %.9f %.17g\n", seconds[0], seconds[1], sum);
  return 0;
}
