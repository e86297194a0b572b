// What POSIX 2008 alone gives: no advice, no exchange of page tables. The port that includes this
// defines is_set_user_id.
#ifndef MI_PORT_UNIX_PLAIN_H
#define MI_PORT_UNIX_PLAIN_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../base/bits.h"

// ---- calls that are cancellation points, where a thread that holds a lock must not end ----

typedef struct calm {
  int error, cancel;
} calm_t;

static calm_t calm_begin(void) {
  calm_t calm = {.error = errno, .cancel = PTHREAD_CANCEL_ENABLE};
  (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &calm.cancel);
  return calm;
}

static void calm_end(calm_t calm) {
  (void)pthread_setcancelstate(calm.cancel, &calm.cancel);
  errno = calm.error;
}

// ---- memory ----

PRIVATE size_t port_page_bytes(void) {
  static _Atomic(size_t) known;
  size_t bytes = load_relaxed(&known);
  if (unlikely(bytes == 0)) {
    const int saved = errno;
    const long answer = sysconf(_SC_PAGESIZE);
    errno = saved;
    bytes = answer > 0 ? (size_t)answer : 4 * KiB;
    store_relaxed(&known, bytes);
  }
  return bytes;
}

#include "plain_memory.h"

PRIVATE int port_map_huge(size_t bytes, size_t huge_bytes, int node, void** out) {
  (void)bytes, (void)huge_bytes, (void)node, (void)out;
  return ENOSYS;
}

// ---- process ----

static bool is_set_user_id(void);

static long os_write(int descriptor, const char* text, size_t length) {
  const calm_t calm = calm_begin();
  const long done = write(descriptor, text, length);
  const int error = errno;
  calm_end(calm);
  if (done < 0) { errno = error; }
  return done;
}

#include "unix_env.h"
#include "unix_time.h"

PRIVATE int port_process_id(void) { return (int)getpid(); }

PRIVATE int64_t port_clock_ms(void) { return (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000u); }

PRIVATE uint64_t port_clock_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

PRIVATE _Noreturn void port_abort(void) { abort(); }

PRIVATE int port_numa_count(void) { return 1; }

// ---- threads ----

// The C library's fork is left to see to its own locks.
PRIVATE void port_lock_streams_for_fork(void) {}
PRIVATE void port_unlock_streams_after_fork(bool child) { (void)child; }

#endif
