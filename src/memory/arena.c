// Arenas, slices, purge. See arena.h.
#include "arena.h"

#include <errno.h>
#include <string.h>

#include "../base/track.h"
#include "../port/lock.h"
#include "../service/message.h"
#include "../service/options.h"
#include "../service/random.h"
#include "meta.h"

SHARED_DATA_DEF stats_t memory_stats;
SHARED_DATA_DEF _Atomic(size_t) memory_untouched;
SHARED_DATA_DEF _Atomic(uint32_t) memory_growths;

enum { FIRST_ARENA = 8 << 20, HUGE_PAGE = 2 << 20, PURGE_PIECE = 256 << 10 };
enum { HUGE_SLICES = HUGE_PAGE / SLICE_BYTES };
// Dirty bytes kept: 8 MiB, or 1/16 of what is in use, and where that turns out too little, more: up
// to half of what is in use, or 16 MiB if so much was in use within the last two seconds.
enum { MIN_KEPT = 8 << 20, KEPT_SHARE = 16, SLACK_SHARE = 2, REGRET_MS = 1000 };
enum { SWING_MOST = 16 << 20 };
enum { MAX_DIRECT = 24 };  // mappings of their own, beside one for each GiB in use

static struct {
  lock_t lock;
  random_t random;
  arena_t* first;
  size_t taken_slices, dirty_slices, reserved_bytes, direct_bytes, direct_count;
  int64_t now_ms, last_decay_ms;  // as of the last give or collect
  size_t slack_slices;            // what was purged and wanted again soon
  int64_t slack_ms;
  size_t most_taken, most_taken_before;  // in this second, as counted by slack_ms, and before it
  const arena_t* news;  // an arena that is still to be announced, once the lock is free
  bool has_reset;       // some clean memory was only reset, and may read as what it was
} memory;

static size_t slices_bytes(size_t slices) { return slices << SLICE_SHIFT; }

// Runs are whole OS pages, also where those are larger than a slice.
static size_t slices_rounded(size_t slices) {
  return align_up(slices, size_max(port_page_bytes() >> SLICE_SHIFT, 1));
}

static uint32_t slice_index(const arena_t* arena, const uint8_t* p) {
  return (uint32_t)((size_t)(p - arena->start) >> SLICE_SHIFT);
}

static uint8_t* slice_start(const arena_t* arena, uint32_t index) {
  return arena->start + slices_bytes(index);
}

// ---- runs and bins ----

static uint32_t run_length(const arena_t* arena, uint32_t index) {
  return arena->table[index].run >> 2;
}
static unsigned run_state(const arena_t* arena, uint32_t index) {
  return arena->table[index].run & 3;
}

static void run_mark(arena_t* arena, uint32_t first, uint32_t length, unsigned state) {
  arena->table[first].run = arena->table[first + length - 1].run = length << 2 | state;
}

