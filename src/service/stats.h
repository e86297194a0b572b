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
#include "format.h"

typedef struct stat_count_s {
  _Atomic(intptr_t) total;  // ever added
  _Atomic(intptr_t) peak;
  _Atomic(intptr_t) current;
} stat_count_t;

typedef struct stat_counter_s {
  _Atomic(intptr_t) total;
} stat_counter_t;

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

FAST void stat_add(stat_counter_t* counter, size_t n) { add_relaxed(&counter->total, (intptr_t)n); }

FAST void stat_up(stat_count_t* count, size_t n) {
  const intptr_t now = add_relaxed(&count->current, (intptr_t)n) + (intptr_t)n;
  add_relaxed(&count->total, (intptr_t)n);
  intptr_t peak = load_relaxed(&count->peak);
  while (now > peak && !cas_relaxed(&count->peak, &peak, now)) {}
}

FAST void stat_down(stat_count_t* count, size_t n) { sub_relaxed(&count->current, (intptr_t)n); }

// … where all who change it hold the same lock.
FAST void stat_up_locked(stat_count_t* count, intptr_t n) {
  const intptr_t now = load_relaxed(&count->current) + n;
  store_relaxed(&count->current, now);
  store_relaxed(&count->total, load_relaxed(&count->total) + n);
  if (now > load_relaxed(&count->peak)) { store_relaxed(&count->peak, now); }
}

FAST void stat_down_locked(stat_count_t* count, intptr_t n) {
  store_relaxed(&count->current, load_relaxed(&count->current) - n);
}

// All counts of a struct.
typedef void stat_count_fun(mi_stat_count_t* count);
PRIVATE COLD void stats_for_each(mi_stats_t* stats, stat_count_fun* fun);

// What is in use stays counted: peak and total of a count start again from its current value.
PRIVATE void stats_clear(stats_t* stats);
PRIVATE COLD void stat_bins_clear(stat_bins_t* bins);
// Of a place that is gone: nothing of it is there now.
PRIVATE void stats_end(mi_stats_t* stats);
// All of `out`; its bins are 0 …
PRIVATE void stats_export(const stats_t* stats, mi_stats_t* out);
// … until these are put in.
PRIVATE COLD void stat_bins_export(const stat_bins_t* bins, mi_stats_t* out);

// Adds one place's statistics to another's. The peak of the sum is not known; we take the larger of
// what it would be if the one was at its peak while the other was at its current value.
PRIVATE void stats_merge(mi_stats_t* into, const mi_stats_t* from);

// A table with columns peak, total and current. Lines of things that never happened are left out.
PRIVATE void stats_print(const mi_stats_t* stats, const out_t* out, const char* title);
PRIVATE COLD void stats_print_row(const out_t* out, const char* name, const mi_stat_count_t* count);

// The text goes to buf, or to memory of its own if buf is NULL. NULL if it does not fit, or
// allocate fails.
PRIVATE char* stats_to_json(const mi_stats_t* stats, size_t buf_size, char* buf,
                            void* (*allocate)(size_t));

#endif
