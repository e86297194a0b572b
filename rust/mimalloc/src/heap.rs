//! Heaps that are freed as a whole.

use core::alloc::Layout;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use crate::source::{self, Source};
use crate::{ffi, Arena, Stats, StatsJson};

/// Memory of one purpose: what is in it is freed at once with the heap, without a look at each
/// block. Any thread may allocate in it.
///
/// What is allocated in a heap borrows it, so that nothing outlives it.
///
/// ```
/// let heap = mimalloc::Heap::new().unwrap();
/// let numbers = heap.alloc([1, 2, 3]).unwrap();
/// numbers[0] = 7;
/// assert_eq!(numbers, &[7, 2, 3]);
/// ```
///
/// ```compile_fail,E0505
/// let heap = mimalloc::Heap::new().unwrap();
/// let number = heap.alloc(1).unwrap();
/// drop(heap);
/// assert_eq!(*number, 1); // does not compile: the heap, and the number in it, are gone
/// ```
///
/// With the feature `allocator-api2` or `allocator_api` collections live in a heap; they borrow it,
/// or own it:
#[cfg_attr(feature = "allocator-api2", doc = "```")]
#[cfg_attr(not(feature = "allocator-api2"), doc = "```ignore")]
/// use allocator_api2::vec::Vec;
///
/// let heap = mimalloc::Heap::new().unwrap();
/// let mut words = Vec::new_in(&heap);
/// words.push("a");
/// assert!(heap.contains(words.as_ptr()));
///
/// let mut numbers = Vec::new_in(mimalloc::Heap::new().unwrap());
/// numbers.extend(0..100);
/// ```
#[derive(Debug)]
pub struct Heap {
    raw: NonNull<ffi::mi_heap_t>,
}

// Any thread may use a heap, several at a time; that none uses it while it ends, its owner knows.
unsafe impl Send for Heap {}
unsafe impl Sync for Heap {}

impl Heap {
    /// A new heap, or `None` when there is no memory.
    ///
    /// ```
    /// let heap = mimalloc::Heap::new().unwrap();
    /// assert_eq!(heap.alloc("hello").unwrap().len(), 5);
    /// ```
    pub fn new() -> Option<Heap> {
        NonNull::new(unsafe { source::heap_new() }).map(|raw| Heap { raw })
    }

    /// A new heap that allocates in this arena only.
    ///
    /// ```
    /// use mimalloc::{Arena, Heap};
    ///
    /// let arena = Arena::reserve(32 << 20, true).unwrap();
    /// let heap = Heap::new_in(arena).unwrap();
    /// let number = heap.alloc(1).unwrap();
    /// assert!(arena.contains(number));
    /// ```
    pub fn new_in(arena: Arena) -> Option<Heap> {
        NonNull::new(unsafe { ffi::mi_heap_new_in_arena(arena.id()) }).map(|raw| Heap { raw })
    }

    /// Moves a value into the heap. It is not dropped when the heap is, only its memory is freed.
    /// When there is no memory the value comes back.
    ///
    /// ```
    /// let heap = mimalloc::Heap::new().unwrap();
    /// let pair = heap.alloc((1, 'x')).unwrap();
    /// pair.0 += 1;
    /// assert_eq!(*pair, (2, 'x'));
    /// ```
    #[allow(clippy::mut_from_ref)] // each call gives out another block
    pub fn alloc<T>(&self, value: T) -> Result<&mut T, T> {
        match self.place(Layout::new::<T>()) {
            Some(place) => unsafe {
                let place = place.cast::<T>();
                place.as_ptr().write(value);
                Ok(&mut *place.as_ptr())
            },
            None => Err(value),
        }
    }

    /// Copies a slice into the heap; `None` when there is no memory.
    ///
    /// ```
    /// let heap = mimalloc::Heap::new().unwrap();
    /// assert_eq!(heap.alloc_slice(&[1, 2, 3]).unwrap(), &[1, 2, 3]);
    /// ```
    #[allow(clippy::mut_from_ref)]
    pub fn alloc_slice<T: Copy>(&self, slice: &[T]) -> Option<&mut [T]> {
        let place = self.place(Layout::for_value(slice))?.cast::<T>();
        unsafe {
            place.as_ptr().copy_from_nonoverlapping(slice.as_ptr(), slice.len());
            Some(core::slice::from_raw_parts_mut(place.as_ptr(), slice.len()))
        }
    }

    /// Copies a string into the heap; `None` when there is no memory.
    ///
    /// ```
    /// let heap = mimalloc::Heap::new().unwrap();
    /// assert_eq!(heap.alloc_str("text").unwrap(), "text");
    /// ```
    #[allow(clippy::mut_from_ref)]
    pub fn alloc_str(&self, text: &str) -> Option<&mut str> {
        self.alloc_slice(text.as_bytes())
            .map(|bytes| unsafe { core::str::from_utf8_unchecked_mut(bytes) })
    }

