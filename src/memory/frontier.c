// The frontier of an arena, up to which its memory is committed; the program's own function that
// commits; and transparent huge pages, which the frontier opts in to.
#include "../base/track.h"
#include "../service/options.h"
#include "internal.h"

// Free keeps errno whatever the function does.
PRIVATE bool call_commit(const arena_t* arena, bool commit, span_t* span) {
  const int saved = port_errno_keep();
  track_show(span->start, slices_bytes(span->slices));
  span->is_zero = false;
  const bool ok = arena->commit_fun(commit, span->start, slices_bytes(span->slices), &span->is_zero,
                                    arena->commit_arg);
  port_errno_restore(saved);
  return ok;
}

// ---- huge pages ----

PRIVATE void arena_set_huge(arena_t* arena, bool huge) {
  (void)port_advise_huge(arena->start, slices_bytes(arena->frontier), huge);
  arena->huge = huge;
  arena->was_huge = !huge;
  memory.has_huge = true;
}

// Where huge pages have 32 or 512 MiB, one touch would cost as much: there only on demand.
PRIVATE bool huge_is_wanted(bool dense) {
  if (port_huge_bytes() == 0) { return false; }
  const long allow = option_get(mi_option_allow_thp);
  return allow == 2 || (allow == 1 && dense && port_huge_bytes() <= HUGE_PAGE);
}

// ---- are blocks touched? ----
//
// Huge pages pay where a program touches most of what it takes. Blocks that are buffers, and stay
// nearly empty, they would make resident as a whole. The page faults that follow upon growth tell
// which it is: those of growth in small OS pages, as some is whenever memory has doubled. What
// holds of long blocks, of two MiB or more, does not of others.

static growth_t* growth_for(size_t slices) { return &memory.growth[slices >= HUGE_SLICES]; }

// Pages of small blocks tell themselves what of them was never handed out: it counts where it is
// much of what is in use with the growth. Before anything is known of other short blocks a look is
// had at them.
PRIVATE COLD bool growth_is_dense(size_t slices) {
  const uint32_t density = growth_for(slices)->density;
  return load_relaxed(&memory_untouched) <= slices_bytes(memory.taken_slices + slices) / 2 &&
         (density == 0 ? slices >= HUGE_SLICES : density >= DENSE_FROM);
}

PRIVATE bool arena_can_be_huge(const arena_t* arena) {
  return !GUARD_PAGES && !GUARD_FREED && !arena->committed && !arena_is_given(arena);
}

static bool density_decides(void) { return huge_is_wanted(true) && !huge_is_wanted(false); }

// A long block in small OS pages costs many faults: it has to be little of what there is.
static COLD bool look_is_due(size_t slices) {
  const growth_t* growth = growth_for(slices);
  const size_t taken = memory.taken_slices;
  return density_decides() && (slices < HUGE_SLICES || slices <= taken / LONG_SHARE) &&
         (growth->density == 0 || growth->huge_slices >= taken / 2);
}

static COLD void look_at(const arena_t* arena, growth_t* growth, size_t bytes) {
  if (!arena_can_be_huge(arena) || !density_decides()) { return; }
  if (memory.look.growth != growth || growth->huge_slices != 0) {
    memory.look = (look_t){growth, 0, port_page_faults()};
  }
  memory.look.bytes += bytes;
  growth->huge_slices = 0;
}

// One look at sparse growth is enough; that it is dense again needs two, as faults may have other
// causes. A child of a fork has had fewer faults: it looks anew.
static COLD void look_end(void) {
  const look_t look = memory.look;
  const size_t faults = port_page_faults();
  memory.look = (look_t){look.growth, 0, faults};
  if (faults < look.faults) { return; }
  const size_t touched = size_min((faults - look.faults) * port_page_bytes(), look.bytes);
  const size_t density = size_min(touched / (look.bytes / DENSE_ALL), DENSE_ALL);
  const size_t before = look.growth->density;
  const bool rises = before != 0 && density > before;
  look.growth->density = (uint32_t)size_max(rises ? (3 * before + density) / 4 : density, 1);
}

// ---- who gets them ----

PRIVATE bool large_is_wanted(const span_request_t* request) {
  return GUARD_PAGES && request->dense && request->slices >= HUGE_SLICES &&
         request->arena == NULL && slices_bytes(memory.taken_slices) >= FIRST_ARENA &&
         huge_is_wanted(growth_is_dense(request->slices));
}

