#!/bin/sh
# test: timeout=1800 when="release gcc glibc"
# The crates of rust/: their own tests, in these builds of the allocator; the linter, the formatter;
# declarations are those of the headers; and each crate builds from its package, which holds the C
# sources. The first run fetches the crates that they need over the network; without it: skipped.
. "$(dirname "$0")/lib/common.sh"

features=mimalloc/serde,mimalloc/allocator-api2
step "tests" cargo test $offline --workspace --features $features
step "tests, secure and with override" \
  cargo test $offline --workspace --tests --features "$features,mimalloc/secure,mimalloc/override"
step "tests, debug" \
  cargo test $offline -p mimalloc --tests --features serde,allocator-api2,debug
step "tests, with the other features" \
  cargo test $offline -p mimalloc --test global --test report --features \
  extended,arena,v2,v3,win_direct_tls,no_thp,skip_collect_on_exit,debug_in_debug,local_dynamic_tls
# The trait of nightly compilers; this makes any compiler one.
RUSTC_BOOTSTRAP=1 step "tests, with the standard library's Allocator" \
  cargo test $offline -p mimalloc --test nightly --features allocator_api

if cargo clippy --version >/dev/null 2>&1; then
  step "clippy" cargo clippy $offline --workspace --all-targets --features $features -- -D warnings
fi
if cargo fmt --version >/dev/null 2>&1; then
  step "format" cargo fmt --all --check
fi
RUSTDOCFLAGS="-D warnings" step "documentation" \
  cargo doc $offline --workspace --no-deps --features $features
# Each item has an example: tests/examples.rs of `check` reads the sources; a lint that compilers have
# for themselves knows all items but constants, and what C or a macro declares.
lint=rustdoc::missing_doc_code_examples
if RUSTC_BOOTSTRAP=1 rustdoc -W help 2>/dev/null | grep -q "rustdoc::missing-doc-code-examples"; then
  RUSTC_BOOTSTRAP=1 RUSTDOCFLAGS="-Zcrate-attr=feature(rustdoc_missing_doc_code_examples) -D $lint" \
    step "examples" cargo doc $offline -p libmimalloc-sys -p mimalloc -p mimalloc-sys --no-deps \
    --features $features
fi
wanted=$(sed -n 's/^VERSION = "\(.*\)"$/\1/p' bindings.py)
if [ "$("${BINDGEN:-bindgen}" --version 2>/dev/null)" = "$wanted" ]; then
  step "declarations" python3 "$root/rust/bindings.py" --check
fi
step "packages" cargo package $offline --workspace --exclude check --allow-dirty
