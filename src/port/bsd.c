// FreeBSD, NetBSD, OpenBSD: POSIX, with each system's own wait.
//
// MADV_DONTNEED frees nothing there, so memory goes back by mapping fresh memory over it; MADV_FREE
// leaves it to the system when to take it.
#include "port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(__FreeBSD__)
#include <pthread_np.h>
#include <sys/umtx.h>
#elif defined(__NetBSD__)
#include <lwp.h>
#include <sys/futex.h>
#include <sys/syscall.h>
#elif defined(__OpenBSD__)
#include <dlfcn.h>
#include <sys/futex.h>
#endif

#include "../base/track.h"
#include "unix_calls.h"
#include "unix_plain.h"

enum { MAP_PLAIN = MAP_PRIVATE | MAP_ANON };

// ---- memory ----

#include "unix_map.h"

// Fresh memory takes its place.
PRIVATE int port_decommit(void* start, size_t bytes) {
  void* same = NULL;
  return os_mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_PLAIN | MAP_FIXED, &same);
}

PRIVATE int port_reset(void* start, size_t bytes) {
  const int saved = errno;
  const int error = madvise(start, bytes, MADV_FREE) == 0 ? 0 : errno;
  errno = saved;
  return error;
}

#include "unix_bsd.h"

// ---- process ----

PRIVATE void port_usage(port_usage_t* out) {
  struct rusage usage;
  memset(&usage, 0, sizeof(usage));
  *out = (port_usage_t){0};
  take_usage(out, &usage);
  out->peak_rss_bytes = (size_t)usage.ru_maxrss * KiB;
  out->page_faults = (size_t)usage.ru_minflt + (size_t)usage.ru_majflt;
}

// ---- threads ----

static int os_wait(_Atomic(uint32_t)* word, uint32_t value) {
#if defined(__FreeBSD__)
  return _umtx_op((void*)word, UMTX_OP_WAIT_UINT_PRIVATE, value, NULL, NULL);
#elif defined(__NetBSD__)
  return (int)syscall(SYS___futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0, 0);
#else
  return futex((volatile uint32_t*)(void*)word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, (int)value, NULL,
               NULL);
#endif
}

static int os_wake(_Atomic(uint32_t)* word) {
#if defined(__FreeBSD__)
  return _umtx_op((void*)word, UMTX_OP_WAKE_PRIVATE, 1, NULL, NULL);
#elif defined(__NetBSD__)
  return (int)syscall(SYS___futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0, 0);
#else
  return futex((volatile uint32_t*)(void*)word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL);
#endif
}

// Where there is no such call, as on NetBSD before 10, a moment's sleep has to do.
PRIVATE void port_wait(_Atomic(uint32_t)* word, uint32_t value) {
  enum { SOON_NS = 50000 };
  const struct timespec soon = {.tv_nsec = SOON_NS};
  const calm_t calm = calm_begin();
  if (os_wait(word, value) == -1 && errno == ENOSYS) { (void)nanosleep(&soon, NULL); }
  calm_end(calm);
}

PRIVATE void port_wake_one(_Atomic(uint32_t)* word) {
  const int saved = errno;
  (void)os_wake(word);
  errno = saved;
}

#ifdef __OpenBSD__

#include "unix_slots.h"

// What would have been found without ours.
static void* libc_handle(void) { return RTLD_NEXT; }

#include "unix_libc.h"

#else

PRIVATE uint32_t port_thread_number(void) {
#if defined(__FreeBSD__)
  return (uint32_t)pthread_getthreadid_np();
#else
  return (uint32_t)_lwp_self();
#endif
}

PRIVATE void port_forget_threads(void) {}

#endif

#include "unix_thread.h"
