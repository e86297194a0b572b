//! Memory of the process: what large blocks and heaps take, and give back. One test at a time, as
//! the figures are those of the whole process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mimalloc::{Heap, MiMalloc};

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Large vectors grow in place or by exchange of pages: a copy of each would touch new memory.
#[test]
#[cfg_attr(windows, ignore = "pages cannot be exchanged there")]
fn a_large_vector_grows_without_copies() {
    let _alone = alone();
    let mut bytes: Vec<u8> = vec![1; 64 << 20];
    let before = mimalloc::process_info().peak_rss;
    for _ in 0..16 {
        bytes.reserve_exact(bytes.len() + (8 << 20) - bytes.len() % (8 << 20));
        bytes.resize(bytes.len() + (1 << 20), 1);
    }
    let grown = mimalloc::process_info().peak_rss.saturating_sub(before);
    assert!(grown < 48 << 20, "grown by {grown} bytes for 16 MiB more");
    assert!(bytes.iter().all(|&byte| byte == 1));
}

#[test]
fn a_large_zeroed_block_is_not_touched() {
    let _alone = alone();
    let before = mimalloc::process_info().current_rss;
    let zeros = vec![0u64; 64 << 20];
    let resident = mimalloc::process_info().current_rss.saturating_sub(before);
    assert_eq!(zeros[63 << 20], 0);
    assert!(resident < 256 << 20, "{resident} bytes of {} are resident", zeros.len() * 8);
}

#[test]
fn memory_of_a_heap_is_given_up_with_it() {
    let _alone = alone();
    let live = || mimalloc::Stats::get().unwrap().malloc_huge().current;
    let before = live();
    let heap = Heap::new().unwrap();
    for _ in 0..50 {
        heap.alloc_slice(&[0u8; 100_000]).unwrap();
    }
    assert!(heap.stats().unwrap().malloc_huge().current >= 5_000_000);
    drop(heap);
    let after = live();
    assert!(after < before + 1_000_000, "{before} {after}");
}
