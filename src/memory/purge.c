// Purging: what comes back is dirty; how much of that stays, and for how long. The lock is released
// while the OS works.
#include <limits.h>

#include "../service/options.h"
#include "internal.h"

// Dirty bytes kept: 5 MiB, or 1/16 of what is in use, and where that turns out too little, up to
// half of what is in use more.
enum { KEPT_SHARE = 16, SLACK_SHARE = 2 };
enum { UNFIT_SHARE = 8 };
enum { PURGE_PIECE = 256 << 10, PURGE_BATCH = 1 << 20, SWING_BATCH = 4 << 20 };

// How memory goes back: offered to the OS, which takes it if it needs some, or gone at once.
typedef enum { PURGE_LAZILY, PURGE_NOW } purge_way_t;

static void count_given(stat_counter_t* kind, size_t bytes) {
  stat_add(&memory_stats.purge_calls, 1);
  stat_add(kind, bytes);
  stat_down(&memory_stats.committed, bytes);
}

PRIVATE void count_decommitted(size_t bytes) { count_given(&memory_stats.purged, bytes); }

// ---- a part of a run ----

// What may be purged of a dirty run: whole huge pages, unless they may be split.
typedef struct part {
  arena_t* arena;
  uint32_t first, start, length;
  unsigned before, after;  // states
} part_t;

// Parts that go by one call of the OS, since each call interrupts the other processors.
enum { MOST_PARTS = 32 };

// An arena that nobody uses has no huge page to save.
static bool arena_may_split(const arena_t* arena) {
  return option_get(mi_option_allow_thp) != 2 || arena->taken == 0;
}

static bool arena_goes_whole(const arena_t* arena) {
  return arena->huge || (memory_goes_whole() && arena_wants_whole(arena));
}

static part_t part_of_run(arena_t* arena, uint32_t first, bool split) {
  uint32_t start = first, end = first + run_length(arena, first);
  if (arena_goes_whole(arena) && !(split && arena_may_split(arena))) {
    start = (uint32_t)align_up(start, HUGE_SLICES);
    end = (uint32_t)align_down(end, HUGE_SLICES);
  }
  return (part_t){
      .arena = arena, .first = first, .start = start, .length = start < end ? end - start : 0};
}

static bool part_is_whole(const part_t* part) {
  return (part->start | part->length) % HUGE_SLICES == 0;
}

// Leaves the end of it: the next request takes the start. Huge pages stay whole.
static void part_shorten(part_t* part, size_t most) {
  const bool whole = part->arena != NULL && arena_goes_whole(part->arena) && part_is_whole(part);
  const size_t keep = whole ? align_up(most, HUGE_SLICES) : slices_rounded(most);
  if (keep >= part->length) { return; }
  part->start += part->length - (uint32_t)keep;
  part->length = (uint32_t)keep;
}

static void count_part(const part_t* part) {
  const size_t bytes = slices_bytes(part->length);
  // What was reset is no longer counted as committed, and a refusal leaves it dirty.
  if (part->before == RUN_RESET) { stat_up(&memory_stats.committed, bytes); }
  if (part->after == RUN_RESET) { count_given(&memory_stats.reset, bytes); }
  if (part->after == RUN_CLEAN) { count_decommitted(bytes); }
}

// ---- parts that go together ----

// Huge pages are split, of an arena that is on them, or was: the OS would fill the hole again, to
// make them up.
static void arena_note_split(arena_t* arena) {
  arena->small = (uint32_t)size_min(arena->small + HUGE_SLICES, arena->frontier);
  if (arena->huge) { arena_set_huge(arena, false); }
}

// False if there is none.
static bool part_take(part_t* part) {
  arena_t* arena = part->arena;
  if (arena == NULL || part->length == 0) { return false; }
  part->before = run_state(arena, part->first);
  if ((arena->huge || arena->was_huge) && !part_is_whole(part)) { arena_note_split(arena); }
  run_carve(arena, part->first, part->start, part->length);
  arena->taken += part->length;  // keeps the arena mapped
  return true;
}

