//! The processor time of a few patterns of allocation, in milliseconds: the least of several rounds.
//! rust/compare.sh runs it with this crate and with that of the registry, in turn.
#![allow(clippy::incompatible_msrv)] // black_box is of 1.66

use std::hint::black_box;

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[repr(C)]
struct Time {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Time) -> i32;
}

/// Processor time of the process, by Linux's number of that clock.
fn processor_ms() -> f64 {
    let mut time = Time { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(2, &mut time) };
    time.seconds as f64 * 1e3 + time.nanoseconds as f64 / 1e6
}

/// Zeroed blocks, each freed before the next: none, or each page of them, is written to.
fn zeroed(size: usize, count: usize, touch: bool) {
    for _ in 0..count {
        let mut block = vec![0u8; size];
        if touch {
            block.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        }
        black_box(&mut block);
    }
}

/// Zeroed blocks of which a hundred live at a time.
fn zeroed_many(size: usize, count: usize) {
    let mut live: Vec<Vec<u8>> = vec![Vec::new(); 100];
    for index in 0..count {
        live[index * 7 % 100] = vec![0u8; size];
    }
    black_box(&live);
}

/// Vectors that grow by doubling, to this many words.
fn grow(words: usize, count: usize) {
    for _ in 0..count {
        let mut vector = Vec::new();
        for word in 0..words {
            vector.push(word);
        }
        black_box(&vector);
    }
}

/// Two hundred vectors that grow side by side.
fn grow_together(words: usize) {
    let mut vectors: Vec<Vec<usize>> = vec![Vec::new(); 200];
    for word in 0..words {
        for vector in &mut vectors {
            vector.push(word);
        }
    }
    black_box(&vectors);
}

fn json_text() -> String {
    let mut text = String::from("[");
    for index in 0..20_000 {
        let comma = if index == 0 { "" } else { "," };
        text += &format!(
            "{comma}{{\"id\":{index},\"name\":\"item {index}\",\"tags\":[\"a{index}\",\"b\",null],\
             \"at\":{{\"x\":{index}.5,\"y\":-{index}}}}}"
        );
    }
    text + "]"
}

fn parse(text: &str) {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    black_box(&value);
}

fn main() {
    let rounds = std::env::args().nth(1).map_or(5, |text| text.parse().unwrap());
    let text = json_text();
    let patterns: [(&str, &dyn Fn()); 9] = [
        ("zeroed, 4 KiB", &|| zeroed(4 << 10, 200_000, false)),
        ("zeroed, 64 KiB", &|| zeroed(64 << 10, 20_000, false)),
        ("zeroed, 1 MiB", &|| zeroed(1 << 20, 1000, false)),
        ("zeroed, 64 MiB, written to", &|| zeroed(64 << 20, 3, true)),
        ("zeroed, 16 KiB, 100 live", &|| zeroed_many(16 << 10, 50_000)),
        ("growth to 100 words", &|| grow(100, 200_000)),
        ("growth to 10 million words", &|| grow(10_000_000, 2)),
        ("growth of 200 vectors to 20,000 words", &|| grow_together(20_000)),
        ("JSON, 2 MB", &|| parse(&text)),
    ];
    for (name, pattern) in patterns {
        let least = (0..rounds)
            .map(|_| {
                let start = processor_ms();
                pattern();
                processor_ms() - start
            })
            .fold(f64::INFINITY, f64::min);
        println!("{name}|{least:.1}");
    }
}
