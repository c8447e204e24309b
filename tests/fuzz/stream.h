/* A stream of calls: the state of one sequence, its random numbers, and the checks around each call.
 *
 * Every call follows from (seed, stream, call), not from the calls before it, except for the objects that those left
 * in the stream's slots. So a sequence still runs when calls are removed, which is how it is shrunk, and it does the
 * same on any thread. */
#ifndef VOXSHELL_TESTS_FUZZ_STREAM_H
#define VOXSHELL_TESTS_FUZZ_STREAM_H

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "voxshell/voxshell.h"

enum {
  SHAPES = 10,     /* slots of a stream */
  FORMS = 3,       /* slots for fields, for pointshells, and for voxelmaps */
  WORKSPACES = 3,
  KEPT_PAIRS = 3,
  HAPTICS = 3,
  DEAD = 8,        /* released handles that are kept for use after release */
  OUTPUTS = 8,     /* of one call */
  INPUTS = 24,     /* of one call */
  NOTES = 96,      /* of one call */
  CANARY = 32,     /* bytes behind each output */
  BEFORE = 640     /* at least the size of any growable output */
};

/* Outputs hold this before the call. As a double it is finite and tiny; as a count it is huge. */
static const unsigned char PATTERN = 0x5C;
static const unsigned char CANARY_PATTERN = 0xA9;

struct shape_slot {
  vxs_shape *handle;
  uint64_t samples, nodes;
  uint32_t field_kind;
};

struct form_slot {
  void *handle;
  uint64_t samples;
};

/* Behaviour of the device of a run. It does not change during the life of its vxs_haptics. */
struct device {
  enum { STAYS, SENDS_NAN, ENDS_THE_RUN, STOPS_FROM_INSIDE, DEVICES } kind;
  vxs_haptics *haptics;
};

struct haptics_slot {
  vxs_haptics *handle;
  double force, torque; /* limits */
  vxs_pose hand;
  size_t bodies;
  int loose;            /* its answers depend on time */
  struct device device;
};

/* A released handle. The library recognises the last 1024 released ones, so it is used only while it is certainly
 * one of them. */
struct dead {
  void *handle;
  uint64_t releases;
};

/* An argument, or a field of one, for the text of a call. Formatted only when the text is wanted. */
struct note {
  const char *name;
  enum { NOTE_REAL, NOTE_NUMBER, NOTE_TEXT } kind;
  union {
    double real;
    uint64_t number;
    const char *text;
  } value;
};

struct output {
  const char *name;
  unsigned char *bytes;
  size_t size;
  int has_before;
  unsigned char before[BEFORE];
};

struct stream {
  uint64_t seed;
  unsigned number;
  uint64_t call;
  const char *function;

  uint64_t random;
  unsigned odds;        /* one value in so many is an edge value; 0: none is */
  int loose;            /* the call's answer depends on time or on other streams: not part of the digest */
  int bad;              /* an argument is surely wrong: the call must not succeed */
  int may_truncate;
  int locked;           /* this call holds `releasing` alone */
  vxs_status status;
  uint64_t digest;
  uint64_t allocations;

  struct note notes[NOTES];
  size_t note_count;
  struct output outputs[OUTPUTS];
  size_t output_count;
  void *inputs[INPUTS];
  size_t input_count;

  struct shape_slot shapes[SHAPES];
  struct form_slot fields[FORMS], shells[FORMS], maps[FORMS], trees[FORMS], hulls[FORMS];
  vxs_workspace *workspaces[WORKSPACES];
  vxs_batch *batch;
  vxs_pair *pairs[KEPT_PAIRS];
  size_t segments[WORKSPACES]; /* how many contacts the last query of each found, SIZE_MAX: unknown */
  struct haptics_slot haptics[HAPTICS];
  struct dead dead[DEAD];
  size_t dead_count;
  uint32_t features[16]; /* of the last contacts found */
  size_t feature_count;

