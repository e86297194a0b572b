#!/bin/sh
# test: when="release gcc glibc shared"
# A program that was built for an earlier version runs with this one: the headers declare each
# function as the files of packaging/abi do, with the same values of enumerators and places of
# fields, and the library exports each symbol of theirs with its version.
#   abi.sh LIBRARY            prints what differs
set -u
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
library=$1
command -v readelf >/dev/null || { echo "abi: skipped: no readelf here"; exit 77; }
readelf -h "$library" | grep -q ELF64 || { echo "abi: skipped: what is written down is for 64 bits"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
bad=0

fits() { "${CC:-cc}" -std=c11 -I"$2" -fsyntax-only "$1" 2>"$work/said"; }  # written, headers

readelf --dyn-syms -W "$library" | awk '$7 ~ /^[0-9]+$/ && $5 != "LOCAL" { print $8 }' | sort >"$work/exported"
for written in "$source"/packaging/abi/*.c; do
  if ! fits "$written" "$source/include"; then
    echo "abi: the headers no longer fit $written"
    grep error "$work/said"
    bad=1
  fi
  sed 's/@.*//' "${written%.c}.symbols" | grep '^mi_' | sort >"$work/names"
  grep -oE 'mi_[a-z0-9_]+\(' "$written" | tr -d '(' | sort -u >"$work/declared"
  if comm -23 "$work/names" "$work/declared" | grep .; then
    echo "abi: these are in ${written%.c}.symbols, but not in $written"
    bad=1
  fi
  sort "${written%.c}.symbols" | comm -23 - "$work/exported" >"$work/gone"
  if [ -s "$work/gone" ]; then
    echo "abi: symbols of ${written%.c}.symbols that are gone:"
    cat "$work/gone"
    bad=1
  fi
done

# That it would notice: each of these is a change that breaks programs.
noticed() {  # header, sed's command
  rm -rf "$work/include" && cp -R "$source/include" "$work/include"
  sed -i "$2" "$work/include/$1"
  cmp -s "$source/include/$1" "$work/include/$1" && { echo "abi: nothing is changed by $2"; bad=1; }
  if fits "$written" "$work/include"; then echo "abi: not noticed: $2"; bad=1; fi
}
noticed mimalloc.h 's/^  size_t used; /  int used; /'
noticed mimalloc.h 's/^  mi_option_verbose = [0-9]*/  mi_option_verbose = 77/'
noticed mimalloc.h 's/mi_usable_size(const void\* p)/mi_usable_size(const void* p, int more)/'
noticed mimalloc-stats.h 's/MI_STAT_COUNT(reserved) /MI_STAT_COUNTER(reserved) /'
[ $bad != 0 ] || echo "abi: $(cat "$source"/packaging/abi/*.symbols | wc -l) symbols"
exit $bad
