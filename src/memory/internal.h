// What the files of this folder share: the state under the memory lock, and their parts. Each file
// uses those above it:
//
//   state.c     what they share
//   run.c       free runs of slices and their bins
//   frontier.c  where an arena's memory begins and ends; huge pages
//   growing.c   where memory only grows: arenas that become longer
//   arena.c     arenas: reserved, given by the program, unmapped
//   whole.c     huge pages that are unused as a whole
//   purge.c     dirty memory: how much of it stays, and for how long
//   freed.c     spans that are given back inaccessible
//   direct.c    mappings of their own
//   memory.c    spans: the interface
//
// The caller holds the memory lock, unless said otherwise.
#ifndef MI_MEMORY_INTERNAL_H
#define MI_MEMORY_INTERNAL_H

#include "../port/lock.h"
#include "../service/random.h"
#include "arena.h"

enum { FIRST_ARENA = PORT_FIRST_ARENA, ARENA_ALIGN = PORT_ARENA_ALIGN };
enum { HUGE_PAGE = 2 << 20, HUGE_SLICES = HUGE_PAGE / SLICE_BYTES };
enum { MIN_KEPT = 81 << 16 };  // dirty bytes that are kept in any case: a little over 5 MiB
enum { REFAULT_MS = 1000 };    // memory that is wanted again so soon should have been kept

// How much of what memory grows by is touched, in parts of DENSE_ALL; 0 until a look was had at it,
// from LOOK_FROM taken bytes on. See frontier.c.
enum { LOOK_FROM = FIRST_ARENA / 2, LOOK_LEAST = 1 << 20, LONG_SHARE = 16 };
enum { DENSE_ALL = 256, DENSE_FROM = 96 };
typedef struct growth {
  size_t huge_slices;  // of growth in huge pages since the last look
  uint32_t density;
} growth_t;

// Growth in small OS pages, and the page faults before it.
typedef struct look {
  growth_t* growth;
  size_t bytes, faults;
} look_t;

typedef struct memory_state {
  lock_t lock;
  random_t random;
  arena_t* first;
  size_t taken_slices, dirty_slices, reset_slices;
  size_t stuck_slices;  // dirty ones that can't go back
  growth_t growth[2];   // for short blocks and for long ones
  look_t look;
  direct_t direct, direct_most;
  int64_t now_ms, last_decay_ms;     // as of the last give or collect, or look at direct_stamp
  size_t due_slices;                 // to be purged, as soon as it is worth a call
  size_t slack_slices;               // what was purged and wanted again soon
  int64_t slack_ms, refault_ms;      // when it was halved; when that was last so
  int64_t hole_ms, hole_refault_ms;  // the same of holes that were made where blocks were freed
  uint32_t swings;                   // how often memory was wanted again after more had been purged
  size_t refused_bytes;              // of an arena, and none was had since; 0 if one was
  bool has_purged;                   // since the last of these
  size_t offered_slices;             // since the heap swings, less what the time has made up for
  int64_t offered_ms;                // up to when
  bool withholds;                    // dirty memory waits that would have been offered
  bool has_huge;                     // an arena was on huge pages
  uint32_t whole_looks;              // how many in succession found whole huge pages
  int64_t next_look_ms;
  uint32_t direct_stamp;       // when a mapping of its own went last; 0: never
  size_t direct_gone;          // bytes of the longest that went about then
  bool is_left;                // half written: see memory_is_left
  const arena_t* unannounced;  // an arena that is still to be announced, once the lock is free
} memory_state_t;

SHARED_DATA(memory_state_t, memory);

// Bytes that our own arenas have; those that the program reserved or gave do not count.
PRIVATE size_t memory_reserved_bytes(void);

// At the end of a process, by a thread that was ended: its arenas stay as they are, and what is
// given back is left alone. Asked under the lock.
FAST bool memory_is_left(void) { return port_is_ending() && memory.is_left; }

