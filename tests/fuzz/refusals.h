/* Refusals of the system during a call: of memory, of threads, of room on the disk. Each is chosen by the numbers of the
 * call, begins right before it and ends right after it. */
#ifndef VOXSHELL_TESTS_FUZZ_REFUSALS_H
#define VOXSHELL_TESTS_FUZZ_REFUSALS_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "files.h"

/* Of a bit set. */
enum refusal { OF_MEMORY = 1, OF_THREADS = 2, OF_DISK = 4, OF_ALL = 7 };

/* Ways of a disk. */
enum disk {
  SHORT_FILES,    /* a file can have so many bytes, as on a full disk */
  NO_DESCRIPTORS,
  FULL_DEVICE,    /* the path leads to /dev/full */
  NO_FOLDER,      /* it leads to a folder that takes no files, even from root */
  TO_A_LINK       /* it leads to a file of another name, and files are short */
};

static struct {
  unsigned allowed;       /* bit set of refusals that are chosen */
  /* Of the present call. */
  unsigned chosen;
  enum disk disk;
  uint64_t memory;        /* bytes that the address space may grow by */
  int threads;            /* that may start */
  uint64_t file_bytes;
  void *blocks;           /* list of what was free in the heap */
  const char *writes;     /* name of the file that the call writes, null for others */
  struct listing before;
  uint64_t counts[8];     /* of calls by their set of refusals, */
  uint64_t out_of_memory, io; /* and of their statuses */
  int address_space;      /* /proc/self/statm */
  _Atomic int threads_left; /* that may start now; negative: any number */
} refusals = {.threads_left = -1};

/* --- Threads ------------------------------------------------------------------------------------------------------------------- */

static int (*start_thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* Takes the place of the system's function, also for the library. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument) {
  if (start_thread == NULL) *(void **)&start_thread = dlsym(RTLD_NEXT, "pthread_create");
  const int left = atomic_load(&refusals.threads_left);
  if (left == 0) return EAGAIN;
  if (left > 0) atomic_store(&refusals.threads_left, left - 1);
  return start_thread(thread, attributes, work, argument);
}

/* --- Memory -------------------------------------------------------------------------------------------------------------------- */

static void limit(int resource, uint64_t soft) {
  struct rlimit limits;
  if (getrlimit(resource, &limits) != 0) exit(2);
  limits.rlim_cur = soft < limits.rlim_max ? (rlim_t)soft : limits.rlim_max;
  if (setrlimit(resource, &limits) != 0) exit(2);
}

