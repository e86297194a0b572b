# shellcheck shell=sh
# A program for WASI, with the C library's malloc and with the library: $work/theirs, $work/ours.
# Where MI_RUNNER is not wasmtime the test is skipped. MI_LIB_STATIC is the library.
case $MI_RUNNER in
  *wasi.py) ;;
  *) echo "skipped: in node it takes minutes, and counts nothing"; exit 77 ;;
esac
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

build_both() {  # source
  set -- clang-19 --target=wasm32-wasi --sysroot=/usr -B/usr/lib/llvm-19/bin -O2 -fno-builtin "$1"
  "$@" -o "$work/theirs" && "$@" "$MI_LIB_STATIC" -o "$work/ours" || exit 1
}
