//! A library for a program that knows nothing of it to open: python, or node, for which it is an
//! addon. It has an allocator of its own and, besides, 3 KiB of thread-local variables, which take
//! the feature `local_dynamic_tls`.
//!
//! It says by its functions whether its allocator works, and which blocks are its own, also beside
//! another copy of it. test/rust/loaded.sh opens it.

use std::cell::Cell;
use std::ffi::c_void;
use std::thread;

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

thread_local! {
    static OWN: Cell<[u8; 3072]> = const { Cell::new([1; 3072]) };
}

fn sum_of_own() -> usize {
    OWN.with(|own| own.get().iter().map(|&byte| usize::from(byte)).sum())
}

/// Allocates here and in other threads, which end; true if all is as it should be.
#[no_mangle]
pub extern "C" fn loaded_works() -> bool {
    let threads: Vec<_> = (0..4usize)
        .map(|seed| {
            thread::spawn(move || {
                let words: Vec<String> = (0..1000).map(|n| (n * seed).to_string()).collect();
                words.iter().all(|word| mimalloc::is_in_heap(word.as_ptr())) && sum_of_own() == 3072
            })
        })
        .collect();
    threads.into_iter().all(|thread| thread.join().unwrap_or(false)) && sum_of_own() == 3072
}

/// A block of this copy.
#[no_mangle]
pub extern "C" fn loaded_block(size: usize) -> *mut c_void {
    unsafe { mimalloc::ffi::mi_malloc(size) }
}

/// Whether a block is of this copy.
#[no_mangle]
pub extern "C" fn loaded_owns(block: *const c_void) -> bool {
    mimalloc::is_in_heap(block)
}

/// What node calls when it opens an addon. The first copy leaves a block's address in the
/// environment for the second, which looks whether it is its own.
#[no_mangle]
pub extern "C" fn napi_register_module_v1(_: *mut c_void, exports: *mut c_void) -> *mut c_void {
    assert!(loaded_works());
    let of_other = std::env::var("LOADED_BLOCK").ok().and_then(|text| text.parse::<usize>().ok());
    match of_other {
        Some(block) => assert!(!loaded_owns(block as *const c_void)),
        None => std::env::set_var("LOADED_BLOCK", (loaded_block(100) as usize).to_string()),
    }
    println!("works, {}", if of_other.is_some() { "beside another" } else { "alone" });
    exports
}
