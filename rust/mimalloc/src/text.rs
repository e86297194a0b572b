//! Text that the library writes.

use core::ffi::{c_char, c_void, CStr};
use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;

use crate::ffi;

/// JSON that the library wrote, as a C string.
///
/// ```
/// let json = mimalloc::MiMalloc::stats_json().unwrap();
/// let text: &std::ffi::CStr = &json;
/// assert_eq!(text.to_bytes()[0], b'{');
/// ```
pub struct StatsJson {
    text: NonNull<c_char>,
}

// The text is nobody else's and does not change.
unsafe impl Send for StatsJson {}
unsafe impl Sync for StatsJson {}

impl StatsJson {
    /// Takes over a terminated text in a block of the library; `None` for a null pointer.
    pub(crate) fn take(text: *mut c_char) -> Option<StatsJson> {
        NonNull::new(text).map(|text| StatsJson { text })
    }
}

impl Deref for StatsJson {
    type Target = CStr;

    fn deref(&self) -> &CStr {
        unsafe { CStr::from_ptr(self.text.as_ptr()) }
    }
}

impl fmt::Debug for StatsJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Drop for StatsJson {
    fn drop(&mut self) {
        unsafe { ffi::mi_free(self.text.as_ptr().cast()) }
    }
}

/// Room for text, and how much there was of it, which may be more.
struct Room {
    start: *mut u8,
    capacity: usize,
    written: usize,
}

unsafe extern "C" fn write(text: *const c_char, room: *mut c_void) {
    let room = &mut *room.cast::<Room>();
    let text = CStr::from_ptr(text).to_bytes();
    if room.written + text.len() <= room.capacity {
        room.start.add(room.written).copy_from_nonoverlapping(text.as_ptr(), text.len());
    }
    room.written += text.len();
}

/// Writes to `out` what `print` prints. While it prints nobody may allocate, as `out` perhaps does;
/// so the text goes to a block first, the second time to one that was large enough for the first.
pub(crate) fn print(
    out: &mut dyn fmt::Write,
    mut print: impl FnMut(ffi::mi_output_fun, *mut c_void),
) -> fmt::Result {
    let mut capacity = 0;
    loop {
        let start = unsafe { ffi::mi_malloc(capacity) }.cast::<u8>();
        if start.is_null() {
            return Err(fmt::Error);
        }
        let mut room = Room { start, capacity, written: 0 };
        print(Some(write), (&mut room as *mut Room).cast());
        let result = (room.written <= capacity).then(|| {
            let text = unsafe { core::slice::from_raw_parts(start, room.written) };
            out.write_str(core::str::from_utf8(text).map_err(|_| fmt::Error)?)
        });
        unsafe { ffi::mi_free(start.cast()) };
        match result {
            Some(result) => return result,
            None => capacity = room.written + 4096,
        }
    }
}
