"""An example for each function of libmimalloc-sys, for its documentation: bindings.py puts them there.

Most functions come in families whose examples differ in one expression. The others have theirs in
full. All of them are compiled and run as documentation tests, but for those in NOT_RUN.
"""

import re

# Expressions that allocate, in what is around them: {} is the expression.
AROUND = {
    """
let block = {};
assert!(!block.is_null());
mi_free(block.cast());
""": """
mi_malloc(100) mi_calloc(10, 10) mi_malloc_small(100) mi_wmalloc_small(10) mi_mallocn(10, 10)
mi_strdup(b"text\\0".as_ptr().cast()) mi_strndup(b"text\\0".as_ptr().cast(), 2)
mi_realpath(b"/\\0".as_ptr().cast(), std::ptr::null_mut()) mi_new(100) mi_new_aligned(100, 64)
mi_new_nothrow(100) mi_new_aligned_nothrow(100, 64) mi_new_n(10, 10) mi_mbsdup(b"text\\0".as_ptr())
mi_wcsdup([b'a' as wchar_t, 0].as_ptr())
""",
    """
let block = {}.cast::<u8>();
assert_eq!(*block, 0);
mi_free(block.cast());
""": """
mi_zalloc(100) mi_zalloc_small(100) mi_wzalloc_small(10)
""",
    """
let block = {};
assert_eq!(block as usize % 64, 0);
mi_free(block);
""": """
mi_malloc_aligned(100, 64) mi_zalloc_aligned(100, 64) mi_calloc_aligned(10, 10, 64)
mi_memalign(64, 100) mi_aligned_alloc(64, 128) mi_valloc(100) mi_pvalloc(100)
mi_realloc_aligned(std::ptr::null_mut(), 100, 64)
""",
    """
let block = {};
assert_eq!((block as usize + 16) % 64, 0);
mi_free(block);
""": """
mi_malloc_aligned_at(100, 64, 16) mi_zalloc_aligned_at(100, 64, 16)
mi_calloc_aligned_at(10, 10, 64, 16) mi_realloc_aligned_at(std::ptr::null_mut(), 100, 64, 16)
""",
    """
let mut usable = 0;
let block = {};
assert!(usable >= 100);
mi_free(block);
""": """
mi_umalloc(100, &mut usable) mi_ucalloc(10, 10, &mut usable) mi_umalloc_small(100, &mut usable)
mi_umalloc_aligned(100, 64, &mut usable) mi_uzalloc_aligned(100, 64, &mut usable)
mi_uzalloc_small(100, &mut usable)
""",
    """
let block = mi_malloc(100);
let block = {};
assert!(mi_usable_size(block) >= 200);
mi_free(block);
""": """
mi_realloc(block, 200) mi_reallocn(block, 20, 10) mi_reallocf(block, 200)
mi_reallocarray(block, 20, 10) mi_new_realloc(block, 200) mi_new_reallocn(block, 20, 10)
""",
    """
let block = mi_zalloc(100);
let block = {}.cast::<u8>();
assert_eq!(*block.add(199), 0);
mi_free(block.cast());
""": """
mi_rezalloc(block, 200) mi_recalloc(block, 20, 10)
""",
    """
let block = mi_zalloc_aligned(100, 64);
let block = {}.cast::<u8>();
assert_eq!(*block.add(199), 0);
mi_free(block.cast());
""": """
mi_rezalloc_aligned(block, 200, 64) mi_recalloc_aligned(block, 20, 10, 64)
mi_aligned_recalloc(block, 20, 10, 64)
""",
    """
let block = mi_zalloc_aligned_at(100, 64, 16);
let block = {}.cast::<u8>();
assert_eq!(*block.add(199), 0);
mi_free(block.cast());
""": """
mi_rezalloc_aligned_at(block, 200, 64, 16) mi_recalloc_aligned_at(block, 20, 10, 64, 16)
mi_aligned_offset_recalloc(block, 20, 10, 64, 16)
""",
    """
let block = mi_malloc(100);
let grown = {};
if grown.is_null() {{
    // There is no room; the block stays as it is.
}}
mi_free(block);
""": """
mi_expand(block, 104) mi__expand(block, 104)
""",
    """
let block = mi_malloc(100);
{};
""": """
mi_free(block) mi_free_small(block) mi_free_small_nonnull(block) mi_free_small_local(block)
mi_free_small_local_nonnull(block) mi_free_size(block, 100)
""",
    """
let block = mi_malloc_aligned(100, 64);
{};
""": """
mi_free_size_aligned(block, 100, 64) mi_free_aligned(block, 64)
""",
    """
let block = mi_malloc(100);
assert!({} >= 100);
mi_free(block);
""": """
mi_usable_size(block) mi_malloc_size(block) mi_malloc_usable_size(block)
""",
    """
assert!({} >= 100);
""": """
mi_good_size(100) mi_malloc_good_size(100) mi_arena_min_alignment() mi_arena_min_size()
mi_arena_max_object_size() mi_version()
""",
    # Heaps
    """
let heap = {};
assert!(!mi_heap_malloc(heap, 100).is_null());
mi_heap_destroy(heap);
""": """
mi_heap_new() mi_heap_new_in_arena(std::ptr::null_mut())
mi_heap_new_ex(7, true, std::ptr::null_mut())
""",
    """
let heap = mi_heap_new();
let block = {};
assert!(!block.is_null());
mi_heap_destroy(heap);
""": """
mi_heap_malloc(heap, 100) mi_heap_calloc(heap, 10, 10) mi_heap_mallocn(heap, 10, 10)
mi_heap_malloc_small(heap, 100) mi_heap_strdup(heap, b"text\\0".as_ptr().cast())
mi_heap_strndup(heap, b"text\\0".as_ptr().cast(), 2)
mi_heap_realpath(heap, b"/\\0".as_ptr().cast(), std::ptr::null_mut())
mi_heap_alloc_new(heap, 100) mi_heap_alloc_new_n(heap, 10, 10)
""",
    """
let heap = mi_heap_new();
let block = {}.cast::<u8>();
assert_eq!(*block, 0);
mi_heap_destroy(heap);
""": """
mi_heap_zalloc(heap, 100) mi_heap_zalloc_small(heap, 100)
""",
    """
let heap = mi_heap_new();
let block = mi_heap_malloc(heap, 100);
let block = {};
assert!(mi_usable_size(block) >= 200);
mi_heap_destroy(heap);
""": """
mi_heap_realloc(heap, block, 200) mi_heap_reallocn(heap, block, 20, 10)
mi_heap_reallocf(heap, block, 200)
""",
    """
let heap = mi_heap_new();
let block = {};
assert_eq!(block as usize % 64, 0);
mi_heap_destroy(heap);
""": """
mi_heap_malloc_aligned(heap, 100, 64) mi_heap_zalloc_aligned(heap, 100, 64)
mi_heap_calloc_aligned(heap, 10, 10, 64)
mi_heap_realloc_aligned(heap, std::ptr::null_mut(), 100, 64)
""",
    """
let heap = mi_heap_new();
let block = {};
assert_eq!((block as usize + 16) % 64, 0);
mi_heap_destroy(heap);
""": """
mi_heap_malloc_aligned_at(heap, 100, 64, 16) mi_heap_zalloc_aligned_at(heap, 100, 64, 16)
mi_heap_calloc_aligned_at(heap, 10, 10, 64, 16)
mi_heap_realloc_aligned_at(heap, std::ptr::null_mut(), 100, 64, 16)
""",
    """
let heap = mi_heap_new();
let block = mi_heap_zalloc(heap, 100);
let block = {}.cast::<u8>();
assert_eq!(*block.add(199), 0);
mi_heap_destroy(heap);
""": """
mi_heap_rezalloc(heap, block, 200) mi_heap_recalloc(heap, block, 20, 10)
""",
    """
let heap = mi_heap_new();
let block = mi_heap_zalloc_aligned(heap, 100, 64);
let block = {}.cast::<u8>();
assert_eq!(*block.add(199), 0);
mi_heap_destroy(heap);
""": """
mi_heap_rezalloc_aligned(heap, block, 200, 64) mi_heap_recalloc_aligned(heap, block, 20, 10, 64)
""",
    """
let heap = mi_heap_new();
let block = mi_heap_zalloc_aligned_at(heap, 100, 64, 16);
let block = {}.cast::<u8>();
assert_eq!(*block.add(199), 0);
mi_heap_destroy(heap);
""": """
mi_heap_rezalloc_aligned_at(heap, block, 200, 64, 16)
mi_heap_recalloc_aligned_at(heap, block, 20, 10, 64, 16)
""",
    """
let heap = mi_heap_new();
let block = mi_heap_malloc(heap, 100);
assert!({});
mi_heap_destroy(heap);
""": """
mi_heap_contains(heap, block) mi_heap_contains_block(heap, block) mi_heap_check_owned(heap, block)
mi_any_heap_contains(block) mi_is_in_heap_region(block)
""",
    """
let heap = mi_heap_new();
{};
mi_heap_destroy(heap);
""": """
mi_heap_set_numa_affinity(heap, 0) mi_heap_collect(heap, true)
mi_heap_set_debug_fill_preserve(heap, 16) mi_heap_stats_merge_to_subproc(heap)
mi_heap_guarded_set_sample_rate(heap, 1000, 0) mi_heap_guarded_set_size_bound(heap, 1000, 2000)
mi_heap_profile_disable(heap)
""",
    # Theaps
    """
let heap = mi_heap_new();
let theap = mi_heap_theap(heap);
let block = {};
assert!(!block.is_null());
mi_heap_destroy(heap);
""": """
mi_theap_malloc(theap, 100) mi_theap_calloc(theap, 10, 10) mi_theap_malloc_small(theap, 100)
mi_theap_wmalloc_small(theap, 10) mi_theap_alloc_new(theap, 100) mi_theap_alloc_new_n(theap, 10, 10)
mi_theap_alloc_new_nothrow(theap, 100)
""",
    """
let heap = mi_heap_new();
let theap = mi_heap_theap(heap);
let block = {}.cast::<u8>();
assert_eq!(*block, 0);
mi_heap_destroy(heap);
""": """
mi_theap_zalloc(theap, 100) mi_theap_zalloc_small(theap, 100) mi_theap_wzalloc_small(theap, 10)
""",
    """
let heap = mi_heap_new();
let theap = mi_heap_theap(heap);
let block = {};
assert_eq!(block as usize % 64, 0);
mi_heap_destroy(heap);
""": """
mi_theap_malloc_aligned(theap, 100, 64) mi_theap_zalloc_aligned(theap, 100, 64)
""",
    """
let heap = mi_heap_new();
let theap = mi_heap_theap(heap);
let block = mi_theap_zalloc(theap, 100);
let block = {};
assert!(mi_usable_size(block) >= 200);
mi_heap_destroy(heap);
""": """
mi_theap_realloc(theap, block, 200) mi_theap_rezalloc(theap, block, 200)
""",
    """
let heap = mi_heap_new();
let theap = mi_heap_theap(heap);
{};
mi_heap_destroy(heap);
""": """
mi_theap_collect(theap, true) mi_theap_delete(theap) mi_theap_quiescent_abandon(theap)
mi_theap_guarded_set_sample_rate(theap, 1000, 0) mi_theap_guarded_set_size_bound(theap, 1000, 2000)
mi_theap_stats_merge_to_heap(theap)
""",
    # Visitors
    """
unsafe extern "C" fn count(
    _heap: *const mi_heap_t,
    _area: *const mi_heap_area_t,
    block: *mut std::ffi::c_void,
    _block_size: usize,
    arg: *mut std::ffi::c_void,
) -> bool {{
    *arg.cast::<usize>() += usize::from(!block.is_null());
    true
}}

let mut blocks = 0usize;
let arg = (&mut blocks as *mut usize).cast();
{};
println!("{{blocks}} blocks");
""": """
mi_heap_visit_abandoned_blocks(mi_heap_main(), true, Some(count), arg)
mi_theap_visit_blocks(mi_theap_get_default(), true, Some(count), arg)
mi_abandoned_visit_blocks(mi_subproc_main(), -1, true, Some(count), arg)
""",
    # Output
    """
unsafe extern "C" fn print(text: *const std::ffi::c_char, _arg: *mut std::ffi::c_void) {{
    eprint!("{{}}", std::ffi::CStr::from_ptr(text).to_str().unwrap_or(""));
}}

{};
""": """
mi_stats_print_out(Some(print), std::ptr::null_mut())
mi_thread_stats_print_out(Some(print), std::ptr::null_mut())
mi_heap_stats_print_out(mi_heap_main(), Some(print), std::ptr::null_mut())
mi_subproc_stats_print_out(mi_subproc_main(), Some(print), std::ptr::null_mut())
mi_subproc_heap_stats_print_out(mi_subproc_main(), Some(print), std::ptr::null_mut())
mi_process_info_print_out(Some(print), std::ptr::null_mut())
mi_options_print_out(Some(print), std::ptr::null_mut())
mi_register_output(Some(print), std::ptr::null_mut())
""",
    # Statistics
    """
let json = {};
assert_eq!(*json as u8, b'{{');
mi_free(json.cast());
""": """
mi_stats_get_json(0, std::ptr::null_mut())
mi_heap_stats_get_json(mi_heap_main(), 0, std::ptr::null_mut())
mi_subproc_stats_get_json(mi_subproc_main(), 0, std::ptr::null_mut())
""",
    """
let mut stats: mi_stats_t = std::mem::zeroed();
stats.size = std::mem::size_of::<mi_stats_t>();
stats.version = MI_STAT_VERSION as usize;
assert!({});
println!("{{}} bytes", stats.allocated.current);
""": """
mi_stats_get(&mut stats) mi_heap_stats_get(mi_heap_main(), &mut stats)
mi_subproc_stats_get(mi_subproc_main(), &mut stats)
mi_subproc_stats_get_exclusive(mi_subproc_main(), &mut stats)
mi_theap_stats_get(mi_theap_get_default(), &mut stats)
""",
    # What is called alone
    """
{};
""": """
mi_debug_show_arenas() mi_arenas_print() mi_arenas_purge() mi_stats_reset() mi_stats_merge()
mi_stats_print(std::ptr::null_mut()) mi_collect(true) mi_collect_reduce(1000000)
mi_process_info_print() mi_process_init() mi_process_done() mi_thread_init() mi_thread_done()
mi_thread_set_in_threadpool() mi_options_print() mi_pprof_profiler_delete(std::ptr::null_mut())
""",
    """
assert!({});
""": """
mi_profile(std::ptr::null_mut()) mi_subproc_profile(mi_subproc_main(), std::ptr::null_mut())
mi_heap_profile(mi_heap_main(), std::ptr::null_mut())
""",
    """
assert!(!{}); // there is no profiler
""": """
mi_profiler_start(std::ptr::null_mut()) mi_profiler_stop(std::ptr::null_mut())
mi_profiler_snapshot(std::ptr::null_mut())
""",
    """
assert!(!{}.is_null());
""": """
mi_heap_main() mi_heap_get_default() mi_heap_get_backing() mi_theap_get_default()
mi_heap_theap(mi_heap_main())
""",
    """
assert!(!{}._mi_subproc_id.is_null());
""": """
mi_subproc_main() mi_subproc_current()
""",
    # Arenas
    """
let error = {};
assert_eq!(error, 0);
""": """
mi_reserve_os_memory(64 << 20, false, false) mi_reserve_huge_os_pages_interleave(1, 0, 1000)
mi_reserve_huge_os_pages_at(1, 0, 1000) mi_reserve_huge_os_pages(1, 0.5, &mut 0)
""",
    """
let mut arena = std::ptr::null_mut();
let error = {};
assert_eq!(error, 0);
let heap = mi_heap_new_in_arena(arena);
assert!(mi_arena_contains(arena, mi_heap_malloc(heap, 100)));
mi_heap_destroy(heap);
""": """
mi_reserve_os_memory_ex(64 << 20, false, false, true, &mut arena)
mi_reserve_huge_os_pages_at_ex(1, 0, 1000, true, &mut arena)
""",
    # Options
    """
{};
assert_eq!(mi_option_get(mi_option_max_errors), 1);
""": """
mi_option_set(mi_option_max_errors, 1) mi_option_enable(mi_option_max_errors)
mi_option_set_enabled(mi_option_max_errors, true)
""",
    """
{}; // unless the environment or the program has set it
""": """
mi_option_set_default(mi_option_purge_delay, 100)
mi_option_set_enabled_default(mi_option_purge_decommits, false)
""",
}