  _Atomic int64_t busy_since; /* milliseconds, 0 outside of a call */
};

/* State of the whole program. */
static struct {
  char folder[256];   /* for files */
  int verbose;
  int slow;           /* under a sanitizer or valgrind */
  _Atomic uint64_t releases;
  pthread_rwlock_t releasing;
  pthread_mutex_t failing;
  /* For a program that makes the system refuse something during calls (faults.c): chooses that and notes it, begins it
   * right before a call of the library, and ends it right after. May be null. */
  void (*choose)(struct stream *s), (*enter)(struct stream *s), (*leave)(struct stream *s);
} program = {.releasing = PTHREAD_RWLOCK_INITIALIZER, .failing = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct stream *current;

/* --- Random numbers: SplitMix64 (Steele, Lea & Flood 2014) ---------------------------------------------------------------- */

static inline uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
#ifdef VOXSHELL_FUZZ_BYTES
/* The input of a coverage-guided fuzzer (fuzz/calls.c). Two of its bytes replace each random number, until they end. */
static _Thread_local struct {
  const unsigned char *at, *end;
} chosen;
#endif
static inline uint64_t draw(struct stream *s) {
#ifdef VOXSHELL_FUZZ_BYTES
  if (chosen.end - chosen.at >= 2) {
    const uint64_t value = (uint64_t)chosen.at[0] | (uint64_t)chosen.at[1] << 8;
    chosen.at += 2;
    return value * 0x0001000100010001u;
  }
#endif
  return scramble(s->random += 0x9E3779B97F4A7C15u);
}
static inline uint64_t below(struct stream *s, uint64_t n) { return (draw(s) >> 11) % n; }
static inline int one_in(struct stream *s, uint64_t n) { return below(s, n) == 0; }
/* Returns a number in [-1, 1). */
static inline double uniform(struct stream *s) { return (double)(draw(s) >> 11) * 0x1p-52 - 1; }
/* Returns true if this value of the call is to be an edge value. */
static inline int odd(struct stream *s) { return s->odds != 0 && one_in(s, s->odds); }

/* --- The text of a call ----------------------------------------------------------------------------------------------------- */

static inline struct note *new_note(struct stream *s, const char *name) {
  if (s->note_count == NOTES) s->note_count--;
  struct note *note = &s->notes[s->note_count++];
  note->name = name;
  return note;
}
static inline double note_real(struct stream *s, const char *name, double value) {
  struct note *note = new_note(s, name);
  note->kind = NOTE_REAL, note->value.real = value;
  return value;
}
static inline uint64_t note_number(struct stream *s, const char *name, uint64_t value) {
  struct note *note = new_note(s, name);
  note->kind = NOTE_NUMBER, note->value.number = value;
  return value;
}
/* `text` must be static. */
static inline void note_text(struct stream *s, const char *name, const char *text) {
  struct note *note = new_note(s, name);
  note->kind = NOTE_TEXT, note->value.text = text;
}

static inline void print_call(FILE *file, const struct stream *s) {
  fprintf(file, "seed=%llu stream=%u calls=%llu  %s(", (unsigned long long)s->seed, s->number, (unsigned long long)s->call,
          s->function);
  for (size_t i = 0; i < s->note_count; i++) {
    const struct note *note = &s->notes[i];
    fprintf(file, "%s%s=", i > 0 ? ", " : "", note->name);
    if (note->kind == NOTE_REAL) fprintf(file, "%.17g", note->value.real);
    else if (note->kind == NOTE_NUMBER) fprintf(file, "%llu", (unsigned long long)note->value.number);
    else fprintf(file, "%s", note->value.text);
  }
  fprintf(file, ")\n");
}

/* Prints the failure, the call, and a line that repeats the sequence, and ends the program. */
__attribute__((format(printf, 2, 3), noreturn)) static inline void fail(const struct stream *s, const char *format, ...) {
  pthread_mutex_lock(&program.failing);
  va_list arguments;
  fprintf(stderr, "FAILED %s: ", s->function);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\n  call: ");
  print_call(stderr, s);
  if (vxs_last_error()[0] != '\0') fprintf(stderr, "  last error: %s\n", vxs_last_error());
  fprintf(stderr, "  replay: seed=%llu stream=%u calls=0-%llu\n", (unsigned long long)s->seed, s->number,
          (unsigned long long)s->call);
  fflush(NULL);
#ifdef VOXSHELL_FUZZ_BYTES
  /* The fuzzer keeps the input of a process that aborts. */
  abort();
#endif
  _exit(1);
}

/* --- Inputs and outputs ------------------------------------------------------------------------------------------------------ */

static inline void *allocated(void *memory) {
  if (memory == NULL) {
    fprintf(stderr, "out of memory\n");
    _exit(2);
  }
  return memory;
}

/* Memory for an input of exactly this size, so that AddressSanitizer sees what is read behind it; freed after the call. */
static inline void *input(struct stream *s, size_t size) {
  if (s->input_count == INPUTS) fail(s, "the fuzzer made too many inputs");
  return s->inputs[s->input_count++] = allocated(calloc(1, size > 0 ? size : 1));
}

/* Returns memory for an output, filled with the pattern and with a canary behind it; freed after the call. Sometimes
 * null, which is bad unless the output is optional. */
static inline void *output_array(struct stream *s, const char *name, size_t size, int optional) {
  if (odd(s)) {
    note_text(s, name, "null");
    if (!optional) s->bad = 1;
    return NULL;
  }
  if (s->output_count == OUTPUTS) fail(s, "the fuzzer made too many outputs");
  struct output *output = &s->outputs[s->output_count++];
  output->name = name;
  output->bytes = allocated(malloc(size + CANARY));
  output->size = size;
  output->has_before = 0;
  memset(output->bytes, PATTERN, size);
  memset(output->bytes + size, CANARY_PATTERN, CANARY);
  return output->bytes;
}
#define OUTPUT(s, type, name) ((type *)output_array((s), (name), sizeof(type), 0))
#define OPTIONAL_OUTPUT(s, type, name) ((type *)output_array((s), (name), sizeof(type), 1))

/* Remembers the present content of the last output as its content before the call. */
static inline void remember_output(struct stream *s) {
  struct output *output = &s->outputs[s->output_count - 1];
  if (output->size > BEFORE) fail(s, "the fuzzer's BEFORE is too small");
  output->has_before = 1;
  memcpy(output->before, output->bytes, output->size);
}

static inline void check_outputs(struct stream *s, int written) {
  for (size_t i = 0; i < s->output_count; i++) {
    const struct output *output = &s->outputs[i];
    for (size_t j = 0; j < CANARY; j++) {
      if (output->bytes[output->size + j] != CANARY_PATTERN) fail(s, "it wrote behind %s", output->name);
    }
    for (size_t j = 0; j < output->size && !written; j++) {
      if (output->bytes[j] != (output->has_before ? output->before[j] : PATTERN)) {
        fail(s, "%s, but it wrote byte %zu of %s", vxs_status_name(s->status), j, output->name);
      }
    }
  }
}

static inline int is_untouched(const void *bytes, size_t size) {
  const unsigned char *b = bytes;
  for (size_t i = 0; i < size; i++) {
    if (b[i] != PATTERN) return 0;
  }
  return 1;
}

/* --- The digest -------------------------------------------------------------------------------------------------------------- */

static inline void digest_number(struct stream *s, uint64_t value) {
  if (!s->loose) s->digest = scramble(s->digest * 3 + value);
}
static inline void digest_bytes(struct stream *s, const void *bytes, size_t size) {
  const unsigned char *b = bytes;
  for (; size >= 8; b += 8, size -= 8) {
    uint64_t word;
    memcpy(&word, b, 8);
    digest_number(s, word);
  }
  for (; size > 0; b++, size--) digest_number(s, *b);
}

/* --- Calls -------------------------------------------------------------------------------------------------------------------- */

static inline int64_t milliseconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1;
}

