// Statistics: counters that any thread may change and any thread may read, always on.
//
// stats_t and stat_bins_t mirror the public mi_stats_t field by field, with atomic words; the bins,
// which are long, are those of heaps, and nobody counts chunks. All accesses are relaxed: a
// snapshot is a set of true values, not all of the same moment. A count of things given back by
// another place than the one that took them may have a negative part in each; the sum is right.
#ifndef MI_SERVICE_STATS_H
#define MI_SERVICE_STATS_H

#include "../../include/mimalloc-stats.h"
#include "../base/atomic.h"
#include "../base/attributes.h"
#include "../port/port.h"
#include "format.h"

typedef struct stat_count_s {
  _Atomic(intptr_t) total;  // ever added
  _Atomic(intptr_t) peak;
  _Atomic(intptr_t) current;
} stat_count_t;

typedef struct stat_counter_s {
  _Atomic(intptr_t) total;
} stat_counter_t;

// Those of version 5, in their order.
// clang-format off
#define STATS5_FIELDS() \
  MI_STAT_COUNT(pages) MI_STAT_COUNT(reserved) MI_STAT_COUNT(committed) MI_STAT_COUNTER(reset) \
  MI_STAT_COUNTER(purged) MI_STAT_COUNT(page_committed) MI_STAT_COUNT(pages_abandoned) \
  MI_STAT_COUNT(threads) MI_STAT_COUNT(malloc_normal) MI_STAT_COUNT(malloc_huge) \
  MI_STAT_COUNT(requested) MI_STAT_COUNTER(mmap_calls) MI_STAT_COUNTER(commit_calls) \
  MI_STAT_COUNTER(reset_calls) MI_STAT_COUNTER(purge_calls) MI_STAT_COUNTER(arena_count) \
  MI_STAT_COUNTER(malloc_normal_count) MI_STAT_COUNTER(malloc_huge_count) \
  MI_STAT_COUNTER(malloc_guarded_count) MI_STAT_COUNTER(arena_rollback_count) \
  MI_STAT_COUNTER(arena_purges) MI_STAT_COUNTER(pages_extended) MI_STAT_COUNTER(pages_retire) \
  MI_STAT_COUNTER(page_searches) MI_STAT_COUNTER(page_searches_count) MI_STAT_COUNT(segments) \
  MI_STAT_COUNT(segments_abandoned) MI_STAT_COUNT(segments_cache) \
  MI_STAT_COUNT(_segments_reserved) MI_STAT_COUNT(heaps) MI_STAT_COUNT(theaps) \
  MI_STAT_COUNTER(pages_reclaim_on_alloc) MI_STAT_COUNTER(pages_reclaim_on_free) \
  MI_STAT_COUNTER(pages_reabandon_full) MI_STAT_COUNTER(pages_unabandon_busy_wait) \
  MI_STAT_COUNTER(heaps_delete_wait)
// clang-format on

enum {
  STAT_MALLOC_BINS = sizeof(((mi_stats_t*)0)->malloc_bins) / sizeof(mi_stat_count_t),
  STAT_PAGE_BINS = sizeof(((mi_stats_t*)0)->page_bins) / sizeof(mi_stat_count_t),
  STAT_CHUNK_BINS = sizeof(((mi_stats_t*)0)->chunk_bins) / sizeof(mi_stat_count_t),
};

typedef struct stats_s {
#define MI_STAT_COUNT(name)   stat_count_t name;
#define MI_STAT_COUNTER(name) stat_counter_t name;
  MI_STAT_FIELDS()
#undef MI_STAT_COUNT
#undef MI_STAT_COUNTER
} stats_t;

// By class. What is counted as it happens comes first: the rest is touched by readings only.
typedef struct stat_bins_s {
  stat_count_t pages[STAT_PAGE_BINS];
  stat_count_t blocks[STAT_MALLOC_BINS];
} stat_bins_t;

// One thread needs no atomic operation, which takes as long as twenty others do.
FAST void stat_change(_Atomic(intptr_t)* number, intptr_t more) {
  if (port_is_single_threaded()) {
    store_relaxed(number, load_relaxed(number) + more);
  } else {
    (void)add_relaxed(number, more);
  }
}

FAST void stat_add(stat_counter_t* counter, size_t n) { stat_change(&counter->total, (intptr_t)n); }

FAST void stat_down(stat_count_t* count, size_t n) { stat_change(&count->current, -(intptr_t)n); }

