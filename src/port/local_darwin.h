// macOS, and builds for iOS and Catalyst; x64 and arm64. See local.h.
#ifndef MI_PORT_LOCAL_DARWIN_H
#define MI_PORT_LOCAL_DARWIN_H

#include "../base/atomic.h"
#include "darwin_head.h"
#include "unix_end.h"
#include "unix_errno.h"

#define PORT_SOURCE       "port/darwin.c"
#define PORT_FAULT_SOURCE "port/darwin_fault.c"

enum { PORT_DECOMMIT_STAYS = 1, PORT_CAN_RELEASE = 1, PORT_CAN_MOVE = 0 };
enum { PORT_HAS_THREADS = 1, PORT_WIDE_VARIABLES = 0 };
enum { PORT_FIRST_ARENA = 8 << 20, PORT_ARENA_ALIGN = 2 << 20 };
enum { PORT_EXIT_ROUNDS = 3 };  // POSIX promises four rounds of destructors
enum { PORT_ENDS_ARE_TOLD = 1, PORT_SLOT_STAYS = 0 };
#define PORT_NATIVE_TLS 0  // the first use of a thread-local variable has the loader allocate

// ---- threads: the system keeps a table of the values of keys for each ----

#if defined(__x86_64__)
FAST void* port_slot_at(uintptr_t place) {
  void* value;
  __asm__ volatile("movq %%gs:(%1), %0" : "=r"(value) : "r"(place));
  return value;
}

// Its first entry is the thread itself.
FAST uintptr_t port_thread_id(void) {
  uintptr_t thread;
  __asm__("movq %%gs:0, %0" : "=r"(thread));
  return thread;
}
#else
// Where the table is; its lowest bits may be the processor's number.
FAST uintptr_t port_thread_id(void) {
  uintptr_t table;
  __asm__("mrs %0, tpidrro_el0" : "=r"(table));
  return table & ~(uintptr_t)7;
}

FAST void* port_slot_at(uintptr_t place) { return *(void**)(port_thread_id() + place); }
#endif

// Where the value of our key is in that table, or 0 where it is not found there.
extern HIDDEN _Atomic(uintptr_t) port_slot_place;

HIDDEN void* port_slot_get_by_call(void);
PRIVATE bool port_slot_set(void* value);

FAST void* port_slot_get(void) {
  const uintptr_t place = load_relaxed(&port_slot_place);
  return likely(place != 0) ? port_slot_at(place) : port_slot_get_by_call();
}

// ---- the system's lock, which lends its holder the priority of who waits ----

_Static_assert(sizeof(os_unfair_lock) == sizeof(uint32_t), "the word of a lock_t");
#define PORT_OWN_LOCK 1
FAST void port_lock(_Atomic(uint32_t)* word) { os_unfair_lock_lock((os_unfair_lock_t)(void*)word); }
FAST void port_unlock(_Atomic(uint32_t)* word) {
  os_unfair_lock_unlock((os_unfair_lock_t)(void*)word);
}

// ---- forks, for src/entry/darwin.c ----

// From now on it is the system's malloc that calls the next two.
UNUSED PRIVATE void port_fork_by_zone(void);
PRIVATE void port_fork_prepare(void);     // once for each fork, by whatever way
PRIVATE void port_fork_done(bool child);  // once after each, and only then
UNUSED PRIVATE bool port_fork_is_prepared(void);

// ---- what port.h asks for ----

#define PORT_HAS_MEMORY_TAG 1
PRIVATE void port_tag_memory(long tag);
#define PORT_HAS_REUSE 1
PRIVATE void port_reuse(void* start, size_t bytes);
PRIVATE bool port_free_foreign(void* p);
PRIVATE bool port_realloc_foreign(void* p, size_t size, void** out);

#endif
