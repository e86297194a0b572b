//! Times and memory of the process.

use core::time::Duration;

use crate::ffi;

/// Times and memory of the process, from [`process_info`].
///
/// ```
/// let info = mimalloc::process_info();
/// println!("{:?}, {} bytes resident", info.elapsed, info.current_rss);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// Time since the process started.
    pub elapsed: Duration,
    /// Processor time in the program.
    pub user: Duration,
    /// Processor time in the system.
    pub system: Duration,
    /// Resident memory, in bytes.
    pub current_rss: usize,
    /// The most resident memory at one time.
    pub peak_rss: usize,
    /// Committed memory of the allocator, in bytes.
    pub current_commit: usize,
    /// The most committed memory at one time.
    pub peak_commit: usize,
    /// Major page faults.
    pub page_faults: usize,
}

/// Times and memory of the process.
///
/// ```
/// let info = mimalloc::process_info();
/// assert!(info.peak_rss >= info.current_rss || info.current_rss > 0);
/// ```
pub fn process_info() -> ProcessInfo {
    let mut info = ProcessInfo::default();
    let (mut elapsed, mut user, mut system) = (0, 0, 0);
    unsafe {
        ffi::mi_process_info(
            &mut elapsed,
            &mut user,
            &mut system,
            &mut info.current_rss,
            &mut info.peak_rss,
            &mut info.current_commit,
            &mut info.peak_commit,
            &mut info.page_faults,
        );
    }
    info.elapsed = Duration::from_millis(elapsed as u64);
    info.user = Duration::from_millis(user as u64);
    info.system = Duration::from_millis(system as u64);
    info
}

#[cfg(feature = "serde")]
impl serde::Serialize for ProcessInfo {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut out = out.serialize_struct("ProcessInfo", 8)?;
        out.serialize_field("elapsed", &self.elapsed)?;
        out.serialize_field("user", &self.user)?;
        out.serialize_field("system", &self.system)?;
        out.serialize_field("current_rss", &self.current_rss)?;
        out.serialize_field("peak_rss", &self.peak_rss)?;
        out.serialize_field("current_commit", &self.current_commit)?;
        out.serialize_field("peak_commit", &self.peak_commit)?;
        out.serialize_field("page_faults", &self.page_faults)?;
        out.end()
    }
}
