#!/bin/sh
# test: when="wasi" timeout=300
# A program for WASI that calls mi_malloc, and whose malloc is the C library's: neither takes the
# other's memory.
#   beside.sh [anything]    exit status 1 if one does
# MI_RUNNER runs programs for WASI.
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
clang-19 --target=wasm32-wasi --sysroot=/usr -B/usr/lib/llvm-19/bin -O2 -DNDEBUG -I"$source/include" \
  -o "$work/beside" "$source/src/static.c" "$(dirname "$0")/beside.c" && $MI_RUNNER "$work/beside"
