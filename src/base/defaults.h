// Defaults of options that a build chooses: -DMI_DEFAULT_PURGE_DELAY=0, the option's name in
// capitals, and mimalloc's older switches for some. Sizes are in KiB, but those of guarded_….
// DEFAULT_OF(name, value) is what the build has chosen for the option, else the value.
#ifndef MI_BASE_DEFAULTS_H
#define MI_BASE_DEFAULTS_H

#if defined(MI_SHOW_ERRORS) && !defined(MI_DEFAULT_SHOW_ERRORS)
#define MI_DEFAULT_SHOW_ERRORS MI_SHOW_ERRORS
#endif
#if defined(MI_NO_THP) && !defined(MI_DEFAULT_ALLOW_THP)
#define MI_DEFAULT_ALLOW_THP 0
#endif

// The second argument: where the macro CHOSEN_… of the name is defined, the choice comes before the
// value.
#define DEFAULT_OF(name, value)          DEFAULT_SECOND(CHOSEN_##name, value, 0)
#define DEFAULT_SECOND(...)              DEFAULT_PICK(__VA_ARGS__)
#define DEFAULT_PICK(first, second, ...) (second)

#ifdef MI_DEFAULT_SHOW_ERRORS
#define CHOSEN_show_errors 0, MI_DEFAULT_SHOW_ERRORS
#endif
#ifdef MI_DEFAULT_SHOW_STATS
#define CHOSEN_show_stats 0, MI_DEFAULT_SHOW_STATS
#endif
#ifdef MI_DEFAULT_VERBOSE
#define CHOSEN_verbose 0, MI_DEFAULT_VERBOSE
#endif
#ifdef MI_DEFAULT_ARENA_EAGER_COMMIT
#define CHOSEN_arena_eager_commit 0, MI_DEFAULT_ARENA_EAGER_COMMIT
#endif
#ifdef MI_DEFAULT_PURGE_DECOMMITS
#define CHOSEN_purge_decommits 0, MI_DEFAULT_PURGE_DECOMMITS
#endif
#ifdef MI_DEFAULT_ALLOW_LARGE_OS_PAGES
#define CHOSEN_allow_large_os_pages 0, MI_DEFAULT_ALLOW_LARGE_OS_PAGES
#endif
#ifdef MI_DEFAULT_RESERVE_HUGE_OS_PAGES
#define CHOSEN_reserve_huge_os_pages 0, MI_DEFAULT_RESERVE_HUGE_OS_PAGES
#endif
#ifdef MI_DEFAULT_RESERVE_HUGE_OS_PAGES_AT
#define CHOSEN_reserve_huge_os_pages_at 0, MI_DEFAULT_RESERVE_HUGE_OS_PAGES_AT
#endif
#ifdef MI_DEFAULT_RESERVE_OS_MEMORY
#define CHOSEN_reserve_os_memory 0, MI_DEFAULT_RESERVE_OS_MEMORY
#endif
#ifdef MI_DEFAULT_PURGE_DELAY
#define CHOSEN_purge_delay 0, MI_DEFAULT_PURGE_DELAY
#endif
#ifdef MI_DEFAULT_USE_NUMA_NODES
#define CHOSEN_use_numa_nodes 0, MI_DEFAULT_USE_NUMA_NODES
#endif
#ifdef MI_DEFAULT_DISALLOW_OS_ALLOC
#define CHOSEN_disallow_os_alloc 0, MI_DEFAULT_DISALLOW_OS_ALLOC
#endif
#ifdef MI_DEFAULT_OS_TAG
#define CHOSEN_os_tag 0, MI_DEFAULT_OS_TAG
#endif
#ifdef MI_DEFAULT_MAX_ERRORS
#define CHOSEN_max_errors 0, MI_DEFAULT_MAX_ERRORS
#endif
#ifdef MI_DEFAULT_MAX_WARNINGS
#define CHOSEN_max_warnings 0, MI_DEFAULT_MAX_WARNINGS
#endif
#ifdef MI_DEFAULT_DESTROY_ON_EXIT
#define CHOSEN_destroy_on_exit 0, MI_DEFAULT_DESTROY_ON_EXIT
#endif
#ifdef MI_DEFAULT_ARENA_RESERVE
#define CHOSEN_arena_reserve 0, MI_DEFAULT_ARENA_RESERVE
#endif
#ifdef MI_DEFAULT_ARENA_PURGE_MULT
#define CHOSEN_arena_purge_mult 0, MI_DEFAULT_ARENA_PURGE_MULT
#endif
#ifdef MI_DEFAULT_DISALLOW_ARENA_ALLOC
#define CHOSEN_disallow_arena_alloc 0, MI_DEFAULT_DISALLOW_ARENA_ALLOC
#endif
#ifdef MI_DEFAULT_RETRY_ON_OOM
#define CHOSEN_retry_on_oom 0, MI_DEFAULT_RETRY_ON_OOM
#endif
#ifdef MI_DEFAULT_VISIT_ABANDONED
#define CHOSEN_visit_abandoned 0, MI_DEFAULT_VISIT_ABANDONED
#endif
#ifdef MI_DEFAULT_GUARDED_MIN
#define CHOSEN_guarded_min 0, MI_DEFAULT_GUARDED_MIN
#endif
#ifdef MI_DEFAULT_GUARDED_MAX
#define CHOSEN_guarded_max 0, MI_DEFAULT_GUARDED_MAX
#endif
#ifdef MI_DEFAULT_GUARDED_PRECISE
#define CHOSEN_guarded_precise 0, MI_DEFAULT_GUARDED_PRECISE
#endif
#ifdef MI_DEFAULT_GUARDED_SAMPLE_RATE
#define CHOSEN_guarded_sample_rate 0, MI_DEFAULT_GUARDED_SAMPLE_RATE
#endif
#ifdef MI_DEFAULT_GUARDED_SAMPLE_SEED
#define CHOSEN_guarded_sample_seed 0, MI_DEFAULT_GUARDED_SAMPLE_SEED
#endif
#ifdef MI_DEFAULT_GENERIC_COLLECT
#define CHOSEN_generic_collect 0, MI_DEFAULT_GENERIC_COLLECT
#endif
#ifdef MI_DEFAULT_PAGE_RECLAIM_ON_FREE
#define CHOSEN_page_reclaim_on_free 0, MI_DEFAULT_PAGE_RECLAIM_ON_FREE
#endif
#ifdef MI_DEFAULT_PAGE_FULL_RETAIN
#define CHOSEN_page_full_retain 0, MI_DEFAULT_PAGE_FULL_RETAIN
#endif
#ifdef MI_DEFAULT_PAGE_MAX_CANDIDATES
#define CHOSEN_page_max_candidates 0, MI_DEFAULT_PAGE_MAX_CANDIDATES
#endif
#ifdef MI_DEFAULT_MAX_VABITS
#define CHOSEN_max_vabits 0, MI_DEFAULT_MAX_VABITS
#endif
#ifdef MI_DEFAULT_PAGEMAP_COMMIT
#define CHOSEN_pagemap_commit 0, MI_DEFAULT_PAGEMAP_COMMIT
#endif
#ifdef MI_DEFAULT_PAGE_COMMIT_ON_DEMAND
#define CHOSEN_page_commit_on_demand 0, MI_DEFAULT_PAGE_COMMIT_ON_DEMAND
#endif
#ifdef MI_DEFAULT_PAGE_MAX_RECLAIM
#define CHOSEN_page_max_reclaim 0, MI_DEFAULT_PAGE_MAX_RECLAIM
#endif
#ifdef MI_DEFAULT_PAGE_CROSS_THREAD_MAX_RECLAIM
#define CHOSEN_page_cross_thread_max_reclaim 0, MI_DEFAULT_PAGE_CROSS_THREAD_MAX_RECLAIM
#endif
#ifdef MI_DEFAULT_ALLOW_THP
#define CHOSEN_allow_thp 0, MI_DEFAULT_ALLOW_THP
#endif
#ifdef MI_DEFAULT_MINIMAL_PURGE_SIZE
#define CHOSEN_minimal_purge_size 0, MI_DEFAULT_MINIMAL_PURGE_SIZE
#endif
#ifdef MI_DEFAULT_ARENA_MAX_OBJECT_SIZE
#define CHOSEN_arena_max_object_size 0, MI_DEFAULT_ARENA_MAX_OBJECT_SIZE
#endif
#ifdef MI_DEFAULT_ARENA_IS_NUMA_LOCAL
#define CHOSEN_arena_is_numa_local 0, MI_DEFAULT_ARENA_IS_NUMA_LOCAL
#endif
#ifdef MI_DEFAULT_STATS_MERGE_ON_COLLECT
#define CHOSEN_stats_merge_on_collect 0, MI_DEFAULT_STATS_MERGE_ON_COLLECT
#endif
#ifdef MI_DEFAULT_PROFILE_ALLOC_INTERVAL
#define CHOSEN_profile_alloc_interval 0, MI_DEFAULT_PROFILE_ALLOC_INTERVAL
#endif
#ifdef MI_DEFAULT_PROFILE_INUSE_INTERVAL
#define CHOSEN_profile_inuse_interval 0, MI_DEFAULT_PROFILE_INUSE_INTERVAL
#endif
#ifdef MI_DEFAULT_PROFILE_TIME_INTERVAL
#define CHOSEN_profile_time_interval 0, MI_DEFAULT_PROFILE_TIME_INTERVAL
#endif
#ifdef MI_DEFAULT_PROFILE_SAMPLE_RATE
#define CHOSEN_profile_sample_rate 0, MI_DEFAULT_PROFILE_SAMPLE_RATE
#endif
#ifdef MI_DEFAULT_STATS_MERGE_THRESHOLD
#define CHOSEN_stats_merge_threshold 0, MI_DEFAULT_STATS_MERGE_THRESHOLD
#endif
#ifdef MI_DEFAULT_ARENA_PURGE_IMMEDIATE_SIZE
#define CHOSEN_arena_purge_immediate_size 0, MI_DEFAULT_ARENA_PURGE_IMMEDIATE_SIZE
#endif
#ifdef MI_DEFAULT_CORRUPTION
#define CHOSEN_corruption 0, MI_DEFAULT_CORRUPTION
#endif
#ifdef MI_DEFAULT_FILL_FREED
#define CHOSEN_fill_freed 0, MI_DEFAULT_FILL_FREED
#endif
#ifdef MI_DEFAULT_QUARANTINE_SIZE
#define CHOSEN_quarantine_size 0, MI_DEFAULT_QUARANTINE_SIZE
#endif
#ifdef MI_DEFAULT_SHOW_LEAKS
#define CHOSEN_show_leaks 0, MI_DEFAULT_SHOW_LEAKS
#endif
#ifdef MI_DEFAULT_GUARDED_SAMPLE_BYTES
#define CHOSEN_guarded_sample_bytes 0, MI_DEFAULT_GUARDED_SAMPLE_BYTES
#endif
#ifdef MI_DEFAULT_GUARDED_UNDERFLOW
#define CHOSEN_guarded_underflow 0, MI_DEFAULT_GUARDED_UNDERFLOW
#endif
#ifdef MI_DEFAULT_DLOPEN_DEEPBIND
#define CHOSEN_dlopen_deepbind 0, MI_DEFAULT_DLOPEN_DEEPBIND
#endif

#endif
