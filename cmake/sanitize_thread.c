/* What lets gcc's ThreadSanitizer look at a core that rustc has instrumented. Linked into the shared library, whose calls
 * of `syscall` and of the atomics come here (the linker's --wrap).
 *
 * ThreadSanitizer does not know fences, which `Arc` and rayon's queues order their atomics by: each atomic operation counts
 * as acquire and release. Nor does it see into Rust's standard library, which comes without instrumentation and whose locks
 * sleep by the system call futex: whoever is woken by it has seen what went before the waking. What is left of checking is
 * what matters here: memory that two threads touch without any of these in between. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

/* rustc calls these; gcc's runtime has them in later releases only. It intercepts what they call. */
__attribute__((weak)) void *__tsan_memset(void *to, int byte, size_t size) { return memset(to, byte, size); }
__attribute__((weak)) void *__tsan_memcpy(void *to, const void *from, size_t size) { return memcpy(to, from, size); }
__attribute__((weak)) void *__tsan_memmove(void *to, const void *from, size_t size) { return memmove(to, from, size); }

void __tsan_acquire(void *);
void __tsan_release(void *);

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  long a[6];
  va_list rest;
  va_start(rest, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(rest, long);
  va_end(rest);
  const int operation = number == SYS_futex ? (int)a[1] & FUTEX_CMD_MASK : -1;
  if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET) __tsan_release((void *)a[0]);
  const long result = __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) __tsan_acquire((void *)a[0]);
  return result;
}

enum { ACQUIRE = 2, RELEASE = 3, ACQUIRE_RELEASE = 4 };

#define CHANGE(bits, name)                                                                                      \
  uint##bits##_t __real___tsan_atomic##bits##_##name(volatile uint##bits##_t *, uint##bits##_t, int);            \
  uint##bits##_t __wrap___tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t v, int order) { \
    (void)order;                                                                                                \
    return __real___tsan_atomic##bits##_##name(at, v, ACQUIRE_RELEASE);                                         \
  }

#define ATOMICS(bits)                                                                                            \
  uint##bits##_t __real___tsan_atomic##bits##_load(const volatile uint##bits##_t *, int);                        \
  uint##bits##_t __wrap___tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order) {               \
    (void)order;                                                                                                 \
    return __real___tsan_atomic##bits##_load(at, ACQUIRE);                                                       \
  }                                                                                                              \
  void __real___tsan_atomic##bits##_store(volatile uint##bits##_t *, uint##bits##_t, int);                       \
  void __wrap___tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t v, int order) {            \
    (void)order;                                                                                                 \
    __real___tsan_atomic##bits##_store(at, v, RELEASE);                                                          \
  }                                                                                                              \
  uint##bits##_t __real___tsan_atomic##bits##_compare_exchange_val(volatile uint##bits##_t *, uint##bits##_t,    \
                                                                   uint##bits##_t, int, int);                    \
  uint##bits##_t __wrap___tsan_atomic##bits##_compare_exchange_val(volatile uint##bits##_t *at, uint##bits##_t c, \
                                                                   uint##bits##_t v, int order, int failure) {   \
    (void)order, (void)failure;                                                                                  \
    return __real___tsan_atomic##bits##_compare_exchange_val(at, c, v, ACQUIRE_RELEASE, ACQUIRE);                \
  }                                                                                                              \
  CHANGE(bits, exchange)                                                                                         \
  CHANGE(bits, fetch_add)                                                                                        \
  CHANGE(bits, fetch_sub)                                                                                        \
  CHANGE(bits, fetch_and)                                                                                        \
  CHANGE(bits, fetch_or)

ATOMICS(8)
ATOMICS(32)
ATOMICS(64)
