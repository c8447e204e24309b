/* Calls every function of voxshell.h with arguments of the right types and any values, in sequences, on several threads.
 *
 * Requirements for each call: it returns in time, no VXS_PANIC, nothing is written behind an output, outputs are
 * written only by calls that succeed, answers are finite and in range, no bad argument is accepted, and the message
 * names the function. Requirement for a sequence: bit-identical answers when it is repeated, on one thread or
 * several, and without AVX2.
 *
 *   fuzz.calls                        the sequences of tests/fuzz/seeds, then new ones, compared between runs
 *   fuzz.calls --calls N --seed S --threads T      new ones only, N calls in all
 *   fuzz.calls --replay FILE          the sequences of a file; --verbose prints each call
 *   fuzz.calls --shrink FILE          removes calls from a failing sequence while it still fails
 *
 * A sequence is one line: seed=1 stream=2 calls=0-15,77  # comment
 * VOXSHELL_LONG=1 makes ten million calls. VOXSHELL_FUZZ_COUNTS=1 prints how often each function succeeded, and its
 * time; VOXSHELL_FUZZ_SECONDS=S sets the processor time limit of a call. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include <signal.h>
#include <sys/stat.h>

#include "run.h"

/* --- Many streams on threads ------------------------------------------------------------------------------------------------------------ */

enum { STREAMS = 8 };

struct share_of_work {
  uint64_t seed, calls;
  unsigned thread, threads;
  uint64_t digests[STREAMS];
};

static void *work(void *argument) {
  struct share_of_work *own = argument;
  for (unsigned stream = own->thread; stream < STREAMS; stream += own->threads) {
    struct sequence sequence = {own->seed, stream, {{0, own->calls / STREAMS - 1}}, 1};
    own->digests[stream] = run_sequence(&sequence);
  }
  return NULL;
}

/* Largest number of calls of a stream, so that a failing stream is reproduced quickly. */
static const uint64_t CALLS_PER_SEED = 100000;

static void run_streams(uint64_t seed, uint64_t calls, unsigned threads) {
  uint64_t digests[STREAMS] = {0};
  while (calls > 0) {
    const uint64_t now = calls < CALLS_PER_SEED ? calls : CALLS_PER_SEED;
    struct share_of_work shares[STREAMS];
    pthread_t handles[STREAMS];
    for (unsigned i = 0; i < threads; i++) {
      shares[i] = (struct share_of_work){seed, now, i, threads, {0}};
      if (pthread_create(&handles[i], NULL, work, &shares[i]) != 0) exit(2);
    }
    for (unsigned i = 0; i < threads; i++) {
      pthread_join(handles[i], NULL);
      for (unsigned j = i; j < STREAMS; j += threads) digests[j] = scramble(digests[j] + shares[i].digests[j]);
    }
    calls -= now;
    seed++;
    if (calls > 0) fprintf(stderr, "%llu calls left\n", (unsigned long long)calls);
  }
  for (unsigned i = 0; i < STREAMS; i++) printf("stream %u: %016llx\n", i, (unsigned long long)digests[i]);
}

/* Checks that every function has succeeded and, where possible, been refused; otherwise the calls prove nothing. */
static int check_coverage(void) {
  int missing = 0;
  for (size_t i = 0; i < FUNCTION_COUNT; i++) {
    if (atomic_load(&succeeded[i]) > 0) continue;
    fprintf(stderr, "FAILED %s: it never succeeded\n", FUNCTIONS[i].name);
    missing = 1;
  }
  return missing;
}

/* --- Runs of this program that are compared ------------------------------------------------------------------------------------------------- */