// Bins are exact to 32 slices, then four for each doubling.
static unsigned bin_floor(uint32_t length) {
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

static void bin_remove(arena_t* arena, uint32_t first) {
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

// The first occupied bin from `bin` on, or RUN_BINS.
static unsigned bin_next(const arena_t* arena, unsigned state, unsigned bin) {
  for (unsigned word = bin / 64; word < RUN_BINS / 64; word++) {
    uint64_t bits = arena->occupied[state - 1][word];
    if (word == bin / 64) { bits &= ~(uint64_t)0 << (bin % 64); }
    if (bits != 0) { return word * 64 + low_bit(bits); }
  }
  return RUN_BINS;
}

// Makes a free run, coalesced with neighbours of the same state; returns where it starts.
static uint32_t run_free(arena_t* arena, uint32_t first, uint32_t length, unsigned state) {
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

// Takes `length` slices at `start` out of the free run at `first`.
static void run_carve(arena_t* arena, uint32_t first, uint32_t start, uint32_t length) {
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
  if (state == RUN_DIRTY) { memory.dirty_slices -= length; }
}

// Where a block of this alignment starts in the run, or 0xffffffff if it does not fit.
static uint32_t run_fit(const arena_t* arena, uint32_t first, const span_want_t* want) {
  const uintptr_t start = align_up((uintptr_t)slice_start(arena, first), want->align);
  const size_t index = (start - (uintptr_t)arena->start) >> SLICE_SHIFT;
  return index + want->slices <= (size_t)first + run_length(arena, first) ? (uint32_t)index
                                                                          : UINT32_MAX;
}

// … and the last place where it does.
static uint32_t run_fit_high(const arena_t* arena, uint32_t first, const span_want_t* want) {
  const uint32_t end = first + run_length(arena, first);
  const uintptr_t start =
      align_down((uintptr_t)slice_start(arena, end - (uint32_t)want->slices), want->align);
  return start < (uintptr_t)slice_start(arena, first)
             ? UINT32_MAX
             : (uint32_t)((start - (uintptr_t)arena->start) >> SLICE_SHIFT);
}

static uint32_t run_fit_any(const arena_t* arena, uint32_t first, const span_want_t* want) {
  const bool high = RANDOM_PLACE && run_length(arena, first) > want->slices &&
                    (random_next(&memory.random) & 1) != 0;
  const uint32_t start = high ? run_fit_high(arena, first, want) : UINT32_MAX;
  return start != UINT32_MAX ? start : run_fit(arena, first, want);
}

// What was purged a moment ago is wanted again: better to have kept it.
static void note_regret(uint32_t stamp, size_t slices) {
  if (stamp != 0 && (uint32_t)memory.now_ms - stamp < REGRET_MS) { memory.slack_slices += slices; }
}

// The first touch makes the whole huge page resident, so what is left of it free is dirty.
static void run_carve_huge(arena_t* arena, uint32_t first, uint32_t start, uint32_t length) {
  const uint32_t end = first + run_length(arena, first);
  const uint32_t low = (uint32_t)size_max(first, align_down(start, HUGE_SLICES));
  const uint32_t high = (uint32_t)size_min(end, align_up(start + length, HUGE_SLICES));
  run_carve(arena, first, low, high - low);
  run_mark(arena, start, length, RUN_TAKEN);
  if (low < start) { run_free(arena, low, start - low, RUN_DIRTY); }
  if (start + length < high) { run_free(arena, start + length, high - start - length, RUN_DIRTY); }
  memory.dirty_slices += high - low - length;
  stat_up(&memory_stats.committed, slices_bytes(high - low - length));
}

static void arena_set_huge(arena_t* arena, bool huge) {
  (void)port_advise_huge(arena->start, slices_bytes(arena->frontier), huge);
  arena->huge = huge;
  arena->was_huge = !huge;
}

// Huge pages were given up when the arena was sparse; now it fills again.
static bool arena_is_dense_again(const arena_t* arena) {
  return arena->was_huge && arena->taken >= arena->frontier / 4 * 3;
}

static void run_take_at(arena_t* arena, uint32_t first, uint32_t start, uint32_t length) {
  if (run_state(arena, first) == RUN_CLEAN) {
    note_regret(arena->table[first].stamp, length);
    if (unlikely(arena_is_dense_again(arena))) { arena_set_huge(arena, true); }
    if (arena->huge) {
      run_carve_huge(arena, first, start, length);
      return;
    }
  }
  run_carve(arena, first, start, length);
}

// The program's own function, which alone knows whether the memory is zero then; free keeps errno
// whatever it does.
static bool call_commit(const arena_t* arena, bool commit, span_t* span) {
  const int saved = errno;
  track_show(span->start, slices_bytes(span->slices));
  span->is_zero = false;
  const bool ok = arena->commit_fun(commit, span->start, slices_bytes(span->slices), &span->is_zero,
                                    arena->commit_arg);
  errno = saved;
  return ok;
}

// Clean becomes taken. The program's function, if the arena has one, commits only here.
static bool run_commit(span_t* span) {
  arena_t* arena = span->arena;
  if (arena->commit_fun != NULL && !call_commit(arena, true, span)) {
    run_free(arena, slice_index(arena, span->start), (uint32_t)span->slices, RUN_CLEAN);
    return false;
  }
  if (arena->guarded && port_unguard(span->start, slices_bytes(span->slices)) != 0) {
    run_free(arena, slice_index(arena, span->start), (uint32_t)span->slices, RUN_CLEAN);
    return false;
  }
  if (memory.has_reset) { span->is_zero = false; }
  stat_up(&memory_stats.committed, slices_bytes(span->slices));
  return true;
}

static bool run_take(arena_t* arena, unsigned state, const span_want_t* want, span_t* out) {
  enum { MAX_TRIES = 8 };
  unsigned bin = bin_floor((uint32_t)want->slices);
  int tries = 0;
  for (bin = bin_next(arena, state, bin); bin < RUN_BINS; bin = bin_next(arena, state, bin + 1)) {
    for (uint32_t at = arena->bins[state - 1][bin]; at != 0; at = arena->table[at - 1].next) {
      const uint32_t start = run_fit_any(arena, at - 1, want);
      if (start != UINT32_MAX) {
        run_take_at(arena, at - 1, start, (uint32_t)want->slices);
        *out = (span_t){arena, slice_start(arena, start), want->slices, state == RUN_CLEAN, false};
        return state == RUN_DIRTY || run_commit(out);
      }
      if (++tries % MAX_TRIES == 0) { break; }  // on to the larger ones
    }
  }
  return false;
}

// ---- frontier ----

static bool arena_commit(arena_t* arena, uint32_t length, bool* is_zero) {
  uint8_t* start = slice_start(arena, arena->frontier);
  const size_t bytes = slices_bytes(length);
  *is_zero = arena->fresh_is_zero || arena->commit_fun != NULL;
  stat_add(&memory_stats.commit_calls, 1);
  return arena->committed || arena->commit_fun != NULL || port_commit(start, bytes) == 0;
}

// Where huge pages have 32 or 512 MiB, one touch would cost as much: there only on demand.
static bool huge_is_wanted(bool dense) {
  const long allow = option_get(mi_option_allow_thp);
  return allow == 2 || (allow == 1 && dense && port_huge_bytes() <= HUGE_PAGE);
}

// Much of what is taken is in use.
static bool memory_is_dense(void) {
  return load_relaxed(&memory_untouched) <= slices_bytes(memory.taken_slices) / 2;
}

// Growth beyond the first arena, while what there is is densely used: worth huge pages.
static bool arena_wants_huge(const arena_t* arena) {
  if (GUARD_PAGES || GUARD_FREED) { return false; }  // guards leave none
  return !arena->committed && arena->commit_fun == NULL && !arena->was_huge &&
         huge_is_wanted(arena != memory.first && (arena->huge || memory_is_dense()));
}

static uint32_t frontier_step(const arena_t* arena, uint32_t need) {
  const uint32_t room = arena->slices - arena->frontier;
  size_t step = size_max(arena->frontier / 8, PURGE_PIECE / SLICE_BYTES);
  step = size_max(need, size_min(step, 4 * HUGE_PAGE / SLICE_BYTES));
  // What follows a long block is touched when it is used: the block ends in small OS pages.
  if (need < HUGE_SLICES && arena_wants_huge(arena)) {
    step = align_up(arena->frontier + step, HUGE_PAGE / SLICE_BYTES) - arena->frontier;
  }
  return (uint32_t)size_min(slices_rounded(step), room);
}

// Moves the frontier so that a free run of the wanted length ends there.
static bool arena_advance(arena_t* arena, const span_want_t* want) {
  const size_t need = slices_rounded(want->slices + (want->align >> SLICE_SHIFT));
  if (need > arena->slices - arena->frontier) { return false; }
  const uint32_t step = frontier_step(arena, (uint32_t)need);
  bool is_zero = false;
  if (!arena_commit(arena, step, &is_zero)) { return false; }
  const bool huge = arena_wants_huge(arena);
  const uint32_t first = arena->frontier;
  arena->frontier += step;
  if (arena != memory.first) { (void)add_relaxed(&memory_growths, 1); }
  if (huge && arena->huge) {
    (void)port_advise_huge(slice_start(arena, first), slices_bytes(step), true);
  }
  if (huge && !arena->huge) { arena_set_huge(arena, true); }
  const uint32_t run = run_free(arena, first, step, is_zero ? RUN_CLEAN : RUN_DIRTY);
  if (is_zero) { arena->table[run].stamp = 0; }
  if (!is_zero) {
    memory.dirty_slices += step;
    stat_up(&memory_stats.committed, slices_bytes(step));
  }
  return true;
}

// ---- arenas ----

static void arena_link(arena_t* arena) {
  arena_t** at = &memory.first;
  while (*at != NULL) { at = &(*at)->next; }
  *at = arena;
  stat_add(&memory_stats.arena_count, 1);
  stat_up(&memory_stats.reserved, slices_bytes(arena->slices));
}

// Size of the next arena: as much as there is already, from 8 MiB to arena_reserve, or a quarter
// of a large heap.
static size_t next_arena_bytes(size_t need) {
  const size_t most = size_max(option_size(mi_option_arena_reserve), memory.reserved_bytes / 4);
  size_t bytes = size_min(size_max(memory.reserved_bytes, FIRST_ARENA), size_max(most, HUGE_PAGE));
  bytes = size_min(bytes, size_max(port_address_limit() / 8, HUGE_PAGE));
  return align_up(size_max(bytes, need + need / 256 + HUGE_PAGE), HUGE_PAGE);
}

// Arenas lie at random places in a region of 4 GiB, which one part of the map covers, and the
// region lies between an eighth and five eighths of the way to the stack. NULL where there is
// little room.
static void* random_place(size_t bytes) {
  enum { REGION_SHIFT = MAP_PART_SHIFT, REGION_SHARE = 2 };
  static uint64_t region, left;  // under the memory lock; bytes to use of the region
  const uint64_t here = (uintptr_t)__builtin_frame_address(0);
  const uint64_t region_bytes = (uint64_t)1 << REGION_SHIFT;
  if (sizeof(void*) < 8 || bytes > region_bytes / REGION_SHARE ||
      port_address_limit() != SIZE_MAX) {
    return NULL;
  }
  if (left < bytes) {
    region = (here / 8 + random_below(&memory.random, here / 2)) >> REGION_SHIFT << REGION_SHIFT;
    left = region_bytes / REGION_SHARE;
  }
  left -= bytes;
  const uint64_t place = region + random_below(&memory.random, region_bytes - bytes);
  return (void*)align_down((uintptr_t)place, HUGE_PAGE);
}

static int reserve_shrinking(size_t* bytes, size_t least, void** out) {
  for (;;) {
    stat_add(&memory_stats.mmap_calls, 1);
    *out = RANDOM_PLACE ? random_place(*bytes) : NULL;
    const int error = port_reserve(*bytes, *bytes >= HUGE_PAGE ? HUGE_PAGE : SLICE_BYTES * 4, out);
    if (error == 0 || *bytes / 2 < least) { return error; }
    *bytes = align_up(*bytes / 2, SLICE_BYTES * 4);
  }
}

// Slices and, between two guard pages, the slice table in one reservation.
static int arena_layout(arena_t* arena, void* start, size_t bytes) {
  const size_t page = port_page_bytes();
  const size_t table_bytes = align_up(bytes / SLICE_BYTES * sizeof(slice_t), page);
  const size_t usable = align_down(bytes - table_bytes - 2 * page, size_max(page, SLICE_BYTES));
  uint8_t* table = (uint8_t*)start + bytes - page - table_bytes;
  const int error = arena->committed ? 0 : port_commit(table, table_bytes);
  if (error != 0) { return error; }
  arena->start = start;
  arena->slices = (uint32_t)(usable / SLICE_BYTES);
  arena->table = (slice_t*)(void*)table;
  arena->mapped_bytes = bytes;
  arena->fresh_is_zero = true;
  arena->numa_node = -1;
  return map_cover(start, usable);
}

// On explicit 2 MiB pages, if the user wants them and the OS has them; such memory is resident from
// the start.
static bool reserve_large_pages(size_t bytes, void** out) {
  static _Atomic(bool) refused;
  if (likely(!option_is_enabled(mi_option_allow_large_os_pages)) || load_relaxed(&refused)) {
    return false;
  }
  const int error = port_map_huge(bytes, HUGE_PAGE, -1, out);
  if (error != 0) { store_relaxed(&refused, true); }
  return error == 0;
}

static int arena_obtain(arena_t* arena, size_t need) {
  size_t bytes = next_arena_bytes(need);
  void* start = NULL;
  arena->committed = arena->pinned = reserve_large_pages(bytes, &start);
  int error = 0;
  if (!arena->committed) {
    const size_t least = align_up(need + need / 256 + 4 * port_page_bytes(), 4 * SLICE_BYTES);
    error = reserve_shrinking(&bytes, least, &start);
  }
  if (error != 0) { return error; }
  error = arena_layout(arena, start, bytes);
  if (error != 0) { port_release(start, bytes); }
  return error;
}

static bool arena_grow_memory(size_t need_slices) {
  if (option_is_enabled(mi_option_disallow_os_alloc) || need_slices > ARENA_MAX_SLICES / 2) {
    return false;
  }
  arena_t* arena = meta_alloc(sizeof(arena_t));
  if (arena == NULL) { return false; }
  if (arena_obtain(arena, slices_bytes(need_slices)) != 0) {
    meta_free(arena, sizeof(arena_t));
    return false;
  }
  if (!arena->committed) {
    (void)port_advise_huge(arena->start, slices_bytes(arena->slices), false);
  }
  memory.reserved_bytes += arena->mapped_bytes;
  arena_link(arena);
  if (option_get(mi_option_arena_eager_commit) == 1) {
    (void)arena_advance(arena, &(span_want_t){.slices = arena->slices});
  }
  memory.news = arena;
  return true;
}

static void arena_unmap(arena_t** link) {
  arena_t* arena = *link;
  *link = arena->next;
  memory.reserved_bytes -= arena->mapped_bytes;
  stat_down(&memory_stats.reserved, slices_bytes(arena->slices));
  port_release(arena->start, arena->mapped_bytes);
  meta_free(arena, sizeof(arena_t));
}

// ---- purge ----

typedef enum { GIVE_REFUSED, GIVE_RESET, GIVE_DECOMMITTED } give_result_t;

static give_result_t give_back(const arena_t* arena, uint8_t* start, size_t slices) {
  if (arena->commit_fun != NULL) {
    const bool ok = call_commit(arena, false, &(span_t){.start = start, .slices = slices});
    return ok ? GIVE_DECOMMITTED : GIVE_REFUSED;
  }
  if (!option_is_enabled(mi_option_purge_decommits)) {
    return port_reset(start, slices_bytes(slices)) == 0 ? GIVE_RESET : GIVE_REFUSED;
  }
  return port_decommit(start, slices_bytes(slices)) == 0 ? GIVE_DECOMMITTED : GIVE_REFUSED;
}

static void count_purge(give_result_t result, size_t slices) {
  stat_add(&memory_stats.purge_calls, 1);
  if (result == GIVE_REFUSED) {
    memory.dirty_slices += slices;
    return;
  }
  if (result == GIVE_RESET) { memory.has_reset = true; }
  stat_add(result == GIVE_RESET ? &memory_stats.reset : &memory_stats.purged, slices_bytes(slices));
  stat_down(&memory_stats.committed, slices_bytes(slices));
}

// What may be purged of a dirty run: whole huge pages, unless they may be split.
typedef struct part {
  arena_t* arena;
  uint32_t first, start, length;
} part_t;

static part_t part_of_run(arena_t* arena, uint32_t first, bool split) {
  uint32_t start = first, end = first + run_length(arena, first);
  if (arena->huge && !split) {
    start = (uint32_t)align_up(start, HUGE_SLICES);
    end = (uint32_t)align_down(end, HUGE_SLICES);
  }
  return (part_t){arena, first, start, start < end ? end - start : 0};
}

static bool part_is_whole(const part_t* part) {
  return (part->start | part->length) % HUGE_SLICES == 0;
}

// Leaves the end of it: the next request takes the start. Huge pages stay whole.
static void part_shorten(part_t* part, size_t most) {
  const bool whole = part->arena != NULL && part->arena->huge && part_is_whole(part);
  const size_t keep = whole ? align_up(most, HUGE_SLICES) : slices_rounded(most);
  if (keep >= part->length) { return; }
  part->start += part->length - (uint32_t)keep;
  part->length = (uint32_t)keep;
}

// Purges part of a dirty run. The lock is released meanwhile; false if the OS refused.
static bool purge_part(part_t part) {
  arena_t* arena = part.arena;
  // Else the OS would fill the holes again, to make up the huge page.
  if (arena->huge && !part_is_whole(&part)) { arena_set_huge(arena, false); }
  run_carve(arena, part.first, part.start, part.length);
  arena->taken += part.length;  // keeps the arena mapped
  lock_release(&memory.lock);
  const give_result_t result = give_back(arena, slice_start(arena, part.start), part.length);
  lock_acquire(&memory.lock);
  arena->taken -= part.length;
  run_free(arena, part.start, part.length, result == GIVE_REFUSED ? RUN_DIRTY : RUN_CLEAN);
  count_purge(result, part.length);
  return result != GIVE_REFUSED;
}

static bool arena_may_purge(const arena_t* arena) { return !arena->pinned; }

static unsigned highest_dirty_bin(const arena_t* arena) {
  for (unsigned word = RUN_BINS / 64; word-- > 0;) {
    const uint64_t bits = arena->occupied[RUN_DIRTY - 1][word];
    if (bits != 0) { return word * 64 + 63 - (unsigned)__builtin_clzll(bits); }
  }
  return RUN_BINS;
}

// Of the arena's longest dirty runs, one of which something may be purged; of length 0 if there is
// none.
static part_t longest_of_arena(arena_t* arena, bool split) {
  enum { MAX_TRIES = 8 };
  const unsigned bin = arena_may_purge(arena) ? highest_dirty_bin(arena) : RUN_BINS;
  part_t part = {0};
  if (bin == RUN_BINS) { return part; }
  uint32_t at = arena->bins[RUN_DIRTY - 1][bin];
  for (int i = 0; at != 0 && part.length == 0 && i < MAX_TRIES; i++) {
    part = part_of_run(arena, at - 1, split);
    at = arena->table[at - 1].next;
  }
  return part;
}

static part_t longest_dirty(bool split) {
  part_t best = {0};
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    const part_t part = longest_of_arena(arena, split);
    if (part.length > best.length) { best = part; }
  }
  return best;
}

// A heap that swings wants again what it gives back, also while little of it is in use.
static size_t slack_most(void) {
  const size_t lately = size_max(memory.most_taken, memory.most_taken_before);
  return size_max(memory.taken_slices / SLACK_SHARE, size_min(lately, SWING_MOST / SLICE_BYTES));
}

static size_t kept_slices(void) {
  if (option_get(mi_option_purge_delay) == 0) { return 0; }
  return size_max(memory.taken_slices / KEPT_SHARE, MIN_KEPT / SLICE_BYTES) +
         size_min(memory.slack_slices, slack_most());
}

// The slack halves with each second in which it proves enough.
static void slack_decay(void) {
  if (memory.now_ms - memory.slack_ms < REGRET_MS) { return; }
  memory.slack_slices = size_min(memory.slack_slices, slack_most()) / 2;
  memory.slack_ms = memory.now_ms;
  memory.most_taken_before = memory.most_taken;
  memory.most_taken = memory.taken_slices;
}

// Splitting a huge page costs what it saved when it was made: only to get far below its size.
static size_t kept_before_split_slices(void) {
  return kept_slices() == 0 ? 0 : kept_slices() + memory.taken_slices / SLACK_SHARE;
}

static uint32_t purge_least(void) {
  return (uint32_t)size_max(option_size(mi_option_minimal_purge_size) >> SLICE_SHIFT, 1);
}

// More is unused than we keep: give back twice what came in, in pieces that cost microseconds.
static void purge_excess(size_t given_slices) {
  size_t due = size_max(2 * given_slices, PURGE_PIECE / SLICE_BYTES);
  while (due > 0 && memory.dirty_slices > kept_slices()) {
    part_t part = longest_dirty(false);
    if (part.length < purge_least() && memory.dirty_slices > kept_before_split_slices()) {
      part = longest_dirty(true);
    }
    if (part.length < purge_least()) { return; }
    part_shorten(&part, size_max(given_slices, PURGE_PIECE / SLICE_BYTES));
    if (!purge_part(part)) { return; }
    due -= size_min(due, part.length);
  }
}

// The first run in the bins that has been dirty for so long.
static part_t expired_dirty(int64_t now, long delay_ms) {
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    if (!arena_may_purge(arena)) { continue; }
    unsigned bin = bin_next(arena, RUN_DIRTY, bin_floor(purge_least()));
    for (; bin < RUN_BINS; bin = bin_next(arena, RUN_DIRTY, bin + 1)) {
      for (uint32_t at = arena->bins[RUN_DIRTY - 1][bin]; at != 0; at = arena->table[at - 1].next) {
        const part_t part = part_of_run(arena, at - 1, false);
        const uint32_t age = (uint32_t)now - arena->table[at - 1].stamp;
        if (age >= (uint32_t)delay_ms && part.length > 0) { return part; }
      }
    }
  }
  return (part_t){0};
}

// A look at the clock a few times in each delay; one piece at a time.
static void purge_expired(long delay_ms) {
  const int64_t now = memory.now_ms;
  if (memory.dirty_slices == 0 || now - memory.last_decay_ms < delay_ms / 4 + 1) { return; }
  part_t part = expired_dirty(now, delay_ms);
  part_shorten(&part, PURGE_PIECE / SLICE_BYTES);
  if (part.length == 0 || !purge_part(part)) { memory.last_decay_ms = now; }
}

// Negative: nothing is purged unasked.
static long purge_delay_ms(void) {
  return option_get(mi_option_purge_delay) * option_get(mi_option_arena_purge_mult);
}

static void purge_due(size_t given_slices) {
  const long delay = purge_delay_ms();
  if (delay < 0) { return; }
  slack_decay();
  if (memory.dirty_slices > kept_slices()) { purge_excess(given_slices); }
  purge_expired(delay);
}

static void purge_all(void) {
  for (part_t part = longest_dirty(true); part.length > 0; part = longest_dirty(true)) {
    if (!purge_part(part)) { return; }
  }
}

// The clean run at the frontier becomes what it was before the frontier moved: a limit of data
// counts what is writable, and others may need the room.
static void arena_retreat(arena_t* arena) {
  if (arena->frontier == 0 || arena->committed || arena->commit_fun != NULL ||
      run_state(arena, arena->frontier - 1) != RUN_CLEAN) {
    return;
  }
  const uint32_t length = run_length(arena, arena->frontier - 1);
  const uint32_t first = arena->frontier - length;
  if (port_seal(slice_start(arena, first), slices_bytes(length), true) != 0) { return; }
  bin_remove(arena, first);
  arena->frontier = first;
}

static void memory_unmap_empty(void) {
  arena_t** link = memory.first == NULL ? &memory.first : &memory.first->next;
  while (*link != NULL) {
    const arena_t* arena = *link;
    if (arena->taken == 0 && !arena->kept && highest_dirty_bin(arena) == RUN_BINS) {
      arena_unmap(link);
    } else {
      link = &(*link)->next;
    }
  }
  if (!port_data_is_limited()) { return; }
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) { arena_retreat(arena); }
}

