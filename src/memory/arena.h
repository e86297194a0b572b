// What the OS gave: arenas of 16 KiB slices, handed out as runs of slices.
//
//   | taken | dirty | taken | clean … frontier | not yet committed … | guard | slice table |
//
// A free run is CLEAN (committed, reads as zero, not resident), DIRTY (may be resident) or RESET
// (offered to the OS, which takes it when it needs memory, and resident until then). Neighbours of
// the same state coalesce at once. Requests are served from dirty runs first, then from reset ones,
// then from clean ones (on huge pages with the dirty one before it, see run_fit_across). Next come
// dirty and reset ones put together, then the frontier moves, then there is a new arena. Arenas
// grow geometrically, so that their number is logarithmic in the size of the heap. In secure builds
// a long block leaves a random gap, see run_gap_most.
//
//   taken --memory_give--> dirty --purge_excess--> reset --purge_expired--> clean
//                          dirty --purge_expired, purge_all--> clean
//   dirty, reset, clean --memory_take--> taken
//
// A1 the first and the last slice of each run hold its length and state.
// A2 no two neighbours are free in the same state.
// A3 each free run is in exactly one bin, that of its length and state.
// A4 nothing beyond the frontier is in a run.
// All fields belong to the holder of the memory lock. A run that is being purged counts as taken,
// so that the lock is not held during the system call. Tests: test/fault, test/api/arenas.c.
#ifndef MI_MEMORY_ARENA_H
#define MI_MEMORY_ARENA_H

#include "../../include/mimalloc.h"
#include "../base/bits.h"
#include "../base/modes.h"
#include "../port/port.h"
#include "../service/stats.h"
#include "map.h"

typedef struct slice {
  uint32_t run;         // first and last slice of a run: length << 2 | state
  uint32_t next, prev;  // first slice of a free run: its bin's list, as index + 1
  uint32_t stamp;       // when it became free in its state, in ms; 0: never used yet
} slice_t;

enum {
  RUN_TAKEN = 0,
  RUN_CLEAN = 1,
  RUN_DIRTY = 2,
  RUN_RESET = 3,
  FREE_STATES = 3,
  RUN_BINS = 128
};
enum { ARENA_MAX_SLICES = 1 << 28 };

// Where they are, none is kept for later.
FAST bool addresses_are_limited(void) { return port_address_limit() != SIZE_MAX; }

typedef struct arena {
  uint8_t* start;
  slice_t* table;
  uint32_t slices, frontier, taken;
  uint32_t small;  // slices that may be in small OS pages since a huge page was split
  bool exclusive;  // only for heaps that name it
  bool pinned;     // huge OS pages or the like: never purged
  bool huge;       // advised for transparent huge pages
  bool was_huge;   // it was huge until one was split
  bool fresh_is_zero;
  bool committed;  // from the start
  bool grows;      // memory only grows here: all of it is committed, and it becomes longer
  bool kept;       // the program holds its id
  bool guarded;    // some clean memory is inaccessible
  bool has_stale;  // some is not zero: the OS would not take it
  bool refused;    // to take memory, a moment ago
  bool large;      // builds with guards: for long blocks only, on transparent huge pages
  int numa_node;
  size_t mapped_bytes, table_bytes;
  mi_commit_fun_t* commit_fun;
  void* commit_arg;
  struct arena* next;
  uint64_t occupied[FREE_STATES][RUN_BINS / 64];
  uint32_t bins[FREE_STATES][RUN_BINS];
} arena_t;

FAST uint32_t run_length(const arena_t* arena, uint32_t first) {
  return arena->table[first].run >> 2;
}
FAST unsigned run_state(const arena_t* arena, uint32_t first) {
  return arena->table[first].run & 3;
}

// The program gave its memory.
FAST bool arena_is_given(const arena_t* arena) { return arena->mapped_bytes == 0; }

// May its memory go back?
FAST bool arena_may_purge(const arena_t* arena) {
  return !arena->pinned && (PORT_CAN_RELEASE || arena->commit_fun != NULL);
}

// May parts of it be inaccessible? Memory of the program, and huge OS pages, stay as they are.
// NULL: a mapping of its own, which may.
FAST bool arena_can_protect(const arena_t* arena) {
  return arena == NULL || (!arena->pinned && !arena->committed && !arena_is_given(arena));
}

// Known to be no longer than a slice. A test that plays the system says that they are not.
#ifndef OS_PAGES_ARE_SHORT
#if defined(__x86_64__) || defined(__i386__)
#define OS_PAGES_ARE_SHORT 1
#else
#define OS_PAGES_ARE_SHORT 0
#endif
#endif

// Runs are whole OS pages, also where those are larger than a slice.
FAST size_t slices_rounded(size_t slices) {
  if (OS_PAGES_ARE_SHORT) { return slices; }
  return align_up(slices, size_max(port_page_bytes() >> SLICE_SHIFT, 1));
}

// A run in use, or a mapping of its own when `arena` is NULL.
typedef struct span {
  arena_t* arena;
  uint8_t* start;
  size_t slices;
  bool is_zero;
  bool huge;  // a mapping of its own, advised for huge pages
} span_t;