    /// Whether `ptr` points into memory of this heap. Any address may be asked about.
    ///
    /// ```
    /// let heap = mimalloc::Heap::new().unwrap();
    /// let number = heap.alloc(1).unwrap();
    /// assert!(heap.contains(number));
    /// assert!(!heap.contains(&0));
    /// ```
    pub fn contains<T>(&self, ptr: *const T) -> bool {
        unsafe { source::heap_contains(self.as_ptr(), ptr.cast()) }
    }

    /// Frees what the calling thread keeps of the heap for later use; `force` also gives it back to
    /// the system.
    ///
    /// ```
    /// let heap = mimalloc::Heap::new().unwrap();
    /// heap.collect(true);
    /// ```
    pub fn collect(&self, force: bool) {
        unsafe { ffi::mi_heap_collect(self.as_ptr(), force) }
    }

    /// Prefers memory of this NUMA node from now on; `None` ends the preference.
    ///
    /// ```
    /// let heap = mimalloc::Heap::new().unwrap();
    /// heap.set_numa_node(Some(0));
    /// ```
    pub fn set_numa_node(&self, node: Option<u16>) {
        unsafe { ffi::mi_heap_set_numa_affinity(self.as_ptr(), node.map_or(-1, i32::from)) }
    }

    /// The statistics of this heap alone.
    ///
    /// ```
    /// let heap = mimalloc::Heap::new().unwrap();
    /// heap.alloc([0u8; 1 << 20]).unwrap();
    /// assert!(heap.stats().unwrap().malloc_huge().current >= 1 << 20);
    /// ```
    pub fn stats(&self) -> Option<Stats> {
        Stats::from(|stats| unsafe { ffi::mi_heap_stats_get(self.as_ptr(), stats) })
    }

    /// The statistics of this heap alone, as JSON; `None` when there is no memory for it.
    ///
    /// ```
    /// let heap = mimalloc::Heap::new().unwrap();
    /// assert!(heap.stats_json().unwrap().to_str().unwrap().starts_with('{'));
    /// ```
    pub fn stats_json(&self) -> Option<StatsJson> {
        let null = core::ptr::null_mut();
        StatsJson::take(unsafe { ffi::mi_heap_stats_get_json(self.as_ptr(), 0, null) })
    }

    /// Ends the heap, but not its blocks: they move to the main heap, where a block that was leaked
    /// stays valid.
    ///
    /// ```
    /// let heap = mimalloc::Heap::new().unwrap();
    /// let kept: *const i32 = heap.alloc(3).unwrap();
    /// heap.delete();
    /// assert_eq!(unsafe { *kept }, 3);
    /// ```
    pub fn delete(self) {
        unsafe { source::heap_delete(self.into_raw()) }
    }

    /// The heap for functions of [`ffi`](crate::ffi).
    ///
    /// ```
    /// use mimalloc::{ffi, Heap};
    ///
    /// let heap = Heap::new().unwrap();
    /// unsafe { ffi::mi_free(ffi::mi_heap_malloc(heap.as_ptr(), 100)) };
    /// ```
    #[inline]
    pub fn as_ptr(&self) -> *mut ffi::mi_heap_t {
        self.raw.as_ptr()
    }

    /// Gives the heap to the caller, who ends it.
    ///
    /// ```
    /// use mimalloc::{ffi, Heap};
    ///
    /// let raw = Heap::new().unwrap().into_raw();
    /// unsafe { ffi::mi_heap_destroy(raw) };
    /// ```
    pub fn into_raw(self) -> *mut ffi::mi_heap_t {
        ManuallyDrop::new(self).as_ptr()
    }

    /// Takes a heap over.
    ///
    /// # Safety
    ///
    /// `raw` is a live heap, not the main heap, and nobody else ends it.
    ///
    /// ```
    /// use mimalloc::{ffi, Heap};
    ///
    /// let heap = unsafe { Heap::from_raw(ffi::mi_heap_new()) };
    /// assert_eq!(*heap.alloc(5).unwrap(), 5);
    /// ```
    pub unsafe fn from_raw(raw: *mut ffi::mi_heap_t) -> Heap {
        Heap { raw: NonNull::new_unchecked(raw) }
    }

    /// Memory for a value; an address for an empty one, which takes none.
    fn place(&self, layout: Layout) -> Option<NonNull<u8>> {
        let place = match layout.size() {
            0 => core::ptr::null_mut::<u8>().wrapping_add(layout.align()),
            _ => self.malloc(layout),
        };
        NonNull::new(place)
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        unsafe { source::heap_destroy(self.as_ptr()) }
    }
}
