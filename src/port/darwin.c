// macOS and iOS: POSIX, with what Mach has of its own.
//
// Advice gives no memory back for sure: fresh memory is mapped over it. What was only offered to
// the system (MADV_FREE_REUSABLE) is no longer counted as ours until we say that we use it again.
#include "port.h"

#include <crt_externs.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "../base/track.h"

// ---- memory ----

static _Atomic(int) memory_tag;

// From 240 to 255 they are for programs; others have meanings of the system's.
PRIVATE void port_tag_memory(long tag) {
  enum { TAG_MOST = 255 };
  store_relaxed(&memory_tag, tag > 0 && tag <= TAG_MOST ? (int)tag : 0);
}

// In place of a file there is a tag, which tools show.
#define OS_FILE (load_relaxed(&memory_tag) == 0 ? -1 : VM_MAKE_TAG(load_relaxed(&memory_tag)))
#define environ (*_NSGetEnviron())  // a library may not name it

#include "unix_calls.h"
#include "unix_plain.h"

enum { MAP_PLAIN = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE };

#include "unix_map.h"

// Fresh memory takes its place.
PRIVATE int port_decommit(void* start, size_t bytes) {
  void* same = NULL;
  return os_mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_PLAIN | MAP_FIXED, &same);
}

static int os_madvise(void* start, size_t bytes, int advice) {
  const int saved = errno;
  int error = 0;
  do { error = madvise(start, bytes, advice) == 0 ? 0 : errno; } while (error == EAGAIN);
  errno = saved;
  return error;
}

PRIVATE int port_reset(void* start, size_t bytes) {
  return os_madvise(start, bytes, MADV_FREE_REUSABLE);
}

PRIVATE void port_reuse(void* start, size_t bytes) {
  (void)os_madvise(start, bytes, MADV_FREE_REUSE);
}

#include "unix_bsd.h"

// ---- process ----

PRIVATE void port_usage(port_usage_t* out) {
  struct rusage usage;
  struct mach_task_basic_info info = {0};
  mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
  memset(&usage, 0, sizeof(usage));
  *out = (port_usage_t){0};
  take_usage(out, &usage);
  out->peak_rss_bytes = (size_t)usage.ru_maxrss;
  out->page_faults = (size_t)usage.ru_minflt + (size_t)usage.ru_majflt;
  if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info, &count) ==
      KERN_SUCCESS) {
    out->rss_bytes = (size_t)info.resident_size;
  }
}

// ---- blocks of other zones go back where they are from ----

PRIVATE bool port_free_foreign(void* p) {
  malloc_zone_t* zone = malloc_zone_from_ptr(p);
  if (zone != NULL) { malloc_zone_free(zone, p); }
  return zone != NULL;
}

PRIVATE bool port_realloc_foreign(void* p, size_t size, void** out) {
  malloc_zone_t* zone = malloc_zone_from_ptr(p);
  if (zone != NULL) { *out = malloc_zone_realloc(zone, p, size); }
  return zone != NULL;
}

// ---- threads ----
//
// As a thread ends the system goes over its keys in rounds. It takes each value away before it
// calls the key's destructor: that of the slot puts it back, so that the slot is there for whatever
// destructor comes later, and after the last round.

static pthread_key_t slot_key, exit_key;
static _Atomic(bool) has_slot_key;
HIDDEN _Atomic(uintptr_t) port_slot_place;

static void slot_stays(void* value) { (void)pthread_setspecific(slot_key, value); }

HIDDEN void* port_slot_get_by_call(void) {
  return load_acquire(&has_slot_key) ? pthread_getspecific(slot_key) : NULL;  // [K1] in
}

PRIVATE bool port_slot_set(void* value) {
  if (!load_acquire(&has_slot_key)) { return value == NULL; }  // [K1] in
  return pthread_setspecific(slot_key, value) == 0;
}

// Is the value where we would look for it? Nobody promises that.
static bool slot_is_at(uintptr_t place) {
  static char there;
  bool found = pthread_setspecific(slot_key, &there) == 0 && port_slot_at(place) == &there;
  found = pthread_setspecific(slot_key, NULL) == 0 && found && port_slot_at(place) == NULL;
  return found;
}

// The keys are never deleted: threads end while the process does.
PRIVATE int port_thread_exit_init(void (*on_exit)(void*)) {
  const int saved = errno;
  int error = pthread_key_create(&exit_key, on_exit);
  if (error == 0) { error = pthread_key_create(&slot_key, slot_stays); }
  errno = saved;
  if (error != 0) { return error; }
  const uintptr_t place = (uintptr_t)slot_key * sizeof(void*);
  if (slot_is_at(place)) { store_relaxed(&port_slot_place, place); }
  store_release(&has_slot_key, true);  // [K1] out: the keys
  return 0;
}

PRIVATE int port_thread_arm(void* argument) {
  if (!load_acquire(&has_slot_key)) { return EAGAIN; }  // [K1] in
  return pthread_setspecific(exit_key, argument);
}

PRIVATE uint32_t port_thread_number(void) {
  uint64_t number = 0;
  (void)pthread_threadid_np(NULL, &number);
  return (uint32_t)number;
}

PRIVATE void port_forget_threads(void) {}

// ---- fork ----

static struct {
  void (*prepare)(void);
  void (*parent)(void);
  void (*child)(void);
  _Atomic(uintptr_t) by;  // the thread that has prepared for one, or 0
  bool by_zone;
} fork_calls;

UNUSED PRIVATE bool port_fork_is_prepared(void) { return load_relaxed(&fork_calls.by) != 0; }

PRIVATE void port_fork_prepare(void) {
  if (fork_calls.prepare == NULL || load_relaxed(&fork_calls.by) == port_thread_id()) { return; }
  fork_calls.prepare();
  store_relaxed(&fork_calls.by, port_thread_id());
}

PRIVATE void port_fork_done(bool child) {
  if (load_relaxed(&fork_calls.by) != port_thread_id()) { return; }
  store_relaxed(&fork_calls.by, 0);
  if (child) {
    fork_calls.child();
  } else {
    fork_calls.parent();
  }
}

static void fork_parent_done(void) { port_fork_done(false); }
static void fork_child_done(void) { port_fork_done(true); }

UNUSED PRIVATE void port_fork_by_zone(void) { fork_calls.by_zone = true; }

// Handlers of pthread_atfork that were there before ours run after it, and may allocate. The hooks
// of a zone come after all of them.
PRIVATE int port_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  const int saved = errno;
  fork_calls.prepare = prepare, fork_calls.parent = parent, fork_calls.child = child;
  const int error =
      fork_calls.by_zone ? 0 : pthread_atfork(port_fork_prepare, fork_parent_done, fork_child_done);
  errno = saved;
  return error;
}
