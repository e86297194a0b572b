// A test port: POSIX with the rules that Windows has for memory. Who breaks one is told which, and
// the process ends.
//
//   - memory that was decommitted is inaccessible until it is committed again;
//   - so much may be committed as the variable MI_STRICT_COMMIT_MIB says, and no more;
//   - only what is committed can be sealed;
//   - a mapping begins at a multiple of 64 KiB and is released as a whole;
//   - a purge leaves anything but what was there;
//   - the end of a thread is told once, or never: where MI_STRICT_MISS_ENDS is set;
//   - other threads are ended, wherever they are, before the process hears of its end: where a test
//     has stopped them, and has set port_ending;
//   - every call of the C library that succeeds leaves errno changed, as POSIX allows.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "port.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/track.h"

#ifndef MI_INCLUDED_BY_TEST  // which has calls of its own in their place
enum { SPOILT = 9999 };
#define SPOIL(call)                                        \
  __extension__({                                          \
    const __auto_type spoil_result = (call);               \
    errno = (intptr_t)spoil_result == -1 ? errno : SPOILT; \
    spoil_result;                                          \
  })
#define mmap(...)                   SPOIL(mmap(__VA_ARGS__))
#define munmap(...)                 SPOIL(munmap(__VA_ARGS__))
#define mprotect(...)               SPOIL(mprotect(__VA_ARGS__))
#define madvise(...)                SPOIL(madvise(__VA_ARGS__))
#define sysconf(...)                SPOIL(sysconf(__VA_ARGS__))
#define getrlimit(...)              SPOIL(getrlimit(__VA_ARGS__))
#define getrusage(...)              SPOIL(getrusage(__VA_ARGS__))
#define clock_gettime(...)          SPOIL(clock_gettime(__VA_ARGS__))
#define nanosleep(...)              SPOIL(nanosleep(__VA_ARGS__))
#define fcntl(...)                  SPOIL(fcntl(__VA_ARGS__))
#define open(...)                   SPOIL(open(__VA_ARGS__))
#define read(...)                   SPOIL(read(__VA_ARGS__))
#define write(...)                  SPOIL(write(__VA_ARGS__))
#define pthread_setcancelstate(...) SPOIL(pthread_setcancelstate(__VA_ARGS__))
#define pthread_key_create(...)     SPOIL(pthread_key_create(__VA_ARGS__))
#define pthread_setspecific(...)    SPOIL(pthread_setspecific(__VA_ARGS__))
#define pthread_atfork(...)         SPOIL(pthread_atfork(__VA_ARGS__))
#endif
#include "unix_calls.h"
#include "unix_plain.h"
#include "unix_least.h"

