//! Each constant, size and offset is what C has, and each function is in the library.

use std::mem::{align_of, offset_of, size_of};

use libmimalloc_sys as ffi;

/// The size of a field, by the type of a pointer to it.
fn size_of_field<S, F>(_field: fn(&S) -> *const F) -> usize {
    size_of::<F>()
}

include!(concat!(env!("OUT_DIR"), "/rust.rs"));

#[test]
fn constants_sizes_and_offsets() {
    let rust = rust();
    assert_eq!(rust.len(), check::of_c().len());
    assert!(rust.len() > 100, "only {} facts: build.rs does not understand", rust.len());
    for ((name, rust), c) in rust.iter().zip(check::of_c()) {
        assert_eq!(c, rust, "{name}: C has {c}, Rust {rust}");
    }
}

#[test]
fn functions_are_linked() {
    let functions = functions();
    assert!(functions.len() > 150 && functions.iter().all(|f| !f.is_null()));
}

#[test]
fn the_headers_are_of_the_library() {
    assert_eq!(unsafe { ffi::mi_version() }, ffi::MI_MALLOC_VERSION);
}
