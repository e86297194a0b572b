#!/bin/sh
# test: when=asan timeout=600
# What AddressSanitizer says of each misuse in a program that calls mi_malloc, linked statically.
# shellcheck source=test/tools/lib/tools.sh
. "$(dirname "$0")/lib/tools.sh"
compile static -fsanitize=address "$MI_LIB_STATIC" -ldl
compile shared -fsanitize=address "$MI_LIB_SHARED" -Wl,-rpath,"$(dirname "$MI_LIB_SHARED")"

expect() {  # misuse size regex
  for program in static shared; do
    "$dir/$program" "$1" "$2" >"$dir/out" 2>&1
    check "$program $1 $2" "$3" "$dir/out"
  done
}

expect none 0 -
for size in 1 24 48 1024 5000 70000; do
  expect overflow $size "AddressSanitizer: use-after-poison .*"
  expect overflow $size "WRITE of size 1"
done
for size in 48 32768 70000; do
  expect underflow $size "AddressSanitizer: use-after-poison"
  expect use-after-free $size "AddressSanitizer: use-after-poison"
done
expect double-free 0 "double free of block"
expect free-inside 0 "free of .*, which is not a block of this allocator"
expect free-foreign 0 "free of .*, which is not a block of this allocator"
expect overflow-resized 0 "AddressSanitizer: use-after-poison"
expect overflow-zeroed 0 "AddressSanitizer: use-after-poison"
expect overflow-aligned 0 "AddressSanitizer: use-after-poison"
finish
