/* Sequences as text, their shrinking, and the watchdog for calls that hang or crash. */
#ifndef VOXSHELL_TESTS_FUZZ_SEQUENCE_H
#define VOXSHELL_TESTS_FUZZ_SEQUENCE_H

#include <ctype.h>
#include <signal.h>

#include "stream.h"

enum { RANGES = 4096 };

struct sequence {
  uint64_t seed;
  unsigned stream;
  struct {
    uint64_t first, last;
  } ranges[RANGES];
  size_t range_count;
};

/* The next sequence of a file, one per line; text behind # is a comment. */
static inline int read_sequence(FILE *file, struct sequence *sequence) {
  static char line[1 << 17];
  while (fgets(line, sizeof line, file) != NULL) {
    unsigned long long seed;
    int length = 0;
    if (sscanf(line, " seed=%llu stream=%u calls=%n", &seed, &sequence->stream, &length) != 2 || length == 0) continue;
    sequence->seed = seed;
    sequence->range_count = 0;
    for (char *at = line + length; isdigit((unsigned char)*at) && sequence->range_count < RANGES;) {
      const uint64_t first = strtoull(at, &at, 10);
      const uint64_t last = *at == '-' ? strtoull(at + 1, &at, 10) : first;
      sequence->ranges[sequence->range_count].first = first;
      sequence->ranges[sequence->range_count++].last = last;
      if (*at == ',') at++;
    }
    return 1;
  }
  return 0;
}

/* --- Shrinking: parts are left out, half of the calls, a quarter, ..., while what is left fails in the same way
 * (Zeller & Hildebrandt 2002, without the test of single parts) ------------------------------------------------------------------ */

/* Runs the program on the kept calls; returns the failure, empty if there is none. */
static inline void run_kept(const char *self, const struct sequence *of, const uint64_t *calls, const char *kept, size_t count,
                            char failure[256]) {
  /* In the current directory, which ctest sets to that of the tests. */
  char path[] = "fuzz-shrink-XXXXXX", command[1024], line[1024];
  const int descriptor = mkstemp(path);
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
  if (file == NULL) exit(2);
  fprintf(file, "seed=%llu stream=%u calls=", (unsigned long long)of->seed, of->stream);
  int first = 1;
  for (size_t i = 0; i < count; i++) {
    if (!kept[i]) continue;
    size_t last = i;
    while (last + 1 < count && kept[last + 1] && calls[last + 1] == calls[last] + 1) last++;
    fprintf(file, "%s%llu", first ? "" : ",", (unsigned long long)calls[i]);
    if (last > i) fprintf(file, "-%llu", (unsigned long long)calls[last]);
    first = 0, i = last;
  }
  fprintf(file, "\n");
  fclose(file);
  snprintf(command, sizeof command, "'%s' --replay %s 2>&1", self, path);
  FILE *pipe = popen(command, "r");
  if (pipe == NULL) exit(2);
  failure[0] = '\0';
  while (fgets(line, sizeof line, pipe) != NULL) {
    /* Without its numbers, which change with the calls before. */
    if (failure[0] == '\0' && strncmp(line, "FAILED", 6) == 0) {
      size_t length = 0;
      for (const char *c = line; *c != '\0' && *c != '\n' && length < 100; c++) {
        if (!isdigit((unsigned char)*c)) failure[length++] = *c;
      }
      failure[length] = '\0';
    }
  }
  if (pclose(pipe) != 0 && failure[0] == '\0') strcpy(failure, "FAILED without a word");
  unlink(path);
}

static inline int shrink(const char *self, const char *path) {
  static struct sequence sequence;
  FILE *file = fopen(path, "r");
  if (file == NULL || !read_sequence(file, &sequence)) {
    fprintf(stderr, "no sequence in %s\n", path);
    return 2;
  }
  fclose(file);
  size_t count = 0;
  for (size_t i = 0; i < sequence.range_count; i++) count += sequence.ranges[i].last - sequence.ranges[i].first + 1;
  uint64_t *calls = allocated(calloc(count + 1, sizeof *calls));
  char *kept = allocated(calloc(count + 1, 1)), *tried = allocated(calloc(count + 1, 1));
  count = 0;
  for (size_t i = 0; i < sequence.range_count; i++) {
    for (uint64_t call = sequence.ranges[i].first; call <= sequence.ranges[i].last; call++) kept[count] = 1, calls[count++] = call;
  }
  char failure[256], now[256];
  run_kept(self, &sequence, calls, kept, count, failure);
  fprintf(stderr, "%s\n", failure[0] == '\0' ? "it does not fail" : failure);
  for (size_t part = (count + 1) / 2; failure[0] != '\0' && part > 0; part = part == 1 ? 0 : (part + 1) / 2) {
    for (size_t at = 0; at < count; at += part) {
      const size_t to = at + part < count ? at + part : count;
      memcpy(tried, kept, count);
      memset(tried + at, 0, to - at);
      if (memcmp(tried, kept, count) == 0) continue;
      run_kept(self, &sequence, calls, tried, count, now);
      if (strcmp(now, failure) == 0) memcpy(kept, tried, count);
    }
  }
  printf("seed=%llu stream=%u calls=", (unsigned long long)sequence.seed, sequence.stream);
  int first = 1;
  for (size_t i = 0; i < count; i++) {
    if (kept[i]) printf("%s%llu", first ? "" : ",", (unsigned long long)calls[i]), first = 0;
  }
  printf("  # %s\n", failure);
  free(calls), free(kept), free(tried);
  return 0;
}

