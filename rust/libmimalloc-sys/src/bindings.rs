// Made by rust/bindings.py from the C headers.

use crate::{mi_heap_area_t, wchar_t};

#[doc = " Interface level: major, two digits minor, two digits patch."]
pub const MI_MALLOC_VERSION: i32 = 30600;
#[doc = " Largest size, in machine words and in bytes, that the `_small` functions are for."]
pub const MI_SMALL_WSIZE_MAX: i32 = 128;
#[doc = " Layout of `mi_stats_t`: which one a program was compiled with is in its first two fields. One that was compiled with version 5 gets that layout from the same functions."]
pub const MI_STAT_VERSION: i32 = 6;
#[doc = " Entries of the arrays of size classes: the last one is of blocks with a page of their own."]
pub const MI_BIN_HUGE: i32 = 73;
#[doc = " Entries of the arrays of size classes: the last one is of blocks with a page of their own."]
pub const MI_BIN_COUNT: i32 = 74;
#[doc = " The type behind [`mi_heap_t`]."]
#[repr(C)]
pub struct mi_heap_s {
    _unused: [u8; 0],
}
#[doc = " A heap: a set of blocks that any thread may allocate in, and that can be given up as a whole."]
pub type mi_heap_t = mi_heap_s;
#[doc = " The type behind [`mi_theap_t`]."]
#[repr(C)]
pub struct mi_theap_s {
    _unused: [u8; 0],
}
#[doc = " One thread's share of a heap. Only that thread may pass it to a function."]
pub type mi_theap_t = mi_theap_s;
#[doc = " Names an arena, a large area of memory from the OS or the program. NULL means no particular\none."]
pub type mi_arena_id_t = *mut ::core::ffi::c_void;
#[doc = " Names a sub-process: heaps, threads and arenas that share no memory with other sub-processes."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct mi_subproc_id_s {
    #[doc = " Kept for its place."]
    pub _mi_subproc_id: *mut ::core::ffi::c_void,
}
#[doc = " Names a sub-process: heaps, threads and arenas that share no memory with other sub-processes."]
pub type mi_subproc_id_t = mi_subproc_id_s;
#[doc = " Called now and then by slow allocation paths, in the allocating thread. `force`: free all that\ncan be freed. `heartbeat` grows with every call. It may allocate and free; it is not called\nrecursively."]
pub type mi_deferred_free_fun = ::core::option::Option<
    unsafe extern "C" fn(
        force: bool,
        heartbeat: ::core::ffi::c_ulonglong,
        arg: *mut ::core::ffi::c_void,
    ),
>;
#[doc = " Asked when no block of a page, which is a run of blocks of one size, or one large block, is in\nuse, and its memory would serve other sizes or go back to the OS. True: it may. False: the page\nis kept for blocks of its size in its heap, and asked for again, see `mi_register_page_release`.\n\n`area` describes the page; `user_data` is what `mi_page_user_data` gives for it. `again`: the\npage was kept when last asked for, and no block of it has been taken since; else blocks of it\nwere freed since, perhaps just now. `arg` is that of the registration.\n\nCalled in any thread that frees, allocates, collects or ends, under the library's locks: it may\nread and write the user data of this page, but call no other function of the library, nor any\nthat may allocate or free, fork, or wait for a thread that might. Not called for two threads and\none page at a time."]
pub type mi_page_release_fun = ::core::option::Option<
    unsafe extern "C" fn(
        area: *const mi_heap_area_t,
        user_data: *mut *mut ::core::ffi::c_void,
        again: bool,
        arg: *mut ::core::ffi::c_void,
    ) -> bool,
>;
#[doc = " Takes a piece of output: a terminated string, whole lines not promised. It must not allocate."]
pub type mi_output_fun = ::core::option::Option<
    unsafe extern "C" fn(msg: *const ::core::ffi::c_char, arg: *mut ::core::ffi::c_void),
>;
#[doc = " Takes an error number: EAGAIN double free, EFAULT corrupted memory, ENOMEM out of memory,\nEOVERFLOW a size too large, EINVAL a pointer or argument that is not valid."]
pub type mi_error_fun = ::core::option::Option<
    unsafe extern "C" fn(err: ::core::ffi::c_int, arg: *mut ::core::ffi::c_void),
>;
#[doc = " Sees each area once with `block` NULL and then, if asked for, each live block in it. Returning\nfalse ends the visit. It must not allocate or free in the heap that is visited."]
pub type mi_block_visit_fun = ::core::option::Option<
    unsafe extern "C" fn(
        heap: *const mi_heap_t,
        area: *const mi_heap_area_t,
        block: *mut ::core::ffi::c_void,
        block_size: usize,
        arg: *mut ::core::ffi::c_void,
    ) -> bool,
>;
#[doc = " Sees each heap of a sub-process; returning false ends the visit."]
pub type mi_heap_visit_fun = ::core::option::Option<
    unsafe extern "C" fn(heap: *mut mi_heap_t, arg: *mut ::core::ffi::c_void) -> bool,
>;
#[doc = " Commits (`commit`) or decommits a range of memory that the program manages. `*is_zero` (if not\nNULL) is to be set when committed memory is known to be zero. Returns false when it cannot."]
pub type mi_commit_fun_t = ::core::option::Option<
    unsafe extern "C" fn(
        commit: bool,
        start: *mut ::core::ffi::c_void,
        size: usize,
        is_zero: *mut bool,
        user_arg: *mut ::core::ffi::c_void,
    ) -> bool,