// A stamp of now_ms; 0: never.
FAST bool was_lately(uint32_t stamp) {
  return stamp != 0 && (uint32_t)memory.now_ms - stamp < REFAULT_MS;
}

FAST size_t slices_bytes(size_t slices) { return slices << SLICE_SHIFT; }

FAST uint32_t slice_index(const arena_t* arena, const uint8_t* p) {
  return (uint32_t)((size_t)(p - arena->start) >> SLICE_SHIFT);
}

FAST uint8_t* slice_start(const arena_t* arena, uint32_t index) {
  return arena->start + slices_bytes(index);
}

// ---- run.c ----
PRIVATE void run_mark(arena_t* arena, uint32_t first, uint32_t length, unsigned state);
// Makes and counts a free run, coalesced with neighbours of the same state; returns where it
// starts.
PRIVATE uint32_t run_free(arena_t* arena, uint32_t first, uint32_t length, unsigned state);
// Takes `length` slices at `start` out of the free run at `first`.
PRIVATE void run_carve(arena_t* arena, uint32_t first, uint32_t start, uint32_t length);
// A free run of that state in which the request fits, and where in it. False if there is none.
typedef struct place {
  uint32_t run, start;
} place_t;
PRIVATE bool run_find(const arena_t* arena, unsigned state, const span_request_t* request,
                      place_t* out);
// Secure builds: slices that a long block may have between itself and what is beside it.
PRIVATE size_t run_gap_most(const span_request_t* request);
// On huge pages what is left of the last one that was touched is dirty, and what follows it clean.
// Returns where the request starts if it begins in the former and ends in the latter, which is the
// run at `clean`; UINT32_MAX if it does not, or the run is dirty.
PRIVATE uint32_t run_fit_across(const arena_t* arena, uint32_t clean,
                                const span_request_t* request);
// The bin of a length: those from it on have no shorter runs than it has.
PRIVATE unsigned bin_floor(uint32_t length);
PRIVATE void bin_remove(arena_t* arena, uint32_t first);
// Slices of the run at `first`, which is clean or reset, become dirty. Returns where the dirty run
// starts that they belong to.
PRIVATE uint32_t run_dirty(arena_t* arena, uint32_t first, uint32_t start, uint32_t length);
// Runs of that state become dirty, and coalesce with these.
PRIVATE void run_join(arena_t* arena, unsigned state);
// The first occupied bin from `bin` on, or RUN_BINS; the last one.
PRIVATE unsigned bin_next(const arena_t* arena, unsigned state, unsigned bin);
PRIVATE unsigned bin_highest(const arena_t* arena, unsigned state);

// ---- frontier.c ----
// The program's own function, which alone knows whether the memory is zero then.
// Any thread.
PRIVATE bool call_commit(const arena_t* arena, bool commit, span_t* span);
PRIVATE void arena_set_huge(arena_t* arena, bool huge);
PRIVATE bool huge_is_wanted(bool dense);  // any thread
// Guards leave no huge pages to an arena that grows.
PRIVATE bool arena_can_be_huge(const arena_t* arena);
// That of a program that has not asked for a long block yet.
FAST bool arena_is_small(const arena_t* arena) {
  return arena == memory.first && slices_bytes(arena->slices) <= FIRST_ARENA;
}
// As far as is known, are most blocks of such a length touched?
PRIVATE COLD bool growth_is_dense(size_t slices);
// Guards leave no huge pages to the memory that they are in. Long blocks of a large heap have an
// arena of their own, in which they start on huge pages.
PRIVATE bool large_is_wanted(const span_request_t* request);
// So many committed slices behind the frontier become free.
PRIVATE void frontier_move(arena_t* arena, uint32_t slices, bool is_zero);
// Moves the frontier so that a free run of the wanted length ends there.
PRIVATE bool arena_advance(arena_t* arena, const span_request_t* request);
// Clean runs at frontiers become what they were before these moved, if data is limited: the limit
// counts what is writable, and others may need the room.
PRIVATE void memory_retreat(void);

