//! In place of source.rs under Miri, which runs no C: the global allocator is the system's, and a heap
//! is a list of blocks of that. So Miri sees what this crate, and a program with it, does with memory.

extern crate std;

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;
use core::ptr;
use std::alloc::System;
use std::boxed::Box;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

use crate::ffi::mi_heap_t;
use crate::{Heap, MiMalloc};

/// Where blocks come from. Null pointers mean that there is no memory.
pub(crate) trait Source {
    fn malloc(&self, layout: Layout) -> *mut u8;
    fn zalloc(&self, layout: Layout) -> *mut u8;
    unsafe fn free(&self, block: *mut u8, layout: Layout);

    unsafe fn resize(&self, block: *mut u8, old: Layout, new: Layout) -> *mut u8 {
        let moved = self.malloc(new);
        if !moved.is_null() {
            moved.copy_from_nonoverlapping(block, old.size().min(new.size()));
            self.free(block, old);
        }
        moved
    }
}

impl Source for MiMalloc {
    fn malloc(&self, layout: Layout) -> *mut u8 {
        unsafe { System.alloc(layout) }
    }

    fn zalloc(&self, layout: Layout) -> *mut u8 {
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn free(&self, block: *mut u8, layout: Layout) {
        System.dealloc(block, layout);
    }
}

struct Block {
    start: *mut u8,
    layout: Layout,
}

type Blocks = Mutex<Vec<Block>>;

unsafe fn blocks<'a>(heap: *const mi_heap_t) -> MutexGuard<'a, Vec<Block>> {
    (*heap.cast::<Blocks>()).lock().unwrap_or_else(PoisonError::into_inner)
}

impl Source for Heap {
    fn malloc(&self, layout: Layout) -> *mut u8 {
        let start = unsafe { System.alloc(layout) };
        unsafe { blocks(self.as_ptr()) }.push(Block { start, layout });
        start
    }

    fn zalloc(&self, layout: Layout) -> *mut u8 {
        let start = self.malloc(layout);
        unsafe { start.write_bytes(0, layout.size()) };
        start
    }

    unsafe fn free(&self, block: *mut u8, layout: Layout) {
        let mut blocks = blocks(self.as_ptr());
        let place =
            blocks.iter().position(|b| ptr::eq(b.start, block)).expect("a block of the heap");
        assert_eq!(blocks.swap_remove(place).layout, layout);
        System.dealloc(block, layout);
    }
}

pub(crate) unsafe fn heap_new() -> *mut mi_heap_t {
    Box::into_raw(Box::new(Blocks::default())).cast()
}

pub(crate) unsafe fn heap_contains(heap: *const mi_heap_t, p: *const c_void) -> bool {
    let blocks = blocks(heap);
    blocks
        .iter()
        .any(|b| (b.start as usize..b.start as usize + b.layout.size()).contains(&(p as usize)))
}

pub(crate) unsafe fn heap_delete(heap: *mut mi_heap_t) {
    drop(Box::from_raw(heap.cast::<Blocks>()));
}

pub(crate) unsafe fn heap_destroy(heap: *mut mi_heap_t) {
    for block in blocks(heap).drain(..) {
        System.dealloc(block.start, block.layout);
    }
    heap_delete(heap);
}
