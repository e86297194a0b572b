//! The C interface of the allocator, which this crate compiles from C and links.
//!
//! `mimalloc` is the crate for programs: a global allocator, and heaps,
//! options and statistics without `unsafe`. This one is for code that needs more.
//!
//! The declarations are made from the C headers, and so are their descriptions: "NULL" is a null
//! pointer, `errno` that of C. Unless a description says otherwise, sizes and alignments are in
//! bytes; a function that allocates returns a null pointer when there is no memory; a block may be
//! freed by any thread; a block from any function here is freed with [`mi_free`].
//!
//! ```
//! use libmimalloc_sys as ffi;
//!
//! unsafe {
//!     let block = ffi::mi_malloc(100).cast::<u8>();
//!     assert!(!block.is_null());
//!     block.write_bytes(7, 100);
//!     assert!(ffi::mi_usable_size(block.cast()) >= 100);
//!     ffi::mi_free(block.cast());
//! }
//! ```
#![no_std]
#![deny(missing_docs)]
#![allow(non_camel_case_types, non_upper_case_globals, clashing_extern_declarations)]

use core::ffi::{c_int, c_void};

#[rustfmt::skip]
mod bindings;

pub use bindings::*;

/// A character of a wide string.
///
/// ```
/// use libmimalloc_sys::*;
///
/// let text = [b'a' as wchar_t, 0];
/// unsafe { mi_free(mi_wcsdup(text.as_ptr()).cast()) };
/// ```
#[cfg(windows)]
pub type wchar_t = u16;

/// A character of a wide string.
///
/// ```
/// use libmimalloc_sys::*;
///
/// let text = [b'a' as wchar_t, 0];
/// unsafe { mi_free(mi_wcsdup(text.as_ptr()).cast()) };
/// ```
#[cfg(all(
    not(windows),
    any(target_arch = "aarch64", target_arch = "arm"),
    not(target_vendor = "apple")
))]
pub type wchar_t = u32;

/// A character of a wide string.
///
/// ```
/// use libmimalloc_sys::*;
///
/// let text = [b'a' as wchar_t, 0];
/// unsafe { mi_free(mi_wcsdup(text.as_ptr()).cast()) };
/// ```
#[cfg(all(
    not(windows),
    any(not(any(target_arch = "aarch64", target_arch = "arm")), target_vendor = "apple")
))]
pub type wchar_t = i32;

/// Largest size that the `_small` functions take, such as [`mi_malloc_small`].
///
/// ```
/// use libmimalloc_sys::*;
///
/// unsafe { mi_free_small(mi_malloc_small(MI_SMALL_SIZE_MAX)) };
/// ```
pub const MI_SMALL_SIZE_MAX: usize = MI_SMALL_WSIZE_MAX as usize * core::mem::size_of::<usize>();

/// An area of equally sized blocks, as a visitor sees it.
///
/// ```
/// use libmimalloc_sys::*;
/// use std::ffi::c_void;
///
/// unsafe extern "C" fn look(
///     _heap: *const mi_heap_t,
///     area: *const mi_heap_area_t,
///     _block: *mut c_void,
///     _block_size: usize,
///     _arg: *mut c_void,
/// ) -> bool {
///     println!("{} blocks of {} bytes", (*area).used, (*area).block_size);
///     true
/// }
///
/// unsafe {
///     let heap = mi_heap_new();
///     mi_heap_malloc(heap, 100);
///     assert!(mi_heap_visit_blocks(heap, false, Some(look), std::ptr::null_mut()));
///     mi_heap_destroy(heap);
/// }
/// ```
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct mi_heap_area_s {
    /// Address of the first block.
    pub blocks: *mut c_void,
    /// Bytes set aside for the area.
    pub reserved: usize,
    /// Bytes of it that are usable now.
    pub committed: usize,
    /// Number of blocks in use.
    pub used: usize,
    /// Bytes of a block that the program may use.
    pub block_size: usize,
    /// Distance between blocks: with padding and metadata.
    pub full_block_size: usize,
    /// For the library; C has a union here, with the tag of the heap.
    pub reserved1: *mut c_void,
}