// Returns the state that it is in then: RUN_DIRTY if it could not go.
static unsigned give_back_alone(const part_t* part, bool resets) {
  span_t span = {.start = slice_start(part->arena, part->start), .slices = part->length};
  const size_t bytes = slices_bytes(span.slices);
  if (part->arena->commit_fun != NULL) {
    return call_commit(part->arena, false, &span) ? RUN_CLEAN : RUN_DIRTY;
  }
  if (resets && port_reset(span.start, bytes) == 0) { return RUN_RESET; }
  return port_decommit(span.start, bytes) == 0 ? RUN_CLEAN : RUN_DIRTY;
}

// All but those of arenas that the program commits. Its room on the stack is not for one part,
// which a thread with little may give back.
static NOINLINE bool give_back_together(const part_t* parts, size_t count, bool resets) {
  port_range_t ranges[MOST_PARTS];
  size_t used = 0;
  for (const part_t* part = parts; part < parts + count; part++) {
    if (part->arena->commit_fun != NULL) { continue; }
    ranges[used++] =
        (port_range_t){slice_start(part->arena, part->start), slices_bytes(part->length)};
  }
  return port_give_all(ranges, used, resets);
}

static void give_back(part_t* parts, size_t count, purge_way_t way) {
  const bool resets = way == PURGE_LAZILY || !option_is_enabled(mi_option_purge_decommits);
  const bool together = count > 1 && give_back_together(parts, count, resets);
  for (part_t* part = parts; part < parts + count; part++) {
    part->after = resets ? RUN_RESET : RUN_CLEAN;
    if (!together || part->arena->commit_fun != NULL) {
      part->after = give_back_alone(part, resets);
    }
  }
}

// False if there are none, or the OS refused.
static bool purge_parts(part_t* parts, size_t count, purge_way_t way) {
  bool ok = true;
  if (count == 0) { return false; }
  lock_release(&memory.lock);
  give_back(parts, count, way);
  lock_acquire(&memory.lock);
  for (const part_t* part = parts; part < parts + count; part++) {
    part->arena->taken -= part->length;
    part->arena->refused |= part->after == RUN_DIRTY;
    // What the program gave may be shared or a file's: it comes back with what it held.
    part->arena->has_stale |= arena_is_given(part->arena);
    if (part->after == RUN_CLEAN && part_is_whole(part)) {
      part->arena->small -= (uint32_t)size_min(part->arena->small, part->length);
    }
    run_free(part->arena, part->start, part->length, part->after);
    count_part(part);
    ok = ok && part->after != RUN_DIRTY;
  }
  return ok;
}

static COLD bool purge_part(part_t* part, purge_way_t way) {
  return part_take(part) && purge_parts(part, 1, way);
}

static size_t parts_slices(const part_t* parts, size_t count) {
  size_t slices = 0;
  for (size_t i = 0; i < count; i++) { slices += parts[i].length; }
  return slices;
}

static void parts_put_back(const part_t* parts, size_t count) {
  for (const part_t* part = parts; part < parts + count; part++) {
    part->arena->taken -= part->length;
    (void)run_free(part->arena, part->start, part->length, RUN_DIRTY);
  }
  memory.due_slices += parts_slices(parts, count);
}

// ---- what is more than is kept ----

static bool arena_is_to_give(const arena_t* arena) {
  return arena_may_purge(arena) && !arena->refused;
}

// One of the arena's longest runs of that state that may be purged in part, and that part. It has
// length 0 if there is none.
static part_t longest_of_arena(arena_t* arena, unsigned state, bool split) {
  enum { MAX_TRIES = 8 };
  const unsigned bin = arena_is_to_give(arena) ? bin_highest(arena, state) : RUN_BINS;
  part_t part = {0};
  if (bin == RUN_BINS) { return part; }
  uint32_t at = arena->bins[state - 1][bin];
  for (int i = 0; at != 0 && part.length == 0 && i < MAX_TRIES; i++) {
    part = part_of_run(arena, at - 1, split);
    at = arena->table[at - 1].next;
  }
  return part;
}

