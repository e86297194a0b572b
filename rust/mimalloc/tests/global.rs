//! The global allocator: what `GlobalAlloc` promises, and a program that lives on it.

use std::alloc::{GlobalAlloc, Layout};
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc;
use std::thread;

use mimalloc::MiMalloc;

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

const SIZES: [usize; 14] = [1, 2, 7, 8, 9, 15, 16, 17, 100, 1000, 4096, 40_000, 300_000, 3_000_000];
const ALIGNS: [usize; 12] = [1, 2, 4, 8, 16, 32, 64, 128, 1024, 4096, 65_536, 1 << 20];

fn is_aligned(block: *const u8, align: usize) -> bool {
    !block.is_null() && block as usize % align == 0
}

unsafe fn fill(block: *mut u8, size: usize, seed: usize) {
    for index in 0..size {
        block.add(index).write((index * 7 + seed) as u8);
    }
}

unsafe fn is_filled(block: *const u8, size: usize, seed: usize) -> bool {
    (0..size).all(|index| *block.add(index) == (index * 7 + seed) as u8)
}

#[test]
fn blocks_are_aligned() {
    for size in SIZES {
        for align in ALIGNS {
            let layout = Layout::from_size_align(size, align).unwrap();
            unsafe {
                let blocks: Vec<_> = (0..20).map(|_| GLOBAL.alloc(layout)).collect();
                for (seed, &block) in blocks.iter().enumerate() {
                    assert!(is_aligned(block, align), "{size} {align}");
                    assert!(GLOBAL.usable_size(block) >= size);
                    fill(block, size.min(300), seed);
                }
                for (seed, &block) in blocks.iter().enumerate() {
                    assert!(is_filled(block, size.min(300), seed));
                    GLOBAL.dealloc(block, layout);
                }
            }
        }
    }
}

#[test]
fn zeroed_blocks_are_zero_when_memory_is_reused() {
    for size in SIZES {
        for align in [8, 16, 64, 4096] {
            let layout = Layout::from_size_align(size, align).unwrap();
            for _ in 0..10 {
                unsafe {
                    let block = GLOBAL.alloc_zeroed(layout);
                    assert!(is_aligned(block, align));
                    let bytes = std::slice::from_raw_parts_mut(block, size);
                    assert!(bytes.iter().all(|&byte| byte == 0), "{size} {align}");
                    bytes.fill(0xA5);
                    GLOBAL.dealloc(block, layout);
                }
            }
        }
    }
}

/// A block that shrinks below its alignment, or grows past what it was made for, stays aligned.
#[test]
fn realloc_keeps_alignment_and_contents() {
    for old in SIZES {
        for new in SIZES {
            for align in ALIGNS {
                let layout = Layout::from_size_align(old, align).unwrap();
                unsafe {
                    // Several at once, since every second block of 8 bytes is aligned to 16.
                    let blocks: Vec<_> = (0..3)
                        .map(|seed| {
                            let block = GLOBAL.alloc(layout);
                            fill(block, old.min(new).min(5000), seed);
                            block
                        })
                        .collect();
                    for (seed, &block) in blocks.iter().enumerate() {
                        let block = GLOBAL.realloc(block, layout, new);
                        assert!(is_aligned(block, align), "{old} {new} {align}");
                        assert!(is_filled(block, old.min(new).min(5000), seed));
                        GLOBAL.dealloc(block, Layout::from_size_align(new, align).unwrap());
                    }
                }
            }
        }
    }
}

#[test]
fn no_memory_is_a_null_pointer() {
    let layout = Layout::from_size_align(isize::MAX as usize - 64, 32).unwrap();
    let small = Layout::new::<[u8; 64]>();
    unsafe {
        assert!(GLOBAL.alloc(layout).is_null());
        assert!(GLOBAL.alloc_zeroed(layout).is_null());
        let block = GLOBAL.alloc(small);
        fill(block, 64, 1);
        assert!(GLOBAL.realloc(block, small, layout.size()).is_null());
        assert!(is_filled(block, 64, 1));
        GLOBAL.dealloc(block, small);
    }
}

#[test]
fn threads_free_what_others_allocate() {
    let (send, receive) = mpsc::channel::<Vec<String>>();
    let makers: Vec<_> = (0..4)
        .map(|seed| {
            let send = send.clone();
            thread::spawn(move || {
                for round in 0..200 {
                    let words =
                        (0..50).map(|n| format!("{}", n * round + seed).repeat(n)).collect();
                    send.send(words).unwrap();
                }
            })
        })
        .collect();
    drop(send);
    let mut lengths = BTreeMap::new();
    for words in receive {
        for word in words {
            *lengths.entry(word.len()).or_insert(0usize) += 1;
        }
    }
    for maker in makers {
        maker.join().unwrap();
    }
    assert_eq!(lengths.values().sum::<usize>(), 4 * 200 * 50);
}

#[test]
fn the_program_lives_in_it() {
    let map: HashMap<String, Box<[u8]>> =
        (0..1000usize).map(|n| (n.to_string(), vec![n as u8; n].into())).collect();
    for (name, bytes) in &map {
        assert!(mimalloc::is_in_heap(name.as_ptr()));
        assert!(bytes.is_empty() || mimalloc::is_in_heap(bytes.as_ptr()));
    }
}
