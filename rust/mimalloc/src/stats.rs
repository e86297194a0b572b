//! Statistics as a struct.

use core::fmt;
use core::mem::{self, MaybeUninit};

use crate::{ffi, text};

/// Something that comes and goes.
///
/// ```
/// let pages = mimalloc::Stats::get().unwrap().pages();
/// assert!(pages.peak >= pages.current && pages.total >= pages.peak);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// All there ever was.
    pub total: i64,
    /// The most at one time.
    pub peak: i64,
    /// What there is now.
    pub current: i64,
}

impl From<ffi::mi_stat_count_t> for Count {
    fn from(count: ffi::mi_stat_count_t) -> Count {
        Count { total: count.total, peak: count.peak, current: count.current }
    }
}

/// The blocks of one size class, from [`Stats::bins`].
///
/// ```
/// let stats = mimalloc::Stats::get().unwrap();
/// assert!(stats.bins().all(|bin| bin.block_size > 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bin {
    /// The size of a block, in bytes.
    pub block_size: usize,
    /// Blocks of this class.
    pub blocks: Count,
    /// Pages of such blocks.
    pub pages: Count,
}

/// The statistics of the process or of a heap, as they were when they were taken. Sizes are in
/// bytes.
///
/// A number is exact for the threads that rest, and nearly so for those that run.
///
/// ```
/// let stats = mimalloc::Stats::get().unwrap();
/// println!("{} bytes in {} pages", stats.committed().current, stats.pages().current);
/// ```
#[derive(Clone)]
pub struct Stats {
    raw: ffi::mi_stats_t,
}

macro_rules! count_type {
    (count) => {
        Count
    };
    (counter) => {
        i64
    };
}

macro_rules! count_value {
    (count, $value:expr) => {
        Count::from($value)
    };
    (counter, $value:expr) => {
        $value.total
    };
}

macro_rules! example {
    (count, $name:ident) => {
        concat!(
            "\n\n```\nlet ",
            stringify!($name),
            " = mimalloc::Stats::get().unwrap().",
            stringify!($name),
            "();\nprintln!(\"now {}, at most {}\", ",
            stringify!($name),
            ".current, ",
            stringify!($name),
            ".peak);\n```"
        )
    };
    (counter, $name:ident) => {
        concat!(
            "\n\n```\nlet stats = mimalloc::Stats::get().unwrap();\nassert!(stats.",
            stringify!($name),
            "() >= 0);\n```"
        )
    };
}

macro_rules! statistics {
    ($($kind:ident $name:ident $text:literal,)*) => {
        /// One method for each statistic.
        ///
        /// ```
        /// assert!(mimalloc::Stats::get().unwrap().threads().current >= 0);
        /// ```
        impl Stats {
            $(
                #[doc = $text]
                #[doc = example!($kind, $name)]
                pub fn $name(&self) -> count_type!($kind) {
                    count_value!($kind, self.raw.$name)
                }
            )*
        }

        impl fmt::Debug for Stats {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("Stats")$(.field(stringify!($name), &self.$name()))*.finish()
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for Stats {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct;
                let fields = [$(stringify!($name)),*].len() + 1;
                let mut out = out.serialize_struct("Stats", fields)?;
                $(out.serialize_field(stringify!($name), &self.$name())?;)*
                out.serialize_field("bins", &Bins(self))?;
                out.end()
            }
        }
    };
}

statistics! {
    // ---- from the headers ----
    count pages "Pages of blocks.",
    count reserved "Reserved address space.",
    count committed "Committed memory.",
    counter reset "Memory reset.",
    counter purged "Memory purged, by reset or decommit.",
    count page_committed "Memory committed inside pages.",
    count pages_abandoned "Pages in pools, for any thread.",
    count threads "Threads that allocate.",
    count allocated "Bytes of the blocks that the program has.",
    counter malloc_count "Blocks that it got.",
    counter free_count "See `malloc_count`: ... and gave back.",
    counter freed "Bytes of the blocks that it gave back.",
    counter malloc_requested "Bytes that it asked for.",
    counter mmap_calls "Calls to the OS: reserve.",
    counter commit_calls "Calls to the OS: commit.",
    counter reset_calls "Calls to the OS: reset.",
    counter purge_calls "Calls to the OS: purge.",
    counter arena_count "Arenas made.",
    counter malloc_guarded_count "Blocks with a guard page.",
    counter arena_rollback_count "Arena claims taken back.",
    counter arena_purges "Purges of arenas.",
    counter pages_extended "Page extensions.",
    counter pages_retire "Empty pages kept for a while.",
    counter page_searches "Pages looked at on searches.",
    counter page_searches_count "Searches for a page with room.",
    count heaps "Heaps.",
    count theaps "Thread-local heaps.",
    counter pages_reclaim_on_alloc "Left pages taken over as a thread allocates.",
    counter pages_reclaim_on_free "See `pages_reclaim_on_alloc`: ... as a thread frees into them.",
    counter pages_reabandon_full "Full pages left again.",
    counter pages_unabandon_busy_wait "Waits while taking over a page.",
    counter heaps_delete_wait "Waits while deleting a heap.",
    count malloc_normal "Of version 5: bytes of blocks that share a page.",
    count malloc_huge "Of version 5: of blocks with a page of their own.",
    counter malloc_normal_count "Of version 5: blocks that share a page.",
    counter malloc_huge_count "Of version 5: blocks with a page of their own.",
    count requested "Of this library: malloc_requested, with what was given back.",
    counter requested_is_exact "Of this library: 1: these two are exact, 0: see above.",
    counter peaks_are_exact "Of this library: 1: peaks of blocks are exact, 0: estimates.",
    // ---- end ----
}