UNUSED static NOINLINE void stat_move_shared(stat_count_t* count, intptr_t more, bool is_new) {
  if (is_new) { (void)add_relaxed(&count->total, more); }
  const intptr_t now = add_relaxed(&count->current, more) + more;
  intptr_t peak = load_relaxed(&count->peak);
  while (now > peak && !cas_relaxed(&count->peak, &peak, now)) {}
}

FAST void stat_move_alone(stat_count_t* count, intptr_t more, bool is_new) {
  const intptr_t now = load_relaxed(&count->current) + more;
  store_relaxed(&count->current, now);
  if (is_new) { store_relaxed(&count->total, load_relaxed(&count->total) + more); }
  if (now > load_relaxed(&count->peak)) { store_relaxed(&count->peak, now); }
}

// What there is changes; if it is new, what there ever was, too. Who knows whether there is one
// thread only takes one of the two.
typedef void stat_move_fun(stat_count_t* count, intptr_t more, bool is_new);

FAST void stat_move(stat_count_t* count, intptr_t more, bool is_new) {
  if (port_is_single_threaded()) {
    stat_move_alone(count, more, is_new);
  } else {
    stat_move_shared(count, more, is_new);
  }
}

FAST void stat_shift(stat_count_t* count, intptr_t more) { stat_move(count, more, false); }
FAST void stat_up(stat_count_t* count, size_t n) { stat_move(count, (intptr_t)n, true); }

// All counts of a struct.
typedef void stat_count_fun(mi_stat_count_t* count);
PRIVATE COLD void stats_for_each(mi_stats_t* stats, stat_count_fun* fun);

// What is in use stays counted: peak and total of a count start again from its current value.
PRIVATE void stats_clear(stats_t* stats);
// The same from what a reading found to be there: there may be counts that a place has not heard
// of.
PRIVATE COLD void stats_forget(stats_t* stats, const mi_stats_t* now);
PRIVATE COLD void stat_bins_forget(stat_bins_t* bins, const mi_stats_t* now);
// The statistics of a place that has ended: nothing of it is there now.
PRIVATE void stats_end(mi_stats_t* stats);
// Fills all of `out`; its bins are 0 until stat_bins_export puts them in.
PRIVATE void stats_export(const stats_t* stats, mi_stats_t* out);
PRIVATE COLD void stat_bins_export(const stat_bins_t* bins, mi_stats_t* out);

// Adds one place's statistics to another's. The peak of the sum is not known; we take the larger of
// what it would be if the one was at its peak while the other was at its current value.
PRIVATE void stat_count_merge(mi_stat_count_t* into, const mi_stat_count_t* from);
PRIVATE void stats_merge(mi_stats_t* into, const mi_stats_t* from);

// The layout of version 5, for programs that were compiled with it.
typedef struct stats5_s {
  size_t size, version;
#define MI_STAT_COUNT(name)   mi_stat_count_t name;
#define MI_STAT_COUNTER(name) mi_stat_counter_t name;
  STATS5_FIELDS()
#undef MI_STAT_COUNT
#undef MI_STAT_COUNTER
  int64_t reserved_fields[16];
  mi_stat_count_t malloc_bins[STAT_MALLOC_BINS];
  mi_stat_count_t page_bins[STAT_PAGE_BINS];
  mi_stat_count_t chunk_bins[STAT_CHUNK_BINS];
} stats5_t;
enum { STATS5_VERSION = 5 };
PRIVATE void stats5_from(stats5_t* out, const mi_stats_t* stats);
PRIVATE void stats5_to(const stats5_t* stats, mi_stats_t* out);

// A table with columns peak, total, freed and current. Lines of things that never happened are left
// out.
PRIVATE void stats_print(const mi_stats_t* stats, const out_t* out, const char* title);
PRIVATE COLD void stats_print_row(const out_t* out, const char* name, const mi_stat_count_t* count);

// What JSON tells beside the statistics: the process's figures, and the sizes that each bin is
// about.
typedef struct stats_about {
  size_t elapsed_msecs, user_msecs, system_msecs, page_faults;
  size_t rss_current, rss_peak, commit_current, commit_peak;
  size_t (*block_size)(size_t bin);
  size_t (*page_size)(size_t bin);
} stats_about_t;

typedef struct stats_buffer {
  char* buf;
  size_t size;
  void* (*allocate)(size_t);
} stats_buffer_t;

// The text goes to buf, cut off where that ends, or to memory of its own if there is no buf: NULL
// if allocate has none.
PRIVATE char* stats_to_json(const mi_stats_t* stats, const stats_about_t* about, stats_buffer_t to);

#endif
