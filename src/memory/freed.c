// Spans that are given back inaccessible.
//
//   guarded   without memory; a clean run, which is brought back when it is taken. Large blocks in
//             builds with GUARD_FREED, so that their use faults; and what the OS would not make
//             accessible again
//   delayed   the same, but no run yet: its addresses wait. Large blocks in builds with QUARANTINE
//
// In builds with guard pages large blocks have waited before, see page/waiting.c.
#include "../service/options.h"
#include "internal.h"

// ---- guarded ----

enum { GUARD_FREED_LEAST = QUARANTINE ? 32 << 10 : 1 << 20 };

// Returns true if nobody can reach it any more, and it needs no purge. Memory of the program and
// huge OS pages stay as they are.
static bool freed_make_inaccessible(const span_t* span) {
  const arena_t* arena = span->arena;
  const size_t bytes = slices_bytes(span->slices);
  if (bytes <= GUARD_FREED_LEAST || !arena_can_protect(arena)) { return false; }
  if (port_guard(span->start, bytes) == 0) { return true; }
  return port_unguard(span->start, bytes) != 0 && port_decommit(span->start, bytes) == 0;
}

static void run_give_guarded(const span_t* span) {
  arena_t* arena = span->arena;
  arena->guarded = true;
  account_given(arena, span->slices);
  run_free(arena, slice_index(arena, span->start), (uint32_t)span->slices, RUN_CLEAN);
}

PRIVATE void memory_give_unreachable(span_t span) {
  const size_t bytes = slices_bytes(span.slices);
  if (span.arena == NULL) {
    direct_give(&span);
    return;
  }
  const bool is_empty = port_decommit(span.start, bytes) == 0;
  lock_acquire(&memory.lock);
  if (!is_empty) { span.arena->has_stale = true; }
  count_decommitted(bytes);
  if (!memory_is_left()) { run_give_guarded(&span); }
  lock_release(&memory.lock);
}

// ---- delayed ----

// Spans that are inaccessible wait, so that their addresses do not come back soon: until there are
// too many, then a random one goes. What they hold back is address space, no memory.
enum { DELAYED_SPANS = QUARANTINE ? 256 : 1, DELAYED_SLICES = 64 << 20 >> SLICE_SHIFT };
static struct {
  span_t spans[DELAYED_SPANS];
  size_t count, slices;
} delayed;  // under the memory lock

static void delayed_give(size_t at) {
  const span_t span = delayed.spans[at];
  delayed.spans[at] = delayed.spans[--delayed.count];
  delayed.slices -= span.slices;
  run_give_guarded(&span);
}

static void delay_span(const span_t* span) {
  while (delayed.count == DELAYED_SPANS ||
         (delayed.count > 0 && delayed.slices + span->slices > DELAYED_SLICES)) {
    delayed_give((size_t)random_below(&memory.random, delayed.count));
  }
  delayed.spans[delayed.count++] = *span;
  delayed.slices += span->slices;
}

// ---- a span that stays taken, without its memory ----

PRIVATE bool memory_empty(const span_t* span, size_t bytes) {
  if (port_decommit(span->start, bytes) != 0) { return false; }
  if (PORT_DECOMMIT_STAYS && port_seal(span->start, bytes, true) != 0) { return false; }
  lock_acquire(&memory.lock);
  memory.taken_slices -= span->slices;
  count_decommitted(slices_bytes(span->slices));
  lock_release(&memory.lock);
  return true;
}

PRIVATE bool memory_refill(const span_t* span, size_t bytes) {
  const int error =
      PORT_DECOMMIT_STAYS ? port_seal(span->start, bytes, false) : port_commit(span->start, bytes);
  if (error != 0) { return false; }
  lock_acquire(&memory.lock);
  memory.taken_slices += span->slices;
  stat_up(&memory_stats.committed, slices_bytes(span->slices));
  lock_release(&memory.lock);
  return true;
}

// ---- both ----

PRIVATE bool freed_put(const span_t* span) {
  if (!freed_make_inaccessible(span)) { return false; }
  const bool waits = QUARANTINE && !addresses_are_limited();
  lock_acquire(&memory.lock);
  count_decommitted(slices_bytes(span->slices));
  if (memory_is_left()) {
    // it stays where it is
  } else if (waits) {
    delay_span(span);
  } else {
    run_give_guarded(span);
  }
  lock_release(&memory.lock);
  return true;
}

PRIVATE void freed_flush_all(void) {
  while (QUARANTINE && delayed.count > 0) { delayed_give(delayed.count - 1); }
}
