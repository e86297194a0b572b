#!/bin/sh
# test: when="release gcc shared"
# The shared library and the C++ module export what the headers declare; the library with the
# versions of cmake/mimalloc.map, and the C library's and the C++ runtime's names without one. Its
# SONAME has the major version.
#   exports.sh LIBRARY        prints what differs
set -eu
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
library=$1
command -v readelf >/dev/null || { echo "exports: skipped: no readelf here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
bad=0

differ() {  # what a b
  if ! diff "$2" "$3" >"$work/diff"; then
    echo "exports: $1"
    cat "$work/diff"
    bad=1
  fi
}

for header in mimalloc.h mimalloc-stats.h mimalloc-profile.h; do echo "#include <$header>"; done |
  "${CC:-cc}" -E -P -I"$source/include" '-DMI_SHARED_LIB_EXPORT' - | tr '\n' ' ' | tr ';' '\n' |
  grep 'visibility' | sed 's/__attribute__((\([^()]\|([^()]*)\)*))//g' |
  grep -oE 'mi_[a-z_0-9]+ *\(' | grep -oE '^mi_[a-z_0-9]+' | sort -u >"$work/declared"
[ "$(wc -l <"$work/declared")" -gt 200 ] || { echo "exports: the headers are not understood"; exit 1; }
awk '/^[A-Z]/ { node = $1 } /^ +mi_/ { sub(/;/, ""); print $1 "@@" node }' \
  "$source/cmake/mimalloc.map" | sort >"$work/mapped"
sed 's/@.*//' "$work/mapped" >"$work/mapped-names"
differ "the headers (<) and mimalloc.map (>) disagree" "$work/declared" "$work/mapped-names"

sed -n '/^\/\/ ---- Functions/,/^\/\/ ---- Allocators/s/^export using ::\(.*\);/\1/p' \
  "$source/include/mimalloc.cppm" | sort >"$work/in-module"
differ "the headers (<) and the module (>) disagree" "$work/declared" "$work/in-module"
sed -n 's/^ *\(mi_option_[a-z_]*\) = .*/\1/p' "$source/include/mimalloc.h" | sort >"$work/enumerators"
sed -n '/^\/\/ ---- Options/,$s/^export using ::\(mi_option_[a-z_]*\);/\1/p' \
  "$source/include/mimalloc.cppm" | sort >"$work/enumerators-in-module"
differ "the options (<) and the module (>) disagree" "$work/enumerators" "$work/enumerators-in-module"

readelf --dyn-syms -W "$library" | awk '$7 ~ /^[0-9]+$/ && $5 != "LOCAL" { print $8 }' | sort >"$work/exported"
grep '^mi_' "$work/exported" >"$work/exported-ours"
if readelf -V "$library" | grep -q 'Version definition'; then
  differ "mimalloc.map (<) and the library (>) disagree" "$work/mapped" "$work/exported-ours"
else
  echo "exports: the linker knew no versions"
  differ "mimalloc.map (<) and the library (>) disagree" "$work/mapped-names" "$work/exported-ours"
fi
grep -v -e '^mi_' -e '^MIMALLOC_' "$work/exported" | grep '@' && { echo "exports: these have versions"; bad=1; }
major=$(sed -n 's/^#define MI_MALLOC_VERSION \([0-9]\)[0-9]*$/\1/p' "$source/include/mimalloc.h")
readelf -dW "$library" | grep -q "SONAME.*\[libmimalloc.so.$major\]" || { echo "exports: not this SONAME"; bad=1; }
[ $bad != 0 ] || echo "exports: $(wc -l <"$work/declared") functions"
exit $bad