static part_t longest(unsigned state, bool split) {
  part_t best = {0};
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    const part_t part = longest_of_arena(arena, state, split);
    if (part.length > best.length) { best = part; }
  }
  return best;
}

static size_t slack_most(void) { return memory.taken_slices / SLACK_SHARE; }

static size_t kept_slices(void) {
  if (option_get(mi_option_purge_delay) == 0) { return 0; }
  return size_max(memory.taken_slices / KEPT_SHARE, MIN_KEPT / SLICE_BYTES) +
         size_min(memory.slack_slices, slack_most());
}

// Memory is wanted a moment after some went by holes.
static void hole_refault(void) {
  if (memory.hole_ms != 0 && memory.now_ms - memory.hole_ms < REFAULT_MS) {
    memory.hole_refault_ms = memory.now_ms;
  }
}

PRIVATE void purge_note_wanted(size_t slices) {
  memory.slack_slices += slices;
  memory.refault_ms = memory.now_ms;
}

// What was purged a moment ago is wanted again: better to have kept it.
PRIVATE void purge_refault(uint32_t stamp, size_t slices) {
  hole_refault();
  if (!was_lately(stamp)) { return; }
  purge_note_wanted(slices);
  memory.swings += memory.has_purged;
  memory.has_purged = false;
}

// Where small OS pages may lie though huge ones are wanted all goes at once: page tables go with
// it, and the OS can make huge pages there. Huge pages that are split, perhaps for the last time,
// go at once too: to offer a part of one takes longer, and all of them are to be made up.
static bool part_is_offered(const part_t* part) {
  const arena_t* arena = part->arena;
  return !(arena->huge && arena->small != 0) &&
         !(memory_may_go_whole() && arena_wants_whole(arena) && !part_is_whole(part));
}

static purge_way_t purge_way(const part_t* parts, size_t count) {
  bool offers = memory_swings() && purge_delay_ms() > 0;
  for (const part_t* part = parts; part < parts + count; part++) {
    offers = offers && part_is_offered(part);
  }
  return offers ? PURGE_LAZILY : PURGE_NOW;
}

static void forget_refusals(void) {
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    arena->refused = false;
  }
}

// The slack halves with each second in which it proves enough. Who refused is asked again.
static void slack_decay(void) {
  if (memory.now_ms - memory.slack_ms < REFAULT_MS) { return; }
  memory.slack_slices = size_min(memory.slack_slices, slack_most()) / 2;
  memory.swings /= 2;
  memory.slack_ms = memory.now_ms;
  forget_refusals();
}

// Splitting a huge page costs what it saved when it was made: only to get far below its size.
static size_t kept_before_split(size_t kept) {
  return kept == 0 ? 0 : kept + memory.taken_slices / SLACK_SHARE;
}

static uint32_t purge_least(void) {
  return (uint32_t)size_max(option_size(mi_option_minimal_purge_size) >> SLICE_SHIFT, 1);
}

static size_t piece_slices(void) { return size_max(purge_least(), PURGE_PIECE / SLICE_BYTES); }

static part_t excess_part(bool may_split) {
  const part_t part = longest(RUN_DIRTY, false);
  return part.length < purge_least() && may_split ? longest(RUN_DIRTY, true) : part;
}

// So much has to be due before a call of the OS interrupts the other threads: more where that is
// wanted again anyway.
static size_t batch_slices(void) {
  const bool waits = memory_swings() && !port_is_single_threaded();
  return (waits ? SWING_BATCH : PURGE_BATCH) / SLICE_BYTES;
}

