// Huge pages that are unused as a whole, in a heap that swings: one that wants again, a moment
// later, what it gives back. On its way down it leaves a part of each huge page unused before any
// is unused as a whole. To split them then is for nothing where the last blocks that are freed
// leave nearly all of them whole: whether they do is seen when the heap has become small, and grows
// again.
#include "internal.h"

PRIVATE uint32_t whole_slices(uint32_t start, uint32_t end) {
  const uint32_t first = (uint32_t)align_up(start, HUGE_SLICES);
  const uint32_t last = (uint32_t)align_down(end, HUGE_SLICES);
  return first < last ? last - first : 0;
}

// ---- the look ----

// Free slices that lie in whole huge pages.
static size_t arena_whole_slices(const arena_t* arena) {
  uint32_t whole = 0, start = 0, at = 0;
  while (at < arena->frontier) {
    const uint32_t end = at + run_length(arena, at);
    if (run_state(arena, at) == RUN_TAKEN) {
      whole += whole_slices(start, at);
      start = end;
    }
    at = end;
  }
  return whole + whole_slices(start, at);
}

// Is most memory on huge pages, and what is unused of that outside of whole ones little: a share of
// it, or two of them?
static bool is_whole(void) {
  enum { LEFT_LEAST = 2 * HUGE_SLICES, LEFT_SHARE = 16 };
  size_t all = 0, huge = 0, left = 0;
  for (const arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    all += arena->frontier;
    if (!arena_wants_whole(arena)) { continue; }
    huge += arena->frontier;
    left += arena->frontier - arena->taken - arena_whole_slices(arena);
  }
  return huge > all / 2 && left <= size_max(huge / LEFT_SHARE, LEFT_LEAST);
}

// It takes a few nanoseconds for each run: not again at once, and later the more memory there is.
PRIVATE COLD void whole_look(void) {
  enum { LOOK_MS = 16, LOOK_SLICES = 1024 };
  store_relaxed(&memory_trend, MEMORY_STAYS);
  if (memory.now_ms < memory.next_look_ms) { return; }
  memory.whole_looks = is_whole() ? memory.whole_looks + 1 : 0;
  memory.next_look_ms = memory.now_ms + LOOK_MS + (int64_t)(memory.taken_slices / LOOK_SLICES);
}

// ---- what is unused becomes one run ----

// The slices from there to the end of its huge page, or from its start to there, are unused.
static bool unused_up(const arena_t* arena, uint32_t from) {
  const uint32_t end = (uint32_t)align_up(from, HUGE_SLICES);
  while (from < end && from < arena->frontier && run_state(arena, from) != RUN_TAKEN) {
    from += run_length(arena, from);
  }
  return from >= end;
}

static bool unused_down(const arena_t* arena, uint32_t to) {
  const uint32_t start = (uint32_t)align_down(to, HUGE_SLICES);
  while (to > start && run_state(arena, to - 1) != RUN_TAKEN) { to -= run_length(arena, to - 1); }
  return to <= start;
}

PRIVATE COLD uint32_t whole_complete(arena_t* arena, uint32_t first) {
  uint32_t end = first + run_length(arena, first), low = first, high = end;
  if (unused_down(arena, first)) { low = (uint32_t)align_down(first, HUGE_SLICES); }
  if (unused_up(arena, end)) { high = (uint32_t)align_up(end, HUGE_SLICES); }
  if (whole_slices(low, high) == whole_slices(first, end)) { return first; }
  while (end < high) {
    const uint32_t length = run_length(arena, end);
    first = run_dirty(arena, end, end, length < high - end ? length : high - end);
    end = first + run_length(arena, first);
  }
  while (first > low) {
    const uint32_t before = first - run_length(arena, first - 1);
    const uint32_t start = before < low ? low : before;
    first = run_dirty(arena, before, start, first - start);
  }
  return first;
}
