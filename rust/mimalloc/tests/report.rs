//! Options, statistics and process information: what they say is what happened.

use mimalloc::{Heap, Opt, Stats};

#[test]
fn options_hold_what_is_set() {
    Opt::PURGE_DELAY.set(77);
    assert_eq!(Opt::PURGE_DELAY.get(), 77);
    Opt::PURGE_DELAY.set_default(78);
    assert_eq!(Opt::PURGE_DELAY.get(), 77);
    Opt::VISIT_ABANDONED.set_enabled(true);
    assert!(Opt::VISIT_ABANDONED.is_enabled());
    Opt::ARENA_RESERVE.set(64 << 10);
    assert_eq!(Opt::ARENA_RESERVE.get_size(), 64 << 20);
    let mut text = String::new();
    mimalloc::print_options(&mut text).unwrap();
    assert!(text.contains("77"), "{text}");
}

#[test]
fn huge_pages_are_a_feature() {
    assert_eq!(Opt::ALLOW_THP.is_enabled(), !cfg!(feature = "no_thp"));
}

#[test]
fn statistics_count() {
    let heap = Heap::new().unwrap();
    for _ in 0..1000 {
        heap.alloc([0u8; 100]).unwrap();
    }
    let stats = heap.stats().unwrap();
    assert!(stats.malloc_normal().current >= 100_000, "{stats:?}");
    let bin = stats.bins().find(|bin| bin.blocks.current >= 1000).unwrap();
    assert!((100..200).contains(&bin.block_size), "{bin:?}");
    assert!(Stats::get().unwrap().reserved().current > 0);
    let json = heap.stats_json().unwrap();
    assert!(json.to_str().unwrap().contains("malloc_normal"));
}

#[test]
fn tables_are_whole() {
    let mut table = String::new();
    mimalloc::print_stats(&mut table).unwrap();
    assert!(table.lines().count() > 10 && table.ends_with('\n'), "{table}");
}

#[test]
fn text_may_be_refused() {
    struct Full;
    impl std::fmt::Write for Full {
        fn write_str(&mut self, _: &str) -> std::fmt::Result {
            Err(std::fmt::Error)
        }
    }
    assert!(mimalloc::print_stats(&mut Full).is_err());
}

#[test]
fn the_process_takes_time_and_memory() {
    let info = mimalloc::process_info();
    assert!(info.current_rss > 100_000 && info.peak_rss > 100_000, "{info:?}");
    assert!(mimalloc::good_size(1000) >= 1000);
}

#[cfg(feature = "serde")]
#[test]
fn statistics_become_json() {
    let heap = Heap::new().unwrap();
    heap.alloc([0u8; 100]).unwrap();
    let stats = serde_json::to_value(Stats::get().unwrap()).unwrap();
    assert!(stats["reserved"]["current"].as_i64().unwrap() > 0, "{stats}");
    assert!(stats["bins"][0]["block_size"].is_u64() && stats["purge_calls"].is_i64());
    let info = serde_json::to_value(mimalloc::process_info()).unwrap();
    assert!(info["peak_rss"].as_u64().unwrap() > 0);
}