// ---- take and give ----

static bool arena_fits(const arena_t* arena, const span_want_t* want) {
  if (want->arena != NULL) { return arena == want->arena; }
  const bool near =
      want->numa_node == 0 || arena->numa_node < 0 || arena->numa_node == want->numa_node - 1;
  return near && !arena->exclusive;
}

static bool take_free_run(const span_want_t* want, unsigned state, span_t* out) {
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    if (arena_fits(arena, want) && run_take(arena, state, want, out)) { return true; }
  }
  return false;
}

static bool take_fresh(const span_want_t* want, span_t* out) {
  for (arena_t* arena = memory.first; arena != NULL; arena = arena->next) {
    if (arena_fits(arena, want) && arena_advance(arena, want)) {
      return run_take(arena, RUN_CLEAN, want, out) || run_take(arena, RUN_DIRTY, want, out);
    }
  }
  return false;
}

static bool take_from_arenas(const span_want_t* want, span_t* out) {
  const unsigned better = want->zeroed ? RUN_CLEAN : RUN_DIRTY;
  const unsigned other = want->zeroed ? RUN_DIRTY : RUN_CLEAN;
  return take_free_run(want, better, out) || take_free_run(want, other, out) ||
         take_fresh(want, out);
}

static void account_taken(span_t* span) {
  span->arena->taken += (uint32_t)span->slices;
  memory.taken_slices += span->slices;
  memory.most_taken = size_max(memory.most_taken, memory.taken_slices);
}

