// Runs of slices, and the bins of the free ones. See arena.h.
#include "internal.h"

PRIVATE void run_mark(arena_t* arena, uint32_t first, uint32_t length, unsigned state) {
  arena->table[first].run = arena->table[first + length - 1].run = length << 2 | state;
}

// ---- bins ----

// Bins are exact to 32 slices, then four for each doubling.
PRIVATE unsigned bin_floor(uint32_t length) {
  if (length <= 32) { return length - 1; }
  const unsigned b = high_bit(length);
  return 32 + (b - 5) * 4 + ((length >> (b - 2)) & 3);
}

static void bin_push(arena_t* arena, uint32_t first) {
  const unsigned kind = run_state(arena, first) - 1;
  const unsigned bin = bin_floor(run_length(arena, first));
  uint32_t* head = &arena->bins[kind][bin];
  arena->table[first].prev = 0;
  arena->table[first].next = *head;
  if (*head != 0) { arena->table[*head - 1].prev = first + 1; }
  *head = first + 1;
  arena->occupied[kind][bin / 64] |= (uint64_t)1 << (bin % 64);
}

PRIVATE void bin_remove(arena_t* arena, uint32_t first) {
  const unsigned kind = run_state(arena, first) - 1;
  const unsigned bin = bin_floor(run_length(arena, first));
  const slice_t* slice = &arena->table[first];
  if (slice->next != 0) { arena->table[slice->next - 1].prev = slice->prev; }
  if (slice->prev != 0) {
    arena->table[slice->prev - 1].next = slice->next;
    return;
  }
  arena->bins[kind][bin] = slice->next;
  if (slice->next == 0) { arena->occupied[kind][bin / 64] &= ~((uint64_t)1 << (bin % 64)); }
}

PRIVATE unsigned bin_next(const arena_t* arena, unsigned state, unsigned bin) {
  for (unsigned word = bin / 64; word < RUN_BINS / 64; word++) {
    uint64_t bits = arena->occupied[state - 1][word];
    if (word == bin / 64) { bits &= ~(uint64_t)0 << (bin % 64); }
    if (bits != 0) { return word * 64 + low_bit(bits); }
  }
  return RUN_BINS;
}

PRIVATE unsigned bin_highest(const arena_t* arena, unsigned state) {
  for (unsigned word = RUN_BINS / 64; word-- > 0;) {
    const uint64_t bits = arena->occupied[state - 1][word];
    if (bits != 0) { return word * 64 + 63 - (unsigned)__builtin_clzll(bits); }
  }
  return RUN_BINS;
}

// ---- free runs come and go ----

// What can't go back is counted apart: it would use up what may stay dirty of the rest.
static size_t* runs_count(const arena_t* arena, unsigned state) {
  if (state == RUN_RESET) { return &memory.reset_slices; }
  return arena_may_purge(arena) ? &memory.dirty_slices : &memory.stuck_slices;
}

PRIVATE uint32_t run_free(arena_t* arena, uint32_t first, uint32_t length, unsigned state) {
  if (state != RUN_CLEAN) { *runs_count(arena, state) += length; }
  if (first > 0 && run_state(arena, first - 1) == state) {
    const uint32_t left = run_length(arena, first - 1);
    bin_remove(arena, first - left);
    first -= left, length += left;
  }
  if (first + length < arena->frontier && run_state(arena, first + length) == state) {
    const uint32_t right = run_length(arena, first + length);
    bin_remove(arena, first + length);
    length += right;
  }
  run_mark(arena, first, length, state);
  arena->table[first].stamp = (uint32_t)memory.now_ms;
  bin_push(arena, first);
  return first;
}

PRIVATE uint32_t run_dirty(arena_t* arena, uint32_t first, uint32_t start, uint32_t length) {
  const size_t bytes = slices_bytes(length);
  if (run_state(arena, first) == RUN_RESET) { port_reuse(slice_start(arena, start), bytes); }
  run_carve(arena, first, start, length);
  stat_up(&memory_stats.committed, bytes);
  return run_free(arena, start, length, RUN_DIRTY);
}

PRIVATE void run_join(arena_t* arena, unsigned state) {
  for (unsigned bin = bin_next(arena, state, 0); bin < RUN_BINS;) {
    const uint32_t first = arena->bins[state - 1][bin] - 1;
    (void)run_dirty(arena, first, first, run_length(arena, first));
    bin = bin_next(arena, state, bin);
  }
}

