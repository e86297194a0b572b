#!/bin/sh
# test: when="release gcc" timeout=600
# src/static.c is C++17 too, in every mode, for each compiler at hand. (test/consumer/cxx.sh runs
# programs that are linked with it.)
#   cxx.sh [anything]         prints what is not C++; exit status 1 if there is something
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
bad=0 tried=0
for cxx in "${CXX:-c++}" clang++-19 clang++; do
  command -v "$cxx" >/dev/null || continue
  tried=$((tried + 1))
  for mode in MI_SECURE=0 MI_DEBUG=3 MI_SECURE=5 MI_GUARDED=1; do
    "$cxx" -x c++ -std=c++17 -w -D$mode -DMI_MALLOC_OVERRIDE=1 -fno-builtin-malloc -fsyntax-only \
      "$source/src/static.c" || { echo "cxx: not C++17 for $cxx with $mode"; bad=1; }
  done
done
[ $tried -gt 0 ] || { echo "cxx: skipped: no C++ compiler here"; exit 77; }
exit $bad
