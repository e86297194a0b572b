#!/bin/sh
# test: timeout=600
# Of the 4 GiB that a program for WASI can have it gets as much as with the C library's malloc, but
# for 5 %, before malloc returns NULL: in blocks of 1 MiB, and of 16 to 1000 bytes.
#   limit.sh [anything]    prints the MiB; exit status 1 if it gets less
# MI_RUNNER runs programs for WASI, MI_LIB_STATIC is the library.
case $MI_RUNNER in
  *wasi.py) ;;
  *) echo "skipped: in node it takes minutes"; exit 77 ;;
esac
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
compile="clang-19 --target=wasm32-wasi --sysroot=/usr -B/usr/lib/llvm-19/bin -O2 -fno-builtin"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
bad=0

# shellcheck disable=SC2086  # lists of words
$compile -o "$work/theirs" "$source/test/wasm/limit.c" &&
  $compile -o "$work/ours" "$source/test/wasm/limit.c" "$MI_LIB_STATIC" || exit 1
for blocks in "" small; do
  # shellcheck disable=SC2086  # lists of words
  theirs=$($MI_RUNNER "$work/theirs" $blocks) && ours=$($MI_RUNNER "$work/ours" $blocks) || exit 1
  echo "${blocks:-large} blocks: $ours MiB, the C library's $theirs"
  [ "$ours" -gt 3000 ] && [ $((ours * 100)) -ge $((theirs * 95)) ] || bad=1
done
exit $bad