// Parts that go at once, no more than is due. What was freed last sets the length of pieces.
static size_t excess_parts(part_t* parts, size_t kept, size_t piece, bool whole) {
  const bool may_split = !whole && memory.dirty_slices > kept_before_split(kept);
  const size_t least = whole ? HUGE_SLICES : purge_least();
  size_t count = 0;
  while (memory.due_slices > 0 && count < MOST_PARTS && memory.dirty_slices > kept) {
    part_t part = excess_part(may_split);
    if (part.length < least) { break; }
    const size_t excess = size_min(memory.due_slices, memory.dirty_slices - kept);
    part_shorten(&part, whole ? excess : piece);
    if (!part_take(&part)) { break; }
    memory.due_slices -= size_min(memory.due_slices, part.length);
    parts[count++] = part;
  }
  return count;
}

// What it costs to offer parts, in slices that are split: a huge page takes as long as this share.
static size_t parts_cost(const part_t* parts, size_t count) {
  enum { WHOLE_SHARE = 32 };
  size_t slices = 0;
  for (const part_t* part = parts; part < parts + count; part++) {
    const bool whole = part->arena->huge && part_is_whole(part);
    slices += whole ? part->length / WHOLE_SHARE : part->length;
  }
  return slices;
}

// Has a heap that swings offered so much that the rest is withheld? Each MiB costs up to a quarter
// of a millisecond, for nothing as long as it is wanted again at once: so it offers what there is a
// few times over, and then a little as time goes by. Not where blocks lie at random places: what is
// withheld would seldom fit. See docs/decisions/038.
static bool offers_enough(void) {
  enum { OFFER_TIMES = 4, OFFER_EACH_MS = (64 << 10) >> SLICE_SHIFT };
  const int64_t passed = memory.now_ms - memory.offered_ms;
  const size_t made_up = (size_t)passed * OFFER_EACH_MS;
  memory.offered_ms = memory.now_ms;
  memory.offered_slices -= size_min(memory.offered_slices, made_up);
  return memory.offered_slices >= OFFER_TIMES * (memory_reserved_bytes() >> SLICE_SHIFT);
}

// More is unused than we keep: give back twice what came in, in pieces that cost microseconds, some
// of them at once. What waits until huge pages are unused as a whole stays due.
static NOINLINE void purge_excess(size_t kept, size_t given_slices) {
  const bool whole = memory_goes_whole() && kept > 0;
  memory.due_slices += 2 * given_slices;
  memory.withholds = !RANDOM_PLACE && kept > 0 && memory_swings() && offers_enough();
  if (memory.withholds) {
    memory.due_slices = size_min(memory.due_slices, memory.dirty_slices);
    return;
  }
  if (memory.due_slices < batch_slices() && kept > 0) { return; }
  part_t parts[MOST_PARTS];
  size_t count = excess_parts(parts, kept, size_max(given_slices, piece_slices()), whole);
  if (whole && parts_slices(parts, count) < batch_slices()) {
    parts_put_back(parts, count);
    count = 0;
  }
  memory.due_slices = whole ? size_min(memory.due_slices, memory.dirty_slices) : 0;
  const bool purged = purge_parts(parts, count, purge_way(parts, count));
  memory.has_purged |= purged;
  if (memory_swings()) { memory.offered_slices += parts_cost(parts, count); }
  if (!whole && !purged) { return; }
  store_relaxed(&memory_trend, memory.has_huge ? MEMORY_SHRINKS_HUGE : MEMORY_SHRINKS);
}

// ---- what has been unused for long ----

// The first run in the bins that has been in that state for so long.
static part_t expired_of_arena(arena_t* arena, unsigned state, uint32_t delay_ms) {
  const uint32_t now = (uint32_t)memory.now_ms;
  unsigned bin = bin_next(arena, state, bin_floor(purge_least()));
  for (; bin < RUN_BINS; bin = bin_next(arena, state, bin + 1)) {
    for (uint32_t at = arena->bins[state - 1][bin]; at != 0; at = arena->table[at - 1].next) {
      const part_t part = part_of_run(arena, at - 1, false);
      if (now - arena->table[at - 1].stamp >= delay_ms && part.length > 0) { return part; }
    }
  }
  return (part_t){0};
}