static bool try_take(const span_want_t* want, span_t* out) {
  if (take_from_arenas(want, out)) { return true; }
  if (want->arena != NULL) { return false; }
  return arena_grow_memory(want->slices + (want->align >> SLICE_SHIFT)) &&
         take_from_arenas(want, out);
}

static void account_given(arena_t* arena, size_t slices) {
  arena->taken -= (uint32_t)slices;
  memory.taken_slices -= slices;
  memory.now_ms = port_clock_ms();
}

static void run_give(const arena_t* arena, const uint8_t* start, size_t slices) {
  arena_t* owner = (arena_t*)(uintptr_t)arena;
  account_given(owner, slices);
  memory.dirty_slices += slices;
  run_free(owner, slice_index(arena, start), (uint32_t)slices, RUN_DIRTY);
  purge_due(slices);
}

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

static void delayed_flush(void) {
  while (QUARANTINE && delayed.count > 0) { delayed_give(delayed.count - 1); }
}

// ---- sealed spans: large blocks out of reach that keep their memory, for the next of about their
// size: that costs two system calls, and no page faults. No more than what stays unused anyway ----

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

static void sealed_flush(int64_t before_ms) {
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

// What of a taken span is longer than wanted is free.
static void shorten_locked(span_t* span, size_t slices) {
  const size_t more = span->slices - slices;
  const uint32_t first = slice_index(span->arena, span->start);
  if (more == 0) { return; }
  run_mark(span->arena, first, (uint32_t)slices, RUN_TAKEN);
  run_mark(span->arena, first + (uint32_t)slices, (uint32_t)more, RUN_TAKEN);
  run_give(span->arena, slice_start(span->arena, first + (uint32_t)slices), more);
  span->slices = slices;
}

static bool take_sealed(const span_want_t* want, span_t* out) {
  if (want->zeroed) { return false; }
  for (size_t at = sealed.count; at-- > 0;) {
    const span_t* span = &sealed.spans[at];
    if (sealed_suits(span, want)) {
      if (port_seal(span->start, slices_bytes(span->slices), false) != 0) { return false; }
      *out = sealed_remove(at);
      shorten_locked(out, want->slices);
      return true;
    }
  }
  return false;
}

PRIVATE bool memory_take(span_want_t want, span_t* out) {
  want.slices = slices_rounded(want.slices);
  want.align = size_max(want.align, SLICE_BYTES);
  if (want.slices > ARENA_MAX_SLICES / 2 || want.align > PTRDIFF_MAX / 2) { return false; }
  lock_acquire(&memory.lock);
  const bool was_sealed = take_sealed(&want, out);
  const bool ok = was_sealed || try_take(&want, out);
  const arena_t* news = memory.news;
  memory.news = NULL;
  if (ok && !was_sealed) { account_taken(out); }
  lock_release(&memory.lock);
  if (unlikely(news != NULL)) {
    message_verbose("reserved %zu KiB at %p", news->mapped_bytes / KiB, (void*)news->start);
  }
  return ok;
}

// A mapping of its own is gone.
static void account_direct_given(const span_t* span) {
  lock_acquire(&memory.lock);
  memory.direct_count--;
  memory.direct_bytes -= slices_bytes(span->slices);
  lock_release(&memory.lock);
  stat_down(&memory_stats.reserved, slices_bytes(span->slices));
  stat_down(&memory_stats.committed, slices_bytes(span->slices));
}

static void direct_give(const span_t* span) {
  port_release(span->start, slices_bytes(span->slices));
  account_direct_given(span);
}

PRIVATE void memory_give(span_t span) {
  if (span.arena == NULL) {
    direct_give(&span);
    return;
  }
  if (seal_span(&span)) { return; }
  const bool guarded = GUARD_FREED && freed_goes_out_of_reach(&span);
  const bool waits = guarded && QUARANTINE && port_address_limit() == SIZE_MAX;
  lock_acquire(&memory.lock);
  if (guarded) { count_purge(GIVE_DECOMMITTED, span.slices); }
  if (waits) {
    delay_span(&span);
  } else if (guarded) {
    run_give_guarded(&span);
  } else {
    run_give(span.arena, span.start, span.slices);
  }
  lock_release(&memory.lock);
}

PRIVATE void memory_collect(bool force) {
  lock_acquire(&memory.lock);
  memory.now_ms = port_clock_ms();
  if (force) {
    delayed_flush();
    sealed_flush(INT64_MAX);
    purge_all();
    memory_unmap_empty();
  } else {
    purge_due(0);
    if (purge_delay_ms() >= 0) { sealed_flush(memory.now_ms - purge_delay_ms()); }
  }
  lock_release(&memory.lock);
}

static bool lengthen_locked(span_t* span, uint32_t more) {
  arena_t* arena = span->arena;
  const uint32_t first = slice_index(arena, span->start);
  const uint32_t end = first + (uint32_t)span->slices;
  if (end == arena->frontier && !arena_advance(arena, &(span_want_t){.slices = more})) {
    return false;
  }
  if (end >= arena->frontier || run_state(arena, end) == RUN_TAKEN ||
      run_length(arena, end) < more) {
    return false;
  }
  span_t added = {.arena = arena,
                  .start = slice_start(arena, end),
                  .slices = more,
                  .is_zero = run_state(arena, end) == RUN_CLEAN};
  run_take_at(arena, end, end, more);
  if (added.is_zero && !run_commit(&added)) { return false; }
  account_taken(&added);
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
  const bool ok = lengthen_locked(span, (uint32_t)(slices - span->slices));
  lock_release(&memory.lock);
  return ok;
}

PRIVATE void memory_shorten(span_t* span, size_t slices) {
  slices = slices_rounded(slices);
  if (slices >= span->slices) { return; }
  if (span->arena == NULL) {
    if (port_resize(span->start, slices_bytes(span->slices), slices_bytes(slices)) != 0) { return; }
    lock_acquire(&memory.lock);
    memory.direct_bytes -= slices_bytes(span->slices - slices);
    lock_release(&memory.lock);
    stat_down(&memory_stats.reserved, slices_bytes(span->slices - slices));
    stat_down(&memory_stats.committed, slices_bytes(span->slices - slices));
    span->slices = slices;
    return;
  }
  lock_acquire(&memory.lock);
  shorten_locked(span, slices);
  lock_release(&memory.lock);
}

// ---- mappings of their own ----

// The number of mappings stays within a constant and one for each GiB in use.
static bool direct_admit(size_t bytes, size_t* in_use_bytes) {
  lock_acquire(&memory.lock);
  const size_t in_use = slices_bytes(memory.taken_slices) + memory.direct_bytes + bytes;
  *in_use_bytes = in_use;
  const bool ok = memory.direct_count < MAX_DIRECT + in_use / GiB;
  if (ok) { memory.direct_count++, memory.direct_bytes += bytes; }
  lock_release(&memory.lock);
  return ok;
}

static bool direct_map(size_t bytes, size_t align, void** out) {
  stat_add(&memory_stats.mmap_calls, 1);
  if (port_map(bytes, size_max(align, SLICE_BYTES), out) != 0) { return false; }
  lock_acquire(&memory.lock);
  const bool ok = map_cover(*out, bytes) == 0;
  lock_release(&memory.lock);
  if (!ok) { port_release(*out, bytes); }
  return ok;
}

// Of a long block in a large heap, as in arenas beyond the first.
static bool direct_wants_huge(size_t bytes, size_t in_use) {
  return bytes >= 2 * HUGE_PAGE && huge_is_wanted(in_use > FIRST_ARENA);
}

PRIVATE bool memory_take_direct(span_want_t want, span_t* out) {
  const size_t bytes = slices_bytes(slices_rounded(want.slices));
  void* start = NULL;
  size_t in_use = 0;
  if (want.slices > INT32_MAX) { return false; }  // page records count them in 32 bits
  if (option_is_enabled(mi_option_disallow_os_alloc) || !direct_admit(bytes, &in_use)) {
    return false;
  }
  const bool huge = want.dense && direct_wants_huge(bytes, in_use);
  if (!direct_map(bytes, huge ? size_max(want.align, HUGE_PAGE) : want.align, &start)) {
    lock_acquire(&memory.lock);
    memory.direct_count--, memory.direct_bytes -= bytes;
    lock_release(&memory.lock);
    return false;
  }
  if (huge) { (void)port_advise_huge(start, bytes, true); }
  stat_up(&memory_stats.reserved, bytes);
  stat_up(&memory_stats.committed, bytes);
  *out = (span_t){NULL, start, bytes >> SLICE_SHIFT, true, huge};
  return true;
}

PRIVATE bool memory_remap_direct(span_t* span, size_t bytes) {
  span_t target;
  if (!memory_take_direct(
          (span_want_t){
              .slices = divide_up(bytes, SLICE_BYTES), .align = SLICE_BYTES, .dense = true},
          &target)) {
    return false;
  }
  if (port_move(span->start, slices_bytes(span->slices), target.start,
                slices_bytes(target.slices)) != 0) {
    memory_give(target);
    return false;
  }
  if (target.huge) {  // the pages that were moved brought their own advice
    (void)port_advise_huge(target.start, slices_bytes(target.slices), true);
  }
  account_direct_given(span);
  *span = target;
  return true;
}

// ---- arenas of the program ----

static void arena_fill(arena_t* arena, const arena_spec_t* spec) {
  arena->exclusive = spec->exclusive;
  arena->pinned = spec->pinned;
  arena->fresh_is_zero = spec->zero;
  arena->numa_node = spec->numa_node;
  arena->commit_fun = spec->commit_fun;
  arena->commit_arg = spec->commit_arg;
  arena->kept = true;
}

static void arena_publish(arena_t* arena, bool committed) {
  const span_want_t all = {.slices = arena->slices};
  lock_acquire(&memory.lock);
  arena_link(arena);
  if (committed) { (void)arena_advance(arena, &all); }
  lock_release(&memory.lock);
}

static bool cover(const void* start, size_t bytes) {
  lock_acquire(&memory.lock);
  const bool covered = map_cover(start, bytes) == 0;
  lock_release(&memory.lock);
  return covered;
}

// An arena's table in a mapping of its own.
static bool table_add(arena_t* arena) {
  void* table = NULL;
  arena->table_bytes = align_up(arena->slices * sizeof(slice_t), port_page_bytes());
  if (port_map_guarded(arena->table_bytes, &table) != 0) { return false; }
  arena->table = table;
  if (cover(arena->start, slices_bytes(arena->slices))) { return true; }
  port_release_guarded(table, arena->table_bytes);
  return false;
}

PRIVATE arena_t* arena_add(const arena_spec_t* spec) {
  const size_t unit = size_max(SLICE_BYTES, port_page_bytes());
  uint8_t* start = (uint8_t*)align_up((uintptr_t)spec->start, unit);
  uint8_t* end = (uint8_t*)align_down((uintptr_t)spec->start + spec->bytes, unit);
  if (start >= end || (size_t)(end - start) / SLICE_BYTES >= ARENA_MAX_SLICES) { return NULL; }
  arena_t* arena = meta_alloc(sizeof(arena_t));
  if (arena == NULL) { return NULL; }
  arena->start = start;
  arena->slices = (uint32_t)((size_t)(end - start) / SLICE_BYTES);
  if (!table_add(arena)) {
    meta_free(arena, sizeof(arena_t));
    return NULL;
  }
  arena_fill(arena, spec);
  arena->committed = spec->commit_fun == NULL;
  arena_publish(arena, spec->committed && spec->commit_fun == NULL);
  return arena;
}

static int reserve_plain(const arena_spec_t* spec, arena_t* arena) {
  void* start = NULL;
  const size_t bytes =
      align_up(spec->bytes + spec->bytes / 512 + 4 * port_page_bytes(), 4 * SLICE_BYTES);
  stat_add(&memory_stats.mmap_calls, 1);
  int error = port_reserve(bytes, bytes >= HUGE_PAGE ? HUGE_PAGE : 4 * SLICE_BYTES, &start);
  if (error != 0) { return error; }
  lock_acquire(&memory.lock);
  error = arena_layout(arena, start, bytes);
  lock_release(&memory.lock);
  if (error != 0) {
    port_release(start, bytes);
    return error;
  }
  arena_fill(arena, spec);
  arena->fresh_is_zero = true;
  arena_publish(arena, spec->committed);
  return 0;
}

PRIVATE int arena_reserve(const arena_spec_t* spec, size_t huge_bytes, arena_t** out) {
  if (spec->bytes == 0 || spec->bytes / SLICE_BYTES >= ARENA_MAX_SLICES) { return EINVAL; }
  if (huge_bytes != 0) {
    arena_spec_t huge = *spec;
    const int error = port_map_huge(spec->bytes, huge_bytes, spec->numa_node, &huge.start);
    if (error != 0) { return error; }
    huge.committed = huge.pinned = huge.zero = true;
    *out = arena_add(&huge);
    if (*out == NULL) { port_release(huge.start, spec->bytes); }
    return *out == NULL ? ENOMEM : 0;
  }
  arena_t* arena = meta_alloc(sizeof(arena_t));
  if (arena == NULL) { return ENOMEM; }
  const int error = reserve_plain(spec, arena);
  if (error != 0) { meta_free(arena, sizeof(arena_t)); }
  *out = error == 0 ? arena : NULL;
  return error;
}

// ---- questions ----

PRIVATE bool arena_contains(const arena_t* arena, const void* p) {
  return (uintptr_t)p - (uintptr_t)arena->start < slices_bytes(arena->slices);
}

PRIVATE void memory_visit_arenas(arena_visit_fun* visit, void* arg) {
  lock_acquire(&memory.lock);
  for (arena_t* arena = memory.first; arena != NULL && visit(arena, arg);) { arena = arena->next; }
  lock_release(&memory.lock);
}

UNUSED PRIVATE size_t memory_resident_free_bytes(void) {
  lock_acquire(&memory.lock);
  const size_t bytes = slices_bytes(memory.dirty_slices);
  lock_release(&memory.lock);
  return bytes;
}

PRIVATE void memory_lock(void) { lock_acquire(&memory.lock); }

PRIVATE void memory_unlock(void) { lock_release(&memory.lock); }

PRIVATE void memory_unlock_after_fork(bool child) {
  if (child && memory.random.seeded) { random_reseed(&memory.random); }
  lock_after_fork(&memory.lock, child);
}
