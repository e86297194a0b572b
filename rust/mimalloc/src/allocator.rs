//! The trait `Allocator`, of the standard library and of the crate `allocator-api2`.
#![cfg(any(feature = "allocator_api", feature = "allocator-api2"))]

use core::alloc::Layout;
use core::ptr::NonNull;

use crate::source::Source;
use crate::{Heap, MiMalloc};

/// An address for an empty block, which takes no memory.
fn nowhere(layout: Layout) -> NonNull<u8> {
    let block = core::ptr::null_mut::<u8>().wrapping_add(layout.align());
    unsafe { NonNull::new_unchecked(block) }
}

fn allocate(source: &impl Source, layout: Layout) -> Option<NonNull<u8>> {
    match layout.size() {
        0 => Some(nowhere(layout)),
        _ => NonNull::new(source.malloc(layout)),
    }
}

fn allocate_zeroed(source: &impl Source, layout: Layout) -> Option<NonNull<u8>> {
    match layout.size() {
        0 => Some(nowhere(layout)),
        _ => NonNull::new(source.zalloc(layout)),
    }
}

unsafe fn deallocate(source: &impl Source, block: NonNull<u8>, layout: Layout) {
    if layout.size() != 0 {
        source.free(block.as_ptr(), layout);
    }
}

unsafe fn resize(
    source: &impl Source,
    block: NonNull<u8>,
    old: Layout,
    new: Layout,
) -> Option<NonNull<u8>> {
    if old.size() == 0 {
        return allocate(source, new);
    }
    if new.size() == 0 {
        deallocate(source, block, old);
        return Some(nowhere(new));
    }
    NonNull::new(source.resize(block.as_ptr(), old, new))
}

unsafe fn grow_zeroed(
    source: &impl Source,
    block: NonNull<u8>,
    old: Layout,
    new: Layout,
) -> Option<NonNull<u8>> {
    if old.size() == 0 {
        return allocate_zeroed(source, new);
    }
    let block = resize(source, block, old, new)?;
    block.as_ptr().add(old.size()).write_bytes(0, new.size() - old.size());
    Some(block)
}

macro_rules! implement {
    ($api:path, $source:ty) => {
        const _: () = {
            use $api as api;

            type Block = Result<NonNull<[u8]>, api::AllocError>;

            fn sized(block: Option<NonNull<u8>>, layout: Layout) -> Block {
                let block = block.ok_or(api::AllocError)?.as_ptr();
                let slice = core::ptr::slice_from_raw_parts_mut(block, layout.size());
                Ok(unsafe { NonNull::new_unchecked(slice) })
            }

            // A heap that moves is the same heap, and its blocks stay where they are.
            unsafe impl api::Allocator for $source {
                #[inline]
                fn allocate(&self, layout: Layout) -> Block {
                    sized(allocate(self, layout), layout)
                }

                #[inline]
                fn allocate_zeroed(&self, layout: Layout) -> Block {
                    sized(allocate_zeroed(self, layout), layout)
                }

                #[inline]
                unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
                    deallocate(self, block, layout)
                }

                #[inline]
                unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Block {
                    sized(resize(self, block, old, new), new)
                }

                #[inline]
                unsafe fn grow_zeroed(
                    &self,
                    block: NonNull<u8>,
                    old: Layout,
                    new: Layout,
                ) -> Block {
                    sized(grow_zeroed(self, block, old, new), new)
                }

                #[inline]
                unsafe fn shrink(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Block {
                    sized(resize(self, block, old, new), new)
                }
            }
        };
    };
}

#[cfg(feature = "allocator-api2")]
implement!(allocator_api2::alloc, MiMalloc);
#[cfg(feature = "allocator-api2")]
implement!(allocator_api2::alloc, Heap);
#[cfg(feature = "allocator_api")]
implement!(core::alloc, MiMalloc);
#[cfg(feature = "allocator_api")]
implement!(core::alloc, Heap);
