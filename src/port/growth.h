// Memory that only grows, by pieces that mostly lie behind each other. The port that includes this
// has defined growth_add, and growth_begin, which tells where memory lies that nobody has used yet.
//
//   | what others have | ours, taken … next | ours … end | what others have | …
#ifndef MI_PORT_GROWTH_H
#define MI_PORT_GROWTH_H

#include <errno.h>

#include "lock.h"
#include "plain_memory.h"

enum { GROWTH_UNIT = 64 << 10 };

static struct {
  lock_t lock;
  uint64_t next, end;  // 4 GiB is an end too
} grown_memory;

// Makes so much zeroed memory, in whole units; where it begins is told. False: there is no more.
static bool growth_add(size_t bytes, uint64_t* start);
static void growth_begin(uint64_t* next, uint64_t* end);

// If somebody else has grown memory, what is left of ours before it is given up.
static bool growth_reach(uint64_t end) {
  uint64_t start = 0;
  const uint64_t bytes = align_up((size_t)(end - grown_memory.end), GROWTH_UNIT);
  if (end > UINTPTR_MAX - GROWTH_UNIT || bytes > SIZE_MAX / 2 ||
      !growth_add((size_t)bytes, &start)) {
    return false;
  }
  if (start != grown_memory.end) { grown_memory.next = start; }
  grown_memory.end = start + bytes;
  return true;
}

static int growth_take(size_t bytes, size_t align, void** out) {
  lock_acquire(&grown_memory.lock);
  if (grown_memory.end == 0) { growth_begin(&grown_memory.next, &grown_memory.end); }
  bool ok = true;
  uint64_t start = (grown_memory.next + align - 1) / align * align;
  while (ok && start + bytes > grown_memory.end) {
    ok = growth_reach(start + bytes);
    start = (grown_memory.next + align - 1) / align * align;
  }
  if (ok) { grown_memory.next = start + bytes; }
  lock_release(&grown_memory.lock);
  *out = (void*)(uintptr_t)start;
  return ok ? 0 : ENOMEM;
}

PRIVATE int port_lengthen(void* start, size_t old_bytes, size_t new_bytes) {
  const uint64_t old_end = (uint64_t)(uintptr_t)start + old_bytes;
  const uint64_t new_end = (uint64_t)(uintptr_t)start + new_bytes;
  lock_acquire(&grown_memory.lock);
  bool ok = old_end == grown_memory.next;
  if (ok && new_end > grown_memory.end) {
    ok = growth_reach(new_end) && old_end == grown_memory.next;
  }
  if (ok) { grown_memory.next = new_end; }
  lock_release(&grown_memory.lock);
  return ok ? 0 : ENOMEM;
}

PRIVATE size_t port_granularity(void) { return port_page_bytes(); }

PRIVATE int port_reserve(size_t bytes, size_t align, void** out) {
  return growth_take(bytes, align, out);
}

PRIVATE int port_map(size_t bytes, size_t align, void** out) {
  return growth_take(bytes, align, out);
}

// ---- what there is not ----

PRIVATE int port_release(void* start, size_t bytes) {
  (void)start, (void)bytes;
  return ENOSYS;
}

PRIVATE int port_decommit(void* start, size_t bytes) { return port_release(start, bytes); }
PRIVATE int port_purge(void* start, size_t bytes) { return port_release(start, bytes); }
PRIVATE int port_reset(void* start, size_t bytes) { return port_release(start, bytes); }
PRIVATE int port_guard(void* start, size_t bytes) { return port_release(start, bytes); }

PRIVATE int port_unguard(void* start, size_t bytes) {
  (void)start, (void)bytes;
  return 0;
}

PRIVATE int port_shorten(void* start, size_t old_bytes, size_t new_bytes) {
  (void)start, (void)old_bytes, (void)new_bytes;
  return ENOSYS;
}

PRIVATE int port_seal(void* start, size_t bytes, bool on) {
  (void)start, (void)bytes, (void)on;
  return ENOSYS;
}

#endif
