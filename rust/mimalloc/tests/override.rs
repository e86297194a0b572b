//! With the feature `override`, and only then, C's `malloc` in the program is this allocator's.

use std::ffi::{c_char, c_void};

extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
    fn strdup(text: *const c_char) -> *mut c_char;
}

#[test]
fn malloc_is_whose_it_should_be() {
    // So that the library is linked whatever else the program does.
    assert!(mimalloc::good_size(1) > 0);
    unsafe {
        for size in [1, 100, 100_000, 10_000_000] {
            let block = malloc(size);
            assert_eq!(mimalloc::is_in_heap(block), cfg!(feature = "override"), "{size}");
            free(block);
        }
        let copy = strdup(b"text\0".as_ptr().cast());
        assert_eq!(mimalloc::is_in_heap(copy), cfg!(feature = "override"));
        free(copy.cast());
    }
}
