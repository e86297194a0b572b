//! What the crates of these names in the registry have is here too, callable as there: compiling is
//! most of the test. The lists are from their public documentation.
#![allow(dead_code, non_upper_case_globals, clippy::missing_safety_doc, clippy::too_many_arguments)]

use std::ffi::{c_char, c_int, c_ulonglong, c_void};

use libmimalloc_sys as ffi;

/// libmimalloc-sys 0.1.49 with the features extended and arena.
#[rustfmt::skip]
mod with_3 {
    use libmimalloc_sys as ffi;
    use core::ffi::*;
    use ffi::{mi_arena_id_t, mi_block_visit_fun, mi_deferred_free_fun, mi_error_fun, mi_heap_t, mi_option_t, mi_output_fun, mi_theap_t};
    pub const MI_SMALL_SIZE_MAX: usize = ffi::MI_SMALL_SIZE_MAX;
    pub const _mi_option_last: mi_option_t = ffi::_mi_option_last;
    pub const mi_option_large_os_pages: mi_option_t = ffi::mi_option_large_os_pages;
    pub const mi_option_limit_os_alloc: mi_option_t = ffi::mi_option_limit_os_alloc;
    pub const mi_option_max_errors: mi_option_t = ffi::mi_option_max_errors;
    pub const mi_option_max_warnings: mi_option_t = ffi::mi_option_max_warnings;
    pub const mi_option_os_tag: mi_option_t = ffi::mi_option_os_tag;
    pub const mi_option_reserve_huge_os_pages: mi_option_t = ffi::mi_option_reserve_huge_os_pages;
    pub const mi_option_reserve_huge_os_pages_at: mi_option_t = ffi::mi_option_reserve_huge_os_pages_at;
    pub const mi_option_reserve_os_memory: mi_option_t = ffi::mi_option_reserve_os_memory;
    pub const mi_option_show_errors: mi_option_t = ffi::mi_option_show_errors;
    pub const mi_option_show_stats: mi_option_t = ffi::mi_option_show_stats;
    pub const mi_option_use_numa_nodes: mi_option_t = ffi::mi_option_use_numa_nodes;
    pub const mi_option_verbose: mi_option_t = ffi::mi_option_verbose;
    pub unsafe fn mi_aligned_alloc(alignment: usize, size: usize) -> *mut c_void { ffi::mi_aligned_alloc(alignment, size) }
    pub unsafe fn mi_arena_min_size() -> usize { ffi::mi_arena_min_size() }
    pub unsafe fn mi_calloc(count: usize, size: usize) -> *mut c_void { ffi::mi_calloc(count, size) }
    pub unsafe fn mi_calloc_aligned(count: usize, size: usize, alignment: usize) -> *mut c_void { ffi::mi_calloc_aligned(count, size, alignment) }
    pub unsafe fn mi_calloc_aligned_at(count: usize, size: usize, alignment: usize, offset: usize) -> *mut c_void { ffi::mi_calloc_aligned_at(count, size, alignment, offset) }
    pub unsafe fn mi_cfree(p: *mut c_void) { ffi::mi_cfree(p); }
    pub unsafe fn mi_check_owned(p: *const c_void) -> bool { ffi::mi_check_owned(p) }
    pub unsafe fn mi_collect(force: bool) { ffi::mi_collect(force); }
    pub unsafe fn mi_expand(p: *mut c_void, newsize: usize) -> *mut c_void { ffi::mi_expand(p, newsize) }
    pub unsafe fn mi_free(p: *mut c_void) { ffi::mi_free(p); }
    pub unsafe fn mi_free_aligned(p: *mut c_void, alignment: usize) { ffi::mi_free_aligned(p, alignment); }
    pub unsafe fn mi_free_size(p: *mut c_void, size: usize) { ffi::mi_free_size(p, size); }
    pub unsafe fn mi_free_size_aligned(p: *mut c_void, size: usize, alignment: usize) { ffi::mi_free_size_aligned(p, size, alignment); }
    pub unsafe fn mi_free_small(p: *mut c_void) { ffi::mi_free_small(p); }
    pub unsafe fn mi_good_size(size: usize) -> usize { ffi::mi_good_size(size) }
    pub unsafe fn mi_heap_calloc(heap: *mut mi_heap_t, count: usize, size: usize) -> *mut c_void { ffi::mi_heap_calloc(heap, count, size) }
    pub unsafe fn mi_heap_calloc_aligned(heap: *mut mi_heap_t, count: usize, size: usize, alignment: usize) -> *mut c_void { ffi::mi_heap_calloc_aligned(heap, count, size, alignment) }
    pub unsafe fn mi_heap_calloc_aligned_at(heap: *mut mi_heap_t, count: usize, size: usize, alignment: usize, offset: usize) -> *mut c_void { ffi::mi_heap_calloc_aligned_at(heap, count, size, alignment, offset) }
    pub unsafe fn mi_heap_collect(heap: *mut mi_heap_t, force: bool) { ffi::mi_heap_collect(heap, force); }
    pub unsafe fn mi_heap_delete(heap: *mut mi_heap_t) { ffi::mi_heap_delete(heap); }
    pub unsafe fn mi_heap_destroy(heap: *mut mi_heap_t) { ffi::mi_heap_destroy(heap); }
    pub unsafe fn mi_heap_malloc(heap: *mut mi_heap_t, size: usize) -> *mut c_void { ffi::mi_heap_malloc(heap, size) }
    pub unsafe fn mi_heap_malloc_aligned(heap: *mut mi_heap_t, size: usize, alignment: usize) -> *mut c_void { ffi::mi_heap_malloc_aligned(heap, size, alignment) }
    pub unsafe fn mi_heap_malloc_aligned_at(heap: *mut mi_heap_t, size: usize, alignment: usize, offset: usize) -> *mut c_void { ffi::mi_heap_malloc_aligned_at(heap, size, alignment, offset) }
    pub unsafe fn mi_heap_malloc_small(heap: *mut mi_heap_t, size: usize) -> *mut c_void { ffi::mi_heap_malloc_small(heap, size) }
    pub unsafe fn mi_heap_mallocn(heap: *mut mi_heap_t, count: usize, size: usize) -> *mut c_void { ffi::mi_heap_mallocn(heap, count, size) }
    pub unsafe fn mi_heap_new() -> *mut mi_heap_t { ffi::mi_heap_new() }
    pub unsafe fn mi_heap_new_in_arena(arena_id: mi_arena_id_t) -> *mut mi_heap_t { ffi::mi_heap_new_in_arena(arena_id) }
    pub unsafe fn mi_heap_realloc(heap: *mut mi_heap_t, p: *mut c_void, newsize: usize) -> *mut c_void { ffi::mi_heap_realloc(heap, p, newsize) }
    pub unsafe fn mi_heap_realloc_aligned(heap: *mut mi_heap_t, p: *mut c_void, newsize: usize, alignment: usize) -> *mut c_void { ffi::mi_heap_realloc_aligned(heap, p, newsize, alignment) }
    pub unsafe fn mi_heap_realloc_aligned_at(heap: *mut mi_heap_t, p: *mut c_void, newsize: usize, alignment: usize, offset: usize) -> *mut c_void { ffi::mi_heap_realloc_aligned_at(heap, p, newsize, alignment, offset) }
    pub unsafe fn mi_heap_reallocf(heap: *mut mi_heap_t, p: *mut c_void, newsize: usize) -> *mut c_void { ffi::mi_heap_reallocf(heap, p, newsize) }
    pub unsafe fn mi_heap_reallocn(heap: *mut mi_heap_t, p: *mut c_void, count: usize, size: usize) -> *mut c_void { ffi::mi_heap_reallocn(heap, p, count, size) }
    pub unsafe fn mi_heap_realpath(heap: *mut mi_heap_t, fname: *const c_char, resolved_name: *mut c_char) -> *mut c_char { ffi::mi_heap_realpath(heap, fname, resolved_name) }
    pub unsafe fn mi_heap_recalloc(heap: *mut mi_heap_t, p: *mut c_void, newcount: usize, size: usize) -> *mut c_void { ffi::mi_heap_recalloc(heap, p, newcount, size) }
    pub unsafe fn mi_heap_recalloc_aligned(heap: *mut mi_heap_t, p: *mut c_void, newcount: usize, size: usize, alignment: usize) -> *mut c_void { ffi::mi_heap_recalloc_aligned(heap, p, newcount, size, alignment) }
    pub unsafe fn mi_heap_recalloc_aligned_at(heap: *mut mi_heap_t, p: *mut c_void, newcount: usize, size: usize, alignment: usize, offset: usize) -> *mut c_void { ffi::mi_heap_recalloc_aligned_at(heap, p, newcount, size, alignment, offset) }
    pub unsafe fn mi_heap_rezalloc(heap: *mut mi_heap_t, p: *mut c_void, newsize: usize) -> *mut c_void { ffi::mi_heap_rezalloc(heap, p, newsize) }
    pub unsafe fn mi_heap_rezalloc_aligned(heap: *mut mi_heap_t, p: *mut c_void, newsize: usize, alignment: usize) -> *mut c_void { ffi::mi_heap_rezalloc_aligned(heap, p, newsize, alignment) }
    pub unsafe fn mi_heap_rezalloc_aligned_at(heap: *mut mi_heap_t, p: *mut c_void, newsize: usize, alignment: usize, offset: usize) -> *mut c_void { ffi::mi_heap_rezalloc_aligned_at(heap, p, newsize, alignment, offset) }
    pub unsafe fn mi_heap_strdup(heap: *mut mi_heap_t, s: *const c_char) -> *mut c_char { ffi::mi_heap_strdup(heap, s) }
    pub unsafe fn mi_heap_strndup(heap: *mut mi_heap_t, s: *const c_char, n: usize) -> *mut c_char { ffi::mi_heap_strndup(heap, s, n) }
    pub unsafe fn mi_heap_visit_blocks(heap: *mut mi_heap_t, visit_all_blocks: bool, visitor: mi_block_visit_fun, arg: *mut c_void) -> bool { ffi::mi_heap_visit_blocks(heap, visit_all_blocks, visitor, arg) }
    pub unsafe fn mi_heap_zalloc(heap: *mut mi_heap_t, size: usize) -> *mut c_void { ffi::mi_heap_zalloc(heap, size) }
    pub unsafe fn mi_heap_zalloc_aligned(heap: *mut mi_heap_t, size: usize, alignment: usize) -> *mut c_void { ffi::mi_heap_zalloc_aligned(heap, size, alignment) }
    pub unsafe fn mi_heap_zalloc_aligned_at(heap: *mut mi_heap_t, size: usize, alignment: usize, offset: usize) -> *mut c_void { ffi::mi_heap_zalloc_aligned_at(heap, size, alignment, offset) }
    pub unsafe fn mi_heap_zalloc_small(heap: *mut mi_heap_t, size: usize) -> *mut c_void { ffi::mi_heap_zalloc_small(heap, size) }
    pub unsafe fn mi_is_in_heap_region(p: *const c_void) -> bool { ffi::mi_is_in_heap_region(p) }
    pub unsafe fn mi_malloc(size: usize) -> *mut c_void { ffi::mi_malloc(size) }
    pub unsafe fn mi_malloc_aligned(size: usize, alignment: usize) -> *mut c_void { ffi::mi_malloc_aligned(size, alignment) }
    pub unsafe fn mi_malloc_aligned_at(size: usize, alignment: usize, offset: usize) -> *mut c_void { ffi::mi_malloc_aligned_at(size, alignment, offset) }
    pub unsafe fn mi_malloc_small(size: usize) -> *mut c_void { ffi::mi_malloc_small(size) }
    pub unsafe fn mi_mallocn(count: usize, size: usize) -> *mut c_void { ffi::mi_mallocn(count, size) }
    pub unsafe fn mi_manage_os_memory_ex(start: *const c_void, size: usize, is_committed: bool, is_large: bool, is_zero: bool, numa_node: c_int, exclusive: bool, arena_id: *mut mi_arena_id_t) -> bool { ffi::mi_manage_os_memory_ex(start, size, is_committed, is_large, is_zero, numa_node, exclusive, arena_id) }
    pub unsafe fn mi_option_get(option: mi_option_t) -> c_long { ffi::mi_option_get(option) }
    pub unsafe fn mi_option_is_enabled(option: mi_option_t) -> bool { ffi::mi_option_is_enabled(option) }
    pub unsafe fn mi_option_set(option: mi_option_t, value: c_long) { ffi::mi_option_set(option, value); }
    pub unsafe fn mi_option_set_default(option: mi_option_t, value: c_long) { ffi::mi_option_set_default(option, value); }
    pub unsafe fn mi_option_set_enabled(option: mi_option_t, enable: bool) { ffi::mi_option_set_enabled(option, enable); }
    pub unsafe fn mi_option_set_enabled_default(option: mi_option_t, enable: bool) { ffi::mi_option_set_enabled_default(option, enable); }
    pub unsafe fn mi_posix_memalign(ptr: *mut *mut c_void, alignment: usize, size: usize) -> c_int { ffi::mi_posix_memalign(ptr, alignment, size) }
    pub unsafe fn mi_process_info(elapsed_msecs: *mut usize, user_msecs: *mut usize, system_msecs: *mut usize, current_rss: *mut usize, peak_rss: *mut usize, current_commit: *mut usize, peak_commit: *mut usize, page_faults: *mut usize) { ffi::mi_process_info(elapsed_msecs, user_msecs, system_msecs, current_rss, peak_rss, current_commit, peak_commit, page_faults); }
    pub unsafe fn mi_process_init() { ffi::mi_process_init(); }
    pub unsafe fn mi_realloc(p: *mut c_void, newsize: usize) -> *mut c_void { ffi::mi_realloc(p, newsize) }
    pub unsafe fn mi_realloc_aligned(p: *mut c_void, newsize: usize, alignment: usize) -> *mut c_void { ffi::mi_realloc_aligned(p, newsize, alignment) }
    pub unsafe fn mi_realloc_aligned_at(p: *mut c_void, newsize: usize, alignment: usize, offset: usize) -> *mut c_void { ffi::mi_realloc_aligned_at(p, newsize, alignment, offset) }
    pub unsafe fn mi_reallocf(p: *mut c_void, newsize: usize) -> *mut c_void { ffi::mi_reallocf(p, newsize) }
    pub unsafe fn mi_reallocn(p: *mut c_void, count: usize, size: usize) -> *mut c_void { ffi::mi_reallocn(p, count, size) }
    pub unsafe fn mi_realpath(fname: *const c_char, resolved_name: *mut c_char) -> *mut c_char { ffi::mi_realpath(fname, resolved_name) }
    pub unsafe fn mi_recalloc(p: *mut c_void, newcount: usize, size: usize) -> *mut c_void { ffi::mi_recalloc(p, newcount, size) }
    pub unsafe fn mi_recalloc_aligned(p: *mut c_void, newcount: usize, size: usize, alignment: usize) -> *mut c_void { ffi::mi_recalloc_aligned(p, newcount, size, alignment) }
    pub unsafe fn mi_recalloc_aligned_at(p: *mut c_void, newcount: usize, size: usize, alignment: usize, offset: usize) -> *mut c_void { ffi::mi_recalloc_aligned_at(p, newcount, size, alignment, offset) }
    pub unsafe fn mi_register_deferred_free(out: mi_deferred_free_fun, arg: *mut c_void) { ffi::mi_register_deferred_free(out, arg); }
    pub unsafe fn mi_register_error(out: mi_error_fun, arg: *mut c_void) { ffi::mi_register_error(out, arg); }
    pub unsafe fn mi_register_output(out: mi_output_fun, arg: *mut c_void) { ffi::mi_register_output(out, arg); }
    pub unsafe fn mi_reserve_os_memory_ex(size: usize, commit: bool, allow_large: bool, exclusive: bool, arena_id: *mut mi_arena_id_t) -> c_int { ffi::mi_reserve_os_memory_ex(size, commit, allow_large, exclusive, arena_id) }
    pub unsafe fn mi_rezalloc(p: *mut c_void, newsize: usize) -> *mut c_void { ffi::mi_rezalloc(p, newsize) }
    pub unsafe fn mi_rezalloc_aligned(p: *mut c_void, newsize: usize, alignment: usize) -> *mut c_void { ffi::mi_rezalloc_aligned(p, newsize, alignment) }
    pub unsafe fn mi_rezalloc_aligned_at(p: *mut c_void, newsize: usize, alignment: usize, offset: usize) -> *mut c_void { ffi::mi_rezalloc_aligned_at(p, newsize, alignment, offset) }
    pub unsafe fn mi_stats_get_json(buf_size: usize, buf: *mut c_char) -> *mut c_char { ffi::mi_stats_get_json(buf_size, buf) }
    pub unsafe fn mi_stats_print(unused: *mut c_void) { ffi::mi_stats_print(unused); }
    pub unsafe fn mi_stats_print_out(out: mi_output_fun, arg: *mut c_void) { ffi::mi_stats_print_out(out, arg); }
    pub unsafe fn mi_stats_reset() { ffi::mi_stats_reset(); }
    pub unsafe fn mi_strdup(s: *const c_char) -> *mut c_char { ffi::mi_strdup(s) }
    pub unsafe fn mi_strndup(s: *const c_char, n: usize) -> *mut c_char { ffi::mi_strndup(s, n) }
    pub unsafe fn mi_theap_zalloc_small(theap: *mut mi_theap_t, size: usize) -> *mut c_void { ffi::mi_theap_zalloc_small(theap, size) }
    pub unsafe fn mi_thread_done() { ffi::mi_thread_done(); }
    pub unsafe fn mi_thread_init() { ffi::mi_thread_init(); }
    pub unsafe fn mi_thread_stats_print_out(out: mi_output_fun, arg: *mut c_void) { ffi::mi_thread_stats_print_out(out, arg); }
    pub unsafe fn mi_unsafe_heap_page_is_under_utilized(heap: *mut mi_heap_t, p: *mut c_void, perc_threshold: usize) -> bool { ffi::mi_unsafe_heap_page_is_under_utilized(heap, p, perc_threshold) }
    pub unsafe fn mi_usable_size(p: *const c_void) -> usize { ffi::mi_usable_size(p) }
    pub unsafe fn mi_version() -> c_int { ffi::mi_version() }
    pub unsafe fn mi_zalloc(size: usize) -> *mut c_void { ffi::mi_zalloc(size) }
    pub unsafe fn mi_zalloc_aligned(size: usize, alignment: usize) -> *mut c_void { ffi::mi_zalloc_aligned(size, alignment) }
    pub unsafe fn mi_zalloc_aligned_at(size: usize, alignment: usize, offset: usize) -> *mut c_void { ffi::mi_zalloc_aligned_at(size, alignment, offset) }
    pub unsafe fn mi_zalloc_small(size: usize) -> *mut c_void { ffi::mi_zalloc_small(size) }
}

