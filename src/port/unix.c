// A system of which nothing is known but that it has POSIX 2008, threads and anonymous memory. It
// serves as the port to such systems, and on Linux as a test of what the library asks of one.
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

#ifndef MAP_ANONYMOUS  // POSIX has it since 2024
#define MAP_ANONYMOUS MAP_ANON
#endif

#ifndef MAP_LAZY      // a port may have its reasons
#ifdef MAP_NORESERVE  // without it Haiku commits at once what is only reserved
#define MAP_LAZY MAP_NORESERVE
#else
#define MAP_LAZY 0
#endif
#endif

enum { MAP_PLAIN = MAP_PRIVATE | MAP_ANONYMOUS | MAP_LAZY };

// ---- memory ----

#include "unix_map.h"

// Fresh memory takes its place.
PRIVATE int port_decommit(void* start, size_t bytes) {
  void* same = NULL;
  return os_mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_PLAIN | MAP_FIXED, &same);
}

PRIVATE int port_reset(void* start, size_t bytes) { return port_decommit(start, bytes); }

// Nobody says how many mappings there may be.
static size_t guard_mappings_most(void) {
  enum { MOST = 4096 };
  return MOST;
}

#include "unix_guard.h"

PRIVATE int port_guard(void* start, size_t bytes) { return guard_by_mapping(start, bytes); }

PRIVATE int port_unguard(void* start, size_t bytes) { return unguard_mapping(start, bytes, true); }

// ---- threads ----

#include "unix_slots.h"
#include "unix_thread.h"
