#!/bin/sh
# test: timeout=240 label=programs
# packages: cargo
# Cargo and rustc: a crate without dependencies is built, tested and run.
# shellcheck disable=SC2317  # called by both
export CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}"
. "$(dirname "$0")/lib/common.sh"
need cargo cargo
need cc gcc
cargo --version >/dev/null 2>&1 || {
  echo "skipped: cargo does not run here (Debian package cargo)"
  exit 77
}
export CARGO_NET_OFFLINE=true CARGO_TERM_COLOR=never CARGO_BUILD_JOBS=2

mkdir -p "$work/crate/src"
cat >"$work/crate/Cargo.toml" <<'END'
[package]
name = "work"
version = "0.1.0"
edition = "2018"
END
cat >"$work/crate/src/main.rs" <<'END'
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

fn words(seed: u64, n: usize) -> Vec<String> {
    let mut s = seed;
    (0..n)
        .map(|_| {
            s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            format!("w{}", (s >> 33) % 5000).repeat(1 + (s >> 60) as usize % 4)
        })
        .collect()
}

fn count(list: &[String]) -> BTreeMap<&str, usize> {
    let mut m = BTreeMap::new();
    for w in list {
        *m.entry(w.as_str()).or_insert(0) += 1;
    }
    m
}

fn main() {
    let list = words(1, 100_000);
    let m = count(&list);
    println!("{} {:?}", m.len(), m.iter().max_by_key(|e| (e.1, e.0)));
    let total = Arc::new(Mutex::new(HashMap::new()));
    let (tx, rx) = mpsc::channel::<Vec<String>>();
    let threads: Vec<_> = (0..4)
        .map(|i| {
            let (total, tx) = (total.clone(), tx.clone());
            thread::spawn(move || {
                let list = words(i, 20_000);
                total.lock().unwrap().insert(i, count(&list).len());
                for part in list.chunks(500) {
                    tx.send(part.to_vec()).unwrap();
                }
            })
        })
        .collect();
    drop(tx);
    let received: usize = rx.iter().map(|v| v.iter().map(String::len).sum::<usize>()).sum();
    for t in threads {
        t.join().unwrap();
    }
    let mut all: Vec<_> = total.lock().unwrap().clone().into_iter().collect();
    all.sort();
    println!("{:?} {}", all, received);
    let mut queue: VecDeque<Box<[u8]>> = VecDeque::new();
    let mut sum = 0usize;
    for i in 0..200_000usize {
        queue.push_back(vec![i as u8; i % 700].into_boxed_slice());
        if queue.len() > 300 {
            sum += queue.pop_front().unwrap().iter().map(|&b| b as usize).sum::<usize>();
        }
    }
    println!("{}", sum);
}

#[test]
fn counts() {
    assert_eq!(count(&["a".to_string(), "a".to_string()])["a"], 2);
}
END

# The same folder in both runs, so that the paths in the object code are alike.
work_cargo() {
  cp -r "$work/crate" .
  cd crate
  cargo build --release --quiet
  cargo test --quiet 2>&1 | sed 's/finished in .*//'
  ./target/release/work
  cksum <target/release/work
}

is_preloaded cargo --version
both work_cargo