static part_t expired(unsigned state, uint32_t delay_ms) {
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    if (!arena_is_to_give(arena)) { continue; }
    const part_t part = expired_of_arena(arena, state, delay_ms);
    if (part.length > 0) { return part; }
  }
  return (part_t){0};
}

// A look at the clock a few times in each delay; one piece at a time.
static void purge_expired(long delay_ms) {
  const int64_t now = memory.now_ms;
  if (memory.dirty_slices + memory.reset_slices == 0 ||
      now - memory.last_decay_ms < delay_ms / 4 + 1) {
    return;
  }
  part_t part = expired(RUN_DIRTY, (uint32_t)delay_ms);
  if (part.length == 0 && option_is_enabled(mi_option_purge_decommits)) {
    part = expired(RUN_RESET, (uint32_t)delay_ms);
  }
  part_shorten(&part, piece_slices());
  if (!purge_part(&part, PURGE_NOW)) { memory.last_decay_ms = now; }
}

PRIVATE long purge_delay_ms(void) {
  const long delay = option_get(mi_option_purge_delay);
  long product;
  const bool fits =
      !__builtin_mul_overflow(delay, option_get(mi_option_arena_purge_mult), &product);
  return fits ? product : LONG_MAX;
}

// ---- all together ----

// What is dirty would be kept as well while it waits as empty pages, which nobody has to ask for
// under the memory lock.
static size_t spare_room(size_t kept) {
  if (memory.withholds) { return memory.taken_slices + memory.dirty_slices; }
  return kept - size_min(kept, memory.dirty_slices);
}

// Less code: where memory only grows, only what the program gave could go back to it.
enum { PURGES = PORT_CAN_RELEASE || !SMALL };

PRIVATE void purge_due(size_t given_slices) {
  if (!PURGES) { return; }
  const long delay = purge_delay_ms();
  if (delay < 0) { return; }
  slack_decay();
  memory.withholds = false;
  const size_t kept = kept_slices();
  if (memory.dirty_slices > kept) { purge_excess(kept, given_slices); }
  store_relaxed(&memory_spare_room, spare_room(kept));
  purge_expired(delay);
}

static void purge_all_of(unsigned state) {
  for (part_t part = longest(state, true); part.length > 0; part = longest(state, true)) {
    (void)purge_part(&part, PURGE_NOW);
  }
}

PRIVATE void purge_all(void) {
  if (!PURGES) { return; }
  forget_refusals();
  purge_all_of(RUN_DIRTY);
  if (option_is_enabled(mi_option_purge_decommits)) { purge_all_of(RUN_RESET); }
}

// It was on huge pages until one was split, or is the first arena, which begins without.
static bool arena_is_to_be_huge(const arena_t* arena) {
  return !arena->huge && (arena->was_huge || arena_is_small(arena)) && !arena->guarded &&
         arena_can_be_huge(arena) && arena_is_to_give(arena);
}

// What is unused of it as whole huge pages, as parts.
static size_t split_parts(arena_t* arena, part_t* parts, size_t most) {
  size_t count = 0;
  stretch_t whole = {0};
  while (count < most && whole_next(arena, &whole)) {
    part_t part = {.arena = arena,
                   .first = whole.run,
                   .start = whole.start,
                   .length = whole.end - whole.start};
    if (part_take(&part)) { parts[count++] = part; }
  }
  return count;
}

PRIVATE COLD NOINLINE void purge_split(void) {
  part_t parts[MOST_PARTS];
  size_t count = 0;
  if (!PURGES || purge_delay_ms() < 0 || !huge_is_wanted(growth_is_dense(1))) { return; }
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    if (!arena_is_to_be_huge(arena)) { continue; }
    arena->small = arena->frontier;
    arena_set_huge(arena, true);
    count += split_parts(arena, parts + count, MOST_PARTS - count);
  }
  (void)purge_parts(parts, count, PURGE_NOW);
}