impl Stats {
    /// The statistics of the process, or of the sub-process that the calling thread is in.
    ///
    /// ```
    /// let block = vec![1u8; 100_000];
    /// assert!(mimalloc::Stats::get().unwrap().reserved().current >= 0);
    /// drop(block);
    /// ```
    pub fn get() -> Option<Stats> {
        Stats::from(|stats| unsafe { ffi::mi_stats_get(stats) })
    }

    /// The size classes of which there ever was a block.
    ///
    /// ```
    /// let stats = mimalloc::Stats::get().unwrap();
    /// for bin in stats.bins() {
    ///     println!("{} bytes: {} blocks", bin.block_size, bin.blocks.current);
    /// }
    /// ```
    pub fn bins(&self) -> impl Iterator<Item = Bin> + '_ {
        let counts = self.raw.malloc_bins.iter().zip(&self.raw.page_bins);
        counts
            .enumerate()
            .map(|(index, (blocks, pages))| Bin {
                block_size: unsafe { ffi::mi_stats_get_bin_size(index) },
                blocks: (*blocks).into(),
                pages: (*pages).into(),
            })
            .filter(|bin| bin.block_size > 0 && (bin.blocks.total > 0 || bin.pages.total > 0))
    }

    /// The statistics as the C functions know them.
    ///
    /// ```
    /// let stats = mimalloc::Stats::get().unwrap();
    /// assert_eq!(stats.raw().version, mimalloc::ffi::MI_STAT_VERSION as usize);
    /// ```
    pub fn raw(&self) -> &ffi::mi_stats_t {
        &self.raw
    }

    /// What `fill` fills in; `None` when it says false.
    pub(crate) fn from(fill: impl FnOnce(*mut ffi::mi_stats_t) -> bool) -> Option<Stats> {
        // All of the struct are integers.
        let mut raw = unsafe { MaybeUninit::<ffi::mi_stats_t>::zeroed().assume_init() };
        raw.size = mem::size_of::<ffi::mi_stats_t>();
        raw.version = ffi::MI_STAT_VERSION as usize;
        fill(&mut raw).then_some(Stats { raw })
    }
}

/// Writes the statistics of the process as a table.
///
/// ```
/// let mut table = String::new();
/// mimalloc::print_stats(&mut table).unwrap();
/// assert!(table.contains("reserved"));
/// ```
pub fn print_stats(out: &mut dyn fmt::Write) -> fmt::Result {
    text::print(out, |write, arg| unsafe { ffi::mi_stats_print_out(write, arg) })
}

/// Sets all statistics to zero.
///
/// ```
/// mimalloc::reset_stats();
/// ```
pub fn reset_stats() {
    unsafe { ffi::mi_stats_reset() }
}

#[cfg(feature = "serde")]
struct Bins<'a>(&'a Stats);

#[cfg(feature = "serde")]
impl serde::Serialize for Bins<'_> {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(self.0.bins())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Count {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut out = out.serialize_struct("Count", 3)?;
        out.serialize_field("total", &self.total)?;
        out.serialize_field("peak", &self.peak)?;
        out.serialize_field("current", &self.current)?;
        out.end()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Bin {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut out = out.serialize_struct("Bin", 3)?;
        out.serialize_field("block_size", &self.block_size)?;
        out.serialize_field("blocks", &self.blocks)?;
        out.serialize_field("pages", &self.pages)?;
        out.end()
    }
}
