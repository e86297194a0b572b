#!/bin/sh
# test: timeout=300
# A program for WASI that replaces blocks has at most a tenth more memory than with the C library's
# malloc, and takes fewer instructions. Both are the same in each run.
#   load.sh [anything]    prints the figures; exit status 1 if there are more
# MI_RUNNER runs programs for WASI and prints what they took (wasi.py), MI_LIB_STATIC is the library.
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
case $MI_RUNNER in
  *wasi.py) ;;
  *) echo "skipped: only wasmtime counts instructions"; exit 77 ;;
esac
compile="clang-19 --target=wasm32-wasi --sysroot=/usr -B/usr/lib/llvm-19/bin -O2 -fno-builtin"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
bad=0

# shellcheck disable=SC2086  # lists of words
$compile -o "$work/theirs" "$source/test/wasm/load.c" &&
  $compile -o "$work/ours" "$source/test/wasm/load.c" "$MI_LIB_STATIC" || exit 1

report() {  # program load: KiB of memory, and instructions
  # shellcheck disable=SC2086  # a list of words
  WASI_REPORT=1 $MI_RUNNER "$work/$1" "$2" 2>&1 | sed -nE 's/^memory (.*) KiB, (.*) instructions$/\1 \2/p'
}

for load in 1 2 3; do
  theirs=$(report theirs $load) ours=$(report ours $load)
  echo "load $load, KiB and instructions: $ours, with the C library's malloc $theirs"
  [ -n "$theirs" ] && [ -n "$ours" ] || exit 1
  [ $((${ours% *} * 10)) -le $((${theirs% *} * 11)) ] && [ "${ours#* }" -lt "${theirs#* }" ] || bad=1
done
exit $bad