// Huge pages stay whole: what is less than one of them is little here.
PRIVATE void purge_unfit(size_t slices) {
  if (!PURGES || purge_delay_ms() < 0) { return; }
  const size_t in_use = memory.taken_slices + (memory.direct.bytes >> SLICE_SHIFT);
  const size_t waits = memory.dirty_slices + memory.reset_slices, most = in_use / UNFIT_SHARE;
  size_t due = waits > most ? size_min(waits - most, slices) : 0;
  while (due > 0) {
    const part_t reset = longest(RUN_RESET, false);
    part_t part = reset.length > 0 ? reset : longest(RUN_DIRTY, false);
    part_shorten(&part, slices_bytes(due));
    due -= size_min(due, part.length);
    if (!purge_part(&part, PURGE_NOW)) { return; }
  }
}

// Is so much free memory wanted back by the OS at once?
static bool is_immediate(size_t slices) {
  const size_t least = option_size(mi_option_arena_purge_immediate_size);
  return unlikely(least != 0) && slices_bytes(slices) >= least && purge_delay_ms() >= 0;
}

static void run_give(const span_t* span) {
  arena_t* arena = span->arena;
  account_given(arena, span->slices);
  const uint32_t run =
      run_free(arena, slice_index(arena, span->start), (uint32_t)span->slices, RUN_DIRTY);
  if (PURGES && arena_may_purge(arena) && is_immediate(run_length(arena, run))) {
    part_t part = part_of_run(arena, run, false);
    (void)purge_part(&part, PURGE_NOW);
  }
}

PRIVATE void runs_give(const span_t* spans, size_t count) {
  size_t slices = 0;
  for (const span_t* span = spans; span < spans + count; span++) {
    run_give(span);
    slices += span->slices;
  }
  purge_due(slices);
}

// ---- parts of spans that stay taken ----

// Returns false if the arena's huge OS pages are worth more. Where they are given up the OS will
// not fill the hole again, to make one.
static bool arena_give_up_huge(arena_t* arena) {
  lock_acquire(&memory.lock);
  const bool may = !arena->huge || arena_may_split(arena);
  if (may && arena->huge) { arena_set_huge(arena, false); }
  lock_release(&memory.lock);
  return may;
}

PRIVATE bool memory_wants_holes(size_t sparse_slices) {
  if (purge_delay_ms() < 0) { return false; }
  lock_acquire(&memory.lock);
  const int64_t now = memory.now_ms = port_clock_ms();
  const bool wanted = sparse_slices > kept_slices() && !memory_swings() &&
                      (memory.hole_refault_ms == 0 || now - memory.hole_refault_ms >= REFAULT_MS);
  if (wanted) { memory.hole_ms = now; }
  lock_release(&memory.lock);
  return wanted;
}

PRIVATE void memory_refault_hole(void) {
  lock_acquire(&memory.lock);
  memory.now_ms = port_clock_ms();
  hole_refault();
  lock_release(&memory.lock);
}

PRIVATE bool memory_may_have_holes(arena_t* arena) {
  return arena == NULL ||
         (!arena->pinned && arena->commit_fun == NULL && arena_give_up_huge(arena));
}

PRIVATE void memory_make_holes(const port_range_t* holes, size_t count) {
  const bool gone = PORT_DECOMMIT_STAYS && port_give_all(holes, count, false);
  for (const port_range_t* hole = holes; hole < holes + count; hole++) {
    if (!gone) { (void)port_purge(hole->start, hole->bytes); }
    count_decommitted(hole->bytes);
  }
}

PRIVATE void memory_fill_hole(size_t bytes) {
  if (bytes != 0) { stat_up(&memory_stats.committed, bytes); }
}