/// What it has besides or otherwise with the feature v2.
#[rustfmt::skip]
mod with_2 {
    use libmimalloc_sys as ffi;
    use core::ffi::*;
    use ffi::{mi_block_visit_fun, mi_heap_t, mi_option_t};
    pub const _mi_option_last: mi_option_t = ffi::_mi_option_last;
    pub const mi_option_eager_commit_delay: mi_option_t = ffi::mi_option_eager_commit_delay;
    pub const mi_option_max_segment_reclaim: mi_option_t = ffi::mi_option_max_segment_reclaim;
    pub unsafe fn mi_heap_check_owned(heap: *mut mi_heap_t, p: *const c_void) -> bool { ffi::mi_heap_check_owned(heap, p) }
    pub unsafe fn mi_heap_contains_block(heap: *mut mi_heap_t, p: *const c_void) -> bool { ffi::mi_heap_contains_block(heap, p) }
    pub unsafe fn mi_heap_get_backing() -> *mut mi_heap_t { ffi::mi_heap_get_backing() }
    pub unsafe fn mi_heap_get_default() -> *mut mi_heap_t { ffi::mi_heap_get_default() }
    pub unsafe fn mi_heap_set_default(heap: *mut mi_heap_t) -> *mut mi_heap_t { ffi::mi_heap_set_default(heap) }
    pub unsafe fn mi_heap_visit_blocks(heap: *const mi_heap_t, visit_all_blocks: bool, visitor: mi_block_visit_fun, arg: *mut c_void) -> bool { ffi::mi_heap_visit_blocks(heap, visit_all_blocks, visitor, arg) }
    pub unsafe fn mi_stats_merge() { ffi::mi_stats_merge(); }
}

