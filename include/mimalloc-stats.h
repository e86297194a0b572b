/* Statistics as a struct. The same as text and JSON: see `mimalloc.h`. All functions here may be
   called from any thread; numbers are exact for the threads that rest and nearly so for those
   that run, but for the estimates that `MI_STAT_FIELDS` names. */
#ifndef MIMALLOC_STATS_H
#define MIMALLOC_STATS_H

#include <string.h>

#include "mimalloc.h"

/* Layout of `mi_stats_t`: which one a program was compiled with is in its first two fields. One
   that was compiled with version 5 gets that layout from the same functions. */
#define MI_STAT_VERSION 6

/* Entries of the arrays of size classes: the last one is of blocks with a page of their own. */
#define MI_BIN_HUGE  (73)
#define MI_BIN_COUNT (MI_BIN_HUGE + 1)

/* Kinds of chunk, of which arenas may consist. This library has none: their counts stay 0. */
typedef enum mi_chunkbin_e {
  MI_CBIN_SMALL,
  MI_CBIN_OTHER,
  MI_CBIN_MEDIUM,
  MI_CBIN_LARGE,
  MI_CBIN_HUGE,
  MI_CBIN_NONE,
  MI_CBIN_COUNT
} mi_chunkbin_t;

/* Something that comes and goes: all there ever was, the most at one time (of blocks an estimate,
   unless `peaks_are_exact`), and what there is now. */
typedef struct mi_stat_count_s {
  int64_t total;
  int64_t peak;
  int64_t current;
} mi_stat_count_t;

/* Something that only grows. */
typedef struct mi_stat_counter_s {
  int64_t total;
} mi_stat_counter_t;

/* One row a field, in the order of the struct: define MI_STAT_COUNT(name) and
   MI_STAT_COUNTER(name), use the list, and undefine them. Sizes are in bytes. A row with no text
   is kept for its place and stays 0.

   In use, a block counts with all of its bytes. Numbers of blocks and their bytes are exact, of
   each class, in all builds, while no thread allocates or frees meanwhile.

   Peaks of blocks (`allocated`, `requested`, `malloc_huge`, `malloc_bins`) are exact where
   `peaks_are_exact` is 1: in debug builds, of one heap, or of a process in which only one has had
   blocks. Else they are estimates: those of a heap include what threads keep free in their pages,
   so that they are never too low, but may be 2.5 times too high among six threads; of several heaps
   together they may also be too low, if these had their most at the same time. That of
   `malloc_normal` is that of `allocated`, and so never too low.

   What the program asked for (`malloc_requested`, `requested`) is exact where `requested_is_exact`
   is 1, in debug builds. Else it counts what the blocks have, which is up to 15 bytes or an eighth
   more for those without an alignment. */
#define MI_STAT_FIELDS()                                                                       \
  MI_STAT_COUNT(pages)                  /* pages of blocks */                                  \
  MI_STAT_COUNT(reserved)               /* reserved address space */                           \
  MI_STAT_COUNT(committed)              /* committed memory */                                 \
  MI_STAT_COUNTER(reset)                /* memory reset */                                     \
  MI_STAT_COUNTER(purged)               /* memory purged, by reset or decommit */              \
  MI_STAT_COUNT(page_committed)         /* memory committed inside pages */                    \
  MI_STAT_COUNT(pages_abandoned)        /* pages in pools, for any thread */                   \
  MI_STAT_COUNT(threads)                /* threads that allocate */                            \
  MI_STAT_COUNT(allocated)              /* bytes of the blocks that the program has */         \
  MI_STAT_COUNTER(malloc_count)         /* blocks that it got */                               \
  MI_STAT_COUNTER(free_count)           /* ... and gave back */                                \
  MI_STAT_COUNTER(freed)                /* bytes of the blocks that it gave back */            \
  MI_STAT_COUNTER(malloc_requested)     /* bytes that it asked for */                          \
  MI_STAT_COUNTER(mmap_calls)           /* calls to the OS: reserve */                         \
  MI_STAT_COUNTER(commit_calls)         /* ... commit */                                       \
  MI_STAT_COUNTER(reset_calls)          /* ... reset */                                        \
  MI_STAT_COUNTER(purge_calls)          /* ... purge */                                        \
  MI_STAT_COUNTER(arena_count)          /* arenas made */                                      \
  MI_STAT_COUNTER(malloc_guarded_count) /* blocks with a guard page */                         \
  MI_STAT_COUNTER(arena_rollback_count) /* arena claims taken back */                          \
  MI_STAT_COUNTER(arena_purges)         /* purges of arenas */                                 \
  MI_STAT_COUNTER(pages_extended)       /* page extensions */                                  \
  MI_STAT_COUNTER(pages_retire)         /* empty pages kept for a while */                     \
  MI_STAT_COUNTER(page_searches)        /* pages looked at on searches */                      \
  MI_STAT_COUNTER(page_searches_count)  /* searches for a page with room */                    \
  MI_STAT_COUNT(segments)                                                                      \
  MI_STAT_COUNT(segments_abandoned)                                                            \
  MI_STAT_COUNT(segments_cache)                                                                \
  MI_STAT_COUNT(_segments_reserved)                                                            \
  MI_STAT_COUNT(heaps)  /* heaps */                                                            \
  MI_STAT_COUNT(theaps) /* thread-local heaps */                                               \
  MI_STAT_COUNT(pages_os_abandoned)                                                            \
  MI_STAT_COUNT(pages_os_allocated)                                                            \
  MI_STAT_COUNTER(pages_reclaim_on_alloc)    /* left pages taken over as a thread allocates */ \
  MI_STAT_COUNTER(pages_reclaim_on_free)     /* ... as a thread frees into them */             \
  MI_STAT_COUNTER(pages_reabandon_full)      /* full pages left again */                       \
  MI_STAT_COUNTER(pages_unabandon_busy_wait) /* waits while taking over a page */              \
  MI_STAT_COUNTER(pages_unown_cas_retry)                                                       \
  MI_STAT_COUNTER(heaps_delete_wait) /* waits while deleting a heap */                         \
  MI_STAT_COUNTER(pages_stat_updates)                                                          \
  MI_STAT_COUNTER(pages_stat_update_count)                                                     \
  MI_STAT_COUNTER(profile_samples)                                                             \
  MI_STAT_COUNT(malloc_normal)         /* of version 5: bytes of blocks that share a page */   \
  MI_STAT_COUNT(malloc_huge)           /* ... of blocks with a page of their own */            \
  MI_STAT_COUNTER(malloc_normal_count) /* ... blocks that share a page */                      \
  MI_STAT_COUNTER(malloc_huge_count)   /* ... blocks with a page of their own */               \
  MI_STAT_COUNT(requested) /* of this library: malloc_requested, with what was given back */   \
  MI_STAT_COUNTER(requested_is_exact) /* ... 1: these two are exact, 0: see above */           \
  MI_STAT_COUNTER(peaks_are_exact)    /* ... 1: peaks of blocks are exact, 0: estimates */

