//! Arenas: large areas of memory that only the heaps made in them use.

use crate::ffi;

/// An area of memory that only heaps made in it use, by [`Heap::new_in`](crate::Heap::new_in). It
/// stays until the process ends.
///
/// ```
/// use mimalloc::{Arena, Heap};
///
/// let arena = Arena::reserve(32 << 20, true).unwrap();
/// assert!(arena.size() >= 32 << 20);
/// let heap = Heap::new_in(arena).unwrap();
/// assert!(arena.contains(heap.alloc(1).unwrap()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arena {
    id: ffi::mi_arena_id_t,
}

// An arena is never given back, and its id only ever names it.
unsafe impl Send for Arena {}
unsafe impl Sync for Arena {}

impl Arena {
    /// Reserves an arena of so many bytes, from the system; `commit`: at once, else as it is used.
    /// `None` when there is no such memory.
    ///
    /// ```
    /// assert!(mimalloc::Arena::reserve(32 << 20, false).is_some());
    /// assert!(mimalloc::Arena::reserve(usize::MAX / 2, false).is_none());
    /// ```
    pub fn reserve(size: usize, commit: bool) -> Option<Arena> {
        let mut id = core::ptr::null_mut();
        let error = unsafe { ffi::mi_reserve_os_memory_ex(size, commit, false, true, &mut id) };
        (error == 0).then_some(Arena { id })
    }

    /// The size of the arena, in bytes.
    ///
    /// ```
    /// assert!(mimalloc::Arena::reserve(32 << 20, true).unwrap().size() >= 32 << 20);
    /// ```
    pub fn size(self) -> usize {
        let mut size = 0;
        unsafe { ffi::mi_arena_area(self.id, &mut size) };
        size
    }

    /// Whether `ptr` points into the arena.
    ///
    /// ```
    /// assert!(!mimalloc::Arena::reserve(32 << 20, true).unwrap().contains(&1));
    /// ```
    pub fn contains<T>(self, ptr: *const T) -> bool {
        unsafe { ffi::mi_arena_contains(self.id, ptr.cast()) }
    }

    /// The arena for functions of [`ffi`](crate::ffi).
    ///
    /// ```
    /// use mimalloc::{ffi, Arena};
    ///
    /// let arena = Arena::reserve(32 << 20, true).unwrap();
    /// assert!(!unsafe { ffi::mi_arena_contains(arena.id(), std::ptr::null()) });
    /// ```
    pub fn id(self) -> ffi::mi_arena_id_t {
        self.id
    }
}