/// What C has in the union.
///
/// ```
/// let area: libmimalloc_sys::mi_heap_area_t = unsafe { std::mem::zeroed() };
/// assert_eq!(area.heap_tag(), 0);
/// ```
impl mi_heap_area_s {
    /// The tag of the heap: what [`mi_heap_new_ex`] was given, else 0.
    ///
    /// ```
    /// use libmimalloc_sys::*;
    /// use std::ffi::c_void;
    ///
    /// unsafe extern "C" fn look(
    ///     _heap: *const mi_heap_t,
    ///     area: *const mi_heap_area_t,
    ///     _block: *mut c_void,
    ///     _block_size: usize,
    ///     _arg: *mut c_void,
    /// ) -> bool {
    ///     assert_eq!((*area).heap_tag(), 7);
    ///     true
    /// }
    ///
    /// unsafe {
    ///     let heap = mi_heap_new_ex(7, true, std::ptr::null_mut());
    ///     mi_heap_malloc(heap, 100);
    ///     assert!(mi_heap_visit_blocks(heap, false, Some(look), std::ptr::null_mut()));
    ///     mi_heap_destroy(heap);
    /// }
    /// ```
    #[inline]
    pub fn heap_tag(&self) -> c_int {
        unsafe { *core::ptr::addr_of!(self.reserved1).cast::<c_int>() }
    }
}

/// An area of equally sized blocks, as a visitor sees it: see [`mi_heap_area_s`] for an example.
pub type mi_heap_area_t = mi_heap_area_s;

// The next take a `const` pointer, as the interface of 2.x, so that callers with either compile.
extern "C" {
    /// Calls the visitor for each area of the heap and, with `visit_blocks`, for each live block in
    /// it. True when all were visited. No other thread may allocate or free in the heap meanwhile.
    ///
    /// ```
    /// use libmimalloc_sys::*;
    /// use std::ffi::c_void;
    ///
    /// unsafe extern "C" fn count(
    ///     _heap: *const mi_heap_t,
    ///     _area: *const mi_heap_area_t,
    ///     block: *mut c_void,
    ///     _block_size: usize,
    ///     arg: *mut c_void,
    /// ) -> bool {
    ///     *arg.cast::<usize>() += usize::from(!block.is_null());
    ///     true
    /// }
    ///
    /// let mut blocks = 0usize;
    /// unsafe {
    ///     let heap = mi_heap_new();
    ///     mi_heap_malloc(heap, 100);
    ///     let arg = (&mut blocks as *mut usize).cast();
    ///     assert!(mi_heap_visit_blocks(heap, true, Some(count), arg));
    ///     mi_heap_destroy(heap);
    /// }
    /// assert_eq!(blocks, 1);
    /// ```
    pub fn mi_heap_visit_blocks(
        heap: *const mi_heap_t,
        visit_blocks: bool,
        visitor: mi_block_visit_fun,
        arg: *mut c_void,
    ) -> bool;

    /// Gives the library memory of the program's as an arena, as [`mi_manage_os_memory`]; its id
    /// goes to `arena_id`.
    ///
    /// ```
    /// use libmimalloc_sys::*;
    /// use std::alloc::{alloc_zeroed, Layout};
    ///
    /// unsafe {
    ///     let size = 4 * mi_arena_min_size();
    ///     let layout = Layout::from_size_align(size, mi_arena_min_alignment()).unwrap();
    ///     let memory = alloc_zeroed(layout).cast();
    ///     let mut arena = std::ptr::null_mut();
    ///     assert!(mi_manage_os_memory_ex(memory, size, true, true, true, -1, true, &mut arena));
    ///     let heap = mi_heap_new_in_arena(arena);
    ///     assert!(mi_arena_contains(arena, mi_heap_malloc(heap, 100)));
    ///     mi_heap_destroy(heap);
    /// }
    /// ```
    pub fn mi_manage_os_memory_ex(
        start: *const c_void,
        size: usize,
        is_committed: bool,
        is_pinned: bool,
        is_zero: bool,
        numa_node: c_int,
        exclusive: bool,
        arena_id: *mut mi_arena_id_t,
    ) -> bool;
}