/* --- The watch ------------------------------------------------------------------------------------------------------------------- */

enum { WATCHED = 64 };
static struct stream *watched[WATCHED];
static pthread_mutex_t watching = PTHREAD_MUTEX_INITIALIZER;

static inline void watch(struct stream *s) {
  pthread_mutex_lock(&watching);
  for (size_t i = 0; i < WATCHED; i++) {
    if (watched[i] == NULL) {
      watched[i] = s;
      break;
    }
  }
  pthread_mutex_unlock(&watching);
}
static inline void unwatch(struct stream *s) {
  pthread_mutex_lock(&watching);
  for (size_t i = 0; i < WATCHED; i++) {
    if (watched[i] == s) watched[i] = NULL;
  }
  pthread_mutex_unlock(&watching);
}

/* Returns the processor time limit of a call, milliseconds; elapsed time would depend on the load of the machine. A
 * deadlock uses no processor time, so its limit is twelve times as much elapsed time. */
static inline int64_t longest_call(void) {
  const char *seconds = getenv("VOXSHELL_FUZZ_SECONDS");
  return seconds != NULL ? 1000 * strtoll(seconds, NULL, 10) : program.slow ? 120000 : 10000;
}

static inline void *watchdog(void *unused) {
  (void)unused;
  /* For each stream: the start of the last seen call, and the processor time when it was first seen. */
  int64_t calls[WATCHED] = {0}, used[WATCHED] = {0};
  for (;;) {
    const struct timespec tenth = {0, 100000000};
    nanosleep(&tenth, NULL);
    const int64_t clock = milliseconds(), processor = milliseconds_of(CLOCK_PROCESS_CPUTIME_ID);
    pthread_mutex_lock(&watching);
    /* The other streams use processor time as well. */
    int64_t streams = 0;
    for (size_t i = 0; i < WATCHED; i++) streams += watched[i] != NULL;
    for (size_t i = 0; i < WATCHED; i++) {
      if (watched[i] == NULL) continue;
      const int64_t since = atomic_load_explicit(&watched[i]->busy_since, memory_order_acquire);
      if (since != calls[i]) calls[i] = since, used[i] = processor;
      if (since != 0 && (processor - used[i] > streams * longest_call() || clock - since > 12 * longest_call())) {
        fail(watched[i], "it has not returned for %lld s", (long long)(clock - since) / 1000);
      }
    }
    pthread_mutex_unlock(&watching);
  }
  return NULL;
}

/* Prints the calls in progress: one of them crashed, in its own thread or in a thread of the library. */
static inline void say_calls(void) {
  if (current != NULL) {
    fprintf(stderr, "FAILED %s: a crash\n  call: ", current->function);
    print_call(stderr, current);
    return;
  }
  for (size_t i = 0; i < WATCHED; i++) {
    if (watched[i] == NULL || atomic_load(&watched[i]->busy_since) == 0) continue;
    fprintf(stderr, "FAILED %s: a crash in a thread of the library, perhaps\n  call: ", watched[i]->function);
    print_call(stderr, watched[i]);
  }
}
static inline void on_crash(int number) {
  say_calls();
  fflush(NULL);
  signal(number, SIG_DFL);
  raise(number);
}

/* AddressSanitizer and similar tools report crashes themselves. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static inline void start_watchdog(void) {
  static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  if (__sanitizer_set_death_callback != NULL) __sanitizer_set_death_callback(say_calls);
  else {
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++) signal(SIGNALS[i], on_crash);
  }
  pthread_t thread;
  if (pthread_create(&thread, NULL, watchdog, NULL) != 0 || pthread_detach(thread) != 0) exit(2);
}

#endif
