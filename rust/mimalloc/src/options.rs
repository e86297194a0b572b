//! Options of the allocator.

use core::ffi::c_long;
use core::fmt;

use crate::{ffi, text};

/// An option of the allocator. Each is also an environment variable, `MIMALLOC_` and its name, read
/// once at the start: `MIMALLOC_PURGE_DELAY=0`.
///
/// Options are set best before the first allocation: many are looked at only once.
///
/// ```
/// use mimalloc::Opt;
///
/// Opt::PURGE_DELAY.set(0);
/// assert_eq!(Opt::PURGE_DELAY.get(), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Opt(ffi::mi_option_t);

/// The options. Where a description names two values, 0 and 1, the option is a switch.
///
/// ```
/// assert!(!mimalloc::Opt::SHOW_STATS.is_enabled());
/// ```
#[rustfmt::skip]
impl Opt {
    // ---- from the headers ----
    /// Print errors and warnings.
    ///
    /// ```
    /// mimalloc::Opt::SHOW_ERRORS.set_enabled(true);
    /// assert!(mimalloc::Opt::SHOW_ERRORS.is_enabled());
    /// ```
    pub const SHOW_ERRORS: Opt = Opt(ffi::mi_option_show_errors);
    /// Print statistics at exit.
    ///
    /// ```
    /// mimalloc::Opt::SHOW_STATS.set_enabled(true);
    /// assert!(mimalloc::Opt::SHOW_STATS.is_enabled());
    /// ```
    pub const SHOW_STATS: Opt = Opt(ffi::mi_option_show_stats);
    /// Print what happens.
    ///
    /// ```
    /// mimalloc::Opt::VERBOSE.set_enabled(true);
    /// assert!(mimalloc::Opt::VERBOSE.is_enabled());
    /// ```
    pub const VERBOSE: Opt = Opt(ffi::mi_option_verbose);
    /// 1: commit arenas whole; 0, 2: as used.
    ///
    /// ```
    /// mimalloc::Opt::ARENA_EAGER_COMMIT.set(1);
    /// assert_eq!(mimalloc::Opt::ARENA_EAGER_COMMIT.get(), 1);
    /// ```
    pub const ARENA_EAGER_COMMIT: Opt = Opt(ffi::mi_option_arena_eager_commit);
    /// Give memory back; 0: offer it to the OS.
    ///
    /// ```
    /// mimalloc::Opt::PURGE_DECOMMITS.set_enabled(false);
    /// assert!(!mimalloc::Opt::PURGE_DECOMMITS.is_enabled());
    /// ```
    pub const PURGE_DECOMMITS: Opt = Opt(ffi::mi_option_purge_decommits);
    /// Use OS pages of 2 or 4 MiB.
    ///
    /// ```
    /// mimalloc::Opt::ALLOW_LARGE_OS_PAGES.set_enabled(true);
    /// assert!(mimalloc::Opt::ALLOW_LARGE_OS_PAGES.is_enabled());
    /// ```
    pub const ALLOW_LARGE_OS_PAGES: Opt = Opt(ffi::mi_option_allow_large_os_pages);
    /// So many 1 GiB pages at start.
    ///
    /// ```
    /// mimalloc::Opt::RESERVE_HUGE_OS_PAGES.set(4);
    /// assert_eq!(mimalloc::Opt::RESERVE_HUGE_OS_PAGES.get(), 4);
    /// ```
    pub const RESERVE_HUGE_OS_PAGES: Opt = Opt(ffi::mi_option_reserve_huge_os_pages);
    /// All of those on this NUMA node; -1: spread.
    ///
    /// ```
    /// mimalloc::Opt::RESERVE_HUGE_OS_PAGES_AT.set(0);
    /// assert_eq!(mimalloc::Opt::RESERVE_HUGE_OS_PAGES_AT.get(), 0);
    /// ```
    pub const RESERVE_HUGE_OS_PAGES_AT: Opt = Opt(ffi::mi_option_reserve_huge_os_pages_at);
    /// Reserve this much at start (KiB).
    ///
    /// ```
    /// mimalloc::Opt::RESERVE_OS_MEMORY.set(65536);
    /// assert_eq!(mimalloc::Opt::RESERVE_OS_MEMORY.get(), 65536);
    /// ```
    pub const RESERVE_OS_MEMORY: Opt = Opt(ffi::mi_option_reserve_os_memory);
    /// Ms till unused memory goes back; -1 never.
    ///
    /// ```
    /// mimalloc::Opt::PURGE_DELAY.set(100);
    /// assert_eq!(mimalloc::Opt::PURGE_DELAY.get(), 100);
    /// ```
    pub const PURGE_DELAY: Opt = Opt(ffi::mi_option_purge_delay);
    /// Spread 1 GiB pages over so many nodes; 0: all.
    ///
    /// ```
    /// mimalloc::Opt::USE_NUMA_NODES.set(1);
    /// assert_eq!(mimalloc::Opt::USE_NUMA_NODES.get(), 1);
    /// ```
    pub const USE_NUMA_NODES: Opt = Opt(ffi::mi_option_use_numa_nodes);
    /// Only arenas that the program reserved.
    ///
    /// ```
    /// mimalloc::Opt::DISALLOW_OS_ALLOC.set_enabled(true);
    /// assert!(mimalloc::Opt::DISALLOW_OS_ALLOC.is_enabled());
    /// ```
    pub const DISALLOW_OS_ALLOC: Opt = Opt(ffi::mi_option_disallow_os_alloc);
    /// No effect but on macOS: VM tag.
    ///
    /// ```
    /// mimalloc::Opt::OS_TAG.set(101);
    /// assert_eq!(mimalloc::Opt::OS_TAG.get(), 101);
    /// ```
    pub const OS_TAG: Opt = Opt(ffi::mi_option_os_tag);
    /// Print at most so many errors.
    ///
    /// ```
    /// mimalloc::Opt::MAX_ERRORS.set(10);
    /// assert_eq!(mimalloc::Opt::MAX_ERRORS.get(), 10);
    /// ```
    pub const MAX_ERRORS: Opt = Opt(ffi::mi_option_max_errors);
    /// Print at most so many warnings.
    ///
    /// ```
    /// mimalloc::Opt::MAX_WARNINGS.set(10);
    /// assert_eq!(mimalloc::Opt::MAX_WARNINGS.get(), 10);
    /// ```
    pub const MAX_WARNINGS: Opt = Opt(ffi::mi_option_max_warnings);
    /// Destroy heaps, and collect, at process end.
    ///
    /// ```
    /// mimalloc::Opt::DESTROY_ON_EXIT.set_enabled(true);
    /// assert!(mimalloc::Opt::DESTROY_ON_EXIT.is_enabled());
    /// ```
    pub const DESTROY_ON_EXIT: Opt = Opt(ffi::mi_option_destroy_on_exit);
    /// Reserve arenas of this size (KiB).
    ///
    /// ```
    /// mimalloc::Opt::ARENA_RESERVE.set(65536);
    /// assert_eq!(mimalloc::Opt::ARENA_RESERVE.get(), 65536);
    /// ```
    pub const ARENA_RESERVE: Opt = Opt(ffi::mi_option_arena_reserve);
    /// Multiplies `purge_delay` for arenas.
    ///
    /// ```
    /// mimalloc::Opt::ARENA_PURGE_MULT.set(2);
    /// assert_eq!(mimalloc::Opt::ARENA_PURGE_MULT.get(), 2);
    /// ```
    pub const ARENA_PURGE_MULT: Opt = Opt(ffi::mi_option_arena_purge_mult);
    /// No arenas: take memory from the OS.
    ///
    /// ```
    /// mimalloc::Opt::DISALLOW_ARENA_ALLOC.set_enabled(true);
    /// assert!(mimalloc::Opt::DISALLOW_ARENA_ALLOC.is_enabled());
    /// ```
    pub const DISALLOW_ARENA_ALLOC: Opt = Opt(ffi::mi_option_disallow_arena_alloc);
    /// No effect but on Windows: retry for so many ms.
    ///
    /// ```
    /// mimalloc::Opt::RETRY_ON_OOM.set(100);
    /// assert_eq!(mimalloc::Opt::RETRY_ON_OOM.get(), 100);
    /// ```
    pub const RETRY_ON_OOM: Opt = Opt(ffi::mi_option_retry_on_oom);
    /// Allow `mi_abandoned_visit_blocks`.
    ///
    /// ```
    /// mimalloc::Opt::VISIT_ABANDONED.set_enabled(true);
    /// assert!(mimalloc::Opt::VISIT_ABANDONED.is_enabled());
    /// ```
    pub const VISIT_ABANDONED: Opt = Opt(ffi::mi_option_visit_abandoned);
    /// Least size with a guard page (bytes).
    ///
    /// ```
    /// mimalloc::Opt::GUARDED_MIN.set(1000);
    /// assert_eq!(mimalloc::Opt::GUARDED_MIN.get(), 1000);
    /// ```
    pub const GUARDED_MIN: Opt = Opt(ffi::mi_option_guarded_min);
    /// Largest such size (bytes).
    ///
    /// ```
    /// mimalloc::Opt::GUARDED_MAX.set(2000);
    /// assert_eq!(mimalloc::Opt::GUARDED_MAX.get(), 2000);
    /// ```
    pub const GUARDED_MAX: Opt = Opt(ffi::mi_option_guarded_max);
    /// End blocks exactly at guard pages.
    ///
    /// ```
    /// mimalloc::Opt::GUARDED_PRECISE.set_enabled(true);
    /// assert!(mimalloc::Opt::GUARDED_PRECISE.is_enabled());
    /// ```
    pub const GUARDED_PRECISE: Opt = Opt(ffi::mi_option_guarded_precise);
    /// Guard one in so many; 0 none.
    ///
    /// ```
    /// mimalloc::Opt::GUARDED_SAMPLE_RATE.set(1000);
    /// assert_eq!(mimalloc::Opt::GUARDED_SAMPLE_RATE.get(), 1000);
    /// ```
    pub const GUARDED_SAMPLE_RATE: Opt = Opt(ffi::mi_option_guarded_sample_rate);
    /// Start of the sampling; 0 random.
    ///
    /// ```
    /// mimalloc::Opt::GUARDED_SAMPLE_SEED.set(42);
    /// assert_eq!(mimalloc::Opt::GUARDED_SAMPLE_SEED.get(), 42);
    /// ```
    pub const GUARDED_SAMPLE_SEED: Opt = Opt(ffi::mi_option_guarded_sample_seed);
    /// Collect each so many slow allocations.
    ///
    /// ```
    /// mimalloc::Opt::GENERIC_COLLECT.set(1000);
    /// assert_eq!(mimalloc::Opt::GENERIC_COLLECT.get(), 1000);
    /// ```
    pub const GENERIC_COLLECT: Opt = Opt(ffi::mi_option_generic_collect);
    /// Free takes over nobody's page: -1 no, 0 own, 1 all.
    ///
    /// ```
    /// mimalloc::Opt::PAGE_RECLAIM_ON_FREE.set(0);
    /// assert_eq!(mimalloc::Opt::PAGE_RECLAIM_ON_FREE.get(), 0);
    /// ```
    pub const PAGE_RECLAIM_ON_FREE: Opt = Opt(ffi::mi_option_page_reclaim_on_free);
    /// No effect.
    ///
    /// ```
    /// mimalloc::Opt::PAGE_FULL_RETAIN.set(1);
    /// assert_eq!(mimalloc::Opt::PAGE_FULL_RETAIN.get(), 1);
    /// ```
    pub const PAGE_FULL_RETAIN: Opt = Opt(ffi::mi_option_page_full_retain);
    /// No effect.
    ///
    /// ```
    /// mimalloc::Opt::PAGE_MAX_CANDIDATES.set(1);
    /// assert_eq!(mimalloc::Opt::PAGE_MAX_CANDIDATES.get(), 1);
    /// ```
    pub const PAGE_MAX_CANDIDATES: Opt = Opt(ffi::mi_option_page_max_candidates);
    /// No effect.
    ///
    /// ```
    /// mimalloc::Opt::MAX_VABITS.set(47);
    /// assert_eq!(mimalloc::Opt::MAX_VABITS.get(), 47);
    /// ```
    pub const MAX_VABITS: Opt = Opt(ffi::mi_option_max_vabits);
    /// The map of addresses is resident from the start.
    ///
    /// ```
    /// mimalloc::Opt::PAGEMAP_COMMIT.set_enabled(true);
    /// assert!(mimalloc::Opt::PAGEMAP_COMMIT.is_enabled());
    /// ```
    pub const PAGEMAP_COMMIT: Opt = Opt(ffi::mi_option_pagemap_commit);
    /// No effect: always so.
    ///
    /// ```
    /// mimalloc::Opt::PAGE_COMMIT_ON_DEMAND.set_enabled(true);
    /// assert!(mimalloc::Opt::PAGE_COMMIT_ON_DEMAND.is_enabled());
    /// ```
    pub const PAGE_COMMIT_ON_DEMAND: Opt = Opt(ffi::mi_option_page_commit_on_demand);
    /// Free takes so many own pages back; -1 all.
    ///
    /// ```
    /// mimalloc::Opt::PAGE_MAX_RECLAIM.set(8);
    /// assert_eq!(mimalloc::Opt::PAGE_MAX_RECLAIM.get(), 8);
    /// ```
    pub const PAGE_MAX_RECLAIM: Opt = Opt(ffi::mi_option_page_max_reclaim);
    /// Free takes so many of others' back; -1 all.
    ///
    /// ```
    /// mimalloc::Opt::PAGE_CROSS_THREAD_MAX_RECLAIM.set(8);
    /// assert_eq!(mimalloc::Opt::PAGE_CROSS_THREAD_MAX_RECLAIM.get(), 8);
    /// ```
    pub const PAGE_CROSS_THREAD_MAX_RECLAIM: Opt = Opt(ffi::mi_option_page_cross_thread_max_reclaim);
    /// Huge pages: 0 none, 1 some, 2 all, never split.
    ///
    /// ```
    /// mimalloc::Opt::ALLOW_THP.set(0);
    /// assert_eq!(mimalloc::Opt::ALLOW_THP.get(), 0);
    /// ```
    pub const ALLOW_THP: Opt = Opt(ffi::mi_option_allow_thp);
    /// Smallest piece to purge (KiB); 0: automatic.
    ///
    /// ```
    /// mimalloc::Opt::MINIMAL_PURGE_SIZE.set(64);
    /// assert_eq!(mimalloc::Opt::MINIMAL_PURGE_SIZE.get(), 64);
    /// ```
    pub const MINIMAL_PURGE_SIZE: Opt = Opt(ffi::mi_option_minimal_purge_size);
    /// Larger objects come from the OS (KiB).
    ///
    /// ```
    /// mimalloc::Opt::ARENA_MAX_OBJECT_SIZE.set(65536);
    /// assert_eq!(mimalloc::Opt::ARENA_MAX_OBJECT_SIZE.get(), 65536);
    /// ```
    pub const ARENA_MAX_OBJECT_SIZE: Opt = Opt(ffi::mi_option_arena_max_object_size);
    /// No effect.
    ///
    /// ```
    /// mimalloc::Opt::ARENA_IS_NUMA_LOCAL.set_enabled(true);
    /// assert!(mimalloc::Opt::ARENA_IS_NUMA_LOCAL.is_enabled());
    /// ```
    pub const ARENA_IS_NUMA_LOCAL: Opt = Opt(ffi::mi_option_arena_is_numa_local);
    /// No effect: always merged.
    ///
    /// ```
    /// mimalloc::Opt::STATS_MERGE_ON_COLLECT.set_enabled(true);
    /// assert!(mimalloc::Opt::STATS_MERGE_ON_COLLECT.is_enabled());
    /// ```
    pub const STATS_MERGE_ON_COLLECT: Opt = Opt(ffi::mi_option_stats_merge_on_collect);
    /// No effect yet (KiB).
    ///
    /// ```
    /// mimalloc::Opt::PROFILE_ALLOC_INTERVAL.set(1024);
    /// assert_eq!(mimalloc::Opt::PROFILE_ALLOC_INTERVAL.get(), 1024);
    /// ```
    pub const PROFILE_ALLOC_INTERVAL: Opt = Opt(ffi::mi_option_profile_alloc_interval);
    /// No effect yet (KiB).
    ///
    /// ```
    /// mimalloc::Opt::PROFILE_INUSE_INTERVAL.set(1024);
    /// assert_eq!(mimalloc::Opt::PROFILE_INUSE_INTERVAL.get(), 1024);
    /// ```
    pub const PROFILE_INUSE_INTERVAL: Opt = Opt(ffi::mi_option_profile_inuse_interval);
    /// No effect yet (seconds).
    ///
    /// ```
    /// mimalloc::Opt::PROFILE_TIME_INTERVAL.set(60);
    /// assert_eq!(mimalloc::Opt::PROFILE_TIME_INTERVAL.get(), 60);
    /// ```
    pub const PROFILE_TIME_INTERVAL: Opt = Opt(ffi::mi_option_profile_time_interval);
    /// No effect yet (KiB).
    ///
    /// ```
    /// mimalloc::Opt::PROFILE_SAMPLE_RATE.set(1024);
    /// assert_eq!(mimalloc::Opt::PROFILE_SAMPLE_RATE.get(), 1024);
    /// ```
    pub const PROFILE_SAMPLE_RATE: Opt = Opt(ffi::mi_option_profile_sample_rate);
    /// No effect: always merged.
    ///
    /// ```
    /// mimalloc::Opt::STATS_MERGE_THRESHOLD.set(1024);
    /// assert_eq!(mimalloc::Opt::STATS_MERGE_THRESHOLD.get(), 1024);
    /// ```
    pub const STATS_MERGE_THRESHOLD: Opt = Opt(ffi::mi_option_stats_merge_threshold);
    /// So much goes back at once (KiB); 0 no.
    ///
    /// ```
    /// mimalloc::Opt::ARENA_PURGE_IMMEDIATE_SIZE.set(1024);
    /// assert_eq!(mimalloc::Opt::ARENA_PURGE_IMMEDIATE_SIZE.get(), 1024);
    /// ```
    pub const ARENA_PURGE_IMMEDIATE_SIZE: Opt = Opt(ffi::mi_option_arena_purge_immediate_size);
    /// On misuse: 0 go on, 1 abort or the error function, 2 abort.
    ///
    /// ```
    /// mimalloc::Opt::CORRUPTION.set(1);
    /// assert_eq!(mimalloc::Opt::CORRUPTION.get(), 1);
    /// ```
    pub const CORRUPTION: Opt = Opt(ffi::mi_option_corruption);
    /// Secure builds, fill freed blocks: 0 no, 1 zeros, 2 0xDF.
    ///
    /// ```
    /// mimalloc::Opt::FILL_FREED.set(1);
    /// assert_eq!(mimalloc::Opt::FILL_FREED.get(), 1);
    /// ```
    pub const FILL_FREED: Opt = Opt(ffi::mi_option_fill_freed);
    /// MI_SECURE=FULL: freed memory kept from reuse (KiB).
    ///
    /// ```
    /// mimalloc::Opt::QUARANTINE_SIZE.set(1024);
    /// assert_eq!(mimalloc::Opt::QUARANTINE_SIZE.get(), 1024);
    /// ```
    pub const QUARANTINE_SIZE: Opt = Opt(ffi::mi_option_quarantine_size);
    /// Print at exit what is still in use.
    ///
    /// ```
    /// mimalloc::Opt::SHOW_LEAKS.set_enabled(true);
    /// assert!(mimalloc::Opt::SHOW_LEAKS.is_enabled());
    /// ```
    pub const SHOW_LEAKS: Opt = Opt(ffi::mi_option_show_leaks);
    /// Guard one block in so many bytes; 0 none.
    ///
    /// ```
    /// mimalloc::Opt::GUARDED_SAMPLE_BYTES.set(1000000);
    /// assert_eq!(mimalloc::Opt::GUARDED_SAMPLE_BYTES.get(), 1000000);
    /// ```
    pub const GUARDED_SAMPLE_BYTES: Opt = Opt(ffi::mi_option_guarded_sample_bytes);
    /// Start blocks exactly behind guard pages.
    ///
    /// ```
    /// mimalloc::Opt::GUARDED_UNDERFLOW.set_enabled(true);
    /// assert!(mimalloc::Opt::GUARDED_UNDERFLOW.is_enabled());
    /// ```
    pub const GUARDED_UNDERFLOW: Opt = Opt(ffi::mi_option_guarded_underflow);
    /// Shared library: dlopen leaves RTLD_DEEPBIND out.
    ///
    /// ```
    /// mimalloc::Opt::DLOPEN_DEEPBIND.set_enabled(false);
    /// assert!(!mimalloc::Opt::DLOPEN_DEEPBIND.is_enabled());
    /// ```
    pub const DLOPEN_DEEPBIND: Opt = Opt(ffi::mi_option_dlopen_deepbind);
    // ---- end ----
}