static inline int64_t milliseconds(void) { return milliseconds_of(CLOCK_MONOTONIC); }

static inline void begin(struct stream *s) {
  if (program.verbose) {
    print_call(stdout, s);
    fflush(stdout);
  }
  atomic_store_explicit(&s->busy_since, milliseconds(), memory_order_release);
  if (program.enter != NULL) program.enter(s);
}

/* Ends a call that has no status. */
static inline void leave(struct stream *s) {
  if (program.leave != NULL) program.leave(s);
  atomic_store_explicit(&s->busy_since, 0, memory_order_release);
}

/* Ends a call; returns true if the outputs were written. */
static inline int end(struct stream *s) {
  const vxs_status status = s->status;
  const int written = status == VXS_OK || status == VXS_TRUNCATED;
  leave(s);
  if (status == VXS_PANIC) fail(s, "VXS_PANIC");
  if (status < VXS_OK || status > VXS_OUT_OF_MEMORY) fail(s, "the unknown status %d", status);
  if (status == VXS_TRUNCATED && !s->may_truncate) fail(s, "VXS_TRUNCATED without an array");
  if (status == VXS_BUSY && !s->loose) fail(s, "VXS_BUSY, but nobody else uses its objects");
  if (written && s->bad) fail(s, "it took a bad argument");
  if (!written) {
    const char *message = vxs_last_error();
    const size_t length = strlen(s->function);
    if (strncmp(message, s->function, length) != 0 || strncmp(message + length, ": ", 2) != 0 || message[length + 2] == '\0') {
      fail(s, "%s, but the message is \"%s\"", vxs_status_name(status), message);
    }
  }
  check_outputs(s, written);
  digest_number(s, (uint64_t)status);
  return written;
}

