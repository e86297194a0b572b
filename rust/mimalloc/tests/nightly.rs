//! The standard library's own collections in a heap, by its trait `Allocator`.
#![cfg(feature = "allocator_api")]
#![feature(allocator_api)]

use std::collections::VecDeque;

use mimalloc::{Heap, MiMalloc};

#[test]
fn collections_live_in_a_heap() {
    let heap = Heap::new().unwrap();
    let mut words = Vec::new_in(&heap);
    words.extend((0..1000).map(|n| Box::new_in(n, &heap)));
    assert!(heap.contains(words.as_ptr()) && heap.contains(&*words[999]));
    let mut queue = VecDeque::new_in(&heap);
    queue.extend((0..1000).map(|n| n * n));
    assert_eq!(queue[30], 900);
    words.retain(|word| **word % 2 == 0);
    assert_eq!(words.len(), 500);
}

#[test]
fn collections_live_in_the_global_allocator() {
    let zeros = Box::<[u8], _>::new_zeroed_slice_in(100_000, MiMalloc);
    let zeros = unsafe { zeros.assume_init() };
    assert!(mimalloc::is_in_heap(zeros.as_ptr()) && zeros.iter().all(|&byte| byte == 0));
}
