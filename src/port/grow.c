// A test port: POSIX with the rules that WebAssembly has for memory.
//
//   - memory lies in one place and only grows, by units of 64 KiB; nothing of it goes back;
//   - others grow it too: now and then what comes next does not lie behind what came last, and what
//     lies between is inaccessible;
//   - nothing can be made inaccessible;
//   - there is one thread.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "port.h"

#include <errno.h>
#include <sys/mman.h>

#include "../base/track.h"
#include "unix_calls.h"
#include "unix_plain.h"
#include "unix_least.h"

// ---- memory ----

#include "growth.h"

enum { MAP_PLAIN = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, OTHERS_EVERY = 3 };
#define PLACE_BYTES (sizeof(void*) == 8 ? (uint64_t)64 << 30 : (uint64_t)1 << 30)

static uint64_t place_end;  // of all memory that there may be

static void growth_begin(uint64_t* next, uint64_t* end) {
  void* place = NULL;
  if (os_mmap(NULL, (size_t)PLACE_BYTES, PROT_NONE, MAP_PLAIN, &place) != 0) { return; }
  *next = *end = align_up((uintptr_t)place, GROWTH_UNIT);
  place_end = (uintptr_t)place + PLACE_BYTES;
}

static bool growth_add(size_t bytes, uint64_t* start) {
  static uint64_t memory_end;
  static unsigned calls;
  if (place_end == 0) { return false; }
  if (memory_end == 0) { memory_end = grown_memory.end; }
  if (++calls % OTHERS_EVERY == 0) { memory_end += GROWTH_UNIT; }
  if (memory_end + bytes > place_end) { return false; }
  *start = memory_end;
  if (os_mprotect((void*)(uintptr_t)*start, bytes, PROT_READ | PROT_WRITE) != 0) { return false; }
  memory_end += bytes;
  return true;
}

// All of ours is accessible; memory that the program has may not be.
PRIVATE int port_commit(void* start, size_t bytes) {
  return os_mprotect(start, bytes, PROT_READ | PROT_WRITE);
}

// ---- the thread, and forks ----

PRIVATE uint32_t port_thread_number(void) { return 1; }
PRIVATE void port_forget_threads(void) {}

#include "unix_thread.h"