static bool arena_wants_huge(const arena_t* arena, size_t slices) {
  return arena_can_be_huge(arena) && !arena->was_huge &&
         huge_is_wanted(!arena_is_small(arena) && growth_is_dense(slices));
}

// ---- the frontier ----

static bool arena_commit(arena_t* arena, uint32_t length, bool* is_zero) {
  uint8_t* start = slice_start(arena, arena->frontier);
  const size_t bytes = slices_bytes(length);
  *is_zero = arena->fresh_is_zero || arena->commit_fun != NULL;
  stat_add(&memory_stats.commit_calls, 1);
  return arena->committed || arena->commit_fun != NULL || port_commit(start, bytes) == 0;
}

static uint32_t frontier_step(const arena_t* arena, uint32_t need, bool huge, bool due) {
  enum { STEP_LEAST = (256 << 10) / SLICE_BYTES, STEP_MOST = 4 * HUGE_SLICES, REST_SHARE = 32 };
  const uint32_t room = arena->slices - arena->frontier;
  size_t step = due ? HUGE_SLICES : size_max(arena->frontier / 8, STEP_LEAST);
  step = size_max(need, size_min(step, STEP_MOST));
  // What follows a long block in its last huge page is touched with it, if that is little; else the
  // block ends in small OS pages. After a look huge pages begin anew.
  const size_t rounded = align_up(arena->frontier + step, HUGE_SLICES) - arena->frontier;
  const bool is_little = need < HUGE_SLICES || rounded - step <= memory.taken_slices / REST_SHARE;
  if (due || (is_little && huge)) { step = rounded; }
  return (uint32_t)size_min(slices_rounded(step), room);
}

PRIVATE void frontier_move(arena_t* arena, uint32_t slices, bool is_zero) {
  const uint32_t first = arena->frontier;
  arena->frontier += slices;
  (void)add_relaxed(&memory_growths, 1);
  const uint32_t run = run_free(arena, first, slices, is_zero ? RUN_CLEAN : RUN_DIRTY);
  if (is_zero) { arena->table[run].stamp = 0; }
  if (!is_zero) { stat_up(&memory_stats.committed, slices_bytes(slices)); }
}

PRIVATE bool arena_advance(arena_t* arena, const span_request_t* request) {
  if (!PORT_CAN_RELEASE && arena->grows) { return growing_advance(arena, request); }
  const size_t need = slices_rounded(request->slices + (request->align >> SLICE_SHIFT));
  const size_t room = arena->slices - arena->frontier;
  if (need > room) { return false; }
  const size_t with_gap = size_min(request->slices + run_gap_most(request), room);
  if (unlikely(memory.look.bytes >= LOOK_LEAST)) { look_end(); }
  const bool wanted = arena_wants_huge(arena, need), due = wanted && look_is_due(need);
  const bool huge = wanted && !due;
  const uint32_t step = frontier_step(arena, (uint32_t)size_max(need, with_gap), wanted, due);
  bool is_zero = false;
  if (!arena_commit(arena, step, &is_zero)) { return false; }
  const uint32_t first = arena->frontier;
  frontier_move(arena, step, is_zero);
  if (huge && arena->huge) {
    (void)port_advise_huge(slice_start(arena, first), slices_bytes(step), true);
  }
  if (huge && !arena->huge) { arena_set_huge(arena, true); }
  if (huge) {
    growth_for(need)->huge_slices += step;
  } else if (slices_bytes(memory.taken_slices) >= LOOK_FROM) {
    look_at(arena, growth_for(need), slices_bytes(step));
  }
  return true;
}

static void arena_retreat(arena_t* arena) {
  if (arena->frontier == 0 || arena->committed || arena->commit_fun != NULL ||
      run_state(arena, arena->frontier - 1) != RUN_CLEAN) {
    return;
  }
  const uint32_t length = run_length(arena, arena->frontier - 1);
  const uint32_t first = arena->frontier - length;
  if (PORT_DECOMMIT_STAYS &&
      port_seal(slice_start(arena, first), slices_bytes(length), true) != 0) {
    return;
  }
  bin_remove(arena, first);
  arena->frontier = first;
}

PRIVATE void memory_retreat(void) {
  if (!port_data_is_limited()) { return; }
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) { arena_retreat(arena); }
}
