//! The functions of mimalloc 1.x, under the name of the crate that had them.
//!
//! They are those of [`libmimalloc_sys`], which has many more; new code uses that, or the crate
//! `mimalloc`.
//!
//! ```
//! unsafe {
//!     let block = mimalloc_sys::mi_zalloc(100).cast::<u8>();
//!     assert_eq!(*block.add(99), 0);
//!     mimalloc_sys::mi_free(block.cast());
//! }
//! ```
#![no_std]
#![deny(missing_docs)]

pub use libmimalloc_sys::{
    mi_aligned_alloc, mi_calloc, mi_calloc_aligned, mi_collect, mi_expand, mi_free, mi_good_size,
    mi_malloc, mi_malloc_aligned, mi_malloc_size, mi_malloc_usable_size, mi_posix_memalign,
    mi_realloc, mi_realloc_aligned, mi_stats_reset, mi_usable_size, mi_zalloc, mi_zalloc_aligned,
};

/// Prints the statistics, as output of the library.
///
/// # Safety
///
/// It is safe to call; `out` is ignored.
///
/// ```
/// unsafe { mimalloc_sys::mi_stats_print(std::ptr::null_mut()) };
/// ```
pub unsafe fn mi_stats_print(out: *mut libc::FILE) {
    libmimalloc_sys::mi_stats_print(out.cast())
}