/// mimalloc-sys 0.1.6.
#[rustfmt::skip]
mod old {
    use mimalloc_sys as ffi;
    use libc::{c_int, c_void, size_t, FILE};
    pub unsafe fn mi_aligned_alloc(alignment: size_t, size: size_t) -> *mut c_void { ffi::mi_aligned_alloc(alignment, size) }
    pub unsafe fn mi_calloc(count: size_t, size: size_t) -> *mut c_void { ffi::mi_calloc(count, size) }
    pub unsafe fn mi_calloc_aligned(count: size_t, size: size_t, alignment: size_t) -> *mut c_void { ffi::mi_calloc_aligned(count, size, alignment) }
    pub unsafe fn mi_collect(force: bool) { ffi::mi_collect(force); }
    pub unsafe fn mi_expand(p: *mut c_void, newsize: size_t) -> *mut c_void { ffi::mi_expand(p, newsize) }
    pub unsafe fn mi_free(p: *mut c_void) { ffi::mi_free(p); }
    pub unsafe fn mi_good_size(size: size_t) -> size_t { ffi::mi_good_size(size) }
    pub unsafe fn mi_malloc(size: size_t) -> *mut c_void { ffi::mi_malloc(size) }
    pub unsafe fn mi_malloc_aligned(size: size_t, alignment: size_t) -> *mut c_void { ffi::mi_malloc_aligned(size, alignment) }
    pub unsafe fn mi_malloc_size(p: *const c_void) -> size_t { ffi::mi_malloc_size(p) }
    pub unsafe fn mi_malloc_usable_size(p: *const c_void) -> size_t { ffi::mi_malloc_usable_size(p) }
    pub unsafe fn mi_posix_memalign(ptr: *mut *mut c_void, alignment: size_t, size: size_t) -> c_int { ffi::mi_posix_memalign(ptr, alignment, size) }
    pub unsafe fn mi_realloc(p: *mut c_void, newsize: size_t) -> *mut c_void { ffi::mi_realloc(p, newsize) }
    pub unsafe fn mi_realloc_aligned(p: *mut c_void, newsize: size_t, alignment: size_t) -> *mut c_void { ffi::mi_realloc_aligned(p, newsize, alignment) }
    pub unsafe fn mi_stats_print(out: *mut FILE) { ffi::mi_stats_print(out); }
    pub unsafe fn mi_stats_reset() { ffi::mi_stats_reset(); }
    pub unsafe fn mi_usable_size(p: *const c_void) -> size_t { ffi::mi_usable_size(p) }
    pub unsafe fn mi_zalloc(size: size_t) -> *mut c_void { ffi::mi_zalloc(size) }
    pub unsafe fn mi_zalloc_aligned(size: size_t, alignment: size_t) -> *mut c_void { ffi::mi_zalloc_aligned(size, alignment) }
}