PRIVATE void run_carve(arena_t* arena, uint32_t first, uint32_t start, uint32_t length) {
  const unsigned state = run_state(arena, first);
  const uint32_t end = first + run_length(arena, first);
  const uint32_t stamp = arena->table[first].stamp;
  bin_remove(arena, first);
  if (start > first) {
    run_mark(arena, first, start - first, state);
    bin_push(arena, first);
  }
  if (start + length < end) {
    run_mark(arena, start + length, end - start - length, state);
    arena->table[start + length].stamp = stamp;
    bin_push(arena, start + length);
  }
  run_mark(arena, start, length, RUN_TAKEN);
  if (state != RUN_CLEAN) { *runs_count(arena, state) -= length; }
}

// ---- the search ----

// Where a request starts between two slices, with its alignment; UINT32_MAX if it does not fit.
static uint32_t run_fit(const arena_t* arena, uint32_t first, uint32_t end,
                        const span_request_t* request) {
  const uintptr_t start = align_up((uintptr_t)slice_start(arena, first), request->align);
  const size_t index = (start - (uintptr_t)arena->start) >> SLICE_SHIFT;
  return index + request->slices <= end ? (uint32_t)index : UINT32_MAX;
}

// The last place in a free run where a request fits.
static uint32_t run_fit_high(const arena_t* arena, uint32_t first, const span_request_t* request) {
  const uint32_t end = first + run_length(arena, first);
  const uintptr_t start =
      align_down((uintptr_t)slice_start(arena, end - (uint32_t)request->slices), request->align);
  return start < (uintptr_t)slice_start(arena, first)
             ? UINT32_MAX
             : (uint32_t)((start - (uintptr_t)arena->start) >> SLICE_SHIFT);
}

PRIVATE size_t run_gap_most(const span_request_t* request) {
  enum { LONG_SLICES = (512 << 10) / SLICE_BYTES };
  const bool is_long = RANDOM_PLACE && request->slices >= LONG_SLICES;
  return is_long ? request->slices / 2 + (request->align >> SLICE_SHIFT) : 0;
}

// The run's length is more than wanted. A long block leaves a random gap to what is beside it.
static uint32_t run_fit_random(const arena_t* arena, uint32_t first,
                               const span_request_t* request) {
  const uint32_t end = first + run_length(arena, first);
  const uint32_t low = run_fit(arena, first, end, request);
  const uint32_t high = run_fit_high(arena, first, request);
  if (low == UINT32_MAX || high == UINT32_MAX) { return low; }
  const size_t unit = size_max(request->align >> SLICE_SHIFT, slices_rounded(1));
  const size_t most = size_min(high - low, align_up(run_gap_most(request), unit)) / unit;
  const uint64_t gap = most == 0 ? 0 : random_below(&memory.random, most + 1) * unit;
  return (uint32_t)((random_next(&memory.random) & 1) != 0 ? high - gap : low + gap);
}

static uint32_t run_fit_any(const arena_t* arena, uint32_t first, const span_request_t* request) {
  const uint32_t length = run_length(arena, first);
  if (RANDOM_PLACE && length > request->slices) { return run_fit_random(arena, first, request); }
  return run_fit(arena, first, first + length, request);
}

PRIVATE bool run_find(const arena_t* arena, unsigned state, const span_request_t* request,
                      place_t* out) {
  enum { MAX_TRIES = 8 };
  unsigned bin = bin_floor((uint32_t)request->slices);
  int tries = 0;
  for (bin = bin_next(arena, state, bin); bin < RUN_BINS; bin = bin_next(arena, state, bin + 1)) {
    for (uint32_t at = arena->bins[state - 1][bin]; at != 0; at = arena->table[at - 1].next) {
      *out = (place_t){at - 1, run_fit_any(arena, at - 1, request)};
      if (out->start != UINT32_MAX) { return true; }
      if (++tries % MAX_TRIES == 0) { break; }  // on to the larger ones
    }
  }
  return false;
}

PRIVATE uint32_t run_fit_across(const arena_t* arena, uint32_t clean,
                                const span_request_t* request) {
  const bool suits = !RANDOM_PLACE && arena->huge && !request->zeroed &&
                     request->slices < HUGE_SLICES && clean > 0;
  if (!suits || run_state(arena, clean) != RUN_CLEAN || run_state(arena, clean - 1) != RUN_DIRTY) {
    return UINT32_MAX;
  }
  const uint32_t dirty = clean - run_length(arena, clean - 1);
  const uint32_t start = run_fit(arena, dirty, clean + run_length(arena, clean), request);
  return start < clean && start + request->slices > clean ? start : UINT32_MAX;
}