IN_FULL = {
    "mi_option_disable": """
mi_option_disable(mi_option_show_errors);
assert!(!mi_option_is_enabled(mi_option_show_errors));
""",
    "mi_option_is_enabled": """
if mi_option_is_enabled(mi_option_verbose) {
    println!("the allocator says what it does");
}
""",
    "mi_option_get": """
println!("{} ms", mi_option_get(mi_option_purge_delay));
""",
    "mi_option_get_clamp": """
assert!((0..=9).contains(&mi_option_get_clamp(mi_option_max_errors, 0, 9)));
""",
    "mi_option_get_size": """
mi_option_set(mi_option_arena_reserve, 65536); // KiB
assert_eq!(mi_option_get_size(mi_option_arena_reserve), 64 << 20);
""",
    "mi_urealloc": """
let block = mi_malloc(100);
let (mut before, mut after) = (0, 0);
let block = mi_urealloc(block, 200, &mut before, &mut after);
assert!(before >= 100 && after >= 200);
mi_free(block);
""",
    "mi_ufree": """
let mut usable = 0;
mi_ufree(mi_malloc(100), &mut usable);
assert!(usable >= 100);
""",
    "mi_heap_delete": """
let heap = mi_heap_new();
let block = mi_heap_malloc(heap, 100);
mi_heap_delete(heap);
mi_free(block); // it has outlived its heap
""",
    "mi_heap_destroy": """
let heap = mi_heap_new();
mi_heap_malloc(heap, 100);
mi_heap_destroy(heap); // frees the block too
""",
    "mi_heap_of": """
let heap = mi_heap_new();
let block = mi_heap_malloc(heap, 100);
assert_eq!(mi_heap_of(block), heap);
mi_heap_destroy(heap);
""",
    "mi_check_owned": """
let block = mi_malloc(100);
assert!(mi_check_owned(block));
mi_free(block);
""",
    "mi_thread_id_of": """
let (a, b) = (mi_malloc(100), mi_malloc(100));
let same = mi_thread_id_of(a) == mi_thread_id_of(b);
println!("owned by the same thread: {same}");
mi_free(a);
mi_free(b);
""",
    "mi_unsafe_heap_page_is_under_utilized": """
let heap = mi_heap_new();
let mut block = mi_heap_malloc(heap, 100);
if mi_unsafe_heap_page_is_under_utilized(heap, block, 50) {
    let moved = mi_heap_malloc(heap, 100);
    moved.copy_from_nonoverlapping(block, 100);
    mi_free(block);
    block = moved;
}
mi_free(block);
mi_heap_destroy(heap);
""",
    "mi_theap_set_default": """
let heap = mi_heap_new();
let former = mi_theap_set_default(mi_heap_theap(heap));
assert!(mi_heap_contains(heap, mi_malloc(100)));
mi_theap_set_default(former);
mi_heap_destroy(heap);
""",
    "mi_heap_set_default": """
let heap = mi_heap_new();
let former = mi_heap_set_default(heap);
assert!(mi_heap_contains(heap, mi_malloc(100)));
mi_heap_set_default(former);
mi_heap_destroy(heap);
""",
    "mi_subproc_new": """
let subproc = mi_subproc_new();
assert!(!subproc._mi_subproc_id.is_null());
mi_subproc_destroy(subproc);
""",
    "mi_subproc_destroy": """
let subproc = mi_subproc_new();
mi_subproc_destroy(subproc);
""",
    "mi_subproc_delete": """
let subproc = mi_subproc_new();
mi_subproc_delete(subproc);
""",
    "mi_subproc_add_current_thread": """
std::thread::spawn(|| {
    mi_subproc_add_current_thread(mi_subproc_new());
    mi_free(mi_malloc(100)); // in the new sub-process
})
.join()
.unwrap();
""",
    "mi_subproc_visit_heaps": """
unsafe extern "C" fn count(_heap: *mut mi_heap_t, arg: *mut std::ffi::c_void) -> bool {
    *arg.cast::<usize>() += 1;
    true
}

let heap = mi_heap_new();
let mut heaps = 0usize;
let arg = (&mut heaps as *mut usize).cast();
assert!(mi_subproc_visit_heaps(mi_subproc_main(), Some(count), arg));
assert!(heaps >= 1);
mi_heap_destroy(heap);
""",
    "mi_is_redirected": """
if mi_is_redirected() {
    println!("malloc is this library's");
}
""",
    "mi_manage_os_memory": """
let size = 4 * mi_arena_min_size();
let layout = std::alloc::Layout::from_size_align(size, mi_arena_min_alignment()).unwrap();
let memory = std::alloc::alloc_zeroed(layout);
assert!(mi_manage_os_memory(memory.cast(), size, true, true, true, -1));
""",
    "mi_manage_memory": """
let size = 4 * mi_arena_min_size();
let layout = std::alloc::Layout::from_size_align(size, mi_arena_min_alignment()).unwrap();
let memory = std::alloc::alloc_zeroed(layout).cast();
let (null, mut arena) = (std::ptr::null_mut(), std::ptr::null_mut());
assert!(mi_manage_memory(memory, size, true, true, true, -1, true, None, null, &mut arena));
""",
    "mi_arena_area": """
let (mut arena, mut size) = (std::ptr::null_mut(), 0);
assert_eq!(mi_reserve_os_memory_ex(64 << 20, false, false, true, &mut arena), 0);
assert!(!mi_arena_area(arena, &mut size).is_null());
assert!(size >= 64 << 20);
""",
    "mi_arena_contains": """
let mut arena = std::ptr::null_mut();
assert_eq!(mi_reserve_os_memory_ex(64 << 20, false, false, true, &mut arena), 0);
assert!(mi_arena_contains(arena, mi_arena_area(arena, std::ptr::null_mut())));
""",
    "mi_stats_get_bin_size": """
let sizes: Vec<usize> = (0..MI_BIN_COUNT as usize).map(|bin| mi_stats_get_bin_size(bin)).collect();
println!("{sizes:?}");
""",
    "mi_stats_as_json": """
let mut stats: mi_stats_t = std::mem::zeroed();
stats.size = std::mem::size_of::<mi_stats_t>();
stats.version = MI_STAT_VERSION as usize;
assert!(mi_stats_get(&mut stats));
let json = mi_stats_as_json(&mut stats, 0, std::ptr::null_mut());
assert_eq!(*json as u8, b'{');
mi_free(json.cast());
""",
    "mi_cfree": """
assert!(mi_cfree(mi_malloc(100)));
assert!(!mi_cfree(std::ptr::null_mut()));
""",
    "mi_posix_memalign": """
let mut block = std::ptr::null_mut();
assert_eq!(mi_posix_memalign(&mut block, 64, 100), 0);
assert_eq!(block as usize % 64, 0);
mi_free(block);
""",
    "mi_reallocarr": """
let mut block = mi_malloc(100);
let address: *mut *mut std::ffi::c_void = &mut block;
assert_eq!(mi_reallocarr(address.cast(), 20, 10), 0);
assert!(mi_usable_size(block) >= 200);
mi_free(block);
""",
    "mi_dupenv_s": """
let mut path = std::ptr::null_mut();
assert_eq!(mi_dupenv_s(&mut path, std::ptr::null_mut(), b"PATH\\0".as_ptr().cast()), 0);
mi_free(path.cast());
""",
    "mi_wdupenv_s": """
let name = [b'A' as wchar_t, 0];
let mut value = std::ptr::null_mut();
if mi_wdupenv_s(&mut value, std::ptr::null_mut(), name.as_ptr()) == 0 {
    mi_free(value.cast());
}
""",
    "mi_register_deferred_free": """
unsafe extern "C" fn free_some(
    _force: bool,
    _heartbeat: std::ffi::c_ulonglong,
    _arg: *mut std::ffi::c_void,
) {
    // frees what the program has put off freeing
}

mi_register_deferred_free(Some(free_some), std::ptr::null_mut());
""",
    "mi_register_page_release": """
unsafe extern "C" fn may_go(
    _area: *const mi_heap_area_t,
    _user_data: *mut *mut std::ffi::c_void,
    _again: bool,
    _arg: *mut std::ffi::c_void,
) -> bool {
    true // nobody reads what has been freed in it any more
}

mi_register_page_release(Some(may_go), std::ptr::null_mut());
mi_register_page_release(None, std::ptr::null_mut());
""",
    "mi_page_user_data": """
let block = mi_malloc(100);
let words = mi_page_user_data(block);
assert!(!words.is_null());
assert!((*words).is_null()); // the page has just begun, or nobody has used it
mi_free(block);
""",
    "mi_register_error": """
unsafe extern "C" fn failed(error: std::ffi::c_int, _arg: *mut std::ffi::c_void) {
    eprintln!("error {error}");
}

mi_register_error(Some(failed), std::ptr::null_mut());
""",
    "mi_process_info": """
let (mut resident, mut peak) = (0, 0);
let null = std::ptr::null_mut();
mi_process_info(null, null, null, &mut resident, &mut peak, null, null, null);
println!("{resident} bytes resident, at most {peak}");
""",
    "mi_pprof_profiler_new": """
let profiler = mi_pprof_profiler_new(0, b"profile\\0".as_ptr().cast(), 0, 0, 0);
assert!(profiler.is_null()); // there is no profiler
""",
}

# They take memory that a machine may not have, or belong to another system.
NOT_RUN = re.compile(r"mi_reserve_huge_os_pages.*|mi_wdupenv_s")


def calls(text):
    """The calls in a text of such, each with all between its parentheses."""
    start, depth = None, 0
    for place, letter in enumerate(text):
        if start is None and not letter.isspace():
            start = place
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == ")" and not depth:
            yield text[start : place + 1]
            start = None


def all_examples():
    """{function: its example, as documentation}."""
    bodies = {}
    for around, expressions in AROUND.items():
        for call in calls(expressions):
            name = call.split("(")[0]
            assert name not in bodies, name
            bodies[name] = around.format(call)
    for name, body in IN_FULL.items():
        assert name not in bodies, name
        bodies[name] = body
    return {name: fenced(name, body) for name, body in bodies.items()}


def fenced(name, body):
    lines = [f"    {line}" if line else "" for line in body.strip().split("\n")]
    mark = "```no_run" if NOT_RUN.fullmatch(name) else "```"
    return "\n".join([mark, "use libmimalloc_sys::*;", "", "unsafe {", *lines, "}", "```"])
