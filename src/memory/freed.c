// Large blocks that were freed, out of reach, so that their use faults: builds with GUARD_FREED.
//
//   guarded   without memory; a clean run, which is brought back when it is taken
//   delayed   the same, but no run yet: its addresses wait. Builds with QUARANTINE
//   sealed    with its memory, for the next block of about its size. The other builds
#include <string.h>

#include "../service/options.h"
#include "internal.h"

// ---- guarded ----

enum { GUARD_FREED_LEAST = QUARANTINE ? 32 << 10 : 1 << 20 };

// True: nobody can reach it any more, and it needs no purge. Memory of the program and huge OS
// pages stay as they are.
static bool freed_goes_out_of_reach(const span_t* span) {
  const arena_t* arena = span->arena;
  const size_t bytes = slices_bytes(span->slices);
  if (bytes <= GUARD_FREED_LEAST || !arena_can_protect(arena)) { return false; }
  if (port_guard(span->start, bytes) == 0) { return true; }
  (void)port_unguard(span->start, bytes);
  return false;
}

static void run_give_guarded(const span_t* span) {
  arena_t* arena = span->arena;
  arena->guarded = true;
  account_given(arena, span->slices);
  run_free(arena, slice_index(arena, span->start), (uint32_t)span->slices, RUN_CLEAN);
}

// ---- delayed ----

// Spans that are out of reach wait, so that their addresses do not come back soon: until there are
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

// ---- sealed: a block that keeps its memory costs the next of about its size two system calls, and
// no page faults. No more than what stays unused anyway ----

enum {
  SEALED_SPANS = GUARD_FREED && !QUARANTINE ? 16 : 1,
  SEALED_SLICES = MIN_KEPT >> SLICE_SHIFT
};
static struct {
  span_t spans[SEALED_SPANS];  // the oldest first; taken
  int64_t stamps[SEALED_SPANS];
  size_t count, slices;
} sealed;  // under the memory lock

static span_t sealed_remove(size_t at) {
  const span_t span = sealed.spans[at];
  const size_t after = --sealed.count - at;
  memmove(&sealed.spans[at], &sealed.spans[at + 1], after * sizeof(span));
  memmove(&sealed.stamps[at], &sealed.stamps[at + 1], after * sizeof(sealed.stamps[0]));
  sealed.slices -= span.slices;
  return span;
}

static void sealed_add(const span_t* span) {
  sealed.stamps[sealed.count] = memory.now_ms;
  sealed.spans[sealed.count++] = *span;
  sealed.slices += span->slices;
}

static void give_unsealed(const span_t* span) {
  if (freed_goes_out_of_reach(span)) {
    count_purge(GIVE_DECOMMITTED, span->slices);
    run_give_guarded(span);
  } else {
    run_give(span->arena, span->start, span->slices);
  }
}

// Its memory goes first: whoever still writes to it meanwhile changes nothing that counts.
static bool sealed_give_oldest(void) {
  const size_t bytes = slices_bytes(sealed.spans[0].slices);
  if (port_decommit(sealed.spans[0].start, bytes) != 0 ||
      port_seal(sealed.spans[0].start, bytes, false) != 0) {
    return false;
  }
  const span_t span = sealed_remove(0);
  give_unsealed(&span);
  return true;
}

PRIVATE void freed_flush(int64_t before_ms) {
  while (sealed.count > 0 && sealed.stamps[0] <= before_ms && sealed_give_oldest()) {}
}

// What is not writable does not count for the limit of data: room for it may be gone when it is
// wanted again.
static bool is_sealable(const span_t* span) {
  const arena_t* arena = span->arena;
  return GUARD_FREED && !QUARANTINE && slices_bytes(span->slices) > GUARD_FREED_LEAST &&
         span->slices <= SEALED_SLICES && arena_can_protect(arena) && !arena->exclusive &&
         option_get(mi_option_purge_delay) != 0 && option_get(mi_option_fill_freed) == 0 &&
         !port_data_is_limited();
}

static bool seal_locked(const span_t* span) {
  while (sealed.count == SEALED_SPANS || sealed.slices + span->slices > SEALED_SLICES) {
    if (!sealed_give_oldest()) { return false; }
  }
  if (port_seal(span->start, slices_bytes(span->slices), true) != 0) { return false; }
  memory.now_ms = port_clock_ms();
  sealed_add(span);
  return true;
}

// False: it is not of a kind that is sealed, or there is no room, or the OS did not want to.
static bool seal_span(const span_t* span) {
  if (!is_sealable(span)) { return false; }
  lock_acquire(&memory.lock);
  const bool ok = seal_locked(span);
  lock_release(&memory.lock);
  return ok;
}

static bool sealed_suits(const span_t* span, const span_want_t* want) {
  enum { MORE_SHARE = 8 };
  return span->slices >= want->slices && span->slices <= want->slices + want->slices / MORE_SHARE &&
         is_aligned(span->start, want->align) && arena_fits(span->arena, want);
}

PRIVATE bool freed_take(const span_want_t* want, span_t* out) {
  if (want->zeroed) { return false; }
  for (size_t at = sealed.count; at-- > 0;) {
    const span_t* span = &sealed.spans[at];
    if (sealed_suits(span, want)) {
      if (port_seal(span->start, slices_bytes(span->slices), false) != 0) { return false; }
      *out = sealed_remove(at);
      return true;
    }
  }
  return false;
}

// ---- all three ----

PRIVATE bool freed_put(const span_t* span) {
  if (seal_span(span)) { return true; }
  if (!freed_goes_out_of_reach(span)) { return false; }
  const bool waits = QUARANTINE && port_address_limit() == SIZE_MAX;
  lock_acquire(&memory.lock);
  count_purge(GIVE_DECOMMITTED, span->slices);
  if (waits) {
    delay_span(span);
  } else {
    run_give_guarded(span);
  }
  lock_release(&memory.lock);
  return true;
}

PRIVATE void freed_flush_all(void) {
  while (QUARANTINE && delayed.count > 0) { delayed_give(delayed.count - 1); }
  freed_flush(INT64_MAX);
}
