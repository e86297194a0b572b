#!/bin/sh
# test: when="release gcc"
# Functions of src/ are short: none has more than 60 lines, nine in ten have at most 25, and half at
# most 8, from the first line of the head to the closing brace. As clang-format lays them out: the
# head starts in the first column and ends in `{`, and the brace that closes it is in the first
# column too, or everything is on one line.
#   lengths.sh [anything]     prints each function that is too long, and the figures
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source" || exit 2

# Prints `lines name file:line`, one function each.
functions() {
  find src -name '*.[ch]' | sort | xargs awk '
    function done_at(last) { print last - first + 1, name, FILENAME ":" first; first = 0; inside = 0 }
    FNR == 1 { first = 0; inside = 0 }
    inside { if (/^}/) { done_at(FNR) } next }
    /^(#|\/\/|$|}| )/ && !first { next }
    /^(typedef|struct|enum|union|_Static_assert|__asm__)/ { next }
    !first {
      name = $0
      gsub(/(PRINTF_LIKE|_Atomic)\([^()]*\) ?|__attribute__\(\(.*\)\) ?/, "", name)
      if (name !~ /^[A-Za-z_].*[A-Za-z0-9_]\(/) { next }
      sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
      first = FNR
    }
    first && (/;( *\/\/.*)?$/ && !/\{.*}/ || / = \{$/) { first = 0 }
    first && /[^ ].*\{.*}( *\/\/.*)?$/ { done_at(FNR) }
    first && /\{( *\/\/.*)?$/ { inside = 1 }'
}

functions | sort -n | awk '
  { lines[NR] = $1; total += $1 }
  $1 > 60 { printf "lengths: %s in %s has %d lines; at most 60\n", $2, $3, $1; bad = 1 }
  END {
    if (NR < 500) { print "lengths: the sources are not understood: " NR " functions"; exit 1 }
    half = lines[int((NR + 1) / 2)]; most = lines[int((9 * NR + 9) / 10)]
    printf "lengths: %d functions; half have at most %d lines, nine in ten at most %d, the longest %d\n",
           NR, half, most, lines[NR]
    if (half > 8) { print "lengths: half should have at most 8"; bad = 1 }
    if (most > 25) { print "lengths: nine in ten should have at most 25"; bad = 1 }
    exit bad
  }'