impl Opt {
    /// The value, in the option's own unit.
    ///
    /// ```
    /// assert_eq!(mimalloc::Opt::GUARDED_PRECISE.get(), 0);
    /// ```
    pub fn get(self) -> c_long {
        unsafe { ffi::mi_option_get(self.0) }
    }

    /// The value of an option that is a size, in bytes.
    ///
    /// ```
    /// assert!(mimalloc::Opt::ARENA_RESERVE.get_size() >= 1 << 20);
    /// ```
    pub fn get_size(self) -> usize {
        unsafe { ffi::mi_option_get_size(self.0) }
    }

    /// Whether the value is another than 0.
    ///
    /// ```
    /// assert!(mimalloc::Opt::ARENA_EAGER_COMMIT.is_enabled());
    /// ```
    pub fn is_enabled(self) -> bool {
        unsafe { ffi::mi_option_is_enabled(self.0) }
    }

    /// Sets the value, in the option's own unit.
    ///
    /// ```
    /// mimalloc::Opt::PURGE_DELAY.set(100);
    /// assert_eq!(mimalloc::Opt::PURGE_DELAY.get(), 100);
    /// ```
    pub fn set(self, value: c_long) {
        unsafe { ffi::mi_option_set(self.0, value) }
    }

    /// Sets the value unless the program or the environment already has.
    ///
    /// ```
    /// use mimalloc::Opt;
    ///
    /// Opt::MAX_WARNINGS.set(1);
    /// Opt::MAX_WARNINGS.set_default(2);
    /// assert_eq!(Opt::MAX_WARNINGS.get(), 1);
    /// ```
    pub fn set_default(self, value: c_long) {
        unsafe { ffi::mi_option_set_default(self.0, value) }
    }

    /// Sets the value to 1 or 0.
    ///
    /// ```
    /// mimalloc::Opt::SHOW_ERRORS.set_enabled(true);
    /// assert!(mimalloc::Opt::SHOW_ERRORS.is_enabled());
    /// ```
    pub fn set_enabled(self, enable: bool) {
        unsafe { ffi::mi_option_set_enabled(self.0, enable) }
    }
}

/// Writes the options in force, as text.
///
/// ```
/// let mut text = String::new();
/// mimalloc::print_options(&mut text).unwrap();
/// assert!(text.contains("purge_delay"));
/// ```
pub fn print_options(out: &mut dyn fmt::Write) -> fmt::Result {
    text::print(out, |write, arg| unsafe { ffi::mi_options_print_out(write, arg) })
}
