// Taking and giving back spans: the interface of this folder. See arena.h.
#include <string.h>

#include "../service/message.h"
#include "../service/options.h"
#include "../service/random.h"
#include "internal.h"

// ---- a free run becomes taken ----

// The first touch makes the whole huge page resident, or the program's again if it was offered to
// the OS; so what is left of it free is dirty.
static void run_carve_huge(arena_t* arena, uint32_t first, uint32_t start, uint32_t length) {
  const uint32_t end = first + run_length(arena, first);
  const uint32_t low = (uint32_t)size_max(first, align_down(start, HUGE_SLICES));
  const uint32_t high = (uint32_t)size_min(end, align_up(start + length, HUGE_SLICES));
  run_carve(arena, first, low, high - low);
  run_mark(arena, start, length, RUN_TAKEN);
  if (low < start) { run_free(arena, low, start - low, RUN_DIRTY); }
  if (start + length < high) { run_free(arena, start + length, high - start - length, RUN_DIRTY); }
  stat_up(&memory_stats.committed, slices_bytes(high - low - length));
}

// Huge pages were given up when the arena was sparse; now it fills again.
static bool arena_is_dense_again(const arena_t* arena) {
  return arena->was_huge && arena->taken >= arena->frontier / 4 * 3 && growth_is_dense(1);
}

static void run_take_at(arena_t* arena, uint32_t first, uint32_t start, uint32_t length) {
  const unsigned state = run_state(arena, first);
  if (state != RUN_DIRTY) { purge_refault(arena->table[first].stamp, length); }
  if (state == RUN_CLEAN && unlikely(arena_is_dense_again(arena))) { arena_set_huge(arena, true); }
  if (state != RUN_DIRTY && arena->huge && !arena->guarded) {  // else the rest may be inaccessible
    run_carve_huge(arena, first, start, length);
  } else {
    run_carve(arena, first, start, length);
  }
}

// Brings clean memory back into reach, if some of it is not.
static bool clean_reach(const arena_t* arena, const span_t* span) {
  const size_t bytes = slices_bytes(span->slices);
  if (!PORT_DECOMMIT_STAYS) {
    return arena->commit_fun != NULL || arena->pinned || port_commit(span->start, bytes) == 0;
  }
  return !arena->guarded || port_unguard(span->start, bytes) == 0;
}

// Clean becomes taken. The program's function, if the arena has one, commits only here.
static bool run_commit(span_t* span) {
  arena_t* arena = span->arena;
  if (arena->commit_fun != NULL && !call_commit(arena, true, span)) {
    run_free(arena, slice_index(arena, span->start), (uint32_t)span->slices, RUN_CLEAN);
    return false;
  }
  if (!clean_reach(arena, span)) {
    run_free(arena, slice_index(arena, span->start), (uint32_t)span->slices, RUN_CLEAN);
    return false;
  }
  if (arena->guarded && arena->large) {  // page tables go, or no huge page would fit there
    (void)port_decommit(span->start, slices_bytes(span->slices));
  }
  return true;
}

static bool run_take_span(arena_t* arena, place_t place, size_t slices, span_t* out) {
  const unsigned state = run_state(arena, place.run);
  run_take_at(arena, place.run, place.start, (uint32_t)slices);
  const bool is_zero = state == RUN_CLEAN && !arena->has_stale;
  *out = (span_t){arena, slice_start(arena, place.start), slices, is_zero, false};
  if (state == RUN_CLEAN && !run_commit(out)) { return false; }
  if (state == RUN_RESET) { port_reuse(out->start, slices_bytes(slices)); }
  if (state != RUN_DIRTY) {
    stat_up(&memory_stats.committed, slices_bytes(slices));
  } else if (unlikely(memory.withholds)) {
    purge_note_wanted(slices);
  }
  return true;
}

// See run_fit_across.
static bool run_take_across(arena_t* arena, uint32_t clean, uint32_t start, size_t slices,
                            span_t* out) {
  const uint32_t before = clean - start;
  span_t added;
  if (!run_take_span(arena, (place_t){clean, clean}, slices - before, &added)) { return false; }
  run_carve(arena, clean - run_length(arena, clean - 1), start, before);
  run_mark(arena, start, (uint32_t)slices, RUN_TAKEN);
  *out = (span_t){arena, slice_start(arena, start), slices, false, false};
  return true;
}

