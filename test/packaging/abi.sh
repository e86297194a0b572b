#!/bin/sh
# test: when="release gcc glibc shared" timeout=600
# packages: abigail-tools
# The shared library can take the place of that of the last release, as abidiff sees it: of the last
# tag vX.Y.Z, or as long as there is none, of the commit that last wrote down symbols in packaging/abi.
set -u
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
for each in abidiff git; do
  command -v $each >/dev/null || { echo "abi: skipped: no $each here"; exit 77; }
done
[ "$(git -C "$source" rev-parse --is-shallow-repository 2>/dev/null)" != true ] || {
  echo "abi: skipped: a shallow clone does not have the last release"
  exit 77
}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
last=$(git -C "$source" describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) ||
  last=$(git -C "$source" log -1 --format=%H -- 'packaging/abi/*.symbols' 2>/dev/null)
[ -n "$last" ] || { echo "abi: skipped: no release is known here"; exit 77; }
mkdir "$work/last" && git -C "$source" archive "$last" src include cmake | tar -x -C "$work/last" || exit 2
mkdir "$work/now" && cp -R "$source/src" "$source/include" "$source/cmake" "$work/now" || exit 2

library() {  # folder
  "${CC:-cc}" -std=c11 -g -O1 -shared -fPIC -fvisibility=hidden -ftls-model=initial-exec -DMI_SHARED_LIB \
    -DMI_SHARED_LIB_EXPORT -DMI_MALLOC_OVERRIDE=1 -Wl,--version-script="$1/cmake/mimalloc.map" \
    -Wl,-soname,libmimalloc.so.3 "$1/src/static.c" -o "$1/libmimalloc.so.3" -pthread
}
compare() {  # folder
  abidiff --no-added-syms --suppressions "$source/packaging/abi/abidiff.ignore" \
    --headers-dir1 "$work/last/include" --headers-dir2 "$1/include" "$work/last/libmimalloc.so.3" "$1/libmimalloc.so.3"
}

library "$work/last" && library "$work/now" || { echo "abi: a library does not build"; exit 1; }
compare "$work/now" || { echo "abi: programs that were built for $last may fail"; exit 1; }

# That it would notice: a symbol that is lost, a field that is another, one that moves the others.
cp -R "$work/now" "$work/broken"
sed -i '/^    mi_malloc_small;/d' "$work/broken/cmake/mimalloc.map"
sed -i 's/^  size_t used; /  int used; /' "$work/broken/include/mimalloc.h"
sed -i 's/^  size_t version; /  size_t more, version; /' "$work/broken/include/mimalloc-stats.h"
library "$work/broken" 2>/dev/null || { echo "abi: the broken library does not build"; exit 1; }
if compare "$work/broken" >"$work/said"; then
  echo "abi: a library that breaks programs passes"
  exit 1
fi
for each in mi_malloc_small "size_t used" "more"; do
  grep -q "$each" "$work/said" || { cat "$work/said"; echo "abi: $each is not noticed"; exit 1; }
done
echo "abi: as at $last"