#[test]
fn types_are_the_same() {
    type Visit = unsafe extern "C" fn(
        *const ffi::mi_heap_t,
        *const ffi::mi_heap_area_t,
        *mut c_void,
        usize,
        *mut c_void,
    ) -> bool;
    let _: ffi::mi_block_visit_fun = None::<Visit>;
    let _: ffi::mi_deferred_free_fun = None::<unsafe extern "C" fn(bool, c_ulonglong, *mut c_void)>;
    let _: ffi::mi_error_fun = None::<unsafe extern "C" fn(c_int, *mut c_void)>;
    let _: ffi::mi_output_fun = None::<unsafe extern "C" fn(*const c_char, *mut c_void)>;
    let _: ffi::mi_option_t = 0 as c_int;
    let _: ffi::mi_arena_id_t = std::ptr::null_mut::<c_void>();
    let area = ffi::mi_heap_area_t {
        blocks: std::ptr::null_mut(),
        reserved: 1,
        committed: 2,
        used: 3,
        block_size: 4,
        full_block_size: 5,
        reserved1: std::ptr::null_mut(),
    };
    let copy = area;
    assert_eq!(format!("{:?}", area.clone()), format!("{copy:?}"));
}

#[test]
fn functions_work() {
    unsafe {
        let block = with_3::mi_malloc(100);
        assert!(with_3::mi_check_owned(block));
        old::mi_free(block);
        assert!(!with_2::mi_heap_get_default().is_null());
    }
    assert_eq!(with_3::MI_SMALL_SIZE_MAX, 128 * std::mem::size_of::<usize>());
}