static bool run_take(arena_t* arena, unsigned state, const span_request_t* request, span_t* out) {
  place_t place;
  if (!run_find(arena, state, request, &place)) { return false; }
  const uint32_t start = run_fit_across(arena, place.run, request);
  if (start != UINT32_MAX) {
    return run_take_across(arena, place.run, start, request->slices, out);
  }
  return run_take_span(arena, place, request->slices, out);
}

// ---- take ----

static bool take_free_run(const span_request_t* request, unsigned state, span_t* out) {
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    if (arena_fits(arena, request) && run_take(arena, state, request, out)) { return true; }
  }
  return false;
}

static bool take_joined(const span_request_t* request, span_t* out) {
  if (!PORT_CAN_RELEASE) {
    for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) { growing_join(arena); }
    return take_free_run(request, RUN_DIRTY, out);
  }
  if (memory.reset_slices == 0 || memory.reset_slices + memory.dirty_slices < request->slices) {
    return false;
  }
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    run_join(arena, RUN_RESET);
  }
  return take_free_run(request, RUN_DIRTY, out);
}

static bool take_fresh(const span_request_t* request, span_t* out) {
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    if (arena_fits(arena, request) && arena_advance(arena, request) &&
        (run_take(arena, RUN_CLEAN, request, out) || run_take(arena, RUN_DIRTY, request, out))) {
      return true;
    }
  }
  return false;
}

static bool take_from_arenas(const span_request_t* request, span_t* out) {
  const bool any = !request->waiting;
  if (request->zeroed && take_free_run(request, RUN_CLEAN, out)) { return true; }
  return take_free_run(request, RUN_DIRTY, out) || take_free_run(request, RUN_RESET, out) ||
         (any && take_free_run(request, RUN_CLEAN, out)) || take_joined(request, out) ||
         (any && take_fresh(request, out));
}

static bool try_take(const span_request_t* request, span_t* out) {
  if (request->used) { return take_free_run(request, RUN_DIRTY, out); }
  if (take_from_arenas(request, out)) { return true; }
  if (request->waiting || request->arena != NULL) { return false; }
  return arena_grow_memory(request->slices + (request->align >> SLICE_SHIFT), request->large) &&
         take_from_arenas(request, out);
}

static bool try_take_large(const span_request_t* request, span_t* out) {
  if (!large_is_wanted(request)) { return false; }
  span_request_t large = *request;
  large.large = true;
  large.align = size_max(large.align, HUGE_PAGE);
  return try_take(&large, out);
}

// What of a taken span is longer than wanted is free.
static void shorten_locked(span_t* span, size_t slices) {
  const size_t more = span->slices - slices;
  const uint32_t first = slice_index(span->arena, span->start);
  if (more == 0) { return; }
  run_mark(span->arena, first, (uint32_t)slices, RUN_TAKEN);
  run_mark(span->arena, first + (uint32_t)slices, (uint32_t)more, RUN_TAKEN);
  const span_t rest = {.arena = span->arena,
                       .start = slice_start(span->arena, first + (uint32_t)slices),
                       .slices = more};
  runs_give(&rest, 1);
  span->slices = slices;
}

static COLD void announce(const arena_t* arena) {
  message_verbose("reserved %zu KiB at %p", arena->mapped_bytes / KiB, (void*)arena->start);
  if (option_is_enabled(mi_option_allow_large_os_pages)) {
    const size_t pages = arena->mapped_bytes / HUGE_PAGE;
    message_verbose("large OS pages of 2 MiB: %zu of %zu were had", arena->pinned ? pages : 0,
                    pages);
  }
}

PRIVATE bool memory_take(span_request_t* request, span_t* out) {
  request->slices = slices_rounded(request->slices);
  request->align = size_max(request->align, SLICE_BYTES);
  if (request->slices > ARENA_MAX_SLICES / 2 || request->align > PTRDIFF_MAX / 2) { return false; }
  lock_acquire(&memory.lock);
  const bool ok = !(memory_is_left() && request->arena != NULL) &&
                  (try_take_large(request, out) || try_take(request, out));
  const arena_t* unannounced = memory.unannounced;
  memory.unannounced = NULL;
  if (ok) { account_taken(out->arena, out->slices); }
  if (unlikely(load_relaxed(&memory_trend) != MEMORY_STAYS) && whole_look()) { purge_split(); }
  lock_release(&memory.lock);
  if (unlikely(unannounced != NULL)) { announce(unannounced); }
  return ok;
}

