// Invariants of arenas: see verify.h, and arena.h for their numbers.
#include "verify.h"

#include "../service/message.h"

PRIVATE bool invariant(bool holds, const char* number, const void* where, const char* what) {
  if (unlikely(!holds)) {
    message_error(EFAULT, "invariant %s is broken at %p: %s", number, where, what);
  }
  return holds;
}

typedef struct tally_of_runs {
  uint32_t taken_slices, free_runs[FREE_STATES];
} tally_of_runs_t;

// ---- the runs, from the first slice to the frontier ----

static bool verify_run(const arena_t* arena, uint32_t first, unsigned state_before) {
  const slice_t* slice = &arena->table[first];
  const uint32_t length = run_length(arena, first);
  const unsigned state = run_state(arena, first);
  const bool fits = length > 0 && length <= arena->frontier - first;
  if (!invariant(fits, "A4", slice, "a run does not end before the frontier")) { return false; }
  const bool marked = slice->run == arena->table[first + length - 1].run;
  const bool apart = state == RUN_TAKEN || state != state_before;
  return invariant(marked, "A1", slice, "the ends of a run do not agree on its length and state") &&
         invariant(apart, "A2", slice, "a run and the one before are free in the same way");
}

static bool verify_runs(const arena_t* arena, tally_of_runs_t* tally) {
  unsigned before = RUN_TAKEN;
  for (uint32_t at = 0; at < arena->frontier; at += run_length(arena, at)) {
    if (!verify_run(arena, at, before)) { return false; }
    before = run_state(arena, at);
    if (before == RUN_TAKEN) {
      tally->taken_slices += run_length(arena, at);
    } else {
      tally->free_runs[before - 1]++;
    }
  }
  return invariant(tally->taken_slices == arena->taken, "A1", arena,
                   "`taken` is not the number of slices in use");
}

// ---- the bins ----

// Exact to 32 slices, then four for each doubling.
static bool length_is_of_bin(uint32_t length, unsigned bin) {
  if (bin < 32 || length <= 32) { return length == bin + 1; }
  const unsigned doubling = (bin - 32) / 4, quarter = (bin - 32) % 4;
  const uint64_t least = (uint64_t)(4 + quarter) << (doubling + 3);
  const uint64_t next = (uint64_t)(5 + quarter) << (doubling + 3);
  return length >= least && length < next;
}

// The number of runs in the list, or UINT32_MAX.
static uint32_t verify_bin(const arena_t* arena, unsigned state, unsigned bin) {
  uint32_t count = 0, before = 0;
  for (uint32_t at = arena->bins[state - 1][bin]; at != 0; at = arena->table[at - 1].next) {
    const slice_t* slice = &arena->table[at - 1];
    if (!invariant(at <= arena->frontier && count <= arena->frontier, "A4", slice,
                   "the list of a bin leads beyond the frontier, or in a circle")) {
      return UINT32_MAX;
    }
    const bool belongs =
        run_state(arena, at - 1) == state && length_is_of_bin(run_length(arena, at - 1), bin);
    if (!invariant(belongs, "A3", slice, "a run is in the bin of another length or state") ||
        !invariant(slice->prev == before, "A3", slice, "the list of a bin does not lead back")) {
      return UINT32_MAX;
    }
    before = at;
    count++;
  }
  return count;
}

static bool bin_is_marked(const arena_t* arena, unsigned state, unsigned bin) {
  return (arena->occupied[state - 1][bin / 64] >> (bin % 64) & 1) != 0;
}

static bool verify_bins(const arena_t* arena, unsigned state, uint32_t runs) {
  uint32_t found = 0;
  for (unsigned bin = 0; bin < RUN_BINS; bin++) {
    const uint32_t count = verify_bin(arena, state, bin);
    if (count == UINT32_MAX) { return false; }
    found += count;
    if (!invariant(bin_is_marked(arena, state, bin) == (count > 0), "A3", arena,
                   "the bit of a bin does not say whether it is empty")) {
      return false;
    }
  }
  return invariant(found == runs, "A3", arena, "a free run is in no bin, or in two");
}

// ---- all ----

static bool verify_arena(arena_t* arena, void* arg) {
  tally_of_runs_t tally = {0};
  bool* holds = (bool*)arg;
  *holds = invariant(arena->frontier <= arena->slices, "A4", arena,
                     "the frontier is beyond the end of the arena") &&
           verify_runs(arena, &tally) && verify_bins(arena, RUN_CLEAN, tally.free_runs[0]) &&
           verify_bins(arena, RUN_DIRTY, tally.free_runs[1]) &&
           verify_bins(arena, RUN_RESET, tally.free_runs[2]);
  return *holds;
}

PRIVATE bool verify_arenas(void) {
  bool holds = true;
  memory_visit_arenas(verify_arena, &holds);
  return holds;
}
