/* OS calls that fail when told to: the library's sources are compiled with these functions in place
   of the system's. A plan names a kind of call and which ones of it fail, counted from the start of
   the process. */
#ifndef TEST_FAULT_INJECT_H
#define TEST_FAULT_INJECT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef enum fault_kind {
  FAULT_MMAP,
  FAULT_MPROTECT,
  FAULT_MADVISE,
  FAULT_MUNMAP,
  FAULT_MREMAP,
  FAULT_RANDOM,
  FAULT_ASK, /* what the library asks of the system: files, limits, usage, NUMA */
  FAULT_CLOCK,
  FAULT_WRITE, /* of messages */
  FAULT_KEY,
  FAULT_SPECIFIC,
  FAULT_ATFORK,
  FAULT_COMMIT,              /* the program's own commit function for an arena */
  FAULT_SINGLE,              /* so many kinds; those that follow are groups */
  FAULT_TAKE = FAULT_SINGLE, /* mmap, mprotect, mremap: one may stand in for another */
  FAULT_ANY,                 /* all of them */
  FAULT_KINDS
} fault_kind_t;

/* The errors that a kind of call is made to fail with; 0 ends them. */
static const struct {
  const char* name;
  int errors[4];
} fault_kinds[FAULT_KINDS] = {
    [FAULT_MMAP] = {"mmap", {ENOMEM, EPERM}},
    [FAULT_MPROTECT] = {"mprotect", {ENOMEM, EACCES}},
    [FAULT_MADVISE] = {"madvise", {ENOMEM, EINVAL, EPERM}},
    [FAULT_MUNMAP] = {"munmap", {ENOMEM}},
    [FAULT_MREMAP] = {"mremap", {ENOMEM}},
    [FAULT_RANDOM] = {"getrandom", {ENOSYS}},
    [FAULT_ASK] = {"question", {EPERM}},
    [FAULT_CLOCK] = {"clock_gettime", {EINVAL}},
    [FAULT_WRITE] = {"write", {EAGAIN}},
    [FAULT_KEY] = {"pthread_key_create", {EAGAIN}},
    [FAULT_SPECIFIC] = {"pthread_setspecific", {ENOMEM}},
    [FAULT_ATFORK] = {"pthread_atfork", {ENOMEM}},
    [FAULT_COMMIT] = {"commit function", {ENOMEM}},
    [FAULT_TAKE] = {"memory-taking", {ENOMEM}},
    [FAULT_ANY] = {"any", {ENOMEM}},
};

typedef struct fault_plan {
  fault_kind_t kind;
  int error;
  unsigned first, last; /* the numbers of the calls that fail, from 1 */
} fault_plan_t;

static fault_plan_t fault_plan;
static _Atomic(bool) fault_armed;
static _Atomic(unsigned) fault_calls; /* of the plan's kind, while armed */
static _Atomic(unsigned) fault_injected;
static _Atomic(bool) fault_refuses; /* whatever the plan: all calls about memory fail, uncounted */

static bool fault_is_planned(fault_kind_t kind) {
  switch (fault_plan.kind) {
    case FAULT_TAKE: return kind == FAULT_MMAP || kind == FAULT_MPROTECT || kind == FAULT_MREMAP;
    case FAULT_ANY: return kind != FAULT_KINDS;
    default: return kind == fault_plan.kind;
  }
}

/* Sets errno and says true if this call is to fail. */
static bool fault_hits(fault_kind_t kind) {
  if (atomic_load(&fault_refuses) && kind <= FAULT_MREMAP) {
    errno = ENOMEM;
    return true;
  }
  if (!atomic_load(&fault_armed) || !fault_is_planned(kind)) { return false; }
  const unsigned n = atomic_fetch_add(&fault_calls, 1) + 1;
  if (n < fault_plan.first || n > fault_plan.last) { return false; }
  atomic_fetch_add(&fault_injected, 1);
  errno = fault_plan.error;
  return true;
}

static fault_kind_t fault_kind_of(long number) {
  switch (number) {
#ifdef SYS_mmap
    case SYS_mmap: return FAULT_MMAP;
#endif
#ifdef SYS_mmap2
    case SYS_mmap2: return FAULT_MMAP;
#endif
    case SYS_mprotect: return FAULT_MPROTECT;
    case SYS_madvise: return FAULT_MADVISE;
#ifdef SYS_process_madvise
    case SYS_process_madvise: return FAULT_MADVISE;
#endif
    case SYS_munmap: return FAULT_MUNMAP;
    case SYS_mremap: return FAULT_MREMAP;
#ifdef SYS_getrandom
    case SYS_getrandom: return FAULT_RANDOM;
#endif
    case SYS_openat:
    case SYS_read:
#ifdef SYS_mbind
    case SYS_mbind:
#endif
      return FAULT_ASK;
    case SYS_write: return FAULT_WRITE;
    default: return FAULT_KINDS; /* futex, getcpu, close, fcntl: never */
  }
}

/* As the C library does it: six words, however many the call has. */
static long fault_syscall(long number, ...) {
  long a[6];
  if (fault_hits(fault_kind_of(number))) { return -1; }
  va_list args;
  va_start(args, number);
  for (int i = 0; i < 6; i++) { a[i] = va_arg(args, long); }
  va_end(args);
  return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static inline void* fault_mmap(void* p, size_t bytes, int protection, int flags, int fd, off_t at) {
  return fault_hits(FAULT_MMAP) ? MAP_FAILED : mmap(p, bytes, protection, flags, fd, at);
}

static inline int fault_getrlimit(int resource, struct rlimit* limit) {
  return fault_hits(FAULT_ASK) ? -1 : getrlimit(resource, limit);
}

static inline int fault_getrusage(int who, struct rusage* usage) {
  return fault_hits(FAULT_ASK) ? -1 : getrusage(who, usage);
}

#ifndef clock_gettime /* a test may have one of its own */
static inline int fault_clock_gettime(clockid_t clock, struct timespec* t) {
  return fault_hits(FAULT_CLOCK) ? -1 : clock_gettime(clock, t);
}
#define clock_gettime fault_clock_gettime
#define FAULT_HAS_CLOCK
#endif

static inline int fault_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  return fault_hits(FAULT_KEY) ? fault_plan.error : pthread_key_create(key, destructor);
}

static inline int fault_setspecific(pthread_key_t key, const void* value) {
  return fault_hits(FAULT_SPECIFIC) ? fault_plan.error : pthread_setspecific(key, value);
}

static inline int fault_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  return fault_hits(FAULT_ATFORK) ? fault_plan.error : pthread_atfork(prepare, parent, child);
}

#define syscall             fault_syscall
#define mmap                fault_mmap
#define getrlimit           fault_getrlimit
#define getrusage           fault_getrusage
#define pthread_key_create  fault_key_create
#define pthread_setspecific fault_setspecific
#define pthread_atfork      fault_atfork
#include "../../src/static.c"
#undef syscall
#undef mmap
#undef getrlimit
#undef getrusage
#ifdef FAULT_HAS_CLOCK
#undef clock_gettime
#endif
#undef pthread_key_create
#undef pthread_setspecific
#undef pthread_atfork

#endif