/* Returns the address space of the process, bytes; without an allocation. */
static uint64_t address_space(void) {
  char text[64] = "";
  if (pread(refusals.address_space, text, sizeof text - 1, 0) <= 0) exit(2);
  return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Takes all blocks that are free in the heap, so that they serve no call: from large to small. */
static void take_free_blocks(void) {
  for (size_t size = 1 << 20; size >= 24; size = size > 2048 ? size / 2 : size - 8) {
    void *block;
    while ((block = malloc(size)) != NULL) {
      *(void **)block = refusals.blocks;
      refusals.blocks = block;
    }
  }
}
static void give_blocks_back(void) {
  while (refusals.blocks != NULL) {
    void *block = refusals.blocks;
    refusals.blocks = *(void **)block;
    free(block);
  }
}

/* --- Around a call ------------------------------------------------------------------------------------------------------------- */

static int begins_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

/* Returns the name of the file that a function writes, null if it writes none. */
static const char *written_by(const char *function) {
  if (begins_with(function, "vxs_shape_save")) return "asset";
  if (begins_with(function, "vxs_voxtree_save")) return "voxtree";
  if (strcmp(function, "vxs_record_start") == 0 || strcmp(function, "vxs_record_stop") == 0) return "recording.vxr";
  return NULL;
}
static int starts_threads(const char *function) {
  return strcmp(function, "vxs_haptics_run") == 0 || strcmp(function, "vxs_record_start") == 0;
}

/* A generator of its own, so that the arguments are those of the same call without refusals. */
static struct stream own_numbers(const struct stream *s) {
  struct stream own;
  own.random = scramble(s->seed ^ 0x5EFA5A15u) ^ scramble(((uint64_t)s->number << 32) + s->call + 7);
  return own;
}

static void choose_refusals(struct stream *s) {
  struct stream own = own_numbers(s);
  refusals.writes = written_by(s->function);
  refusals.chosen = 0;
  /* Half of the calls have none, so that there are objects. */
  if (one_in(&own, 2)) refusals.chosen |= OF_MEMORY;
  if (one_in(&own, starts_threads(s->function) ? 2 : 30)) refusals.chosen |= OF_THREADS;
  if (one_in(&own, refusals.writes != NULL ? 2 : 10)) refusals.chosen |= OF_DISK;
  if (refusals.chosen == OF_ALL || one_in(&own, 4)) refusals.chosen = 0;
  refusals.chosen &= refusals.allowed;
  if (refusals.chosen & OF_MEMORY) {
    const uint64_t step = one_in(&own, 3) ? 0 : below(&own, 20);
    refusals.memory = note_number(s, "[free memory]", step == 0 ? 0 : (uint64_t)2048 << step);
  }
  if (refusals.chosen & OF_THREADS) refusals.threads = (int)note_number(s, "[threads]", below(&own, 3));
  if (refusals.chosen & OF_DISK) {
    static const char *const NAMES[] = {"short files", "no descriptors", "/dev/full", "no folder", "a link"};
    const int has_path = refusals.writes != NULL && strcmp(s->function, "vxs_record_stop") != 0;
    const uint64_t kinds = !has_path ? 2 : starts_threads(s->function) ? 4 : 5;
    refusals.disk = (enum disk)below(&own, kinds);
    refusals.file_bytes = below(&own, (uint64_t)1 << below(&own, 18));
    note_text(s, "[disk]", NAMES[refusals.disk]);
    note_number(s, "[bytes of a file]", refusals.file_bytes);
  }
  refusals.counts[refusals.chosen]++;
}

static void enter_refusals(struct stream *s) {
  if (refusals.writes != NULL) list_files(s, &refusals.before);
  if (refusals.chosen & OF_DISK) {
    switch (refusals.disk) {
      case FULL_DEVICE: put_link(s, refusals.writes, "/dev/full"); break;
      case NO_FOLDER: put_link(s, refusals.writes, "/proc/self/fdinfo/none"); break;
      case TO_A_LINK: put_link(s, refusals.writes, NULL); break;
      case NO_DESCRIPTORS: limit(RLIMIT_NOFILE, 0); break;
      case SHORT_FILES: break;
    }
    if (refusals.disk == SHORT_FILES || refusals.disk == TO_A_LINK) limit(RLIMIT_FSIZE, refusals.file_bytes);
  }
  if (refusals.chosen & OF_THREADS) atomic_store(&refusals.threads_left, refusals.threads);
  if (refusals.chosen & OF_MEMORY) {
    const uint64_t now = address_space();
    limit(RLIMIT_AS, now);
    take_free_blocks();
    limit(RLIMIT_AS, now + refusals.memory);
  }
}

/* Checks the statuses, which refusals of memory and threads share, and the files. */
static void leave_refusals(struct stream *s) {
  if (refusals.chosen & OF_MEMORY) limit(RLIMIT_AS, RLIM_INFINITY), give_blocks_back();
  if (refusals.chosen & OF_THREADS) atomic_store(&refusals.threads_left, -1);
  if (refusals.chosen & OF_DISK) {
    limit(RLIMIT_NOFILE, RLIM_INFINITY);
    limit(RLIMIT_FSIZE, RLIM_INFINITY);
    if (refusals.disk >= FULL_DEVICE) remove_link(s, refusals.writes);
  }
  if (s->status == VXS_OUT_OF_MEMORY) {
    refusals.out_of_memory++;
    if (!(refusals.chosen & (OF_MEMORY | OF_THREADS))) fail(s, "VXS_OUT_OF_MEMORY, but all memory was there");
  }
  if (s->status == VXS_IO) {
    static const int LACKS[] = {ENOMEM, EAGAIN};
    refusals.io++;
    for (size_t i = 0; i < COUNT_OF(LACKS); i++) {
      if (strstr(vxs_last_error(), strerror(LACKS[i])) != NULL) fail(s, "VXS_IO; expected VXS_OUT_OF_MEMORY");
    }
  }
  if (refusals.writes != NULL) check_files(s, &refusals.before, refusals.writes);
  refusals.chosen = 0;
}

/* --- Of a process -------------------------------------------------------------------------------------------------------------- */

/* Makes the stack as large as it will be: under a limit it cannot grow. */
__attribute__((noinline)) static void grow_stack(void) {
  volatile char bytes[4 << 20];
  for (size_t i = 0; i < sizeof bytes; i += 4096) bytes[i] = 0;
}

static void begin_refusals(unsigned allowed) {
  refusals.allowed = allowed;
  refusals.address_space = open("/proc/self/statm", O_RDONLY);
  if (refusals.address_space < 0) exit(2);
  grow_stack();
  signal(SIGXFSZ, SIG_IGN);
  program.choose = choose_refusals, program.enter = enter_refusals, program.leave = leave_refusals;
}

#endif