static int compare(const char *self, uint64_t seed, uint64_t calls) {
  static const struct run {
    const char *name, *environment, *options;
  } RUNS[] = {
      {"four threads", "", "--threads 4"},
      {"four threads again", "", "--threads 4"},
      {"one thread", "", "--threads 1"},
      {"RAYON_NUM_THREADS=1", "RAYON_NUM_THREADS=1", "--threads 1"},
      {"VOXSHELL_BASELINE=1", "VOXSHELL_BASELINE=1", "--threads 2"},
  };
  char first[1024] = "";
  int differ = 0;
  for (size_t i = 0; i < COUNT_OF(RUNS); i++) {
    char command[1024], answer[sizeof first] = "";
    snprintf(command, sizeof command, "%s '%s' --seed %llu --calls %llu %s", RUNS[i].environment, self,
             (unsigned long long)seed, (unsigned long long)calls, RUNS[i].options);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL) return 1;
    const size_t size = fread(answer, 1, sizeof answer - 1, pipe);
    answer[size] = '\0';
    const int status = pclose(pipe);
    printf("%-20s %s\n", RUNS[i].name, status == 0 ? "done" : "failed");
    fflush(stdout);
    if (status != 0) return 1;
    if (i == 0) memcpy(first, answer, sizeof first);
    else if (strcmp(first, answer) != 0) {
      fprintf(stderr, "FAILED: other answers with %s:\n%s%s:\n%s%s\n", RUNS[0].name, first, RUNS[i].name, answer, command);
      differ = 1;
    }
  }
  return differ;
}

int main(int count, char **arguments) {
  uint64_t seed = 1, calls = 0;
  unsigned threads = 4;
  const char *replay = NULL, *shrinks = NULL;
  program.slow = getenv("VOXSHELL_VALGRIND") != NULL;
  for (int i = 1; i < count; i++) {
    const char *next = i + 1 < count ? arguments[i + 1] : "";
    if (strcmp(arguments[i], "--seed") == 0) seed = strtoull(next, NULL, 10), i++;
    else if (strcmp(arguments[i], "--calls") == 0) calls = strtoull(next, NULL, 10), i++;
    else if (strcmp(arguments[i], "--threads") == 0) threads = (unsigned)strtoul(next, NULL, 10), i++;
    else if (strcmp(arguments[i], "--replay") == 0) replay = next, i++;
    else if (strcmp(arguments[i], "--shrink") == 0) shrinks = next, i++;
    else if (strcmp(arguments[i], "--verbose") == 0) program.verbose = 1;
    else {
      fprintf(stderr, "unknown option %s; the head of tests/fuzz/calls.c lists them\n", arguments[i]);
      return 2;
    }
  }
  if (threads < 1 || threads > STREAMS) threads = STREAMS;
  if (shrinks != NULL) return shrink(arguments[0], shrinks);
  snprintf(program.folder, sizeof program.folder, "%s/voxshell-fuzz-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
  if (calls == 0 && replay == NULL) {
    char command[1024];
    snprintf(command, sizeof command, "'%s' --replay '%s'", arguments[0], VOXSHELL_FUZZ_SEEDS);
    if (system(command) != 0) return 1;
    calls = getenv("VOXSHELL_LONG") != NULL ? 10000000 : program.slow ? 10000 : 100000;
    snprintf(command, sizeof command, "'%s' --seed %llu --calls %llu >/dev/null", arguments[0], (unsigned long long)seed,
             (unsigned long long)calls);
    if (system(command) != 0) return 1;
    /* Other sequences, and fewer, because each is run five times. */
    if (compare(arguments[0], seed + 1000000, calls / 10) != 0) return 1;
    printf("fuzz.calls: ok, %llu calls, and %llu that were compared\n", (unsigned long long)calls, (unsigned long long)calls / 10);
    return 0;
  }
  if (mkdtemp(program.folder) == NULL) {
    fprintf(stderr, "no folder for files: %s\n", program.folder);
    return 2;
  }
  weigh();
  start_watchdog();
  make_shared();
  int status = 0;
  if (replay != NULL) {
    struct sequence sequence;
    FILE *file = fopen(replay, "r");
    if (file == NULL) {
      fprintf(stderr, "cannot read %s\n", replay);
      return 2;
    }
    while (read_sequence(file, &sequence)) {
      if (program.verbose) printf("seed=%llu stream=%u\n", (unsigned long long)sequence.seed, sequence.stream);
      run_sequence(&sequence);
    }
    fclose(file);
  } else {
    run_streams(seed, calls, threads);
    if (calls >= 10000) status = check_coverage();
    if (getenv("VOXSHELL_FUZZ_COUNTS") != NULL) print_counts();
  }
  release_shared();
  char command[512];
  snprintf(command, sizeof command, "rm -rf '%s'", program.folder);
  return system(command) != 0 ? 1 : status;
}
