// The Linux port: glibc, musl, bionic; every architecture. Memory calls go to the kernel directly,
// so that a program that interposes mmap or madvise with functions that allocate cannot make us
// recurse.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "port.h"

#ifdef __ANDROID__
#include <dlfcn.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/bits.h"
#include "../base/track.h"
#include "unix_refused.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif
#ifndef SYS_process_madvise  // headers before 5.10
#define SYS_process_madvise (-1)
#endif
#ifndef SYS_futex  // 32 bits, and a time of 64
#define SYS_futex SYS_futex_time64
#endif

enum { MAP_PLAIN = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

// ---- memory ----

// The system call's form varies: 32-bit systems have it with another unit for the offset, which is
// 0 here, and s390x passes a pointer to the arguments.
static void* call_mmap(void* hint, size_t bytes, int protection, int flags) {
#if defined(SYS_mmap2)
  return (void*)syscall(SYS_mmap2, hint, bytes, protection, flags, -1, 0L);
#elif defined(__s390x__)
  const unsigned long arguments[] = {
      (uintptr_t)hint, bytes, (unsigned)protection, (unsigned)flags, (unsigned long)-1, 0};
  return (void*)syscall(SYS_mmap, arguments);
#else
  return (void*)syscall(SYS_mmap, hint, bytes, protection, flags, -1, 0L);
#endif
}

static int os_mmap(void* hint, size_t bytes, int protection, int flags, void** out) {
  const int saved = errno;
  void* p = call_mmap(hint, bytes, protection, flags);
  const int error = p == MAP_FAILED ? errno : 0;
  errno = saved;
  if (error == 0) { *out = p; }
  return see_refused(error);
}

static int os_call(long number, void* start, size_t bytes, int argument) {
  const int saved = errno;
  const int error = syscall(number, start, bytes, argument) == -1 ? errno : 0;
  errno = saved;
  return error;
}

static int os_munmap(void* start, size_t bytes) { return os_call(SYS_munmap, start, bytes, 0); }

static int os_mprotect(void* start, size_t bytes, int protection) {
  return see_refused(os_call(SYS_mprotect, start, bytes, protection));
}

static int os_advise(void* start, size_t bytes, int advice) {
  return os_call(SYS_madvise, start, bytes, advice);
}

PRIVATE size_t port_page_bytes(void) {
  static _Atomic(size_t) known;
  size_t bytes = load_relaxed(&known);
  if (unlikely(bytes == 0)) {
    bytes = (size_t)getauxval(AT_PAGESZ);
    if (!is_power_of_two(bytes)) { bytes = 4 * KiB; }
    store_relaxed(&known, bytes);
  }
  return bytes;
}

// What one table of the lowest level maps; on AArch64 that table is an OS page itself.
PRIVATE size_t port_huge_bytes(void) {
#ifdef __aarch64__
  return port_page_bytes() / sizeof(uint64_t) * port_page_bytes();
#else
  return 2 * MiB;
#endif
}

#include "unix_map.h"

PRIVATE int port_populate(void* start, size_t bytes) {
  enum { POPULATE_WRITE = 23 };
  return os_advise(start, bytes, POPULATE_WRITE);
}

PRIVATE int port_decommit(void* start, size_t bytes) {
  const int error = os_advise(start, bytes, MADV_DONTNEED);
  return error == EINVAL ? os_advise(start, bytes, MADV_DONTNEED_LOCKED) : error;  // after mlockall
}

PRIVATE int port_reset(void* start, size_t bytes) { return os_advise(start, bytes, MADV_FREE); }

// A call that interrupts the other processors once, since 6.16; before, the kernel does not know
// the file descriptor. Where calls are filtered one that is new may end the process, and so may the
// question whether they are: without other threads there is nobody to interrupt.
PRIVATE bool port_give_all(const port_range_t* ranges, size_t count, bool resets) {
  enum { SELF = -10000 };
  static _Atomic(bool) refused;
  if (count < 2 || load_relaxed(&refused) || port_is_single_threaded()) { return false; }
  const int saved = errno;
  size_t bytes = 0;
  for (size_t i = 0; i < count; i++) { bytes += ranges[i].bytes; }
  const int advice = resets ? MADV_FREE : MADV_DONTNEED;
  const bool done = syscall(SYS_prctl, PR_GET_SECCOMP) == 0 &&
                    syscall(SYS_process_madvise, SELF, ranges, count, advice, 0) == (long)bytes;
  errno = saved;
  if (!done) { store_relaxed(&refused, true); }
  return done;
}

PRIVATE int port_move(void* from, size_t from_bytes, void* to, size_t to_bytes) {
  const int saved = errno;
  const long p = syscall(SYS_mremap, from, from_bytes, to_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to);
  const int error = p == -1 ? errno : 0;
  errno = saved;
  return error;
}

PRIVATE int port_advise_huge(void* start, size_t bytes, bool wanted) {
  return os_advise(start, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

static size_t read_file(const char* path, char* out, size_t size) {
  const int saved = errno;
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  long got = -1;
  if (fd >= 0) {
    got = syscall(SYS_read, fd, out, size - 1);
    (void)syscall(SYS_close, fd);
  }
  errno = saved;
  if (got > 0) { track_read(out, (size_t)got); }
  out[got > 0 ? got : 0] = 0;
  return got > 0 ? (size_t)got : 0;
}

// The number that the text begins with.
static size_t decimal_of(const char* text) {
  size_t n = 0;
  for (; *text >= '0' && *text <= '9' && n < SIZE_MAX / 100; text++) {
    n = n * 10 + (size_t)(*text - '0');
  }
  return n;
}

// ---- guards: markers in the page tables (Linux 6.13), which cost no mapping; where those are
// missing or refused, as on locked memory, protection, which costs two, up to a number ----

enum { GUARD_INSTALL = 102, GUARD_REMOVE = 103 };

static _Atomic(bool)
    has_guard_markers;                 // or had: never false again, since threads find out at once
static _Atomic(bool) markers_missing;  // not tried any more

// An eighth of the mappings that the process may have, of which each takes two.
static size_t guard_mappings_most(void) {
  static _Atomic(size_t) known;
  size_t most = load_relaxed(&known);
  if (most == 0) {
    enum { USUAL = 65530, SHARE = 16 };
    char text[32];
    (void)read_file("/proc/sys/vm/max_map_count", text, sizeof(text));
    most = decimal_of(text);
    most = (most == 0 ? USUAL : most) / SHARE + 1;
    store_relaxed(&known, most);
  }
  return most;
}

// An emulator may answer that any advice was taken, and ignore it.
static int guard_by_marker(void* start, size_t bytes) {
  enum { NO_ADVICE = 0x4d49 };
  const bool known = load_relaxed(&has_guard_markers);
  if (GUARDS_ARE_MAPPINGS || load_relaxed(&markers_missing)) { return EINVAL; }
  const bool ignored = !known && os_advise(start, bytes, NO_ADVICE) == 0;
  const int error = ignored ? EINVAL : os_advise(start, bytes, GUARD_INSTALL);
  if (!known && error == 0) { store_relaxed(&has_guard_markers, true); }
  if (!known && error == EINVAL) { store_relaxed(&markers_missing, true); }
  return error;
}

#include "unix_guard.h"

PRIVATE int port_guard(void* start, size_t bytes) {
  const int error = guard_by_marker(start, bytes);
  return likely(error == 0) ? 0 : guard_by_mapping(start, bytes);
}

// Whether the range has no access, as a guard by protection.
static bool is_sealed(void* start) {
  enum { POPULATE_READ = 22 };
  return os_advise(start, port_page_bytes(), POPULATE_READ) == EINVAL;
}

// A marker that is not removed stays whatever the protection: then fresh memory takes its place.
PRIVATE int port_unguard(void* start, size_t bytes) {
  void* same = NULL;
  const bool marked = load_relaxed(&has_guard_markers);
  if (marked && os_advise(start, bytes, GUARD_REMOVE) != 0) {
    return os_mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_PLAIN | MAP_FIXED, &same);
  }
  if (!load_relaxed(&has_guard_mappings)) { return marked ? 0 : EINVAL; }
  return unguard_mapping(start, bytes, !marked || is_sealed(start));
}

// What the pages leave stays mapped: nobody else's memory can come to lie there meanwhile.
static int move_pages(void* from, size_t bytes, void* to) {
  enum { DONT_UNMAP = 4 };
  const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | DONT_UNMAP;
  const int saved = errno;
  const int error = syscall(SYS_mremap, from, bytes, bytes, flags, to) == -1 ? errno : 0;
  errno = saved;
  return error;
}

PRIVATE int port_bring_back(void* start, size_t bytes, void* place) {
  void* same = NULL;
  const int error = move_pages(place, bytes, start);
  if (error == 0) { (void)os_mmap(place, bytes, PROT_NONE, MAP_PLAIN | MAP_FIXED, &same); }
  return error;
}

PRIVATE int port_put_away(void* start, size_t bytes, void* place) {
  int error = move_pages(start, bytes, place);
  if (error != 0) { return error; }
  error = port_seal(start, bytes, true);
  if (error != 0) { (void)port_bring_back(start, bytes, place); }
  return error;
}

static void bind_to_node(void* start, size_t bytes, int node) {
#if defined(SYS_mbind) && !defined(__ANDROID__)  // which ends an app that calls it
  enum { PREFERRED = 1 };
  const unsigned long mask = node >= 0 && node < (int)sizeof(mask) * 8 ? 1UL << node : 0;
  if (mask == 0) { return; }
  const int saved = errno;
  (void)syscall(SYS_mbind, start, bytes, PREFERRED, &mask, sizeof(mask) * 8UL, 0);
  errno = saved;
#else
  (void)start, (void)bytes, (void)node;
#endif
}

// The pages are populated here: a huge page that is missing later would be a SIGBUS at its first
// touch.
PRIVATE int port_map_huge(size_t bytes, size_t huge_bytes, int node, void** out) {
  const int size_flag = (int)(high_bit(huge_bytes) << MAP_HUGE_SHIFT);
  const int error = os_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | size_flag, out);
  if (error != 0) { return error; }
  bind_to_node(*out, bytes, node);
  if (port_populate(*out, bytes) == EFAULT) {
    port_release(*out, bytes);
    return ENOMEM;
  }
  return 0;
}

// ---- process ----

static bool is_set_user_id(void) { return getauxval(AT_SECURE) != 0; }

// No cancellation point.
static long os_write(int descriptor, const char* text, size_t length) {
  return syscall(SYS_write, descriptor, text, length);
}

#include "unix_env.h"

PRIVATE int port_process_id(void) { return (int)syscall(SYS_getpid); }

#ifdef __ANDROID__
PRIVATE const char* port_program_name(void) { return getprogname(); }
#else
// NOLINTNEXTLINE(readability-redundant-declaration) the headers may have come without _GNU_SOURCE
extern char* program_invocation_short_name;

PRIVATE const char* port_program_name(void) { return program_invocation_short_name; }
#endif

#include "unix_time.h"

PRIVATE int64_t port_clock_ms(void) {
  return (int64_t)(clock_ns(CLOCK_MONOTONIC_COARSE) / 1000000u);
}

// Asked once, as the process starts. Most programs end without another question, and what the C
// library needs to answer it without a system call would be 64 KiB more of it in their memory.
PRIVATE uint64_t port_clock_ns(void) {
#ifdef __LP64__  // the kernel's form of the time is the C library's
  struct timespec t = {0};
  const int saved = errno;
  if (syscall(SYS_clock_gettime, (long)CLOCK_MONOTONIC, &t) != 0) { errno = saved; }
  return ns_of(t);
#else
  return clock_ns(CLOCK_MONOTONIC);
#endif
}

PRIVATE _Noreturn void port_abort(void) { abort(); }

PRIVATE int port_numa_count(void) {
  char text[64];  // "0", "0-3"
  if (read_file("/sys/devices/system/node/possible", text, sizeof(text)) == 0) { return 1; }
  const char* last = strrchr(text, '-');
  return (int)decimal_of(last == NULL ? text : last + 1) + 1;
}

PRIVATE int port_random(void* out, size_t bytes) {
  enum { EXEC_BYTES = 16 };
#ifdef SYS_getrandom
  enum { NONBLOCK = 1 };
  const int saved = errno;
  const long got = syscall(SYS_getrandom, out, bytes, NONBLOCK);
  errno = saved;
  if (got == (long)bytes) { return 0; }
#endif
  const unsigned long given = getauxval(AT_RANDOM);
  if (given != 0) { memcpy(out, (const void*)given, size_min(bytes, EXEC_BYTES)); }
  return ENOSYS;
}

PRIVATE void port_wait(_Atomic(uint32_t)* word, uint32_t value) {
  enum { WAIT_PRIVATE = 128 };
  const int saved = errno;
  (void)syscall(SYS_futex, word, WAIT_PRIVATE, value, NULL, NULL, 0);
  errno = saved;
}

PRIVATE void port_wake_one(_Atomic(uint32_t)* word) {
  enum { WAKE_PRIVATE = 1 | 128 };
  const int saved = errno;
  (void)syscall(SYS_futex, word, WAKE_PRIVATE, 1, NULL, NULL, 0);
  errno = saved;
}

static size_t resident_pages(void) {
  char text[128];  // statm: "size resident …" in pages
  (void)read_file("/proc/self/statm", text, sizeof(text));
  const char* space = strchr(text, ' ');
  return space == NULL ? 0 : decimal_of(space + 1);
}

static size_t faults_of(const struct rusage* usage) {
  return (size_t)usage->ru_minflt + (size_t)usage->ru_majflt;
}

PRIVATE void port_usage(port_usage_t* out) {
  struct rusage usage = {0};
  take_usage(out, &usage);
  out->peak_rss_bytes = (size_t)usage.ru_maxrss * KiB;
  out->page_faults = faults_of(&usage);
  out->rss_bytes = resident_pages() * port_page_bytes();
}

PRIVATE size_t port_page_faults(void) {
  struct rusage usage = {0};
  call_getrusage(&usage);
  return faults_of(&usage);
}

// ---- threads ----

#if PORT_NATIVE_TLS

static THREAD_LOCAL uint32_t thread_number;

PRIVATE uint32_t port_thread_number(void) {
  if (unlikely(thread_number == 0)) { thread_number = (uint32_t)syscall(SYS_gettid); }
  return thread_number;
}

PRIVATE void port_forget_threads(void) { thread_number = 0; }

#else
#include "unix_slots.h"
#endif

#include "unix_thread.h"

#ifdef __ANDROID__

// An app is loaded into a process that has threads, and its library is closed to who looks for
// names: so the C library is asked for by its own. A program linked statically has no dlopen.
#pragma weak dlopen
#pragma weak dlsym

static void* libc_handle(void) {
  static _Atomic(void*) known;
  void* handle = load_relaxed(&known);
  if (handle == NULL && dlopen != NULL) {
    handle = dlopen("libc.so", RTLD_LAZY | RTLD_NOLOAD);
    store_relaxed(&known, handle);
  }
  return handle;
}

#include "unix_libc.h"

PRIVATE void port_lock_streams_for_fork(void) {}
PRIVATE void port_unlock_streams_after_fork(bool child) { (void)child; }

#else

// glibc's names; a thread may take this lock more than once. In the child glibc itself makes it
// new, but only where it knows of other threads.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern void _IO_list_lock(void) WEAK;
extern void _IO_list_unlock(void) WEAK;
extern void _IO_list_resetlock(void) WEAK;
// NOLINTEND(bugprone-reserved-identifier)

PRIVATE void port_lock_streams_for_fork(void) {
  if (_IO_list_lock != NULL) { _IO_list_lock(); }
}

PRIVATE void port_unlock_streams_after_fork(bool child) {
  void (*unlock)(void) = child ? _IO_list_resetlock : _IO_list_unlock;
  if (unlock != NULL) { unlock(); }
}

#endif