>;
#[doc = " print errors and warnings"]
pub const mi_option_show_errors: mi_option_e = 0;
#[doc = " print statistics at exit"]
pub const mi_option_show_stats: mi_option_e = 1;
#[doc = " print what happens"]
pub const mi_option_verbose: mi_option_e = 2;
#[doc = " does nothing"]
pub const mi_option_deprecated_eager_commit: mi_option_e = 3;
#[doc = " 1: commit arenas whole; 0, 2: as used"]
pub const mi_option_arena_eager_commit: mi_option_e = 4;
#[doc = " give memory back; 0: offer it to the OS"]
pub const mi_option_purge_decommits: mi_option_e = 5;
#[doc = " use OS pages of 2 or 4 MiB"]
pub const mi_option_allow_large_os_pages: mi_option_e = 6;
#[doc = " so many 1 GiB pages at start"]
pub const mi_option_reserve_huge_os_pages: mi_option_e = 7;
#[doc = " all of those on this NUMA node; -1: spread"]
pub const mi_option_reserve_huge_os_pages_at: mi_option_e = 8;
#[doc = " reserve this much at start (KiB)"]
pub const mi_option_reserve_os_memory: mi_option_e = 9;
#[doc = " does nothing"]
pub const mi_option_deprecated_segment_cache: mi_option_e = 10;
#[doc = " does nothing"]
pub const mi_option_deprecated_page_reset: mi_option_e = 11;
#[doc = " does nothing"]
pub const mi_option_deprecated_abandoned_page_purge: mi_option_e = 12;
#[doc = " does nothing"]
pub const mi_option_deprecated_segment_reset: mi_option_e = 13;
#[doc = " does nothing"]
pub const mi_option_deprecated_eager_commit_delay: mi_option_e = 14;
#[doc = " ms till unused memory goes back; -1 never"]
pub const mi_option_purge_delay: mi_option_e = 15;
#[doc = " spread 1 GiB pages over so many nodes; 0: all"]
pub const mi_option_use_numa_nodes: mi_option_e = 16;
#[doc = " only arenas that the program reserved"]
pub const mi_option_disallow_os_alloc: mi_option_e = 17;
#[doc = " no effect but on macOS: VM tag"]
pub const mi_option_os_tag: mi_option_e = 18;
#[doc = " print at most so many errors"]
pub const mi_option_max_errors: mi_option_e = 19;
#[doc = " print at most so many warnings"]
pub const mi_option_max_warnings: mi_option_e = 20;
#[doc = " does nothing"]
pub const mi_option_deprecated_max_segment_reclaim: mi_option_e = 21;
#[doc = " destroy heaps, and collect, at process end"]
pub const mi_option_destroy_on_exit: mi_option_e = 22;
#[doc = " reserve arenas of this size (KiB)"]
pub const mi_option_arena_reserve: mi_option_e = 23;
#[doc = " multiplies `purge_delay` for arenas"]
pub const mi_option_arena_purge_mult: mi_option_e = 24;
#[doc = " does nothing"]
pub const mi_option_deprecated_purge_extend_delay: mi_option_e = 25;
#[doc = " no arenas: take memory from the OS"]
pub const mi_option_disallow_arena_alloc: mi_option_e = 26;
#[doc = " on Windows: ask again for so many ms when refused"]
pub const mi_option_retry_on_oom: mi_option_e = 27;
#[doc = " allow `mi_abandoned_visit_blocks`"]
pub const mi_option_visit_abandoned: mi_option_e = 28;
#[doc = " least size with a guard page (bytes)"]
pub const mi_option_guarded_min: mi_option_e = 29;
#[doc = " largest such size (bytes)"]
pub const mi_option_guarded_max: mi_option_e = 30;
#[doc = " end blocks exactly at guard pages"]
pub const mi_option_guarded_precise: mi_option_e = 31;
#[doc = " guard one in so many; 0 none"]
pub const mi_option_guarded_sample_rate: mi_option_e = 32;
#[doc = " start of the sampling; 0 random"]
pub const mi_option_guarded_sample_seed: mi_option_e = 33;
#[doc = " collect each so many slow allocations"]
pub const mi_option_generic_collect: mi_option_e = 34;
#[doc = " free takes over nobody's page: -1 no, 0 own, 1 all"]
pub const mi_option_page_reclaim_on_free: mi_option_e = 35;
#[doc = " no effect"]
pub const mi_option_page_full_retain: mi_option_e = 36;
#[doc = " no effect"]
pub const mi_option_page_max_candidates: mi_option_e = 37;
#[doc = " no effect"]
pub const mi_option_max_vabits: mi_option_e = 38;
#[doc = " the map of addresses is resident from the start"]
pub const mi_option_pagemap_commit: mi_option_e = 39;
#[doc = " no effect: always so"]
pub const mi_option_page_commit_on_demand: mi_option_e = 40;
#[doc = " free takes so many own pages back; -1 all"]
pub const mi_option_page_max_reclaim: mi_option_e = 41;
#[doc = " free takes so many of others' back; -1 all"]
pub const mi_option_page_cross_thread_max_reclaim: mi_option_e = 42;
#[doc = " huge pages: 0 none, 1 some, 2 all, never split"]
pub const mi_option_allow_thp: mi_option_e = 43;
#[doc = " smallest piece to purge (KiB); 0: automatic"]
pub const mi_option_minimal_purge_size: mi_option_e = 44;
#[doc = " larger objects come from the OS (KiB)"]
pub const mi_option_arena_max_object_size: mi_option_e = 45;
#[doc = " no effect"]
pub const mi_option_arena_is_numa_local: mi_option_e = 46;
#[doc = " no effect: always merged"]
pub const mi_option_stats_merge_on_collect: mi_option_e = 47;
#[doc = " no effect yet (KiB)"]
pub const mi_option_profile_alloc_interval: mi_option_e = 48;
#[doc = " no effect yet (KiB)"]
pub const mi_option_profile_inuse_interval: mi_option_e = 49;
#[doc = " no effect yet (seconds)"]
pub const mi_option_profile_time_interval: mi_option_e = 50;
#[doc = " no effect yet (KiB)"]
pub const mi_option_profile_sample_rate: mi_option_e = 51;
#[doc = " no effect: always merged"]
pub const mi_option_stats_merge_threshold: mi_option_e = 52;
#[doc = " so much goes back at once (KiB); 0 no"]
pub const mi_option_arena_purge_immediate_size: mi_option_e = 53;
#[doc = " the last number of mimalloc's, and one"]
pub const _mi_option_last: mi_option_e = 54;
#[doc = " on misuse: 0 go on, 1 abort or the error function, 2 abort"]
pub const mi_option_corruption: mi_option_e = 1000;
#[doc = " secure builds, fill freed blocks: 0 no, 1 zeros, 2 0xDF"]
pub const mi_option_fill_freed: mi_option_e = 1001;
#[doc = " MI_SECURE=FULL: freed memory kept from reuse (KiB)"]
pub const mi_option_quarantine_size: mi_option_e = 1002;
#[doc = " print at exit what is still in use"]
pub const mi_option_show_leaks: mi_option_e = 1003;
#[doc = " guard one block in so many bytes; 0 none"]
pub const mi_option_guarded_sample_bytes: mi_option_e = 1004;
#[doc = " start blocks exactly behind guard pages"]
pub const mi_option_guarded_underflow: mi_option_e = 1005;
#[doc = " shared library: dlopen leaves RTLD_DEEPBIND out"]
pub const mi_option_dlopen_deepbind: mi_option_e = 1006;
#[doc = " older names of the same options"]
pub const mi_option_large_os_pages: mi_option_e = 6;
#[doc = " older names of the same options"]
pub const mi_option_eager_region_commit: mi_option_e = 4;
#[doc = " older names of the same options"]
pub const mi_option_reset_decommits: mi_option_e = 5;
#[doc = " older names of the same options"]
pub const mi_option_reset_delay: mi_option_e = 15;
#[doc = " older names of the same options"]
pub const mi_option_limit_os_alloc: mi_option_e = 17;
#[doc = " older names of the same options"]
pub const mi_option_abandoned_reclaim_on_free: mi_option_e = 35;
#[doc = " 2.x names of options that do nothing now"]
pub const mi_option_eager_commit: mi_option_e = 3;
#[doc = " 2.x names of options that do nothing now"]
pub const mi_option_segment_cache: mi_option_e = 10;
#[doc = " 2.x names of options that do nothing now"]
pub const mi_option_page_reset: mi_option_e = 11;
#[doc = " 2.x names of options that do nothing now"]
pub const mi_option_abandoned_page_purge: mi_option_e = 12;
#[doc = " 2.x names of options that do nothing now"]
pub const mi_option_abandoned_page_reset: mi_option_e = 12;
#[doc = " 2.x names of options that do nothing now"]
pub const mi_option_segment_reset: mi_option_e = 13;
#[doc = " 2.x names of options that do nothing now"]
pub const mi_option_eager_commit_delay: mi_option_e = 14;
#[doc = " 2.x names of options that do nothing now"]
pub const mi_option_max_segment_reclaim: mi_option_e = 21;
#[doc = " 2.x names of options that do nothing now"]
pub const mi_option_purge_extend_delay: mi_option_e = 25;
#[doc = " Each is also an environment variable, MIMALLOC_ and the name in any case, read once at start.\nSetting one is best done before the first allocation; many are looked at only once. One that has\nno effect keeps its value, and `verbose` says so and why."]
pub type mi_option_e = ::core::ffi::c_int;
#[doc = " Each is also an environment variable, MIMALLOC_ and the name in any case, read once at start.\nSetting one is best done before the first allocation; many are looked at only once. One that has\nno effect keeps its value, and `verbose` says so and why."]
pub use self::mi_option_e as mi_option_t;
#[doc = " The type behind [`mi_profiler_t`]."]
#[repr(C)]
pub struct mi_profiler_s {
    _unused: [u8; 0],
}
#[doc = " Takes samples of the allocations of heaps. None can be made."]
pub type mi_profiler_t = mi_profiler_s;
#[doc = " One of [`mi_chunkbin_t`]."]
pub const MI_CBIN_SMALL: mi_chunkbin_e = 0;
#[doc = " One of [`mi_chunkbin_t`]."]
pub const MI_CBIN_OTHER: mi_chunkbin_e = 1;
#[doc = " One of [`mi_chunkbin_t`]."]
pub const MI_CBIN_MEDIUM: mi_chunkbin_e = 2;
#[doc = " One of [`mi_chunkbin_t`]."]
pub const MI_CBIN_LARGE: mi_chunkbin_e = 3;
#[doc = " One of [`mi_chunkbin_t`]."]
pub const MI_CBIN_HUGE: mi_chunkbin_e = 4;
#[doc = " One of [`mi_chunkbin_t`]."]
pub const MI_CBIN_NONE: mi_chunkbin_e = 5;
#[doc = " One of [`mi_chunkbin_t`]."]
pub const MI_CBIN_COUNT: mi_chunkbin_e = 6;
#[doc = " Kinds of chunk, of which arenas may consist. This library has none: their counts stay 0."]
pub type mi_chunkbin_e = ::core::ffi::c_int;
#[doc = " Kinds of chunk, of which arenas may consist. This library has none: their counts stay 0."]
pub use self::mi_chunkbin_e as mi_chunkbin_t;
#[doc = " Something that comes and goes: all there ever was, the most at one time (of blocks an estimate,\nunless `peaks_are_exact`), and what there is now."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct mi_stat_count_s {
    #[doc = " All there ever was."]
    pub total: i64,
    #[doc = " The most at one time."]
    pub peak: i64,
    #[doc = " What there is now."]
    pub current: i64,
}
#[doc = " Something that comes and goes: all there ever was, the most at one time (of blocks an estimate,\nunless `peaks_are_exact`), and what there is now."]
pub type mi_stat_count_t = mi_stat_count_s;
#[doc = " Something that only grows."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct mi_stat_counter_s {
    #[doc = " All there ever was."]
    pub total: i64,
}
#[doc = " Something that only grows."]
pub type mi_stat_counter_t = mi_stat_counter_s;
#[doc = " All statistics: of the process, of a sub-process or of a heap."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct mi_stats_s {
    #[doc = " sizeof(mi_stats_t), set by the caller"]
    pub size: usize,
    #[doc = " MI_STAT_VERSION, set by the caller"]
    pub version: usize,
    #[doc = " a field of the struct"]
    pub pages: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub reserved: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub committed: mi_stat_count_t,
    #[doc = " …"]
    pub reset: mi_stat_counter_t,
    #[doc = " …"]
    pub purged: mi_stat_counter_t,
    #[doc = " a field of the struct"]
    pub page_committed: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub pages_abandoned: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub threads: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub allocated: mi_stat_count_t,
    #[doc = " …"]
    pub malloc_count: mi_stat_counter_t,
    #[doc = " …"]
    pub free_count: mi_stat_counter_t,
    #[doc = " …"]
    pub freed: mi_stat_counter_t,
    #[doc = " …"]
    pub malloc_requested: mi_stat_counter_t,
    #[doc = " …"]
    pub mmap_calls: mi_stat_counter_t,
    #[doc = " …"]
    pub commit_calls: mi_stat_counter_t,
    #[doc = " …"]
    pub reset_calls: mi_stat_counter_t,
    #[doc = " …"]
    pub purge_calls: mi_stat_counter_t,
    #[doc = " …"]
    pub arena_count: mi_stat_counter_t,
    #[doc = " …"]
    pub malloc_guarded_count: mi_stat_counter_t,
    #[doc = " …"]
    pub arena_rollback_count: mi_stat_counter_t,
    #[doc = " …"]
    pub arena_purges: mi_stat_counter_t,
    #[doc = " …"]
    pub pages_extended: mi_stat_counter_t,
    #[doc = " …"]
    pub pages_retire: mi_stat_counter_t,
    #[doc = " …"]
    pub page_searches: mi_stat_counter_t,
    #[doc = " …"]
    pub page_searches_count: mi_stat_counter_t,
    #[doc = " a field of the struct"]
    pub segments: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub segments_abandoned: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub segments_cache: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub _segments_reserved: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub heaps: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub theaps: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub pages_os_abandoned: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub pages_os_allocated: mi_stat_count_t,
    #[doc = " …"]
    pub pages_reclaim_on_alloc: mi_stat_counter_t,
    #[doc = " …"]
    pub pages_reclaim_on_free: mi_stat_counter_t,
    #[doc = " …"]
    pub pages_reabandon_full: mi_stat_counter_t,
    #[doc = " …"]
    pub pages_unabandon_busy_wait: mi_stat_counter_t,
    #[doc = " …"]
    pub pages_unown_cas_retry: mi_stat_counter_t,
    #[doc = " …"]
    pub heaps_delete_wait: mi_stat_counter_t,
    #[doc = " …"]
    pub pages_stat_updates: mi_stat_counter_t,
    #[doc = " …"]
    pub pages_stat_update_count: mi_stat_counter_t,
    #[doc = " …"]
    pub profile_samples: mi_stat_counter_t,
    #[doc = " a field of the struct"]
    pub malloc_normal: mi_stat_count_t,
    #[doc = " a field of the struct"]
    pub malloc_huge: mi_stat_count_t,
    #[doc = " …"]
    pub malloc_normal_count: mi_stat_counter_t,
    #[doc = " …"]
    pub malloc_huge_count: mi_stat_counter_t,
    #[doc = " a field of the struct"]
    pub requested: mi_stat_count_t,
    #[doc = " …"]
    pub requested_is_exact: mi_stat_counter_t,
    #[doc = " …"]
    pub peaks_are_exact: mi_stat_counter_t,
    #[doc = " 0"]
    pub _reserved: [i64; 11usize],
    #[doc = " blocks, a size class; `mi_stats_get_bin_size`"]
    pub malloc_bins: [mi_stat_count_t; 74usize],
    #[doc = " pages, a size class"]
    pub page_bins: [mi_stat_count_t; 74usize],
    #[doc = " arena chunks, a kind"]
    pub chunk_bins: [mi_stat_count_t; 6usize],
}
#[doc = " All statistics: of the process, of a sub-process or of a heap."]
pub type mi_stats_t = mi_stats_s;
extern "C" {
    #[doc = " Allocates `size` bytes. As the C functions without `mi_`; but `mi_realloc` to size 0 shrinks the block.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_malloc(size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " Allocates `count` times `size` bytes of zeroed memory. As the C functions without `mi_`; but `mi_realloc` to size 0 shrinks the block.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_calloc(10, 10);\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_calloc(count: usize, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " Makes the block `newsize` bytes, and moves it where it must; on failure it stays valid. As the C functions without `mi_`; but `mi_realloc` to size 0 shrinks the block.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    let block = mi_realloc(block, 200);\n    assert!(mi_usable_size(block) >= 200);\n    mi_free(block);\n}\n```"]
    pub fn mi_realloc(p: *mut ::core::ffi::c_void, newsize: usize) -> *mut ::core::ffi::c_void;
    #[doc = " Makes the block at least `newsize` bytes without moving it; NULL (and no change) where it cannot.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    let grown = mi_expand(block, 104);\n    if grown.is_null() {\n        // There is no room; the block stays as it is.\n    }\n    mi_free(block);\n}\n```"]
    pub fn mi_expand(p: *mut ::core::ffi::c_void, newsize: usize) -> *mut ::core::ffi::c_void;
    #[doc = " Frees a block; NULL is allowed and errno is kept.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    mi_free(block);\n}\n```"]
    pub fn mi_free(p: *mut ::core::ffi::c_void);
    #[doc = " Copies a string into a new block; NULL gives NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_strdup(b\"text\\0\".as_ptr().cast());\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_strdup(s: *const ::core::ffi::c_char) -> *mut ::core::ffi::c_char;
    #[doc = " Copies at most `n` characters of a string, and terminates the copy; NULL gives NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_strndup(b\"text\\0\".as_ptr().cast(), 2);\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_strndup(s: *const ::core::ffi::c_char, n: usize) -> *mut ::core::ffi::c_char;
    #[doc = " The absolute path of a file, in `resolved_name` or, where that is NULL, in a new block. NULL and errno as `realpath` on failure.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_realpath(b\"/\\0\".as_ptr().cast(), std::ptr::null_mut());\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_realpath(
        fname: *const ::core::ffi::c_char,
        resolved_name: *mut ::core::ffi::c_char,
    ) -> *mut ::core::ffi::c_char;
    #[doc = " As `mi_malloc`. The `_small` functions are no faster than the others, and for any size; other libraries of this interface take at most MI_SMALL_SIZE_MAX.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc_small(100);\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_malloc_small(size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc`. The `_small` functions are no faster than the others, and for any size; other libraries of this interface take at most MI_SMALL_SIZE_MAX.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_zalloc_small(100).cast::<u8>();\n    assert_eq!(*block, 0);\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_zalloc_small(size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_malloc`, with the size in machine words.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_wmalloc_small(10);\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_wmalloc_small(wsize: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc`, with the size in machine words.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_wzalloc_small(10).cast::<u8>();\n    assert_eq!(*block, 0);\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_wzalloc_small(wsize: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_free`. The `mi_free_small` functions take any block, and NULL: what their names say of it (a size of at most MI_SMALL_SIZE_MAX, not NULL, of the calling thread) is of use to other libraries of this interface.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    mi_free_small(block);\n}\n```"]
    pub fn mi_free_small(p: *mut ::core::ffi::c_void);
    #[doc = " As `mi_free`. The `mi_free_small` functions take any block, and NULL: what their names say of it (a size of at most MI_SMALL_SIZE_MAX, not NULL, of the calling thread) is of use to other libraries of this interface.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    mi_free_small_nonnull(block);\n}\n```"]
    pub fn mi_free_small_nonnull(p: *mut ::core::ffi::c_void);
    #[doc = " As `mi_free`. The `mi_free_small` functions take any block, and NULL: what their names say of it (a size of at most MI_SMALL_SIZE_MAX, not NULL, of the calling thread) is of use to other libraries of this interface.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    mi_free_small_local(block);\n}\n```"]
    pub fn mi_free_small_local(p: *mut ::core::ffi::c_void);
    #[doc = " As `mi_free`. The `mi_free_small` functions take any block, and NULL: what their names say of it (a size of at most MI_SMALL_SIZE_MAX, not NULL, of the calling thread) is of use to other libraries of this interface.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    mi_free_small_local_nonnull(block);\n}\n```"]
    pub fn mi_free_small_local_nonnull(p: *mut ::core::ffi::c_void);
    #[doc = " Allocates `size` bytes of zeroed memory.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_zalloc(100).cast::<u8>();\n    assert_eq!(*block, 0);\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_zalloc(size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " Allocates `count` times `size` bytes, not zeroed.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_mallocn(10, 10);\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_mallocn(count: usize, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc`, to `count` times `size` bytes.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    let block = mi_reallocn(block, 20, 10);\n    assert!(mi_usable_size(block) >= 200);\n    mi_free(block);\n}\n```"]
    pub fn mi_reallocn(
        p: *mut ::core::ffi::c_void,
        count: usize,
        size: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc`, but on failure the block is freed.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    let block = mi_reallocf(block, 200);\n    assert!(mi_usable_size(block) >= 200);\n    mi_free(block);\n}\n```"]
    pub fn mi_reallocf(p: *mut ::core::ffi::c_void, newsize: usize) -> *mut ::core::ffi::c_void;
    #[doc = " Bytes that may be used in the block, at least what was asked for; 0 for NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    assert!(mi_usable_size(block) >= 100);\n    mi_free(block);\n}\n```"]
    pub fn mi_usable_size(p: *const ::core::ffi::c_void) -> usize;
    #[doc = " Bytes that a request of `size` would make usable: asking for these wastes nothing.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(mi_good_size(100) >= 100);\n}\n```"]
    pub fn mi_good_size(size: usize) -> usize;
    #[doc = " As `mi_malloc`. As the functions without `u`; each also stores the usable bytes of the block in `*block_size` (0 where it fails or frees NULL), all of which may be used. `mi_urealloc` stores those of the old and of the new block. The pointers for sizes may be NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut usable = 0;\n    let block = mi_umalloc(100, &mut usable);\n    assert!(usable >= 100);\n    mi_free(block);\n}\n```"]
    pub fn mi_umalloc(size: usize, block_size: *mut usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_calloc`. As the functions without `u`; each also stores the usable bytes of the block in `*block_size` (0 where it fails or frees NULL), all of which may be used. `mi_urealloc` stores those of the old and of the new block. The pointers for sizes may be NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut usable = 0;\n    let block = mi_ucalloc(10, 10, &mut usable);\n    assert!(usable >= 100);\n    mi_free(block);\n}\n```"]
    pub fn mi_ucalloc(
        count: usize,
        size: usize,
        block_size: *mut usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc`; stores the usable bytes of the old and of the new block. As the functions without `u`; each also stores the usable bytes of the block in `*block_size` (0 where it fails or frees NULL), all of which may be used. `mi_urealloc` stores those of the old and of the new block. The pointers for sizes may be NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    let (mut before, mut after) = (0, 0);\n    let block = mi_urealloc(block, 200, &mut before, &mut after);\n    assert!(before >= 100 && after >= 200);\n    mi_free(block);\n}\n```"]
    pub fn mi_urealloc(
        p: *mut ::core::ffi::c_void,
        newsize: usize,
        block_size_pre: *mut usize,
        block_size_post: *mut usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_free`; stores the usable bytes that the block had. As the functions without `u`; each also stores the usable bytes of the block in `*block_size` (0 where it fails or frees NULL), all of which may be used. `mi_urealloc` stores those of the old and of the new block. The pointers for sizes may be NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut usable = 0;\n    mi_ufree(mi_malloc(100), &mut usable);\n    assert!(usable >= 100);\n}\n```"]
    pub fn mi_ufree(p: *mut ::core::ffi::c_void, block_size: *mut usize);
    #[doc = " As `mi_malloc_aligned`. As the functions without `u`; each also stores the usable bytes of the block in `*block_size` (0 where it fails or frees NULL), all of which may be used. `mi_urealloc` stores those of the old and of the new block. The pointers for sizes may be NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut usable = 0;\n    let block = mi_umalloc_aligned(100, 64, &mut usable);\n    assert!(usable >= 100);\n    mi_free(block);\n}\n```"]
    pub fn mi_umalloc_aligned(
        size: usize,
        alignment: usize,
        block_size: *mut usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc_aligned`. As the functions without `u`; each also stores the usable bytes of the block in `*block_size` (0 where it fails or frees NULL), all of which may be used. `mi_urealloc` stores those of the old and of the new block. The pointers for sizes may be NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut usable = 0;\n    let block = mi_uzalloc_aligned(100, 64, &mut usable);\n    assert!(usable >= 100);\n    mi_free(block);\n}\n```"]
    pub fn mi_uzalloc_aligned(
        size: usize,
        alignment: usize,
        block_size: *mut usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_malloc_small`. As the functions without `u`; each also stores the usable bytes of the block in `*block_size` (0 where it fails or frees NULL), all of which may be used. `mi_urealloc` stores those of the old and of the new block. The pointers for sizes may be NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut usable = 0;\n    let block = mi_umalloc_small(100, &mut usable);\n    assert!(usable >= 100);\n    mi_free(block);\n}\n```"]
    pub fn mi_umalloc_small(size: usize, block_size: *mut usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc_small`. As the functions without `u`; each also stores the usable bytes of the block in `*block_size` (0 where it fails or frees NULL), all of which may be used. `mi_urealloc` stores those of the old and of the new block. The pointers for sizes may be NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut usable = 0;\n    let block = mi_uzalloc_small(100, &mut usable);\n    assert!(usable >= 100);\n    mi_free(block);\n}\n```"]
    pub fn mi_uzalloc_small(size: usize, block_size: *mut usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc`; what is added is zero. As `mi_realloc`, and what is added to the block is zero. Only for blocks that were zeroed when they were allocated and resized by these functions alone since. `_at`: see below.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_zalloc(100);\n    let block = mi_rezalloc(block, 200).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_rezalloc(p: *mut ::core::ffi::c_void, newsize: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_reallocn`; what is added is zero. As `mi_realloc`, and what is added to the block is zero. Only for blocks that were zeroed when they were allocated and resized by these functions alone since. `_at`: see below.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_zalloc(100);\n    let block = mi_recalloc(block, 20, 10).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_recalloc(
        p: *mut ::core::ffi::c_void,
        newcount: usize,
        size: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc_aligned`; what is added is zero. As `mi_realloc`, and what is added to the block is zero. Only for blocks that were zeroed when they were allocated and resized by these functions alone since. `_at`: see below.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_zalloc_aligned(100, 64);\n    let block = mi_rezalloc_aligned(block, 200, 64).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_rezalloc_aligned(
        p: *mut ::core::ffi::c_void,
        newsize: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc_aligned_at`; what is added is zero. As `mi_realloc`, and what is added to the block is zero. Only for blocks that were zeroed when they were allocated and resized by these functions alone since. `_at`: see below.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_zalloc_aligned_at(100, 64, 16);\n    let block = mi_rezalloc_aligned_at(block, 200, 64, 16).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_rezalloc_aligned_at(
        p: *mut ::core::ffi::c_void,
        newsize: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_rezalloc_aligned`, to `newcount` times `size` bytes. As `mi_realloc`, and what is added to the block is zero. Only for blocks that were zeroed when they were allocated and resized by these functions alone since. `_at`: see below.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_zalloc_aligned(100, 64);\n    let block = mi_recalloc_aligned(block, 20, 10, 64).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_recalloc_aligned(
        p: *mut ::core::ffi::c_void,
        newcount: usize,
        size: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_rezalloc_aligned_at`, to `newcount` times `size` bytes. As `mi_realloc`, and what is added to the block is zero. Only for blocks that were zeroed when they were allocated and resized by these functions alone since. `_at`: see below.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_zalloc_aligned_at(100, 64, 16);\n    let block = mi_recalloc_aligned_at(block, 20, 10, 64, 16).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_recalloc_aligned_at(
        p: *mut ::core::ffi::c_void,
        newcount: usize,
        size: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_malloc`, at a multiple of `alignment`. The block starts at a multiple of `alignment`, a power of two of any size. With `_at` it is the address at `offset` into the block that is the multiple. Such blocks are resized by the `_aligned` functions to keep their alignment, and freed as all others.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc_aligned(100, 64);\n    assert_eq!(block as usize % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_malloc_aligned(size: usize, alignment: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_malloc`, with the address `offset` bytes in at a multiple of `alignment`. The block starts at a multiple of `alignment`, a power of two of any size. With `_at` it is the address at `offset` into the block that is the multiple. Such blocks are resized by the `_aligned` functions to keep their alignment, and freed as all others.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc_aligned_at(100, 64, 16);\n    assert_eq!((block as usize + 16) % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_malloc_aligned_at(
        size: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc`, at a multiple of `alignment`. The block starts at a multiple of `alignment`, a power of two of any size. With `_at` it is the address at `offset` into the block that is the multiple. Such blocks are resized by the `_aligned` functions to keep their alignment, and freed as all others.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_zalloc_aligned(100, 64);\n    assert_eq!(block as usize % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_zalloc_aligned(size: usize, alignment: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc`, with the address `offset` bytes in at a multiple of `alignment`. The block starts at a multiple of `alignment`, a power of two of any size. With `_at` it is the address at `offset` into the block that is the multiple. Such blocks are resized by the `_aligned` functions to keep their alignment, and freed as all others.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_zalloc_aligned_at(100, 64, 16);\n    assert_eq!((block as usize + 16) % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_zalloc_aligned_at(
        size: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_calloc`, at a multiple of `alignment`. The block starts at a multiple of `alignment`, a power of two of any size. With `_at` it is the address at `offset` into the block that is the multiple. Such blocks are resized by the `_aligned` functions to keep their alignment, and freed as all others.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_calloc_aligned(10, 10, 64);\n    assert_eq!(block as usize % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_calloc_aligned(
        count: usize,
        size: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_calloc`, with the address `offset` bytes in at a multiple of `alignment`. The block starts at a multiple of `alignment`, a power of two of any size. With `_at` it is the address at `offset` into the block that is the multiple. Such blocks are resized by the `_aligned` functions to keep their alignment, and freed as all others.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_calloc_aligned_at(10, 10, 64, 16);\n    assert_eq!((block as usize + 16) % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_calloc_aligned_at(
        count: usize,
        size: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc`; where the block then lies is a multiple of `alignment`. The block starts at a multiple of `alignment`, a power of two of any size. With `_at` it is the address at `offset` into the block that is the multiple. Such blocks are resized by the `_aligned` functions to keep their alignment, and freed as all others.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_realloc_aligned(std::ptr::null_mut(), 100, 64);\n    assert_eq!(block as usize % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_realloc_aligned(
        p: *mut ::core::ffi::c_void,
        newsize: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc`; the address `offset` bytes in is then a multiple of `alignment`. The block starts at a multiple of `alignment`, a power of two of any size. With `_at` it is the address at `offset` into the block that is the multiple. Such blocks are resized by the `_aligned` functions to keep their alignment, and freed as all others.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_realloc_aligned_at(std::ptr::null_mut(), 100, 64, 16);\n    assert_eq!((block as usize + 16) % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_realloc_aligned_at(
        p: *mut ::core::ffi::c_void,
        newsize: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " Makes a heap in the sub-process of the calling thread; NULL when there is no memory. A heap may be used from any thread. The caller sees to it that no thread uses a heap while it is deleted or destroyed, and none after.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    assert!(!mi_heap_malloc(heap, 100).is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_new() -> *mut mi_heap_t;
    #[doc = " As `mi_heap_new`; the heap allocates in that arena only. A heap may be used from any thread. The caller sees to it that no thread uses a heap while it is deleted or destroyed, and none after.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new_in_arena(std::ptr::null_mut());\n    assert!(!mi_heap_malloc(heap, 100).is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_new_in_arena(arena_id: mi_arena_id_t) -> *mut mi_heap_t;
    #[doc = " Ends a heap; its live blocks move to the main heap and stay valid. Deleting and destroying leave NULL and the main heap alone.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc(heap, 100);\n    mi_heap_delete(heap);\n    mi_free(block); // it has outlived its heap\n}\n```"]
    pub fn mi_heap_delete(heap: *mut mi_heap_t);
    #[doc = " Ends a heap; its live blocks are freed, without a look at them. Deleting and destroying leave NULL and the main heap alone.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    mi_heap_malloc(heap, 100);\n    mi_heap_destroy(heap); // frees the block too\n}\n```"]
    pub fn mi_heap_destroy(heap: *mut mi_heap_t);
    #[doc = " Prefers memory of this NUMA node for the heap from now on; a negative node ends the preference.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    mi_heap_set_numa_affinity(heap, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_set_numa_affinity(heap: *mut mi_heap_t, numa_node: ::core::ffi::c_int);
    #[doc = " Frees what the calling thread keeps of the heap for later use; `force` also gives it back to the OS.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    mi_heap_collect(heap, true);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_collect(heap: *mut mi_heap_t, force: bool);
    #[doc = " The heap that `mi_malloc` uses, of the sub-process of the calling thread; never NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(!mi_heap_main().is_null());\n}\n```"]
    pub fn mi_heap_main() -> *mut mi_heap_t;
    #[doc = " The heap that the block `p` is in, or NULL where `p` is no pointer of this library.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc(heap, 100);\n    assert_eq!(mi_heap_of(block), heap);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_of(p: *const ::core::ffi::c_void) -> *mut mi_heap_t;
    #[doc = " Tells whether `p` points into memory of this heap. Any address may be asked about.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc(heap, 100);\n    assert!(mi_heap_contains(heap, block));\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_contains(heap: *const mi_heap_t, p: *const ::core::ffi::c_void) -> bool;
    #[doc = " Tells whether `p` points into memory of any heap. Any address may be asked about.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc(heap, 100);\n    assert!(mi_any_heap_contains(block));\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_any_heap_contains(p: *const ::core::ffi::c_void) -> bool;
    #[doc = " As `mi_any_heap_contains`. Any address may be asked about.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc(heap, 100);\n    assert!(mi_is_in_heap_region(block));\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_is_in_heap_region(p: *const ::core::ffi::c_void) -> bool;
    #[doc = " Tells whether `p` points into the heap that `mi_malloc` of the calling thread uses. Any address may be asked about.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    assert!(mi_check_owned(block));\n    mi_free(block);\n}\n```"]
    pub fn mi_check_owned(p: *const ::core::ffi::c_void) -> bool;
    #[doc = " The id of the thread that owns the page of the block `p` now. 0 for what nobody owns: the blocks of a full page, a large block, and any other pointer. Equal ids are the same thread's.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let (a, b) = (mi_malloc(100), mi_malloc(100));\n    let same = mi_thread_id_of(a) == mi_thread_id_of(b);\n    println!(\"owned by the same thread: {same}\");\n    mi_free(a);\n    mi_free(b);\n}\n```"]
    pub fn mi_thread_id_of(p: *const ::core::ffi::c_void) -> usize;
    #[doc = " Debug builds fill blocks of the heap, as they are allocated and as they are freed, from this many bytes on: what lies before stays as the program left it.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    mi_heap_set_debug_fill_preserve(heap, 16);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_set_debug_fill_preserve(heap: *mut mi_heap_t, bytes: usize);
    #[doc = " The calling thread's share of the heap, made on demand; NULL when there is no memory.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(!mi_heap_theap(mi_heap_main()).is_null());\n}\n```"]
    pub fn mi_heap_theap(heap: *mut mi_heap_t) -> *mut mi_theap_t;
    #[doc = " Tells whether moving the block `p` of the heap helps: less than `perc_threshold` percent of its page is in use, and it is not the page from which new blocks come. False for a large block. Unsafe: only for a live block that no other thread uses or frees.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let mut block = mi_heap_malloc(heap, 100);\n    if mi_unsafe_heap_page_is_under_utilized(heap, block, 50) {\n        let moved = mi_heap_malloc(heap, 100);\n        moved.copy_from_nonoverlapping(block, 100);\n        mi_free(block);\n        block = moved;\n    }\n    mi_free(block);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_unsafe_heap_page_is_under_utilized(
        heap: *mut mi_heap_t,
        p: *mut ::core::ffi::c_void,
        perc_threshold: usize,
    ) -> bool;
    #[doc = " Visits each area of the heap that ended threads left. The visitor is called for each area and, with `visit_blocks`, for each live block. True when all were visited. Where another thread allocates or frees in the heap meanwhile it is not known which of the blocks that this concerns are seen, and the visitor must not look into them.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn count(\n        _heap: *const mi_heap_t,\n        _area: *const mi_heap_area_t,\n        block: *mut std::ffi::c_void,\n        _block_size: usize,\n        arg: *mut std::ffi::c_void,\n    ) -> bool {\n        *arg.cast::<usize>() += usize::from(!block.is_null());\n        true\n    }\n\n    let mut blocks = 0usize;\n    let arg = (&mut blocks as *mut usize).cast();\n    mi_heap_visit_abandoned_blocks(mi_heap_main(), true, Some(count), arg);\n    println!(\"{blocks} blocks\");\n}\n```"]
    pub fn mi_heap_visit_abandoned_blocks(
        heap: *mut mi_heap_t,
        visit_blocks: bool,
        visitor: mi_block_visit_fun,
        arg: *mut ::core::ffi::c_void,
    ) -> bool;
    #[doc = " As `mi_malloc`, in the heap. Allocating in a heap: as the functions without `heap_`\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc(heap, 100);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_malloc(heap: *mut mi_heap_t, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc`, in the heap. Allocating in a heap: as the functions without `heap_`\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_zalloc(heap, 100).cast::<u8>();\n    assert_eq!(*block, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_zalloc(heap: *mut mi_heap_t, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_calloc`, in the heap. Allocating in a heap: as the functions without `heap_`\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_calloc(heap, 10, 10);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_calloc(
        heap: *mut mi_heap_t,
        count: usize,
        size: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_mallocn`, in the heap. Allocating in a heap: as the functions without `heap_`\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_mallocn(heap, 10, 10);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_mallocn(
        heap: *mut mi_heap_t,
        count: usize,
        size: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_malloc_small`, in the heap. Allocating in a heap: as the functions without `heap_`\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc_small(heap, 100);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_malloc_small(heap: *mut mi_heap_t, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc_small`, in the heap. Allocating in a heap: as the functions without `heap_`\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_zalloc_small(heap, 100).cast::<u8>();\n    assert_eq!(*block, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_zalloc_small(heap: *mut mi_heap_t, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc`; a block that moves, moves into the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc(heap, 100);\n    let block = mi_heap_realloc(heap, block, 200);\n    assert!(mi_usable_size(block) >= 200);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_realloc(
        heap: *mut mi_heap_t,
        p: *mut ::core::ffi::c_void,
        newsize: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_reallocn`; a block that moves, moves into the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc(heap, 100);\n    let block = mi_heap_reallocn(heap, block, 20, 10);\n    assert!(mi_usable_size(block) >= 200);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_reallocn(
        heap: *mut mi_heap_t,
        p: *mut ::core::ffi::c_void,
        count: usize,
        size: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_reallocf`; a block that moves, moves into the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc(heap, 100);\n    let block = mi_heap_reallocf(heap, block, 200);\n    assert!(mi_usable_size(block) >= 200);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_reallocf(
        heap: *mut mi_heap_t,
        p: *mut ::core::ffi::c_void,
        newsize: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_strdup`, in the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_strdup(heap, b\"text\\0\".as_ptr().cast());\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_strdup(
        heap: *mut mi_heap_t,
        s: *const ::core::ffi::c_char,
    ) -> *mut ::core::ffi::c_char;
    #[doc = " As `mi_strndup`, in the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_strndup(heap, b\"text\\0\".as_ptr().cast(), 2);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_strndup(
        heap: *mut mi_heap_t,
        s: *const ::core::ffi::c_char,
        n: usize,
    ) -> *mut ::core::ffi::c_char;
    #[doc = " As `mi_realpath`, in the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_realpath(heap, b\"/\\0\".as_ptr().cast(), std::ptr::null_mut());\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_realpath(
        heap: *mut mi_heap_t,
        fname: *const ::core::ffi::c_char,
        resolved_name: *mut ::core::ffi::c_char,
    ) -> *mut ::core::ffi::c_char;
    #[doc = " As `mi_malloc_aligned`, in the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc_aligned(heap, 100, 64);\n    assert_eq!(block as usize % 64, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_malloc_aligned(
        heap: *mut mi_heap_t,
        size: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_malloc_aligned_at`, in the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc_aligned_at(heap, 100, 64, 16);\n    assert_eq!((block as usize + 16) % 64, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_malloc_aligned_at(
        heap: *mut mi_heap_t,
        size: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc_aligned`, in the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_zalloc_aligned(heap, 100, 64);\n    assert_eq!(block as usize % 64, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_zalloc_aligned(
        heap: *mut mi_heap_t,
        size: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc_aligned_at`, in the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_zalloc_aligned_at(heap, 100, 64, 16);\n    assert_eq!((block as usize + 16) % 64, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_zalloc_aligned_at(
        heap: *mut mi_heap_t,
        size: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_calloc_aligned`, in the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_calloc_aligned(heap, 10, 10, 64);\n    assert_eq!(block as usize % 64, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_calloc_aligned(
        heap: *mut mi_heap_t,
        count: usize,
        size: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_calloc_aligned_at`, in the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_calloc_aligned_at(heap, 10, 10, 64, 16);\n    assert_eq!((block as usize + 16) % 64, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_calloc_aligned_at(
        heap: *mut mi_heap_t,
        count: usize,
        size: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc_aligned`; a block that moves, moves into the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_realloc_aligned(heap, std::ptr::null_mut(), 100, 64);\n    assert_eq!(block as usize % 64, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_realloc_aligned(
        heap: *mut mi_heap_t,
        p: *mut ::core::ffi::c_void,
        newsize: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc_aligned_at`; a block that moves, moves into the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_realloc_aligned_at(heap, std::ptr::null_mut(), 100, 64, 16);\n    assert_eq!((block as usize + 16) % 64, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_realloc_aligned_at(
        heap: *mut mi_heap_t,
        p: *mut ::core::ffi::c_void,
        newsize: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_rezalloc`; a block that moves, moves into the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_zalloc(heap, 100);\n    let block = mi_heap_rezalloc(heap, block, 200).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_rezalloc(
        heap: *mut mi_heap_t,
        p: *mut ::core::ffi::c_void,
        newsize: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_recalloc`; a block that moves, moves into the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_zalloc(heap, 100);\n    let block = mi_heap_recalloc(heap, block, 20, 10).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_recalloc(
        heap: *mut mi_heap_t,
        p: *mut ::core::ffi::c_void,
        newcount: usize,
        size: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_rezalloc_aligned`; a block that moves, moves into the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_zalloc_aligned(heap, 100, 64);\n    let block = mi_heap_rezalloc_aligned(heap, block, 200, 64).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_rezalloc_aligned(
        heap: *mut mi_heap_t,
        p: *mut ::core::ffi::c_void,
        newsize: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_rezalloc_aligned_at`; a block that moves, moves into the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_zalloc_aligned_at(heap, 100, 64, 16);\n    let block = mi_heap_rezalloc_aligned_at(heap, block, 200, 64, 16).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_rezalloc_aligned_at(
        heap: *mut mi_heap_t,
        p: *mut ::core::ffi::c_void,
        newsize: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_recalloc_aligned`; a block that moves, moves into the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_zalloc_aligned(heap, 100, 64);\n    let block = mi_heap_recalloc_aligned(heap, block, 20, 10, 64).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_recalloc_aligned(
        heap: *mut mi_heap_t,
        p: *mut ::core::ffi::c_void,
        newcount: usize,
        size: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_recalloc_aligned_at`; a block that moves, moves into the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_zalloc_aligned_at(heap, 100, 64, 16);\n    let block = mi_heap_recalloc_aligned_at(heap, block, 20, 10, 64, 16).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_recalloc_aligned_at(
        heap: *mut mi_heap_t,
        p: *mut ::core::ffi::c_void,
        newcount: usize,
        size: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_new`, in the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_alloc_new(heap, 100);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_alloc_new(heap: *mut mi_heap_t, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_new_n`, in the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_alloc_new_n(heap, 10, 10);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_alloc_new_n(
        heap: *mut mi_heap_t,
        count: usize,
        size: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " Lets the plain functions of the calling thread use this one; returns the former. Thread-local heaps: only for the thread whose share of a heap it is\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let former = mi_theap_set_default(mi_heap_theap(heap));\n    assert!(mi_heap_contains(heap, mi_malloc(100)));\n    mi_theap_set_default(former);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_set_default(theap: *mut mi_theap_t) -> *mut mi_theap_t;
    #[doc = " Returns the one that the plain functions of the calling thread use. Thread-local heaps: only for the thread whose share of a heap it is\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(!mi_theap_get_default().is_null());\n}\n```"]
    pub fn mi_theap_get_default() -> *mut mi_theap_t;
    #[doc = " As `mi_heap_collect`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    mi_theap_collect(theap, true);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_collect(theap: *mut mi_theap_t, force: bool);
    #[doc = " Gives the theap's pages to its heap, and ends the theap. The theap's pages become those of its heap, for any thread to take over; the blocks stay valid. Delete ends the record too: only its own thread may do that, and it gets a new one when it uses the heap again. (That of the main heap is the thread's, and stays until the thread ends.) Quiescent abandon leaves the record as it is, and may also be called by another thread while the theap's thread is outside of the library, and stays so until the call returns.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    mi_theap_delete(theap);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_delete(theap: *mut mi_theap_t);
    #[doc = " Gives the theap's pages to its heap. The theap's pages become those of its heap, for any thread to take over; the blocks stay valid. Delete ends the record too: only its own thread may do that, and it gets a new one when it uses the heap again. (That of the main heap is the thread's, and stays until the thread ends.) Quiescent abandon leaves the record as it is, and may also be called by another thread while the theap's thread is outside of the library, and stays so until the call returns.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    mi_theap_quiescent_abandon(theap);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_quiescent_abandon(theap: *mut mi_theap_t);
    #[doc = " As `mi_malloc`, in the theap. Allocating in a theap spares the search for the thread's share of a heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_malloc(theap, 100);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_malloc(theap: *mut mi_theap_t, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc`, in the theap. Allocating in a theap spares the search for the thread's share of a heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_zalloc(theap, 100).cast::<u8>();\n    assert_eq!(*block, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_zalloc(theap: *mut mi_theap_t, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_calloc`, in the theap. Allocating in a theap spares the search for the thread's share of a heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_calloc(theap, 10, 10);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_calloc(
        theap: *mut mi_theap_t,
        count: usize,
        size: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_malloc_small`, in the theap. Allocating in a theap spares the search for the thread's share of a heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_malloc_small(theap, 100);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_malloc_small(theap: *mut mi_theap_t, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc_small`, in the theap. Allocating in a theap spares the search for the thread's share of a heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_zalloc_small(theap, 100).cast::<u8>();\n    assert_eq!(*block, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_zalloc_small(theap: *mut mi_theap_t, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_wmalloc_small`, in the theap. Allocating in a theap spares the search for the thread's share of a heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_wmalloc_small(theap, 10);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_wmalloc_small(theap: *mut mi_theap_t, wsize: usize)
        -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_wzalloc_small`, in the theap. Allocating in a theap spares the search for the thread's share of a heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_wzalloc_small(theap, 10).cast::<u8>();\n    assert_eq!(*block, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_wzalloc_small(theap: *mut mi_theap_t, wsize: usize)
        -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_malloc_aligned`, in the theap. Allocating in a theap spares the search for the thread's share of a heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_malloc_aligned(theap, 100, 64);\n    assert_eq!(block as usize % 64, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_malloc_aligned(
        theap: *mut mi_theap_t,
        size: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_zalloc_aligned`, in the theap. Allocating in a theap spares the search for the thread's share of a heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_zalloc_aligned(theap, 100, 64);\n    assert_eq!(block as usize % 64, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_zalloc_aligned(
        theap: *mut mi_theap_t,
        size: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc`, in the theap. Allocating in a theap spares the search for the thread's share of a heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_zalloc(theap, 100);\n    let block = mi_theap_realloc(theap, block, 200);\n    assert!(mi_usable_size(block) >= 200);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_realloc(
        theap: *mut mi_theap_t,
        p: *mut ::core::ffi::c_void,
        newsize: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_rezalloc`, in the theap. Allocating in a theap spares the search for the thread's share of a heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_zalloc(theap, 100);\n    let block = mi_theap_rezalloc(theap, block, 200);\n    assert!(mi_usable_size(block) >= 200);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_rezalloc(
        theap: *mut mi_theap_t,
        p: *mut ::core::ffi::c_void,
        newsize: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_new`, in the theap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_alloc_new(theap, 100);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_alloc_new(theap: *mut mi_theap_t, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_new_n`, in the theap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_alloc_new_n(theap, 10, 10);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_alloc_new_n(
        theap: *mut mi_theap_t,
        count: usize,
        size: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_new_nothrow`, in the theap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    let block = mi_theap_alloc_new_nothrow(theap, 100);\n    assert!(!block.is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_alloc_new_nothrow(
        theap: *mut mi_theap_t,
        size: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " Guards one in `sample_rate` blocks of the theap. Sampling puts one in `sample_rate` blocks, on average, between guard pages (1 each, 0 none), from the next request on; the same `seed` picks the same requests (0: random). Only sizes from `min` to `max` bytes, as asked for or as rounded (141 to 160). A rate takes the place of sampling by bytes, which is an option. The theap is one of the calling thread's; another's, or NULL, is an error or does nothing. See docs/guarded.md.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    mi_theap_guarded_set_sample_rate(theap, 1000, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_guarded_set_sample_rate(
        theap: *mut mi_theap_t,
        sample_rate: usize,
        seed: usize,
    );
    #[doc = " Guards only blocks of `min` to `max` bytes. Sampling puts one in `sample_rate` blocks, on average, between guard pages (1 each, 0 none), from the next request on; the same `seed` picks the same requests (0: random). Only sizes from `min` to `max` bytes, as asked for or as rounded (141 to 160). A rate takes the place of sampling by bytes, which is an option. The theap is one of the calling thread's; another's, or NULL, is an error or does nothing. See docs/guarded.md.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    mi_theap_guarded_set_size_bound(theap, 1000, 2000);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_guarded_set_size_bound(theap: *mut mi_theap_t, min: usize, max: usize);
    #[doc = " As `mi_heap_visit_blocks`, for the thread's own pages.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn count(\n        _heap: *const mi_heap_t,\n        _area: *const mi_heap_area_t,\n        block: *mut std::ffi::c_void,\n        _block_size: usize,\n        arg: *mut std::ffi::c_void,\n    ) -> bool {\n        *arg.cast::<usize>() += usize::from(!block.is_null());\n        true\n    }\n\n    let mut blocks = 0usize;\n    let arg = (&mut blocks as *mut usize).cast();\n    mi_theap_visit_blocks(mi_theap_get_default(), true, Some(count), arg);\n    println!(\"{blocks} blocks\");\n}\n```"]
    pub fn mi_theap_visit_blocks(
        theap: *const mi_theap_t,
        visit_blocks: bool,
        visitor: mi_block_visit_fun,
        arg: *mut ::core::ffi::c_void,
    ) -> bool;
    #[doc = " Returns the one that exists from the start. Sub-processes\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(!mi_subproc_main()._mi_subproc_id.is_null());\n}\n```"]
    pub fn mi_subproc_main() -> mi_subproc_id_t;
    #[doc = " Returns that of the calling thread. Sub-processes\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(!mi_subproc_current()._mi_subproc_id.is_null());\n}\n```"]
    pub fn mi_subproc_current() -> mi_subproc_id_t;
    #[doc = " Makes a new one; its id is NULL inside when there is no memory. Sub-processes\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let subproc = mi_subproc_new();\n    assert!(!subproc._mi_subproc_id.is_null());\n    mi_subproc_destroy(subproc);\n}\n```"]
    pub fn mi_subproc_new() -> mi_subproc_id_t;
    #[doc = " Frees a sub-process and all its memory. No thread may be in it or touch its blocks any more. The main one is left alone.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let subproc = mi_subproc_new();\n    mi_subproc_destroy(subproc);\n}\n```"]
    pub fn mi_subproc_destroy(subproc: mi_subproc_id_t);
    #[doc = " Puts the calling thread in a sub-process: first thing in that thread, before it allocates.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    std::thread::spawn(|| {\n        mi_subproc_add_current_thread(mi_subproc_new());\n        mi_free(mi_malloc(100)); // in the new sub-process\n    })\n    .join()\n    .unwrap();\n}\n```"]
    pub fn mi_subproc_add_current_thread(subproc: mi_subproc_id_t);
    #[doc = " Calls the visitor for each heap of the sub-process, until it says false; true when all were visited. The visitor may delete or destroy the heap that it is given. Others may be created, deleted and destroyed by other threads meanwhile: a new one is not visited.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn count(_heap: *mut mi_heap_t, arg: *mut std::ffi::c_void) -> bool {\n        *arg.cast::<usize>() += 1;\n        true\n    }\n\n    let heap = mi_heap_new();\n    let mut heaps = 0usize;\n    let arg = (&mut heaps as *mut usize).cast();\n    assert!(mi_subproc_visit_heaps(mi_subproc_main(), Some(count), arg));\n    assert!(heaps >= 1);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_subproc_visit_heaps(
        subproc: mi_subproc_id_t,
        visitor: mi_heap_visit_fun,
        arg: *mut ::core::ffi::c_void,
    ) -> bool;
    #[doc = " Tells whether this library serves the process's own `malloc`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    if mi_is_redirected() {\n        println!(\"malloc is this library's\");\n    }\n}\n```"]
    pub fn mi_is_redirected() -> bool;
    #[doc = " Reserves huge pages, spread over the nodes. These reserve `pages` huge pages of 1 GiB, spread over `numa_nodes` nodes (0: all there are) or on one node, and stop after so many milliseconds (0: no limit).\n\n```no_run\nuse libmimalloc_sys::*;\n\nunsafe {\n    let error = mi_reserve_huge_os_pages_interleave(1, 0, 1000);\n    assert_eq!(error, 0);\n}\n```"]
    pub fn mi_reserve_huge_os_pages_interleave(
        pages: usize,
        numa_nodes: usize,
        timeout_msecs: usize,
    ) -> ::core::ffi::c_int;
    #[doc = " Reserves huge pages on one node. These reserve `pages` huge pages of 1 GiB, spread over `numa_nodes` nodes (0: all there are) or on one node, and stop after so many milliseconds (0: no limit).\n\n```no_run\nuse libmimalloc_sys::*;\n\nunsafe {\n    let error = mi_reserve_huge_os_pages_at(1, 0, 1000);\n    assert_eq!(error, 0);\n}\n```"]
    pub fn mi_reserve_huge_os_pages_at(
        pages: usize,
        numa_node: ::core::ffi::c_int,
        timeout_msecs: usize,
    ) -> ::core::ffi::c_int;
    #[doc = " As `mi_reserve_huge_os_pages_at`; may be exclusive, and stores the arena's id. An arena that is either is reserved in one piece, which the limit of time does not interrupt. These reserve `pages` huge pages of 1 GiB, spread over `numa_nodes` nodes (0: all there are) or on one node, and stop after so many milliseconds (0: no limit).\n\n```no_run\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut arena = std::ptr::null_mut();\n    let error = mi_reserve_huge_os_pages_at_ex(1, 0, 1000, true, &mut arena);\n    assert_eq!(error, 0);\n    let heap = mi_heap_new_in_arena(arena);\n    assert!(mi_arena_contains(arena, mi_heap_malloc(heap, 100)));\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_reserve_huge_os_pages_at_ex(
        pages: usize,
        numa_node: ::core::ffi::c_int,
        timeout_msecs: usize,
        exclusive: bool,
        arena_id: *mut mi_arena_id_t,
    ) -> ::core::ffi::c_int;
    #[doc = " The oldest form: a limit in seconds, and the number of pages that were had in `*pages_reserved`.\n\n```no_run\nuse libmimalloc_sys::*;\n\nunsafe {\n    let error = mi_reserve_huge_os_pages(1, 0.5, &mut 0);\n    assert_eq!(error, 0);\n}\n```"]
    pub fn mi_reserve_huge_os_pages(
        pages: usize,
        max_secs: f64,
        pages_reserved: *mut usize,
    ) -> ::core::ffi::c_int;
    #[doc = " Reserves an arena. These reserve an arena of `size` bytes from the OS, committed at once or on demand, in large OS pages if it may.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let error = mi_reserve_os_memory(64 << 20, false, false);\n    assert_eq!(error, 0);\n}\n```"]
    pub fn mi_reserve_os_memory(size: usize, commit: bool, allow_large: bool)
        -> ::core::ffi::c_int;
    #[doc = " As `mi_reserve_os_memory`; may be exclusive, and stores the arena's id. These reserve an arena of `size` bytes from the OS, committed at once or on demand, in large OS pages if it may.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut arena = std::ptr::null_mut();\n    let error = mi_reserve_os_memory_ex(64 << 20, false, false, true, &mut arena);\n    assert_eq!(error, 0);\n    let heap = mi_heap_new_in_arena(arena);\n    assert!(mi_arena_contains(arena, mi_heap_malloc(heap, 100)));\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_reserve_os_memory_ex(
        size: usize,
        commit: bool,
        allow_large: bool,
        exclusive: bool,
        arena_id: *mut mi_arena_id_t,
    ) -> ::core::ffi::c_int;
    #[doc = " Makes memory of the program's an arena. Memory that the program gives is used for ever. `is_pinned`: never to be decommitted. `is_zero`: all zero now. False when `size` is less than `mi_arena_min_size()`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let size = 4 * mi_arena_min_size();\n    let layout = std::alloc::Layout::from_size_align(size, mi_arena_min_alignment()).unwrap();\n    let memory = std::alloc::alloc_zeroed(layout);\n    assert!(mi_manage_os_memory(memory.cast(), size, true, true, true, -1));\n}\n```"]
    pub fn mi_manage_os_memory(
        start: *mut ::core::ffi::c_void,
        size: usize,
        is_committed: bool,
        is_pinned: bool,
        is_zero: bool,
        numa_node: ::core::ffi::c_int,
    ) -> bool;
    #[doc = " As `mi_manage_os_memory_ex`; commits and decommits through `commit_fun`. Memory that the program gives is used for ever. `is_pinned`: never to be decommitted. `is_zero`: all zero now. False when `size` is less than `mi_arena_min_size()`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let size = 4 * mi_arena_min_size();\n    let layout = std::alloc::Layout::from_size_align(size, mi_arena_min_alignment()).unwrap();\n    let memory = std::alloc::alloc_zeroed(layout).cast();\n    let (null, mut arena) = (std::ptr::null_mut(), std::ptr::null_mut());\n    assert!(mi_manage_memory(memory, size, true, true, true, -1, true, None, null, &mut arena));\n}\n```"]
    pub fn mi_manage_memory(
        start: *mut ::core::ffi::c_void,
        size: usize,
        is_committed: bool,
        is_pinned: bool,
        is_zero: bool,
        numa_node: ::core::ffi::c_int,
        exclusive: bool,
        commit_fun: mi_commit_fun_t,
        commit_fun_arg: *mut ::core::ffi::c_void,
        arena_id: *mut mi_arena_id_t,
    ) -> bool;
    #[doc = " Returns what `start` and `size` of memory that is given are rounded to.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(mi_arena_min_alignment() >= 100);\n}\n```"]
    pub fn mi_arena_min_alignment() -> usize;
    #[doc = " Returns the least size of memory that may be given.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(mi_arena_min_size() >= 100);\n}\n```"]
    pub fn mi_arena_min_size() -> usize;
    #[doc = " Returns the start of an arena, and stores its size; NULL and 0 if there is none.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let (mut arena, mut size) = (std::ptr::null_mut(), 0);\n    assert_eq!(mi_reserve_os_memory_ex(64 << 20, false, false, true, &mut arena), 0);\n    assert!(!mi_arena_area(arena, &mut size).is_null());\n    assert!(size >= 64 << 20);\n}\n```"]
    pub fn mi_arena_area(arena_id: mi_arena_id_t, size: *mut usize) -> *mut ::core::ffi::c_void;
    #[doc = " Tells whether `p` lies in the arena.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut arena = std::ptr::null_mut();\n    assert_eq!(mi_reserve_os_memory_ex(64 << 20, false, false, true, &mut arena), 0);\n    assert!(mi_arena_contains(arena, mi_arena_area(arena, std::ptr::null_mut())));\n}\n```"]
    pub fn mi_arena_contains(arena_id: mi_arena_id_t, p: *const ::core::ffi::c_void) -> bool;
    #[doc = " Gives the unused memory of all arenas back to the OS now.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_arenas_purge();\n}\n```"]
    pub fn mi_arenas_purge();
    #[doc = " Bytes of the largest block that an arena serves; larger ones come from the OS directly.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(mi_arena_max_object_size() >= 100);\n}\n```"]
    pub fn mi_arena_max_object_size() -> usize;
    #[doc = " Prints the arenas and how they are filled, as output of the library.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_debug_show_arenas();\n}\n```"]
    pub fn mi_debug_show_arenas();
    #[doc = " As `mi_debug_show_arenas`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_arenas_print();\n}\n```"]
    pub fn mi_arenas_print();
    #[doc = " Prints statistics of the calling thread's sub-process, as output of the library; the 1.x form, which ignores `out`. Text goes to `out`, or where that is NULL to the registered output. JSON is written to `buf`, at most `buf_size` bytes with the terminating zero, and cut off there; without a `buf`, or with a size of 0, it is a new block, to be freed with `mi_free`. It returns the text, or NULL when there is no memory.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_stats_print(std::ptr::null_mut());\n}\n```"]
    pub fn mi_stats_print(out: *mut ::core::ffi::c_void);
    #[doc = " Prints statistics of the calling thread's sub-process. Text goes to `out`, or where that is NULL to the registered output. JSON is written to `buf`, at most `buf_size` bytes with the terminating zero, and cut off there; without a `buf`, or with a size of 0, it is a new block, to be freed with `mi_free`. It returns the text, or NULL when there is no memory.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn print(text: *const std::ffi::c_char, _arg: *mut std::ffi::c_void) {\n        eprint!(\"{}\", std::ffi::CStr::from_ptr(text).to_str().unwrap_or(\"\"));\n    }\n\n    mi_stats_print_out(Some(print), std::ptr::null_mut());\n}\n```"]
    pub fn mi_stats_print_out(out: mi_output_fun, arg: *mut ::core::ffi::c_void);
    #[doc = " Returns statistics of the calling thread's sub-process as JSON. Text goes to `out`, or where that is NULL to the registered output. JSON is written to `buf`, at most `buf_size` bytes with the terminating zero, and cut off there; without a `buf`, or with a size of 0, it is a new block, to be freed with `mi_free`. It returns the text, or NULL when there is no memory.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let json = mi_stats_get_json(0, std::ptr::null_mut());\n    assert_eq!(*json as u8, b'{');\n    mi_free(json.cast());\n}\n```"]
    pub fn mi_stats_get_json(
        buf_size: usize,
        buf: *mut ::core::ffi::c_char,
    ) -> *mut ::core::ffi::c_char;
    #[doc = " Prints what the pages of the calling thread hold now.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn print(text: *const std::ffi::c_char, _arg: *mut std::ffi::c_void) {\n        eprint!(\"{}\", std::ffi::CStr::from_ptr(text).to_str().unwrap_or(\"\"));\n    }\n\n    mi_thread_stats_print_out(Some(print), std::ptr::null_mut());\n}\n```"]
    pub fn mi_thread_stats_print_out(out: mi_output_fun, arg: *mut ::core::ffi::c_void);
    #[doc = " Begins totals and peaks anew, of the calling thread's sub-process and of the memory of the process; what is in use stays counted.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_stats_reset();\n}\n```"]
    pub fn mi_stats_reset();
    #[doc = " Tells heaps what the calling thread has counted; its end and readers do so in any case.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_stats_merge();\n}\n```"]
    pub fn mi_stats_merge();
    #[doc = " Block size, in bytes, that entry `bin` of `malloc_bins` and `page_bins` is about; 0 for no such bin.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let sizes: Vec<usize> = (0..MI_BIN_COUNT as usize).map(|bin| mi_stats_get_bin_size(bin)).collect();\n    println!(\"{sizes:?}\");\n}\n```"]
    pub fn mi_stats_get_bin_size(bin: usize) -> usize;
    #[doc = " Returns statistics of one heap as JSON.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let json = mi_heap_stats_get_json(mi_heap_main(), 0, std::ptr::null_mut());\n    assert_eq!(*json as u8, b'{');\n    mi_free(json.cast());\n}\n```"]
    pub fn mi_heap_stats_get_json(
        heap: *mut mi_heap_t,
        buf_size: usize,
        buf: *mut ::core::ffi::c_char,
    ) -> *mut ::core::ffi::c_char;
    #[doc = " Prints statistics of one heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn print(text: *const std::ffi::c_char, _arg: *mut std::ffi::c_void) {\n        eprint!(\"{}\", std::ffi::CStr::from_ptr(text).to_str().unwrap_or(\"\"));\n    }\n\n    mi_heap_stats_print_out(mi_heap_main(), Some(print), std::ptr::null_mut());\n}\n```"]
    pub fn mi_heap_stats_print_out(
        heap: *mut mi_heap_t,
        out: mi_output_fun,
        arg: *mut ::core::ffi::c_void,
    );
    #[doc = " Adds what is past of the heap's statistics to those of its sub-process; what is in use stays with the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    mi_heap_stats_merge_to_subproc(heap);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_stats_merge_to_subproc(heap: *mut mi_heap_t);
    #[doc = " Returns statistics of a sub-process and its heaps together as JSON.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let json = mi_subproc_stats_get_json(mi_subproc_main(), 0, std::ptr::null_mut());\n    assert_eq!(*json as u8, b'{');\n    mi_free(json.cast());\n}\n```"]
    pub fn mi_subproc_stats_get_json(
        subproc_id: mi_subproc_id_t,
        buf_size: usize,
        buf: *mut ::core::ffi::c_char,
    ) -> *mut ::core::ffi::c_char;
    #[doc = " Prints statistics of a sub-process and its heaps together.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn print(text: *const std::ffi::c_char, _arg: *mut std::ffi::c_void) {\n        eprint!(\"{}\", std::ffi::CStr::from_ptr(text).to_str().unwrap_or(\"\"));\n    }\n\n    mi_subproc_stats_print_out(mi_subproc_main(), Some(print), std::ptr::null_mut());\n}\n```"]
    pub fn mi_subproc_stats_print_out(
        subproc_id: mi_subproc_id_t,
        out: mi_output_fun,
        arg: *mut ::core::ffi::c_void,
    );
    #[doc = " Prints statistics of a sub-process and its heaps together, and each heap's by itself.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn print(text: *const std::ffi::c_char, _arg: *mut std::ffi::c_void) {\n        eprint!(\"{}\", std::ffi::CStr::from_ptr(text).to_str().unwrap_or(\"\"));\n    }\n\n    mi_subproc_heap_stats_print_out(mi_subproc_main(), Some(print), std::ptr::null_mut());\n}\n```"]
    pub fn mi_subproc_heap_stats_print_out(
        subproc_id: mi_subproc_id_t,
        out: mi_output_fun,
        arg: *mut ::core::ffi::c_void,
    );
    #[doc = " As `operator new`. When there is no memory they call the new-handler until there is, and without one throw `std::bad_alloc` (the process is aborted where no C++ runtime is linked); the `nothrow` forms return NULL instead.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_new(100);\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_new(size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `operator new` with an alignment. When there is no memory they call the new-handler until there is, and without one throw `std::bad_alloc` (the process is aborted where no C++ runtime is linked); the `nothrow` forms return NULL instead.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_new_aligned(100, 64);\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_new_aligned(size: usize, alignment: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `operator new` with `std::nothrow`. When there is no memory they call the new-handler until there is, and without one throw `std::bad_alloc` (the process is aborted where no C++ runtime is linked); the `nothrow` forms return NULL instead.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_new_nothrow(100);\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_new_nothrow(size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `operator new` with an alignment and `std::nothrow`. When there is no memory they call the new-handler until there is, and without one throw `std::bad_alloc` (the process is aborted where no C++ runtime is linked); the `nothrow` forms return NULL instead.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_new_aligned_nothrow(100, 64);\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_new_aligned_nothrow(size: usize, alignment: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `operator new` of `count` times `size` bytes. When there is no memory they call the new-handler until there is, and without one throw `std::bad_alloc` (the process is aborted where no C++ runtime is linked); the `nothrow` forms return NULL instead.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_new_n(10, 10);\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_new_n(count: usize, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_realloc`, but throws. When there is no memory they call the new-handler until there is, and without one throw `std::bad_alloc` (the process is aborted where no C++ runtime is linked); the `nothrow` forms return NULL instead.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    let block = mi_new_realloc(block, 200);\n    assert!(mi_usable_size(block) >= 200);\n    mi_free(block);\n}\n```"]
    pub fn mi_new_realloc(p: *mut ::core::ffi::c_void, newsize: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_reallocn`, but throws. When there is no memory they call the new-handler until there is, and without one throw `std::bad_alloc` (the process is aborted where no C++ runtime is linked); the `nothrow` forms return NULL instead.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    let block = mi_new_reallocn(block, 20, 10);\n    assert!(mi_usable_size(block) >= 200);\n    mi_free(block);\n}\n```"]
    pub fn mi_new_reallocn(
        p: *mut ::core::ffi::c_void,
        newcount: usize,
        size: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_free`, but looks first: false, and nothing done, for NULL and what is no block of ours. POSIX, BSD and Windows names: as the functions without `mi_`\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(mi_cfree(mi_malloc(100)));\n    assert!(!mi_cfree(std::ptr::null_mut()));\n}\n```"]
    pub fn mi_cfree(p: *mut ::core::ffi::c_void) -> bool;
    #[doc = " As `mi_expand`. POSIX, BSD and Windows names: as the functions without `mi_`\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    let grown = mi__expand(block, 104);\n    if grown.is_null() {\n        // There is no room; the block stays as it is.\n    }\n    mi_free(block);\n}\n```"]
    pub fn mi__expand(p: *mut ::core::ffi::c_void, newsize: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_usable_size`. POSIX, BSD and Windows names: as the functions without `mi_`\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    assert!(mi_malloc_size(block) >= 100);\n    mi_free(block);\n}\n```"]
    pub fn mi_malloc_size(p: *const ::core::ffi::c_void) -> usize;
    #[doc = " As `mi_good_size`. POSIX, BSD and Windows names: as the functions without `mi_`\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(mi_malloc_good_size(100) >= 100);\n}\n```"]
    pub fn mi_malloc_good_size(size: usize) -> usize;
    #[doc = " As `mi_usable_size`. POSIX, BSD and Windows names: as the functions without `mi_`\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    assert!(mi_malloc_usable_size(block) >= 100);\n    mi_free(block);\n}\n```"]
    pub fn mi_malloc_usable_size(p: *const ::core::ffi::c_void) -> usize;
    #[doc = " Stores a new block at a multiple of `alignment` in `*p`. Both return 0, EINVAL or ENOMEM, and leave the pointer and errno alone on failure.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut block = std::ptr::null_mut();\n    assert_eq!(mi_posix_memalign(&mut block, 64, 100), 0);\n    assert_eq!(block as usize % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_posix_memalign(
        p: *mut *mut ::core::ffi::c_void,
        alignment: usize,
        size: usize,
    ) -> ::core::ffi::c_int;
    #[doc = " Resizes the block that the pointer at `ptrp` leads to; an array of no bytes is freed, and the pointer becomes NULL. Both return 0, EINVAL or ENOMEM, and leave the pointer and errno alone on failure.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut block = mi_malloc(100);\n    let address: *mut *mut std::ffi::c_void = &mut block;\n    assert_eq!(mi_reallocarr(address.cast(), 20, 10), 0);\n    assert!(mi_usable_size(block) >= 200);\n    mi_free(block);\n}\n```"]
    pub fn mi_reallocarr(
        ptrp: *mut ::core::ffi::c_void,
        count: usize,
        size: usize,
    ) -> ::core::ffi::c_int;
    #[doc = " As `mi_malloc_aligned`; the alignment comes first.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_memalign(64, 100);\n    assert_eq!(block as usize % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_memalign(alignment: usize, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_malloc_aligned`; the alignment comes first.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_aligned_alloc(64, 128);\n    assert_eq!(block as usize % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_aligned_alloc(alignment: usize, size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_malloc`, aligned to an OS page.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_valloc(100);\n    assert_eq!(block as usize % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_valloc(size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_valloc`, with the size rounded up to whole OS pages.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_pvalloc(100);\n    assert_eq!(block as usize % 64, 0);\n    mi_free(block);\n}\n```"]
    pub fn mi_pvalloc(size: usize) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_reallocn`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    let block = mi_reallocarray(block, 20, 10);\n    assert!(mi_usable_size(block) >= 200);\n    mi_free(block);\n}\n```"]
    pub fn mi_reallocarray(
        p: *mut ::core::ffi::c_void,
        count: usize,
        size: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_recalloc_aligned`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_zalloc_aligned(100, 64);\n    let block = mi_aligned_recalloc(block, 20, 10, 64).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_aligned_recalloc(
        p: *mut ::core::ffi::c_void,
        newcount: usize,
        size: usize,
        alignment: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_recalloc_aligned_at`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_zalloc_aligned_at(100, 64, 16);\n    let block = mi_aligned_offset_recalloc(block, 20, 10, 64, 16).cast::<u8>();\n    assert_eq!(*block.add(199), 0);\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_aligned_offset_recalloc(
        p: *mut ::core::ffi::c_void,
        newcount: usize,
        size: usize,
        alignment: usize,
        offset: usize,
    ) -> *mut ::core::ffi::c_void;
    #[doc = " As `mi_free`, told the size. As `mi_free`. The size and alignment are those that the block was asked for with. Secure and debug builds report those that it cannot have been asked for with (EINVAL), and leave the block alone; others do not look at them.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    mi_free_size(block, 100);\n}\n```"]
    pub fn mi_free_size(p: *mut ::core::ffi::c_void, size: usize);
    #[doc = " As `mi_free`, told the size and the alignment. As `mi_free`. The size and alignment are those that the block was asked for with. Secure and debug builds report those that it cannot have been asked for with (EINVAL), and leave the block alone; others do not look at them.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc_aligned(100, 64);\n    mi_free_size_aligned(block, 100, 64);\n}\n```"]
    pub fn mi_free_size_aligned(p: *mut ::core::ffi::c_void, size: usize, alignment: usize);
    #[doc = " As `mi_free`, told the alignment. As `mi_free`. The size and alignment are those that the block was asked for with. Secure and debug builds report those that it cannot have been asked for with (EINVAL), and leave the block alone; others do not look at them.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc_aligned(100, 64);\n    mi_free_aligned(block, 64);\n}\n```"]
    pub fn mi_free_aligned(p: *mut ::core::ffi::c_void, alignment: usize);
    #[doc = " Copies an environment variable. The copy goes to `*buf`, NULL if the variable is not set, and the number of its characters with the zero to `*size` (may be NULL). The result is 0, EINVAL or ENOMEM.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut path = std::ptr::null_mut();\n    assert_eq!(mi_dupenv_s(&mut path, std::ptr::null_mut(), b\"PATH\\0\".as_ptr().cast()), 0);\n    mi_free(path.cast());\n}\n```"]
    pub fn mi_dupenv_s(
        buf: *mut *mut ::core::ffi::c_char,
        size: *mut usize,
        name: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    #[doc = " As `mi_dupenv_s`, for Windows; EINVAL elsewhere. The copy goes to `*buf`, NULL if the variable is not set, and the number of its characters with the zero to `*size` (may be NULL). The result is 0, EINVAL or ENOMEM.\n\n```no_run\nuse libmimalloc_sys::*;\n\nunsafe {\n    let name = [b'A' as wchar_t, 0];\n    let mut value = std::ptr::null_mut();\n    if mi_wdupenv_s(&mut value, std::ptr::null_mut(), name.as_ptr()) == 0 {\n        mi_free(value.cast());\n    }\n}\n```"]
    pub fn mi_wdupenv_s(
        buf: *mut *mut wchar_t,
        size: *mut usize,
        name: *const wchar_t,
    ) -> ::core::ffi::c_int;
    #[doc = " Copies a string of wide characters into a new block; NULL gives NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_wcsdup([b'a' as wchar_t, 0].as_ptr());\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_wcsdup(s: *const wchar_t) -> *mut wchar_t;
    #[doc = " Copies a string in a multi-byte code page into a new block; NULL gives NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_mbsdup(b\"text\\0\".as_ptr());\n    assert!(!block.is_null());\n    mi_free(block.cast());\n}\n```"]
    pub fn mi_mbsdup(s: *const ::core::ffi::c_uchar) -> *mut ::core::ffi::c_uchar;
    #[doc = " Pages whose memory must not serve other sizes yet\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn may_go(\n        _area: *const mi_heap_area_t,\n        _user_data: *mut *mut std::ffi::c_void,\n        _again: bool,\n        _arg: *mut std::ffi::c_void,\n    ) -> bool {\n        true // nobody reads what has been freed in it any more\n    }\n\n    mi_register_page_release(Some(may_go), std::ptr::null_mut());\n    mi_register_page_release(None, std::ptr::null_mut());\n}\n```"]
    pub fn mi_register_page_release(fun: mi_page_release_fun, arg: *mut ::core::ffi::c_void);
    #[doc = " Two words of the program's own for the page of a live block `p`, or of one of `area->blocks`. NULL when each page begins, and when it begins to serve another size; the library never reads them. They may be used as long as a block of the page is live, and inside the function above; threads that share them agree among themselves. NULL, if p is in no page, or out of memory (256 bytes for 15 pages or fewer are taken at the first use of one of them).\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let block = mi_malloc(100);\n    let words = mi_page_user_data(block);\n    assert!(!words.is_null());\n    assert!((*words).is_null()); // the page has just begun, or nobody has used it\n    mi_free(block);\n}\n```"]
    pub fn mi_page_user_data(p: *const ::core::ffi::c_void) -> *mut *mut ::core::ffi::c_void;
    #[doc = " Registers what is called now and then by slow paths. These register one function for the process, in place of the former; NULL takes it away. For output NULL means standard error.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn free_some(\n        _force: bool,\n        _heartbeat: std::ffi::c_ulonglong,\n        _arg: *mut std::ffi::c_void,\n    ) {\n        // frees what the program has put off freeing\n    }\n\n    mi_register_deferred_free(Some(free_some), std::ptr::null_mut());\n}\n```"]
    pub fn mi_register_deferred_free(fun: mi_deferred_free_fun, arg: *mut ::core::ffi::c_void);
    #[doc = " Registers what takes messages and statistics; NULL: standard error does. These register one function for the process, in place of the former; NULL takes it away. For output NULL means standard error.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn print(text: *const std::ffi::c_char, _arg: *mut std::ffi::c_void) {\n        eprint!(\"{}\", std::ffi::CStr::from_ptr(text).to_str().unwrap_or(\"\"));\n    }\n\n    mi_register_output(Some(print), std::ptr::null_mut());\n}\n```"]
    pub fn mi_register_output(out: mi_output_fun, arg: *mut ::core::ffi::c_void);
    #[doc = " Registers what takes error numbers. These register one function for the process, in place of the former; NULL takes it away. For output NULL means standard error.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn failed(error: std::ffi::c_int, _arg: *mut std::ffi::c_void) {\n        eprintln!(\"error {error}\");\n    }\n\n    mi_register_error(Some(failed), std::ptr::null_mut());\n}\n```"]
    pub fn mi_register_error(fun: mi_error_fun, arg: *mut ::core::ffi::c_void);
    #[doc = " Frees what the calling thread keeps for later use; `force` gives all unused memory back to the OS, and has other threads do the same when they next look for memory.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_collect(true);\n}\n```"]
    pub fn mi_collect(force: bool);
    #[doc = " Frees what the calling thread keeps, and gives unused memory back to the OS, if the thread's pages have more than so many bytes; else does nothing.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_collect_reduce(1000000);\n}\n```"]
    pub fn mi_collect_reduce(target_thread_owned: usize);
    #[doc = " MI_MALLOC_VERSION of the library that runs.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(mi_version() >= 100);\n}\n```"]
    pub fn mi_version() -> ::core::ffi::c_int;
    #[doc = " Times in milliseconds (since start, user, system), memory in bytes, and the page faults of the process, all of its threads, those that needed no disk included. Any pointer may be NULL.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let (mut resident, mut peak) = (0, 0);\n    let null = std::ptr::null_mut();\n    mi_process_info(null, null, null, &mut resident, &mut peak, null, null, null);\n    println!(\"{resident} bytes resident, at most {peak}\");\n}\n```"]
    pub fn mi_process_info(
        elapsed_msecs: *mut usize,
        user_msecs: *mut usize,
        system_msecs: *mut usize,
        current_rss: *mut usize,
        peak_rss: *mut usize,
        current_commit: *mut usize,
        peak_commit: *mut usize,
        page_faults: *mut usize,
    );
    #[doc = " Prints what `mi_process_info` tells, to the registered output.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_process_info_print();\n}\n```"]
    pub fn mi_process_info_print();
    #[doc = " Prints what `mi_process_info` tells, to `out`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn print(text: *const std::ffi::c_char, _arg: *mut std::ffi::c_void) {\n        eprint!(\"{}\", std::ffi::CStr::from_ptr(text).to_str().unwrap_or(\"\"));\n    }\n\n    mi_process_info_print_out(Some(print), std::ptr::null_mut());\n}\n```"]
    pub fn mi_process_info_print_out(out: mi_output_fun, arg: *mut ::core::ffi::c_void);
    #[doc = " Starts the library in the process. Start and end of the library in a process and in a thread. They happen by themselves and may be repeated; a program calls them only where a thread is made or ended behind the C library's back. Allocating goes on working after both `done`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_process_init();\n}\n```"]
    pub fn mi_process_init();
    #[doc = " Ends the library in the process. Start and end of the library in a process and in a thread. They happen by themselves and may be repeated; a program calls them only where a thread is made or ended behind the C library's back. Allocating goes on working after both `done`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_process_done();\n}\n```"]
    pub fn mi_process_done();
    #[doc = " Starts the library in the calling thread. Start and end of the library in a process and in a thread. They happen by themselves and may be repeated; a program calls them only where a thread is made or ended behind the C library's back. Allocating goes on working after both `done`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_thread_init();\n}\n```"]
    pub fn mi_thread_init();
    #[doc = " Ends the library in the calling thread. Start and end of the library in a process and in a thread. They happen by themselves and may be repeated; a program calls them only where a thread is made or ended behind the C library's back. Allocating goes on working after both `done`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_thread_done();\n}\n```"]
    pub fn mi_thread_done();
    #[doc = " Says that the calling thread works in a pool: no effect, what a thread leaves is for all.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_thread_set_in_threadpool();\n}\n```"]
    pub fn mi_thread_set_in_threadpool();
    #[doc = " Prints the options in force, as output of the library. 2.x names of options that do nothing now\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_options_print();\n}\n```"]
    pub fn mi_options_print();
    #[doc = " Prints the options in force, to `out`. 2.x names of options that do nothing now\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn print(text: *const std::ffi::c_char, _arg: *mut std::ffi::c_void) {\n        eprint!(\"{}\", std::ffi::CStr::from_ptr(text).to_str().unwrap_or(\"\"));\n    }\n\n    mi_options_print_out(Some(print), std::ptr::null_mut());\n}\n```"]
    pub fn mi_options_print_out(out: mi_output_fun, arg: *mut ::core::ffi::c_void);
    #[doc = " Tells whether the option is not 0. A number that is no option's reads as 0, and setting it does nothing.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    if mi_option_is_enabled(mi_option_verbose) {\n        println!(\"the allocator says what it does\");\n    }\n}\n```"]
    pub fn mi_option_is_enabled(option: mi_option_t) -> bool;
    #[doc = " Sets the option to 1. A number that is no option's reads as 0, and setting it does nothing.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_option_enable(mi_option_max_errors);\n    assert_eq!(mi_option_get(mi_option_max_errors), 1);\n}\n```"]
    pub fn mi_option_enable(option: mi_option_t);
    #[doc = " Sets the option to 0. A number that is no option's reads as 0, and setting it does nothing.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_option_disable(mi_option_show_errors);\n    assert!(!mi_option_is_enabled(mi_option_show_errors));\n}\n```"]
    pub fn mi_option_disable(option: mi_option_t);
    #[doc = " Sets the option to 1 or 0. A number that is no option's reads as 0, and setting it does nothing.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_option_set_enabled(mi_option_max_errors, true);\n    assert_eq!(mi_option_get(mi_option_max_errors), 1);\n}\n```"]
    pub fn mi_option_set_enabled(option: mi_option_t, enable: bool);
    #[doc = " Sets the option to 1 or 0, unless the program or the environment has set it. A number that is no option's reads as 0, and setting it does nothing.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_option_set_enabled_default(mi_option_purge_decommits, false); // unless the environment or the program has set it\n}\n```"]
    pub fn mi_option_set_enabled_default(option: mi_option_t, enable: bool);
    #[doc = " Returns the option, in its own unit.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    println!(\"{} ms\", mi_option_get(mi_option_purge_delay));\n}\n```"]
    pub fn mi_option_get(option: mi_option_t) -> ::core::ffi::c_long;
    #[doc = " Returns the option, kept within `min` and `max`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!((0..=9).contains(&mi_option_get_clamp(mi_option_max_errors, 0, 9)));\n}\n```"]
    pub fn mi_option_get_clamp(
        option: mi_option_t,
        min: ::core::ffi::c_long,
        max: ::core::ffi::c_long,
    ) -> ::core::ffi::c_long;
    #[doc = " Returns a size option, in bytes.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_option_set(mi_option_arena_reserve, 65536); // KiB\n    assert_eq!(mi_option_get_size(mi_option_arena_reserve), 64 << 20);\n}\n```"]
    pub fn mi_option_get_size(option: mi_option_t) -> usize;
    #[doc = " Sets the option, in its own unit.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_option_set(mi_option_max_errors, 1);\n    assert_eq!(mi_option_get(mi_option_max_errors), 1);\n}\n```"]
    pub fn mi_option_set(option: mi_option_t, value: ::core::ffi::c_long);
    #[doc = " Sets the option, unless the program or the environment has set it.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_option_set_default(mi_option_purge_delay, 100); // unless the environment or the program has set it\n}\n```"]
    pub fn mi_option_set_default(option: mi_option_t, value: ::core::ffi::c_long);
    #[doc = " Lets the plain functions of the calling thread use this heap; returns the former. Which heap the plain functions (`mi_malloc`, …) of the calling thread use. Setting returns the former. A heap belonged to a thread in 2.x: so the backing heap, with which a thread starts, is its own part of the main heap. Visiting, `contains` and collecting see that part alone; all else takes it for the main heap. It is of no use after its thread has ended.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let former = mi_heap_set_default(heap);\n    assert!(mi_heap_contains(heap, mi_malloc(100)));\n    mi_heap_set_default(former);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_set_default(heap: *mut mi_heap_t) -> *mut mi_heap_t;
    #[doc = " Returns the heap that the plain functions of the calling thread use. Which heap the plain functions (`mi_malloc`, …) of the calling thread use. Setting returns the former. A heap belonged to a thread in 2.x: so the backing heap, with which a thread starts, is its own part of the main heap. Visiting, `contains` and collecting see that part alone; all else takes it for the main heap. It is of no use after its thread has ended.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(!mi_heap_get_default().is_null());\n}\n```"]
    pub fn mi_heap_get_default() -> *mut mi_heap_t;
    #[doc = " Returns the calling thread's own part of the main heap. Which heap the plain functions (`mi_malloc`, …) of the calling thread use. Setting returns the former. A heap belonged to a thread in 2.x: so the backing heap, with which a thread starts, is its own part of the main heap. Visiting, `contains` and collecting see that part alone; all else takes it for the main heap. It is of no use after its thread has ended.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(!mi_heap_get_backing().is_null());\n}\n```"]
    pub fn mi_heap_get_backing() -> *mut mi_heap_t;
    #[doc = " As `mi_heap_contains`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc(heap, 100);\n    assert!(mi_heap_contains_block(heap, block));\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_contains_block(heap: *mut mi_heap_t, p: *const ::core::ffi::c_void) -> bool;
    #[doc = " As `mi_heap_contains`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let block = mi_heap_malloc(heap, 100);\n    assert!(mi_heap_check_owned(heap, block));\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_check_owned(heap: *mut mi_heap_t, p: *const ::core::ffi::c_void) -> bool;
    #[doc = " As `mi_heap_new_in_arena`; a NULL arena is any. Visitors are told the tag, and `mi_abandoned_visit_blocks` asks for it. Destroying a heap that may not be destroyed deletes it.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new_ex(7, true, std::ptr::null_mut());\n    assert!(!mi_heap_malloc(heap, 100).is_null());\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_new_ex(
        heap_tag: ::core::ffi::c_int,
        allow_destroy: bool,
        arena_id: mi_arena_id_t,
    ) -> *mut mi_heap_t;
    #[doc = " Ends a sub-process; its live blocks go to the main one and stay valid. No thread may be in it any more.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let subproc = mi_subproc_new();\n    mi_subproc_delete(subproc);\n}\n```"]
    pub fn mi_subproc_delete(subproc: mi_subproc_id_t);
    #[doc = " As `mi_heap_visit_abandoned_blocks`, for the heaps of a sub-process with this tag; a negative tag is any. False unless the option `visit_abandoned` is on.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    unsafe extern \"C\" fn count(\n        _heap: *const mi_heap_t,\n        _area: *const mi_heap_area_t,\n        block: *mut std::ffi::c_void,\n        _block_size: usize,\n        arg: *mut std::ffi::c_void,\n    ) -> bool {\n        *arg.cast::<usize>() += usize::from(!block.is_null());\n        true\n    }\n\n    let mut blocks = 0usize;\n    let arg = (&mut blocks as *mut usize).cast();\n    mi_abandoned_visit_blocks(mi_subproc_main(), -1, true, Some(count), arg);\n    println!(\"{blocks} blocks\");\n}\n```"]
    pub fn mi_abandoned_visit_blocks(
        subproc_id: mi_subproc_id_t,
        heap_tag: ::core::ffi::c_int,
        visit_blocks: bool,
        visitor: mi_block_visit_fun,
        arg: *mut ::core::ffi::c_void,
    ) -> bool;
    #[doc = " As `mi_theap_guarded_set_sample_rate`. As the `mi_theap_guarded_…` functions, for all threads: the calling one at once, others in their next slow path.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    mi_heap_guarded_set_sample_rate(heap, 1000, 0);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_guarded_set_sample_rate(heap: *mut mi_heap_t, sample_rate: usize, seed: usize);
    #[doc = " As `mi_theap_guarded_set_size_bound`. As the `mi_theap_guarded_…` functions, for all threads: the calling one at once, others in their next slow path.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    mi_heap_guarded_set_size_bound(heap, 1000, 2000);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_guarded_set_size_bound(heap: *mut mi_heap_t, min: usize, max: usize);
    #[doc = " Makes a profiler that writes files for pprof: NULL, and errno is ENOTSUP. Takes samples of the allocations of heaps. None can be made.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let profiler = mi_pprof_profiler_new(0, b\"profile\\0\".as_ptr().cast(), 0, 0, 0);\n    assert!(profiler.is_null()); // there is no profiler\n}\n```"]
    pub fn mi_pprof_profiler_new(
        initial_threshold: usize,
        base_file_name: *const ::core::ffi::c_char,
        alloc_interval_size: usize,
        inuse_interval_size: usize,
        time_interval_secs: usize,
    ) -> *mut mi_profiler_t;
    #[doc = " Deletes a profiler: does nothing. Takes samples of the allocations of heaps. None can be made.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    mi_pprof_profiler_delete(std::ptr::null_mut());\n}\n```"]
    pub fn mi_pprof_profiler_delete(profiler: *mut mi_profiler_t);
    #[doc = " Attaches a profiler to the main sub-process. Attaching a profiler gives true for NULL, which detaches, else false and ENOTSUP.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(mi_profile(std::ptr::null_mut()));\n}\n```"]
    pub fn mi_profile(profiler: *mut mi_profiler_t) -> bool;
    #[doc = " Attaches a profiler to a sub-process. Attaching a profiler gives true for NULL, which detaches, else false and ENOTSUP.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(mi_subproc_profile(mi_subproc_main(), std::ptr::null_mut()));\n}\n```"]
    pub fn mi_subproc_profile(subproc_id: mi_subproc_id_t, profiler: *mut mi_profiler_t) -> bool;
    #[doc = " Attaches a profiler to one heap. Attaching a profiler gives true for NULL, which detaches, else false and ENOTSUP.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(mi_heap_profile(mi_heap_main(), std::ptr::null_mut()));\n}\n```"]
    pub fn mi_heap_profile(heap: *mut mi_heap_t, profiler: *mut mi_profiler_t) -> bool;
    #[doc = " Excludes a heap from profiles: does nothing. Attaching a profiler gives true for NULL, which detaches, else false and ENOTSUP.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    mi_heap_profile_disable(heap);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_heap_profile_disable(heap: *mut mi_heap_t);
    #[doc = " Starts taking samples. Sampling gives false and ENOTSUP.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(!mi_profiler_start(std::ptr::null_mut())); // there is no profiler\n}\n```"]
    pub fn mi_profiler_start(profiler: *mut mi_profiler_t) -> bool;
    #[doc = " Stops taking samples. Sampling gives false and ENOTSUP.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(!mi_profiler_stop(std::ptr::null_mut())); // there is no profiler\n}\n```"]
    pub fn mi_profiler_stop(profiler: *mut mi_profiler_t) -> bool;
    #[doc = " Writes what there is. Sampling gives false and ENOTSUP.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    assert!(!mi_profiler_snapshot(std::ptr::null_mut())); // there is no profiler\n}\n```"]
    pub fn mi_profiler_snapshot(profiler: *mut mi_profiler_t) -> bool;
    #[doc = " Gets statistics of the calling thread's sub-process and its heaps together. These fill `*stats`, in which the caller has set `size` and `version`; false, and nothing written, when `stats` is NULL or those are of a layout that this library does not know.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut stats: mi_stats_t = std::mem::zeroed();\n    stats.size = std::mem::size_of::<mi_stats_t>();\n    stats.version = MI_STAT_VERSION as usize;\n    assert!(mi_stats_get(&mut stats));\n    println!(\"{} bytes\", stats.allocated.current);\n}\n```"]
    pub fn mi_stats_get(stats: *mut mi_stats_t) -> bool;
    #[doc = " Gets statistics of one heap. These fill `*stats`, in which the caller has set `size` and `version`; false, and nothing written, when `stats` is NULL or those are of a layout that this library does not know.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut stats: mi_stats_t = std::mem::zeroed();\n    stats.size = std::mem::size_of::<mi_stats_t>();\n    stats.version = MI_STAT_VERSION as usize;\n    assert!(mi_heap_stats_get(mi_heap_main(), &mut stats));\n    println!(\"{} bytes\", stats.allocated.current);\n}\n```"]
    pub fn mi_heap_stats_get(heap: *mut mi_heap_t, stats: *mut mi_stats_t) -> bool;
    #[doc = " Gets statistics of a sub-process and its heaps together. These fill `*stats`, in which the caller has set `size` and `version`; false, and nothing written, when `stats` is NULL or those are of a layout that this library does not know.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut stats: mi_stats_t = std::mem::zeroed();\n    stats.size = std::mem::size_of::<mi_stats_t>();\n    stats.version = MI_STAT_VERSION as usize;\n    assert!(mi_subproc_stats_get(mi_subproc_main(), &mut stats));\n    println!(\"{} bytes\", stats.allocated.current);\n}\n```"]
    pub fn mi_subproc_stats_get(subproc_id: mi_subproc_id_t, stats: *mut mi_stats_t) -> bool;
    #[doc = " Gets statistics of a sub-process without its heaps. These fill `*stats`, in which the caller has set `size` and `version`; false, and nothing written, when `stats` is NULL or those are of a layout that this library does not know.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut stats: mi_stats_t = std::mem::zeroed();\n    stats.size = std::mem::size_of::<mi_stats_t>();\n    stats.version = MI_STAT_VERSION as usize;\n    assert!(mi_subproc_stats_get_exclusive(mi_subproc_main(), &mut stats));\n    println!(\"{} bytes\", stats.allocated.current);\n}\n```"]
    pub fn mi_subproc_stats_get_exclusive(
        subproc_id: mi_subproc_id_t,
        stats: *mut mi_stats_t,
    ) -> bool;
    #[doc = " Gets what a theap of the calling thread has counted and not yet told its heap; false for another thread's. What it holds is counted by the heap.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut stats: mi_stats_t = std::mem::zeroed();\n    stats.size = std::mem::size_of::<mi_stats_t>();\n    stats.version = MI_STAT_VERSION as usize;\n    assert!(mi_theap_stats_get(mi_theap_get_default(), &mut stats));\n    println!(\"{} bytes\", stats.allocated.current);\n}\n```"]
    pub fn mi_theap_stats_get(theap: *mut mi_theap_t, stats: *mut mi_stats_t) -> bool;
    #[doc = " Tells the heap what a theap of the calling thread has counted.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let heap = mi_heap_new();\n    let theap = mi_heap_theap(heap);\n    mi_theap_stats_merge_to_heap(theap);\n    mi_heap_destroy(heap);\n}\n```"]
    pub fn mi_theap_stats_merge_to_heap(theap: *mut mi_theap_t);
    #[doc = " Returns a filled struct as JSON, in `buf` or a new block: as `mi_stats_get_json`.\n\n```\nuse libmimalloc_sys::*;\n\nunsafe {\n    let mut stats: mi_stats_t = std::mem::zeroed();\n    stats.size = std::mem::size_of::<mi_stats_t>();\n    stats.version = MI_STAT_VERSION as usize;\n    assert!(mi_stats_get(&mut stats));\n    let json = mi_stats_as_json(&mut stats, 0, std::ptr::null_mut());\n    assert_eq!(*json as u8, b'{');\n    mi_free(json.cast());\n}\n```"]
    pub fn mi_stats_as_json(
        stats: *mut mi_stats_t,
        buf_size: usize,
        buf: *mut ::core::ffi::c_char,
    ) -> *mut ::core::ffi::c_char;
}