#define MI_STAT_COUNT(name)   mi_stat_count_t name;   /* a field of the struct */
#define MI_STAT_COUNTER(name) mi_stat_counter_t name; /* another */

/* All statistics: of the process, of a sub-process or of a heap. */
typedef struct mi_stats_s {
  size_t size;    /* sizeof(mi_stats_t), set by the caller */
  size_t version; /* MI_STAT_VERSION, set by the caller */

  MI_STAT_FIELDS()

  int64_t _reserved[11]; /* 0 */

  mi_stat_count_t malloc_bins[MI_BIN_COUNT]; /* blocks, a size class; `mi_stats_get_bin_size` */
  mi_stat_count_t page_bins[MI_BIN_COUNT];   /* pages, a size class */
  mi_stat_count_t chunk_bins[MI_CBIN_COUNT]; /* arena chunks, a kind */
} mi_stats_t;

#undef MI_STAT_COUNT
#undef MI_STAT_COUNTER

#if defined(__cplusplus)
extern "C" {
#endif

/* Sets `size` and `version`, and nothing else. */
static inline void mi_stats_header_init(mi_stats_t* stats) {
  stats->size = sizeof(mi_stats_t);
  stats->version = MI_STAT_VERSION;
}

/* All fields are zero, and `size` and `version` set. */
static inline void mi_stats_init(mi_stats_t* stats) {
  memset(stats, 0, sizeof(*stats));
  mi_stats_header_init(stats);
}

/* Declares a variable that is ready for the functions below. */
#define mi_stats_t_decl(name) \
  mi_stats_t name;            \
  mi_stats_init(&(name))

/* These fill `*stats`, in which the caller has set `size` and `version`; false, and nothing
   written, when `stats` is NULL or those are of a layout that this library does not know. */

/* Gets statistics of the calling thread's sub-process and its heaps together. */
mi_decl_export bool mi_stats_get(mi_stats_t* stats) mi_attr_noexcept;
/* Gets statistics of one heap. */
mi_decl_export bool mi_heap_stats_get(mi_heap_t* heap, mi_stats_t* stats) mi_attr_noexcept;
/* Gets statistics of a sub-process and its heaps together. */
mi_decl_export bool mi_subproc_stats_get(mi_subproc_id_t subproc_id,
                                         mi_stats_t* stats) mi_attr_noexcept;
/* Gets statistics of a sub-process without its heaps. */
mi_decl_export bool mi_subproc_stats_get_exclusive(mi_subproc_id_t subproc_id,
                                                   mi_stats_t* stats) mi_attr_noexcept;

/* Gets what a theap of the calling thread has counted and not yet told its heap; false for another
   thread's. What it holds is counted by the heap. */
mi_decl_export bool mi_theap_stats_get(mi_theap_t* theap, mi_stats_t* stats) mi_attr_noexcept;
/* Tells the heap what a theap of the calling thread has counted. */
mi_decl_export void mi_theap_stats_merge_to_heap(mi_theap_t* theap) mi_attr_noexcept;

/* Returns a filled struct as JSON, in `buf` or a new block: as `mi_stats_get_json`. */
mi_decl_result char* mi_stats_as_json(mi_stats_t* stats, size_t buf_size,
                                      char* buf) mi_attr_noexcept;

#if defined(__cplusplus)
}
#endif

#endif /* MIMALLOC_STATS_H */
