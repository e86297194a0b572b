//! A fast global allocator, with heaps that are freed as a whole, statistics and options.
//!
//! ```
//! use mimalloc::MiMalloc;
//!
//! #[global_allocator]
//! static GLOBAL: MiMalloc = MiMalloc;
//!
//! let squares: Vec<u64> = (0..1000).map(|n| n * n).collect();
//! assert_eq!(squares[999], 998_001);
//! ```
//!
//! The allocator is compiled from C by this crate's dependency `libmimalloc-sys`; a C compiler is
//! all that it takes. [`Heap`] is memory of one purpose, freed at once with it; [`Stats`],
//! [`ProcessInfo`] and [`Opt`] say how much memory is where, and what the allocator does with it.
//!
//! Collections take a [`Heap`] as their allocator by the trait `Allocator`: that of the crate
//! `allocator-api2` with the feature of that name, that of a nightly compiler with `allocator_api`.
//!
//! Miri, which runs no C, finds the system's allocator in place of this one, and heaps made of that.
#![no_std]
#![deny(missing_docs)]
#![cfg_attr(feature = "allocator_api", feature(allocator_api))]

mod allocator;
mod arena;
mod heap;
mod options;
mod process;
#[cfg_attr(miri, path = "source_miri.rs")]
mod source;
mod stats;
mod text;

/// The C functions, for what the safe interface does not have.
///
/// ```
/// use mimalloc::ffi;
///
/// unsafe { ffi::mi_free(ffi::mi_malloc_aligned(100, 64)) };
/// ```
pub use libmimalloc_sys as ffi;

pub use arena::Arena;
pub use heap::Heap;
pub use options::{print_options, Opt};
pub use process::{process_info, ProcessInfo};
pub use stats::{print_stats, reset_stats, Bin, Count, Stats};
pub use text::StatsJson;

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;

use source::Source;

/// The allocator, for `#[global_allocator]`, and for the parameter of collections.
///
/// ```
/// #[global_allocator]
/// static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;
///
/// let text = String::from("in the new allocator");
/// assert!(unsafe { GLOBAL.usable_size(text.as_ptr()) } >= text.len());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MiMalloc;

unsafe impl GlobalAlloc for MiMalloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.malloc(layout)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.zalloc(layout)
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        self.free(ptr, layout);
    }

    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        self.resize(ptr, layout, Layout::from_size_align_unchecked(new_size, layout.align()))
    }
}

/// What it tells about itself and about a block.
///
/// ```
/// println!("version {}", mimalloc::MiMalloc.version());
/// ```
impl MiMalloc {
    /// The version of the interface: major, two digits minor, two digits patch.
    ///
    /// ```
    /// assert!(mimalloc::MiMalloc.version() >= 30400);
    /// ```
    pub fn version(&self) -> u32 {
        unsafe { ffi::mi_version() as u32 }
    }

    /// How many bytes of a block may be used: at least what was asked for; 0 for a null pointer.
    ///
    /// # Safety
    ///
    /// `ptr` is null or a live block of this allocator.
    ///
    /// ```
    /// use std::alloc::{GlobalAlloc, Layout};
    /// use mimalloc::MiMalloc;
    ///
    /// let layout = Layout::new::<[u8; 100]>();
    /// unsafe {
    ///     let block = MiMalloc.alloc(layout);
    ///     assert!(MiMalloc.usable_size(block) >= 100);
    ///     MiMalloc.dealloc(block, layout);
    /// }
    /// ```
    #[inline]
    pub unsafe fn usable_size(&self, ptr: *const u8) -> usize {
        ffi::mi_usable_size(ptr.cast::<c_void>())
    }

    /// The statistics as JSON. The error says that there is no memory for it.
    ///
    /// ```
    /// let json = mimalloc::MiMalloc::stats_json().unwrap();
    /// assert!(json.to_str().unwrap().starts_with('{'));
    /// ```
    pub fn stats_json() -> Result<StatsJson, &'static str> {
        StatsJson::take(unsafe { ffi::mi_stats_get_json(0, core::ptr::null_mut()) })
            .ok_or("out of memory")
    }
}

/// Frees what the calling thread keeps for later use; `force` gives all unused memory of the process
/// back to the system.
///
/// ```
/// drop(vec![1u8; 10_000_000]);
/// mimalloc::collect(true);
/// ```
pub fn collect(force: bool) {
    unsafe { ffi::mi_collect(force) }
}

/// How many bytes a request of `size` would make usable: asking for so many wastes nothing.
///
/// ```
/// assert!(mimalloc::good_size(100) >= 100);
/// ```
pub fn good_size(size: usize) -> usize {
    unsafe { ffi::mi_good_size(size) }
}

/// Whether the block that starts at `ptr`, or that `ptr` points into, is of this allocator.
///
/// ```
/// let heap = mimalloc::Heap::new().unwrap();
/// let here = 1;
/// assert!(mimalloc::is_in_heap(heap.alloc(1).unwrap()));
/// assert!(!mimalloc::is_in_heap(&here));
/// ```
pub fn is_in_heap<T>(ptr: *const T) -> bool {
    unsafe { ffi::mi_is_in_heap_region(ptr.cast()) }
}
