// Huge pages that are unused as a whole, in a heap that swings: one that wants again, a moment
// later, what it gives back. On its way down it leaves a part of each huge page unused before any
// is unused as a whole. To split them then is for nothing where the last blocks that are freed
// leave nearly all of them whole: whether they do is seen when the heap has become small, and grows
// again.
#include "internal.h"

// How many of the slices from one to another are of whole huge pages.
static uint32_t whole_slices(uint32_t start, uint32_t end) {
  const uint32_t first = (uint32_t)align_up(start, HUGE_SLICES);
  const uint32_t last = (uint32_t)align_down(end, HUGE_SLICES);
  return first < last ? last - first : 0;
}

// ---- the look ----

// The next stretch of unused slices behind `stretch`. False if there is none.
static bool next_unused(const arena_t* arena, stretch_t* stretch) {
  uint32_t at = stretch->end;
  while (at < arena->frontier && run_state(arena, at) == RUN_TAKEN) { at += run_length(arena, at); }
  stretch->start = at;
  while (at < arena->frontier && run_state(arena, at) != RUN_TAKEN) { at += run_length(arena, at); }
  stretch->end = at;
  return stretch->start < stretch->end;
}

// Unused slices that lie in whole huge pages.
static size_t arena_whole_slices(const arena_t* arena) {
  size_t whole = 0;
  stretch_t unused = {0};
  while (next_unused(arena, &unused)) { whole += whole_slices(unused.start, unused.end); }
  return whole;
}

// Is most memory on huge pages, and what is unused of that outside of whole ones little: a share of
// it, or two of them? In the first arena lies what programs keep from their start.
static bool is_whole(void) {
  enum { LEFT_LEAST = 2 * HUGE_SLICES, LEFT_SHARE = 16 };
  size_t all = 0, huge = 0, left = 0;
  for (const arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    all += arena->frontier;
    if (!arena_wants_whole(arena) || arena_is_small(arena)) { continue; }
    huge += arena->frontier;
    left += arena->frontier - arena->taken - arena_whole_slices(arena);
  }
  return huge > all / 2 && left <= size_max(huge / LEFT_SHARE, LEFT_LEAST);
}

// It takes a few nanoseconds for each run: not again at once, but for the second of two, and later
// the more memory there is.
PRIVATE COLD bool whole_look(void) {
  enum { LOOK_MS = 16, LOOK_SLICES = 1024 };
  store_relaxed(&memory_trend, MEMORY_STAYS);
  if (memory.now_ms < memory.next_look_ms && !memory_may_go_whole()) { return false; }
  memory.whole_looks = is_whole() ? memory.whole_looks + 1 : 0;
  memory.next_look_ms = memory.now_ms + LOOK_MS + (int64_t)(memory.taken_slices / LOOK_SLICES);
  return memory.whole_looks > 0;
}

// ---- what is unused becomes one run ----

// The slices from `low` to `high`, which are unused, are of one dirty run then; `first` is the run
// in which they begin. Returns where the dirty one starts.
static uint32_t make_dirty(arena_t* arena, uint32_t first, uint32_t low, uint32_t high) {
  uint32_t at = first;
  while (at < high) {
    const uint32_t end = at + run_length(arena, at), start = at > low ? at : low;
    first = at;
    if (end > low && run_state(arena, at) != RUN_DIRTY) {
      first = run_dirty(arena, at, start, (end < high ? end : high) - start);
    }
    at = first + run_length(arena, first);
  }
  return first;
}

PRIVATE COLD bool whole_next(arena_t* arena, stretch_t* whole) {
  stretch_t unused = {.end = whole->end};
  do {
    if (!next_unused(arena, &unused)) { return false; }
  } while (whole_slices(unused.start, unused.end) == 0);
  whole->start = (uint32_t)align_up(unused.start, HUGE_SLICES);
  whole->end = (uint32_t)align_down(unused.end, HUGE_SLICES);
  whole->run = make_dirty(arena, unused.start, whole->start, whole->end);
  return true;
}
