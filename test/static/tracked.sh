#!/bin/sh
# test: when="release gcc" timeout=900
# Builds for memory tools combine with secure and debug builds: src/static.c is compiled for each
# tool with the checks of both kinds, and a program that commits misuses runs under the tool, which
# has to tell of each, or the library of what only that can see. A program without a misuse is silent.
#   tracked.sh [anything]     prints what was not told
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cc=${CC:-cc}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0 failed=0

check() {  # name regex; `-`: nothing is said
  if [ "$2" = - ]; then [ ! -s "$dir/out" ]; else grep -q -E -e "$2" "$dir/out"; fi
  if [ $? = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "tracked: $1: expected $2, got:"
    head -n 20 "$dir/out"
  fi
}

expect() {  # misuse size regex
  # shellcheck disable=SC2086  # a command and its options
  $tool "$dir/program" "$1" "$2" >"$dir/out" 2>&1
  check "$name $1 $2" "$3"
}

build() {  # compiler-options…
  name=$*
  $cc -O1 -g -w -fno-builtin -fexceptions -I"$source/include" "$@" -c "$source/src/static.c" \
    -o "$dir/static.o" || exit 1
  $cc -O1 -g -w -fno-builtin -I"$source/include" $sanitize "$source/test/tools/misuse.c" \
    "$dir/static.o" -o "$dir/program" -pthread -ldl || exit 1
}

# What the library alone sees.
expect_own() {
  expect wrong-size 0 "free of .* as 20 bytes .*, but it is a block of 48 bytes"
}

valgrind_too() {
  build -DMI_TRACK_VALGRIND=1 "$@"
  expect none 0 -
  for size in 48 5000 70000; do
    # Valgrind names one of the two blocks that the byte lies between: which, the addresses decide.
    expect overflow $size "is (0 bytes after|[0-9]+ bytes before) a block of size .* alloc'd"
    expect underflow $size "is 1 bytes before a block of size .* alloc'd"
    expect use-after-free $size "bytes inside a block of size .* free'd"
  done
  expect double-free 0 "Invalid free"
  expect double-free 0 "double free of block"
  expect double-free-large 0 "Invalid free"
  expect overflow-aligned 0 "is 0 bytes after a block of size 200 alloc'd"
  expect uninitialised 0 "depends on uninitialised value"
  tool="valgrind --quiet --leak-check=full" expect leak 0 "3,000 bytes in 3 blocks are definitely lost"
  expect_own
}

asan_too() {
  build -DMI_TRACK_ASAN=1 "$@"
  expect none 0 -
  for size in 48 5000 70000; do
    expect overflow $size "AddressSanitizer: use-after-poison"
    expect underflow $size "AddressSanitizer: use-after-poison"
    expect use-after-free $size "AddressSanitizer: use-after-poison"
  done
  expect double-free 0 "double free of block"
  expect double-free-large 0 "double free of block"
  expect overflow-aligned 0 "AddressSanitizer: use-after-poison"
  expect_own
}

tool="valgrind --quiet" sanitize=
if command -v valgrind >/dev/null && echo '#include <valgrind/memcheck.h>' | $cc -E - >"$dir/out" 2>&1; then
  valgrind_too -DMI_SECURE=4
  valgrind_too -DMI_SECURE=5 -DMI_DEBUG=3
else
  echo "tracked: no valgrind here"
fi
tool= sanitize=-fsanitize=address
if echo 'int main(void) { return 0; }' | $cc $sanitize -x c - -o "$dir/program" 2>"$dir/out"; then
  asan_too -DMI_SECURE=4
  asan_too -DMI_SECURE=5 -DMI_DEBUG=3
else
  echo "tracked: no AddressSanitizer here"
fi
echo "$passed passed, $failed failed"
[ "$passed" != 0 ] || exit 77
[ "$failed" = 0 ]
