/* Makes random calls as fuzz.calls does, while the system refuses memory, threads, and room on the disk.
 *
 * Requirements beside those of fuzz.calls: no call ends the process; one that is refused memory or a thread and fails for
 * that returns VXS_OUT_OF_MEMORY, and later calls can use its objects; one that fails leaves the files of before and no
 * other; and once everything is released, the heap is as large as before.
 *
 *   fuzz.faults                       two processes: one with all refusals, one without
 *   fuzz.faults --calls N --seed S    N calls in all, in processes of 10 000, as many at once as there are processors
 *   fuzz.faults --process --calls N --seed S --refusals SET    one process; --verbose prints each call
 *
 * SET is the sum of 1 (memory), 2 (threads) and 4 (disk). The same seed makes the same calls. */
#define _GNU_SOURCE
#include <malloc.h>
#include <sys/wait.h>

#include "run.h"
#include "refusals.h"

enum {
  CALLS_OF_A_PROCESS = 10000,
  CALLS_OF_A_SEQUENCE = 500,
  /* Growth of the heap from the first quarter of the sequences to the last, bytes: the capacity of lists that stay. */
  SLACK = 8 << 10
};

/* --- One process --------------------------------------------------------------------------------------------------------------- */

/* Returns the number of bytes in use in the heap. The library keeps the heads of the last 1024 released handles: here those
 * of as many equal objects. */
static uint64_t held(void) {
  static struct stream s;
  s.function = "the end of a sequence";
  for (int i = 0; i < 1024; i++) {
    vxs_shape *shape = NULL;
    MUST(&s, vxs_shape_create_sphere(1, &shape));
    MUST(&s, vxs_shape_release(shape));
  }
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

/* Cooks for the first time in this process, which starts the threads, while the system refuses them or their memory. */
static void start_cold(uint64_t seed) {
  static struct stream s;
  s.seed = seed;
  for (s.call = 0; s.call < 6; s.call++) {
    vxs_primitive p;
    vxs_cook_options o;
    vxs_shape *shape = NULL;
    MUST(&s, vxs_primitive_init(&p, sizeof p, VXS_PRIMITIVE_BOX));
    MUST(&s, vxs_cook_options_init(&o, sizeof o));
    o.resolution = 6;
    s.function = "vxs_shape_create_primitive";
    s.note_count = 0, s.status = VXS_OK;
    choose_refusals(&s);
    if (!CALL(&s, vxs_shape_create_primitive(&p, &o, &shape))) {
      if (s.status != VXS_OUT_OF_MEMORY) fail(&s, "%s; expected VXS_OUT_OF_MEMORY", vxs_status_name(s.status));
    } else {
      MUST(&s, vxs_shape_release(shape));
    }
  }
}

static uint64_t largest(const uint64_t *values, size_t count) {
  uint64_t most = 0;
  for (size_t i = 0; i < count; i++) most = values[i] > most ? values[i] : most;
  return most;
}

static int run_process(uint64_t seed, uint64_t calls, unsigned allowed) {
  const size_t sequences = (size_t)((calls + CALLS_OF_A_SEQUENCE - 1) / CALLS_OF_A_SEQUENCE);
  uint64_t *sizes = allocated(calloc(sequences, sizeof *sizes));
  if (mkdtemp(program.folder) == NULL) return 2;
  weigh();
  /* More of those that writers and threads are refused. */
  for (size_t i = 0; i < FUNCTION_COUNT; i++) {
    if (written_by(FUNCTIONS[i].name) == NULL && !starts_threads(FUNCTIONS[i].name)) continue;
    weight_sum += 9 * weights[i], weights[i] *= 10;
  }
  start_watchdog();
  begin_refusals(allowed);
  start_cold(seed);
  for (size_t i = 0; i < sequences; i++) {
    struct sequence sequence = {seed, (unsigned)i, {{0, CALLS_OF_A_SEQUENCE - 1}}, 1};
    make_shared();
    run_sequence(&sequence);
    release_shared();
    static struct stream end;
    end.function = "the end of a sequence";
    remove_files(&end);
    sizes[i] = held();
    if (program.verbose) printf("sequence %zu: %llu bytes held\n", i, (unsigned long long)sizes[i]);
  }
  if (sequences >= 8) {
    const size_t quarter = sequences / 4;
    const uint64_t first = largest(sizes, quarter), last = largest(sizes + sequences - quarter, quarter);
    if (last > first + SLACK) {
      fprintf(stderr, "FAILED: the heap grew from %llu to %llu bytes\n", (unsigned long long)first, (unsigned long long)last);
      return 1;
    }
  }
  free(sizes);
  printf("seed %llu: %zu calls, %llu without a refusal, %llu times VXS_OUT_OF_MEMORY, %llu times VXS_IO\n",
         (unsigned long long)seed, sequences * CALLS_OF_A_SEQUENCE, (unsigned long long)refusals.counts[0],
         (unsigned long long)refusals.out_of_memory, (unsigned long long)refusals.io);
  if (getenv("VOXSHELL_FUZZ_COUNTS") != NULL) print_counts();
  return rmdir(program.folder) == 0 ? 0 : 2;
}

/* --- All processes ------------------------------------------------------------------------------------------------------------- */

/* Each free block is where the next call looks for it: neither the lists of threads nor other heaps have any. */
static const char TUNABLES[] = "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0:glibc.malloc.arena_max=1:"
                               "glibc.malloc.mmap_threshold=65536:glibc.malloc.trim_threshold=65536:glibc.malloc.top_pad=0";

static pid_t start_process(const char *self, uint64_t seed, uint64_t calls, unsigned allowed) {
  char numbers[3][32];
  snprintf(numbers[0], sizeof numbers[0], "%llu", (unsigned long long)seed);
  snprintf(numbers[1], sizeof numbers[1], "%llu", (unsigned long long)calls);
  snprintf(numbers[2], sizeof numbers[2], "%u", allowed);
  fflush(NULL);
  const pid_t process = fork();
  if (process == 0) {
    execl(self, self, "--process", "--seed", numbers[0], "--calls", numbers[1], "--refusals", numbers[2], (char *)NULL);
    _exit(2);
  }
  return process;
}

/* Waits for a process; returns whether it failed. */
static int has_failed(const char *self, const pid_t *processes, const uint64_t *seeds, const unsigned *allowed, size_t count) {
  int status;
  const pid_t ended = wait(&status);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  for (size_t i = 0; i < count; i++) {
    if (processes[i] != ended) continue;
    fprintf(stderr, "FAILED with %s %d: %s --process --seed %llu --calls %d --refusals %u\n",
            WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), self,
            (unsigned long long)seeds[i], CALLS_OF_A_PROCESS, allowed[i]);
  }
  return 1;
}

