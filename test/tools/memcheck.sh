#!/bin/sh
# test: when=valgrind timeout=600
# What memcheck says of each misuse: in a program that calls mi_malloc, linked statically, and in one
# that calls malloc, with the library preloaded.
# shellcheck source=test/tools/lib/tools.sh
. "$(dirname "$0")/lib/tools.sh"
command -v valgrind >/dev/null || { echo "valgrind is missing"; exit 77; }
compile static "$MI_LIB_STATIC" -ldl
compile preload -DPLAIN

run() {  # program misuse size
  preload=
  [ "$1" = preload ] && preload=$MI_LIB_SHARED
  LD_PRELOAD=$preload valgrind --quiet --leak-check=full --soname-synonyms=somalloc=nouserintercepts \
    "$dir/$1" "$2" "$3" >"$dir/out" 2>&1
}

expect() {  # misuse size regex
  for program in static preload; do
    run $program "$1" "$2"
    check "$program $1 $2" "$3" "$dir/out"
  done
}

expect none 0 -
for size in 1 24 48 1024 5000 70000; do
  expect overflow $size "Invalid write of size 1"
  expect overflow $size "is 0 bytes after a block of size .* alloc'd"
done
for size in 48 32768 70000; do
  expect underflow $size "is 1 bytes before a block of size .* alloc'd"
  expect use-after-free $size "bytes inside a block of size .* free'd"
done
expect double-free 0 "Invalid free"
expect double-free 0 "is 0 bytes inside a block of size 48 free'd"
expect free-inside 0 "is 16 bytes inside a block of size 48 alloc'd"
expect free-foreign 0 "Invalid free"
expect uninitialised 0 "depends on uninitialised value"
expect leak 0 "3,000 bytes in 3 blocks are definitely lost"
# memcheck takes each number for an address; the clock of a machine that has run for some hours is
# one inside the block.
expect leak-large 0 "300,000 bytes in 1 blocks are (definitely|possibly) lost"
expect overflow-resized 0 "is 0 bytes after a block of size 110 alloc'd"
expect overflow-zeroed 0 "is 0 bytes after a block of size 33 alloc'd"
expect overflow-aligned 0 "is 0 bytes after a block of size 200 alloc'd"
finish
