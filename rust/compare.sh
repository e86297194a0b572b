#!/bin/sh
# The processor time of mimalloc/examples/patterns.rs with the crate of this tree, with that of the
# registry, and with the system's allocator, in turn: the least of several runs, in milliseconds.
# It needs cargo, and the network for the registry's crate.
#   rust/compare.sh [RUNS]      RUNS of each (5)
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$here/../build/rust}"

package() {  # name dependency
  mkdir -p "$work/$1/src"
  cat >"$work/$1/Cargo.toml" <<END
[package]
name = "patterns-$1"
version = "0.0.0"
edition = "2021"
[dependencies]
serde_json = "1"
$2
[workspace]
END
  cp "$here/mimalloc/examples/patterns.rs" "$work/$1/src/main.rs"
}
package ours "mimalloc = { path = \"$here/mimalloc\" }"
package registry 'mimalloc = "0.1.52"'
package system ''
sed -i '/global_allocator/,+1d' "$work/system/src/main.rs"
for name in ours registry system; do
  cargo build --quiet --release --manifest-path "$work/$name/Cargo.toml" || exit 1
done

for _ in $(seq "${1:-5}"); do
  for name in ours registry system; do
    "$CARGO_TARGET_DIR/release/patterns-$name" 3 | sed "s/^/$name|/"
  done
done | awk -F '|' '
  !($2 in seen) { seen[$2] = 1; order[++n] = $2 }
  !(($1, $2) in least) || $3 < least[$1, $2] { least[$1, $2] = $3 }
  END {
    printf "%-40s %10s %10s %10s\n", "", "ours", "registry", "system"
    for (i = 1; i <= n; i++) {
      p = order[i]
      printf "%-40s %10.1f %10.1f %10.1f\n", p, least["ours", p], least["registry", p], least["system", p]
    }
  }'
