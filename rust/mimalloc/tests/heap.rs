//! Heaps, and collections in them. The global allocator is another one, so that what is in a heap is
//! there by its doing.
#![cfg(feature = "allocator-api2")]

use std::alloc::Layout;
use std::sync::Arc;
use std::thread;

use allocator_api2::alloc::Allocator;
use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;
use mimalloc::{Arena, Heap, MiMalloc};

// Miri takes its time.
const LONG: i64 = if cfg!(miri) { 300 } else { 100_000 };

#[test]
fn values_stay_until_the_heap_ends() {
    let heap = Heap::new().unwrap();
    let mut all = vec![];
    for number in 0..LONG as u64 / 100 {
        all.push((heap.alloc(number).unwrap(), heap.alloc_str(&number.to_string()).unwrap()));
    }
    for (index, (number, text)) in all.iter().enumerate() {
        assert_eq!(**number, index as u64);
        assert_eq!(**text, index.to_string());
        assert!(heap.contains(*number) && heap.contains(text.as_ptr()));
    }
}

#[test]
fn values_are_aligned_and_may_be_empty() {
    #[repr(align(256))]
    #[derive(Clone, Copy)]
    struct Wide(#[allow(dead_code)] u8);
    let heap = Heap::new().unwrap();
    for _ in 0..10 {
        let wide: *const Wide = heap.alloc(Wide(1)).ok().unwrap();
        assert_eq!(wide as usize % 256, 0);
        let many = heap.alloc_slice(&[Wide(1); 3]).unwrap();
        assert_eq!(many.as_ptr() as usize % 256, 0);
    }
    assert_eq!(heap.alloc(()), Ok(&mut ()));
    assert_eq!(heap.alloc_str("").unwrap(), "");
    assert!(heap.alloc_slice::<u64>(&[]).unwrap().is_empty());
}

#[test]
fn vectors_and_boxes() {
    let heap = Heap::new().unwrap();
    let mut numbers = Vec::new_in(&heap);
    numbers.extend(0..LONG);
    numbers.shrink_to_fit();
    assert!(heap.contains(numbers.as_ptr()));
    assert_eq!(numbers.iter().sum::<i64>(), LONG * (LONG - 1) / 2);
    let boxed = Box::new_in([7u8; 1000], &heap);
    assert!(heap.contains(boxed.as_ptr()));
    let mut global = Vec::new_in(MiMalloc);
    global.extend([1, 2, 3]);
    assert_eq!(global, [1, 2, 3]);
}

#[test]
fn a_collection_owns_its_heap() {
    let mut words = Vec::new_in(Heap::new().unwrap());
    for n in 0..LONG / 100 {
        words.push(n.to_string());
    }
    assert!(words.allocator().contains(words.as_ptr()));
    assert_eq!(words[2], "2");
}

#[test]
fn several_threads_allocate_in_one_heap() {
    let heap = Arc::new(Heap::new().unwrap());
    let threads: std::vec::Vec<_> = (0..4u8)
        .map(|seed| {
            let heap = heap.clone();
            thread::spawn(move || {
                let mut all = Vec::new_in(&*heap);
                for n in 0..LONG as usize / 100 {
                    let mut bytes = Vec::new_in(&*heap);
                    bytes.resize(n, seed);
                    all.push(bytes);
                }
                all.retain(|bytes| bytes.len() % 3 == 0);
                all.iter().all(|bytes| bytes.iter().all(|&byte| byte == seed))
            })
        })
        .collect();
    for thread in threads {
        assert!(thread.join().unwrap());
    }
}

#[test]
fn empty_and_changing_layouts() {
    let heap = Heap::new().unwrap();
    unsafe {
        let empty = Layout::from_size_align(0, 64).unwrap();
        let wide = Layout::from_size_align(100, 64).unwrap();
        let narrow = Layout::from_size_align(8, 4).unwrap();
        let block = heap.allocate(empty).unwrap().cast::<u8>();
        assert_eq!(block.as_ptr() as usize % 64, 0);
        let block = heap.grow_zeroed(block, empty, wide).unwrap().cast::<u8>();
        assert_eq!(block.as_ptr() as usize % 64, 0);
        assert_eq!(std::slice::from_raw_parts(block.as_ptr(), 100), &[0; 100]);
        block.as_ptr().write_bytes(3, 100);
        let larger = Layout::from_size_align(300, 128).unwrap();
        let block = heap.grow_zeroed(block, wide, larger).unwrap().cast::<u8>();
        assert_eq!(block.as_ptr() as usize % 128, 0);
        assert_eq!(std::slice::from_raw_parts(block.as_ptr(), 100), &[3; 100]);
        assert_eq!(std::slice::from_raw_parts(block.as_ptr().add(100), 200), &[0; 200]);
        let block = heap.shrink(block, larger, narrow).unwrap().cast::<u8>();
        assert_eq!(std::slice::from_raw_parts(block.as_ptr(), 8), &[3; 8]);
        let block = heap.shrink(block, narrow, Layout::from_size_align(0, 4).unwrap()).unwrap();
        heap.deallocate(block.cast(), Layout::from_size_align(0, 4).unwrap());
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri ends where there is no memory")]
fn no_memory_is_an_error() {
    let huge = Layout::from_size_align(isize::MAX as usize - 64, 1).unwrap();
    assert!(Heap::new().unwrap().allocate(huge).is_err());
}

#[test]
#[cfg_attr(miri, ignore = "calls C")]
fn arenas_hold_only_their_heaps() {
    let arena = Arena::reserve(32 << 20, true).unwrap();
    let heap = Heap::new_in(arena).unwrap();
    let inside = heap.alloc([0u8; 1000]).unwrap();
    let other = Heap::new().unwrap();
    let outside = other.alloc([0u8; 1000]).unwrap();
    assert!(arena.contains(inside) && !arena.contains(outside));
    assert!(heap.alloc_slice(&vec![0u8; 64 << 20]).is_none());
}

#[test]
#[cfg_attr(miri, ignore = "calls C")]
fn blocks_outlive_a_heap_that_is_deleted() {
    let heap = Heap::new().unwrap();
    let text: *mut str = heap.alloc_str("still here").unwrap();
    heap.delete();
    unsafe {
        assert_eq!(&*text, "still here");
        mimalloc::ffi::mi_free(text.cast());
    }
}