// ---- growing.c ----
// A new arena in which so much fits; false if out of memory.
PRIVATE bool growing_obtain(arena_t* arena, size_t need_slices);
// Makes the last one longer, so that the request fits at its end.
PRIVATE bool growing_advance(arena_t* arena, const span_request_t* request);
// What nobody has used yet is dirty from now on, so that it joins what is free beside it.
PRIVATE void growing_join(arena_t* arena);

// ---- arena.c ----
PRIVATE bool arena_fits(const arena_t* arena, const span_request_t* request);
PRIVATE void account_taken(arena_t* arena, size_t slices);
PRIVATE void account_given(arena_t* arena, size_t slices);
// One more arena, in which so much fits. False if out of memory.
PRIVATE bool arena_grow_memory(size_t need_slices, bool large);
PRIVATE void memory_unmap_empty(void);
// Takes the lock, and makes the map cover a range.
PRIVATE bool memory_cover(const void* start, size_t bytes);

// A heap that swings wants again what it gives back: it offers that to the OS, which costs a third
// of giving it back and having it again. What a heap gives back otherwise is seen to go.
FAST bool memory_swings(void) {
  return memory.slack_slices > 0 && memory.now_ms - memory.refault_ms < REFAULT_MS;
}

// ---- whole.c ----
// It is on huge pages, or was until some were split. Then all of its memory can be reached.
FAST bool arena_wants_whole(const arena_t* arena) {
  return (arena->huge || arena->was_huge) && !arena->guarded;
}
// Memory that shrank is taken from again. Returns whether nearly all that is unused of huge pages
// are whole ones, so that those which were split are to be made up: see purge_split.
PRIVATE COLD bool whole_look(void);
// The heap swings, and each time nearly all that is unused is whole huge pages at last: none is
// split before. Small OS pages stay with them, unless they are as long in a piece.
enum { WHOLE_LOOKS = 2 };
FAST bool memory_goes_whole(void) { return memory.whole_looks >= WHOLE_LOOKS && memory_swings(); }
// It was so once: the next look decides.
FAST bool memory_may_go_whole(void) {
  return memory.whole_looks > 0 && memory.whole_looks < WHOLE_LOOKS;
}
// Slices of an arena from one to another, and the run in which they begin.
typedef struct stretch {
  uint32_t start, end, run;
} stretch_t;
// The next unused whole huge pages behind `whole`, which are of one dirty run then. False if there
// are none.
PRIVATE COLD bool whole_next(arena_t* arena, stretch_t* whole);

// ---- purge.c ----
PRIVATE void count_decommitted(size_t bytes);  // that were dirty or taken
// Memory is wanted that was purged a moment ago, or would have been.
PRIVATE void purge_note_wanted(size_t slices);
// What was purged at `stamp` is wanted again.
PRIVATE void purge_refault(uint32_t stamp, size_t slices);
PRIVATE void purge_due(size_t given_slices);
// So much is to be mapped, since nothing that waits is long enough: as much of what waits goes, but
// for a share of what is in use.
PRIVATE void purge_unfit(size_t slices);
PRIVATE void purge_all(void);
// Huge pages that were split, and are unused as a whole, go together with their page tables (Linux
// 6.14): then the OS can make huge ones there. It releases the lock meanwhile.
PRIVATE COLD NOINLINE void purge_split(void);
// Taken becomes dirty, and what is due is purged.
PRIVATE void runs_give(const span_t* spans, size_t count);

// ---- freed.c ----
// Takes the lock. False: it stays accessible, and is still the caller's.
PRIVATE bool freed_put(const span_t* span);
PRIVATE void freed_flush_all(void);

// ---- direct.c; these take the lock ----
PRIVATE void direct_give(const span_t* span);
// So long a one is wanted. Returns whether memory comes and goes. Then `waiting`: a run is wanted
// only if it waits.
PRIVATE bool direct_refault(size_t bytes, bool* waiting);
PRIVATE void direct_shorten(span_t* span, size_t slices);

#endif
