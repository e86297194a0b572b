# What the scripts of test/rust share: cargo, in rust/, with its output in the build folder.
# shellcheck shell=sh
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)

cargo --version >/dev/null 2>&1 || {
  echo "skipped: cargo does not run here"
  exit 77
}
cd "$root/rust" || exit 2
export CARGO_TERM_COLOR=never
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/build/rust}"
unset MAKEFLAGS MFLAGS RUSTC_BOOTSTRAP

# The crates that ours need, as Cargo.lock names them: here already, or from the network.
offline=--offline
cargo fetch --locked --offline >/dev/null 2>&1 || cargo fetch --locked || {
  echo "skipped: the crates in rust/Cargo.lock are not here, and the network is not either"
  exit 77
}

# Runs a command; its output is shown if it fails, and that ends the test.
step() {  # title command...
  title=$1
  shift
  log=$CARGO_TARGET_DIR/step.log
  mkdir -p "$CARGO_TARGET_DIR" || exit 2
  "$@" >"$log" 2>&1 || {
    tail -n 60 "$log"
    echo "FAILED: $title: $*"
    exit 1
  }
  echo "passed: $title"
}
