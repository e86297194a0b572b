#!/bin/sh
# test: when="release gcc" timeout=300
# Programs may include the headers by any standard from C99 and C++98 on, however strict the
# compiler is, for each compiler at hand.
#   headers.sh [anything]     prints what is not accepted; exit status 1 if there is something
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
bad=0

accepts() {  # compiler language standard header
  printf '#include <%s>\n' "$4" | "$1" -x "$2" "-std=$3" -Wall -Wextra -pedantic-errors -Werror \
    -I"$source/include" -fsyntax-only - || { echo "headers: $4 is not $3 for $1"; bad=1; }
}
for header in mimalloc.h mimalloc-stats.h mimalloc-profile.h mimalloc-override.h; do
  for compiler in "${CC:-cc}" clang-19; do
    command -v "$compiler" >/dev/null || continue
    for standard in c99 c11 c17; do accepts "$compiler" c $standard $header; done
  done
done
for header in mimalloc.h mimalloc-stats.h mimalloc-profile.h mimalloc-override.h \
  mimalloc-new-delete.h; do
  for compiler in "${CXX:-c++}" clang++-19; do
    command -v "$compiler" >/dev/null || continue
    for standard in c++98 c++11 c++17 c++20; do accepts "$compiler" c++ $standard $header; done
  done
done
exit $bad