static int run_processes(const char *self, uint64_t seed, uint64_t calls) {
  enum { MOST = 10000 };
  static pid_t processes[MOST];
  static uint64_t seeds[MOST];
  static unsigned allowed[MOST];
  const size_t wanted = (size_t)((calls + CALLS_OF_A_PROCESS - 1) / CALLS_OF_A_PROCESS), count = wanted < MOST ? wanted : MOST;
  const size_t at_once = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
  size_t failures = 0;
  for (size_t i = 0; i < count; i++) {
    if (i >= at_once) failures += (size_t)has_failed(self, processes, seeds, allowed, i);
    /* Every fifth one shows what grows without refusals. */
    seeds[i] = seed + i, allowed[i] = i % 5 == 1 ? 0 : OF_ALL;
    processes[i] = start_process(self, seeds[i], CALLS_OF_A_PROCESS, allowed[i]);
    if (processes[i] < 0) return 2;
  }
  for (size_t i = count < at_once ? count : at_once; i > 0; i--) failures += (size_t)has_failed(self, processes, seeds, allowed, count);
  printf("fuzz.faults: %zu of %zu processes failed\n", failures, count);
  return failures > 0;
}

int main(int count, char **arguments) {
  uint64_t seed = 1, calls = getenv("VOXSHELL_LONG") != NULL ? 100000 : 20000;
  unsigned allowed = OF_ALL;
  int is_process = 0;
  for (int i = 1; i < count; i++) {
    const char *next = i + 1 < count ? arguments[i + 1] : "";
    if (strcmp(arguments[i], "--seed") == 0) seed = strtoull(next, NULL, 10), i++;
    else if (strcmp(arguments[i], "--calls") == 0) calls = strtoull(next, NULL, 10), i++;
    else if (strcmp(arguments[i], "--refusals") == 0) allowed = (unsigned)strtoul(next, NULL, 10), i++;
    else if (strcmp(arguments[i], "--process") == 0) is_process = 1;
    else if (strcmp(arguments[i], "--verbose") == 0) program.verbose = 1;
    else {
      fprintf(stderr, "unknown option %s; the head of tests/fuzz/faults.c lists them\n", arguments[i]);
      return 2;
    }
  }
  if (!is_process) return run_processes(arguments[0], seed, calls);
  if (getenv("GLIBC_TUNABLES") == NULL) {
    setenv("GLIBC_TUNABLES", TUNABLES, 1);
    execv(arguments[0], arguments);
    return 2;
  }
  snprintf(program.folder, sizeof program.folder, "%s/voxshell-faults-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
  return run_process(seed, calls, allowed);
}