/* Makes the call; true when its outputs were written. */
#define CALL(s, call) (begin(s), (s)->status = (call), end(s))

/* A call of the fuzzer's own, which must succeed. */
#define MUST(s, call)                                                                                  \
  do {                                                                                                 \
    const vxs_status status_ = (call);                                                                 \
    if (status_ != VXS_OK) fail((s), "then %s gave %s", #call, vxs_status_name(status_));              \
  } while (0)

/* --- Checks of outputs
 * ------------------------------------------------------------------------------------------------- */

static inline void check_finite(struct stream *s, const char *name, double value) {
  if (!isfinite(value)) fail(s, "%s, but %s is %g", vxs_status_name(s->status), name, value);
}
static inline void check_all_finite(struct stream *s, const char *name, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++) check_finite(s, name, values[i]);
}
static inline void check_range(struct stream *s, const char *name, double value, double low, double high) {
  /* Also false for NaN. */
  if (!(value >= low && value <= high)) {
    fail(s, "%s, but %s is %.17g; expected %g to %g", vxs_status_name(s->status), name, value, low, high);
  }
}
static inline void check_vector(struct stream *s, const char *name, vxs_vec3 v) {
  const double values[3] = {v.x, v.y, v.z};
  check_all_finite(s, name, values, 3);
}
static inline void check_unit(struct stream *s, const char *name, vxs_vec3 v) {
  check_range(s, name, sqrt(v.x * v.x + v.y * v.y + v.z * v.z), 1 - 1e-6, 1 + 1e-6);
}
static inline void check_pose(struct stream *s, const char *name, const vxs_pose *p) {
  check_vector(s, name, p->position);
  check_range(s, name, sqrt(p->qx * p->qx + p->qy * p->qy + p->qz * p->qz + p->qw * p->qw), 1 - 1e-6, 1 + 1e-6);
}

#endif