PRIVATE COLD bool memory_take_again(span_request_t* request, span_t* out) {
  if (!direct_refault(slices_bytes(request->slices), &request->waiting)) { return false; }
  if (memory_take(request, out)) { return true; }
  lock_acquire(&memory.lock);
  purge_unfit(request->slices);
  lock_release(&memory.lock);
  return false;
}

// ---- give ----

PRIVATE void memory_give_all(const span_t* spans, size_t count) {
  lock_acquire(&memory.lock);
  if (!memory_is_left()) { runs_give(spans, count); }
  lock_release(&memory.lock);
}

PRIVATE void memory_give(span_t span) {
  if (span.arena == NULL) {
    direct_give(&span);
    return;
  }
  if (GUARD_FREED && freed_put(&span)) { return; }
  if (ZERO_FREED) { memset(span.start, 0, slices_bytes(span.slices)); }
  memory_give_all(&span, 1);
}

PRIVATE void memory_collect(bool force) {
  lock_acquire(&memory.lock);
  memory.now_ms = port_clock_ms();
  if (force) {
    freed_flush_all();
    purge_all();
    memory_unmap_empty();
    memory_retreat();
  } else {
    purge_due(0);
  }
  lock_release(&memory.lock);
}

// ---- in place ----

static bool lengthen_locked(span_t* span, uint32_t more) {
  arena_t* arena = span->arena;
  const uint32_t first = slice_index(arena, span->start);
  const uint32_t end = first + (uint32_t)span->slices;
  const span_request_t request = {.slices = more};
  if (end == arena->frontier && !arena_advance(arena, &request)) { return false; }
  if (end >= arena->frontier || run_state(arena, end) == RUN_TAKEN ||
      run_length(arena, end) < more) {
    return false;
  }
  span_t added;
  if (!run_take_span(arena, (place_t){end, end}, more, &added)) { return false; }
  account_taken(arena, more);
  span->slices += more;
  span->is_zero = added.is_zero;
  run_mark(arena, first, (uint32_t)span->slices, RUN_TAKEN);
  return true;
}

PRIVATE bool memory_lengthen(span_t* span, size_t slices) {
  slices = slices_rounded(slices);
  if (slices <= span->slices || slices > ARENA_MAX_SLICES / 2 || span->arena == NULL) {
    return slices <= span->slices;
  }
  lock_acquire(&memory.lock);
  const bool ok = !memory_is_left() && lengthen_locked(span, (uint32_t)(slices - span->slices));
  lock_release(&memory.lock);
  return ok;
}

PRIVATE void memory_shorten(span_t* span, size_t slices) {
  slices = slices_rounded(slices);
  if (slices >= span->slices) { return; }
  if (span->arena == NULL) {
    direct_shorten(span, slices);
    return;
  }
  lock_acquire(&memory.lock);
  if (!memory_is_left()) { shorten_locked(span, slices); }
  lock_release(&memory.lock);
}

// ---- questions and the lock ----

UNUSED PRIVATE size_t memory_resident_free_bytes(void) {
  lock_acquire(&memory.lock);
  const size_t bytes = slices_bytes(memory.dirty_slices + memory.stuck_slices);
  lock_release(&memory.lock);
  return bytes;
}

UNUSED PRIVATE size_t memory_taken_bytes(void) {
  lock_acquire(&memory.lock);
  const size_t bytes = slices_bytes(memory.taken_slices) + memory.direct.bytes;
  lock_release(&memory.lock);
  return bytes;
}

PRIVATE void memory_lock(void) { lock_acquire(&memory.lock); }

PRIVATE void memory_unlock(void) { lock_release(&memory.lock); }

PRIVATE void memory_rescue(void) {
  if (!lock_is_left(&memory.lock)) { return; }
  memory.is_left = true;
  memory.first = NULL;
  memory.unannounced = NULL;
}

PRIVATE void memory_unlock_after_fork(bool child) {
  if (child && memory.random.seeded) { random_reseed(&memory.random); }
  lock_after_fork(&memory.lock, child);
}