enum { MAP_PLAIN = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
enum { STRICT_GRANULE = 64 << 10 };

#include "unix_aligned.h"

// ---- what each OS page is, in parts of 4 GiB ----

enum { FOREIGN, RESERVED, COMMITTED, SEALED, CUT_OFF };
enum { STATES = 7, FIRST = 8 };  // the latter: of a mapping
enum { PAGE_SHIFT = 12, STRICT_PAGE = 1 << PAGE_SHIFT, PART_SHIFT = 32 };
#define PART_PAGES  ((size_t)1 << (PART_SHIFT - PAGE_SHIFT))
#define PARTS_COUNT (sizeof(void*) == 8 ? 1 << 15 : 1)

typedef _Atomic(uint8_t) state_t;
static _Atomic(uintptr_t) part_table[PARTS_COUNT];

static void rule(bool kept, const char* what) {
  if (kept) { return; }
  static const char text[] = "mimalloc: a rule of the port is broken: ";
  port_write_stderr(text, sizeof(text) - 1);
  port_write_stderr(what, strlen(what));
  port_write_stderr("\n", 1);
  abort();
}

// Relaxed: there is nothing behind a part but zeros that the OS gave.
static bool notes_add(uintptr_t address) {
  _Atomic(uintptr_t)* slot = &part_table[(uint64_t)address >> PART_SHIFT];
  void* fresh = NULL;
  uintptr_t expected = 0;
  if (load_relaxed(slot) != 0) { return true; }
  if (os_mmap(NULL, PART_PAGES, PROT_READ | PROT_WRITE, MAP_PLAIN, &fresh) != 0) { return false; }
  if (!cas_relaxed(slot, &expected, (uintptr_t)fresh)) { (void)os_munmap(fresh, PART_PAGES); }
  return load_relaxed(slot) != 0;
}

static bool notes_cover(const void* start, size_t bytes) {
  bool ok = notes_add((uintptr_t)start + bytes - 1);
  for (uint64_t at = (uintptr_t)start; ok && at < (uintptr_t)start + (uint64_t)bytes;) {
    ok = notes_add((uintptr_t)at);
    at += (uint64_t)1 << PART_SHIFT;
  }
  return ok;
}

// NULL: in a part without a mapping.
static state_t* os_page_at(uintptr_t address) {
  const uintptr_t part = load_relaxed(&part_table[(uint64_t)address >> PART_SHIFT]);
  return part == 0 ? NULL : (state_t*)part + ((uint64_t)address >> PAGE_SHIFT) % PART_PAGES;
}

static unsigned os_page_bits(uintptr_t address) {
  const state_t* page = os_page_at(address);
  return page == NULL ? FOREIGN : load_relaxed(page);
}

static unsigned os_page_state(uintptr_t address) { return os_page_bits(address) & STATES; }
static bool is_first(uintptr_t address) { return (os_page_bits(address) & FIRST) != 0; }

static size_t count_charged(const void* start, size_t bytes) {
  size_t n = 0;
  for (uintptr_t at = (uintptr_t)start; at < (uintptr_t)start + bytes; at += STRICT_PAGE) {
    n += os_page_state(at) == COMMITTED || os_page_state(at) == SEALED;
  }
  return n;
}

static void set_all(const void* start, size_t bytes, unsigned state) {
  for (uintptr_t at = (uintptr_t)start; at < (uintptr_t)start + bytes; at += STRICT_PAGE) {
    const uint8_t first = state == FOREIGN ? 0 : load_relaxed(os_page_at(at)) & FIRST;
    store_relaxed(os_page_at(at), (uint8_t)(first | state));
  }
}

// ---- how much is committed ----

static _Atomic(size_t) charged;  // OS pages

static size_t most_charged(void) {
  static _Atomic(size_t) known;
  size_t most = load_relaxed(&known);
  if (most == 0) {
    const char* text = port_getenv("MI_STRICT_COMMIT_MIB");
    most = text == NULL ? SIZE_MAX / MiB : (size_t)strtoul(text, NULL, 10);
    most = (most * MiB) >> PAGE_SHIFT;
    store_relaxed(&known, most);
  }
  return most;
}

static bool charge(size_t pages) {
  if (add_relaxed(&charged, pages) + pages <= most_charged()) { return true; }
  sub_relaxed(&charged, pages);
  return false;
}

// ---- memory ----

PRIVATE size_t port_granularity(void) { return STRICT_GRANULE; }

PRIVATE int port_reserve(size_t bytes, size_t align, void** out) {
  const int error = map_aligned(bytes, size_max(align, STRICT_GRANULE), PROT_NONE, out);
  if (error != 0) { return error; }
  if (!notes_cover(*out, bytes)) {
    (void)os_munmap(*out, bytes);
    return ENOMEM;
  }
  set_all(*out, bytes, RESERVED);
  store_relaxed(os_page_at((uintptr_t)*out), RESERVED | FIRST);
  track_mapped(*out, bytes);
  return 0;
}

PRIVATE int port_map(size_t bytes, size_t align, void** out) {
  *out = NULL;
  int error = port_reserve(bytes, align, out);
  if (error != 0) { return error; }
  error = port_commit(*out, bytes);
  if (error != 0) { (void)port_release(*out, bytes); }
  return error;
}

static void check_mapped(const void* start, size_t bytes) {
  const bool foreign = os_page_state((uintptr_t)start) == FOREIGN;
  for (uintptr_t at = (uintptr_t)start; at < (uintptr_t)start + bytes; at += STRICT_PAGE) {
    const unsigned state = os_page_state(at);
    rule((state == FOREIGN) == foreign && state != CUT_OFF, "memory that is not in one mapping");
  }
}

// The program's own memory is nobody's to count.
PRIVATE int port_commit(void* start, size_t bytes) {
  const bool foreign = os_page_state((uintptr_t)start) == FOREIGN;
  const size_t pages = foreign ? 0 : bytes / port_page_bytes() - count_charged(start, bytes);
  check_mapped(start, bytes);
  if (!charge(pages)) { return ENOMEM; }
  const int error = os_mprotect(start, bytes, PROT_READ | PROT_WRITE);
  if (error == 0 && !foreign) { set_all(start, bytes, COMMITTED); }
  if (error != 0) { sub_relaxed(&charged, pages); }
  return error;
}

PRIVATE int port_decommit(void* start, size_t bytes) {
  const bool foreign = os_page_state((uintptr_t)start) == FOREIGN;
  void* same = NULL;
  check_mapped(start, bytes);
  const int error = os_mmap(start, bytes, PROT_NONE, MAP_PLAIN | MAP_FIXED, &same);
  if (error != 0 || foreign) { return error; }
  sub_relaxed(&charged, count_charged(start, bytes));
  set_all(start, bytes, RESERVED);
  return 0;
}

// What was written counts as offered to the system, not as held.
PRIVATE int port_purge(void* start, size_t bytes) {
  enum { ANYTHING = 0xA5 };
  const int saved = errno;
  memset(start, ANYTHING, bytes);
  (void)madvise(start, bytes, MADV_FREE);
  errno = saved;
  return 0;
}

PRIVATE int port_reset(void* start, size_t bytes) { return port_purge(start, bytes); }

// What was cut off goes with the rest.
PRIVATE int port_release(void* start, size_t bytes) {
  const uintptr_t from = (uintptr_t)start;
  rule(is_first(from), "releases what is no mapping's start");
  for (uintptr_t at = (uintptr_t)start; at < (uintptr_t)start + bytes; at += STRICT_PAGE) {
    rule(os_page_state(at) != FOREIGN && os_page_state(at) != CUT_OFF &&
             (at == from || !is_first(at)),
         "releases more than a mapping");
  }
  while (os_page_state(from + bytes) == CUT_OFF) { bytes += port_page_bytes(); }
  rule(os_page_state(from + bytes) == FOREIGN || is_first(from + bytes),
       "releases a part of a mapping");
  sub_relaxed(&charged, count_charged(start, bytes));
  set_all(start, bytes, FOREIGN);
  track_unmapped(start, bytes);
  return os_munmap(start, bytes);
}

PRIVATE int port_shorten(void* start, size_t old_bytes, size_t new_bytes) {
  uint8_t* end = (uint8_t*)start + new_bytes;
  rule(is_first((uintptr_t)start) && new_bytes > 0, "shortens what is no mapping");
  const int error = port_decommit(end, old_bytes - new_bytes);
  if (error == 0) { set_all(end, old_bytes - new_bytes, CUT_OFF); }
  return error;
}

PRIVATE int port_lengthen(void* start, size_t old_bytes, size_t new_bytes) {
  (void)start, (void)old_bytes, (void)new_bytes;
  return ENOSYS;
}

PRIVATE int port_seal(void* start, size_t bytes, bool on) {
  rule(count_charged(start, bytes) == bytes / port_page_bytes(), "seals what is not committed");
  const int error = os_mprotect(start, bytes, on ? PROT_NONE : PROT_READ | PROT_WRITE);
  if (error == 0) { set_all(start, bytes, on ? SEALED : COMMITTED); }
  return error;
}

PRIVATE int port_guard(void* start, size_t bytes) { return port_decommit(start, bytes); }

PRIVATE int port_unguard(void* start, size_t bytes) { return port_commit(start, bytes); }

// ---- threads ----

HIDDEN THREAD_LOCAL int port_thread_mark;

static _Atomic(uint32_t) threads_numbered;
static THREAD_LOCAL uint32_t thread_number;

PRIVATE uint32_t port_thread_number(void) {
  if (unlikely(thread_number == 0)) { thread_number = add_relaxed(&threads_numbered, 1) + 1; }
  return thread_number;
}

PRIVATE void port_forget_threads(void) {}

HIDDEN _Atomic(bool) port_ending;
static void (*end_is_seen)(void);

PRIVATE void port_end_init(void (*on_end)(void)) { end_is_seen = on_end; }

PRIVATE void port_see_end(void) {
  void (*see)(void) = end_is_seen;
  end_is_seen = NULL;
  if (see != NULL) { see(); }
}

static void (*leave)(void*);
static THREAD_LOCAL bool has_left;

static void leave_once(void* argument) {
  if (has_left || port_getenv("MI_STRICT_MISS_ENDS") != NULL) { return; }
  has_left = true;
  leave(argument);
}

PRIVATE int watch_exit(void (*on_exit)(void*));
#define port_thread_exit_init watch_exit
#include "unix_thread.h"
#undef port_thread_exit_init

PRIVATE int port_thread_exit_init(void (*on_exit)(void*)) {
  leave = on_exit;
  return watch_exit(leave_once);
}

#undef open  // a name of ours elsewhere, too
