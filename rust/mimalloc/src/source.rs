//! What the global allocator and a heap share: from layouts to the functions that serve them.

use core::alloc::Layout;
use core::ffi::c_void;

use crate::{ffi, Heap, MiMalloc};

/// Whether a block of this layout is aligned well without being told: all blocks are to 8 bytes,
/// those of 16 bytes and more to 16.
#[inline]
fn is_plain(layout: Layout) -> bool {
    layout.align() <= 8 || layout.align() == 16 && layout.size() >= 16
}

/// Where blocks come from. Null pointers mean that there is no memory.
pub(crate) trait Source {
    fn malloc(&self, layout: Layout) -> *mut u8;
    fn zalloc(&self, layout: Layout) -> *mut u8;

    /// A block of another layout, with the contents; the old one is gone, or stays on failure.
    ///
    /// # Safety
    /// `block` is a live one from here, of the layout `old`; `new` is not empty.
    unsafe fn resize(&self, block: *mut u8, old: Layout, new: Layout) -> *mut u8;

    /// # Safety
    /// `block` is a live one from here, of this layout.
    #[inline]
    unsafe fn free(&self, block: *mut u8, layout: Layout) {
        if is_plain(layout) {
            ffi::mi_free_size(block.cast(), layout.size());
        } else {
            ffi::mi_free_size_aligned(block.cast(), layout.size(), layout.align());
        }
    }
}

impl Source for MiMalloc {
    #[inline]
    fn malloc(&self, layout: Layout) -> *mut u8 {
        let block = unsafe {
            if is_plain(layout) {
                ffi::mi_malloc(layout.size())
            } else {
                ffi::mi_malloc_aligned(layout.size(), layout.align())
            }
        };
        block.cast()
    }

    #[inline]
    fn zalloc(&self, layout: Layout) -> *mut u8 {
        let block = unsafe {
            if is_plain(layout) {
                ffi::mi_zalloc(layout.size())
            } else {
                ffi::mi_zalloc_aligned(layout.size(), layout.align())
            }
        };
        block.cast()
    }

    #[inline]
    unsafe fn resize(&self, block: *mut u8, _old: Layout, new: Layout) -> *mut u8 {
        let block = block.cast::<c_void>();
        let block = if is_plain(new) {
            ffi::mi_realloc(block, new.size())
        } else {
            ffi::mi_realloc_aligned(block, new.size(), new.align())
        };
        block.cast()
    }
}

impl Source for Heap {
    #[inline]
    fn malloc(&self, layout: Layout) -> *mut u8 {
        let block = unsafe {
            if is_plain(layout) {
                ffi::mi_heap_malloc(self.as_ptr(), layout.size())
            } else {
                ffi::mi_heap_malloc_aligned(self.as_ptr(), layout.size(), layout.align())
            }
        };
        block.cast()
    }

    #[inline]
    fn zalloc(&self, layout: Layout) -> *mut u8 {
        let block = unsafe {
            if is_plain(layout) {
                ffi::mi_heap_zalloc(self.as_ptr(), layout.size())
            } else {
                ffi::mi_heap_zalloc_aligned(self.as_ptr(), layout.size(), layout.align())
            }
        };
        block.cast()
    }

    #[inline]
    unsafe fn resize(&self, block: *mut u8, _old: Layout, new: Layout) -> *mut u8 {
        let block = block.cast::<c_void>();
        let block = if is_plain(new) {
            ffi::mi_heap_realloc(self.as_ptr(), block, new.size())
        } else {
            ffi::mi_heap_realloc_aligned(self.as_ptr(), block, new.size(), new.align())
        };
        block.cast()
    }
}

pub(crate) use ffi::{
    mi_heap_contains as heap_contains, mi_heap_delete as heap_delete,
    mi_heap_destroy as heap_destroy, mi_heap_new as heap_new,
};