typedef struct span_request {
  size_t slices;
  size_t align;    // bytes, a power of two
  arena_t* arena;  // NULL: any that is not exclusive
  bool zeroed;     // zero memory is worth more than resident memory
  bool dense;      // all of it will be used, as far as one can tell
  bool used;       // only of what is resident, as far as one can tell
  bool waiting;    // only of that, and of what was offered to the OS
  bool large;      // memory_take decides: from an arena for such
  int numa_node;   // 0: any; else one more than the node that the heap wants
} span_request_t;

// What the program gives or asks for with mi_manage_memory and mi_reserve_….
typedef struct arena_spec {
  void* start;
  size_t bytes;
  bool committed, pinned, zero, exclusive;
  int numa_node;
  mi_commit_fun_t* commit_fun;
  void* commit_arg;
} arena_spec_t;

typedef bool arena_visit_fun(arena_t* arena, void* arg);

// False if out of memory. The request is rounded up.
PRIVATE bool memory_take(span_request_t* request, span_t* out);
PRIVATE void memory_give(span_t span);
// The same of several spans of arenas, in builds that leave what is freed accessible as it is.
PRIVATE void memory_give_all(const span_t* spans, size_t count);
// The same of a span of which some may be inaccessible, as the OS would not bring it back: whoever
// takes it asks again.
PRIVATE void memory_give_unreachable(span_t span);
// In place; `is_zero` of the span becomes whether what was added is zero.
PRIVATE bool memory_lengthen(span_t* span, size_t slices);
PRIVATE void memory_shorten(span_t* span, size_t slices);
// A mapping of its own; `remap` moves it to a longer one.
PRIVATE bool memory_take_direct(const span_request_t* request, span_t* out);
PRIVATE bool memory_remap_direct(span_t* span, size_t bytes);
// A run for what would have such a mapping, where memory comes and goes: one that waits; or, where
// there is little of that, a fresh one in the place of a mapping that went a moment ago. What is
// shorter than SHORT_DIRECT bytes gets any.
enum { SHORT_DIRECT = 8 << 20 };
PRIVATE COLD bool memory_take_again(span_request_t* request, span_t* out);

// Purges what is due; with force all that is unused, and unmaps arenas without a page.
PRIVATE void memory_collect(bool force);
PRIVATE long purge_delay_ms(void);  // negative: nothing is purged unasked

// The memory at the start of a span, which stays taken, goes, and is inaccessible; and is wanted
// again. False: the OS refused.
PRIVATE bool memory_empty(const span_t* span, size_t bytes);
PRIVATE bool memory_refill(const span_t* span, size_t bytes);
// Whole OS pages of spans go back, by one call of the OS if it has that, and are accessible: until
// they are touched again, or the span is to be given back, they are holes. They are so too where
// the OS refuses to take the memory. The second: may spans of the arena have some?
PRIVATE void memory_make_holes(const port_range_t* holes, size_t count);
PRIVATE bool memory_may_have_holes(arena_t* arena);
PRIVATE void memory_fill_hole(size_t bytes);
// Are holes wanted where blocks are freed: is so much in pages that are sparse that it is more than
// may stay dirty, and was no memory wanted back lately soon after it went?
PRIVATE bool memory_wants_holes(size_t sparse_slices);
PRIVATE void memory_refault_hole(void);  // some of one is wanted again

PRIVATE arena_t* arena_add(const arena_spec_t* spec);
// Reserves from the OS; huge_bytes is 0 or the size of huge OS pages.
PRIVATE int arena_reserve(const arena_spec_t* spec, size_t huge_bytes, arena_t** out);
PRIVATE bool arena_contains(const arena_t* arena, const void* p);
PRIVATE void memory_visit_arenas(arena_visit_fun* visit, void* arg);  // under the lock
PRIVATE size_t memory_resident_free_bytes(void);                      // dirty, not reset

// Spans with mappings of their own.
typedef struct direct {
  size_t count, bytes;
} direct_t;
PRIVATE direct_t memory_direct_most(void);  // at one time, each by itself
// Between the two no memory of an arena goes away; for fork, and for who looks at what others own.
PRIVATE void memory_lock(void);
PRIVATE void memory_unlock(void);
PRIVATE void memory_unlock_after_fork(bool child);
PRIVATE void memory_rescue(void);
// The library goes, see process_unload: bytes in use, without what is known to be empty; and arenas
// go, all of them or those without any in use. Of the others their tables do.
UNUSED PRIVATE size_t memory_taken_bytes(void);
UNUSED PRIVATE void memory_unload(bool everything);

// Bytes of taken runs that nobody has touched yet, as their users say: not dense enough for huge
// pages. Relaxed; any thread.
SHARED_DATA(_Atomic(size_t), memory_untouched);

// How often memory has grown, as no free run would do. Relaxed; any thread.
SHARED_DATA(_Atomic(uint32_t), memory_growths);

// Has more been unused than is kept since memory was taken last? Then some goes back to the OS,
// where there are huge pages perhaps when they are unused as a whole. Relaxed; any thread.
typedef enum { MEMORY_STAYS, MEMORY_SHRINKS, MEMORY_SHRINKS_HUGE } memory_trend_t;
SHARED_DATA(_Atomic(memory_trend_t), memory_trend);

// Slices of empty pages that may wait beside those that always may: what dirty memory leaves of
// what may stay, or all while it is withheld. Relaxed; any thread.
SHARED_DATA(_Atomic(size_t), memory_spare_room);

// Counters of all that the OS gave.
SHARED_DATA(stats_t, memory_stats);

#endif
