#!/bin/sh
# test: label=long when="release gcc glibc"
# packages: ninja-build musl-tools pkg-config
# The APKBUILD for Alpine: its functions run one after the other, as abuild would run them, with musl
# where that is here; each file goes into one package; the consumer is built with what was packed.
# shellcheck disable=SC2034,SC2154  # variables that the APKBUILD reads and sets
set -u
# shellcheck source=lib/package
. "$(dirname "$0")/lib/package"
need ninja
command -v musl-gcc >/dev/null && CC=musl-gcc

sh -n "$dist/packaging/alpine/APKBUILD" || fail "no shell script"
srcdir=$work/src pkgdir=$work/pkg
mkdir "$srcdir"
tree=$source  # the APKBUILD has another
# shellcheck disable=SC1091  # is made here
. "$dist/packaging/alpine/APKBUILD"
[ "$pkgver" = "$version" ] || fail "another version"
echo "$sha512sums" | grep . | sed "s|  |  $dist/|" | sha512sum -c --quiet || fail "another checksum"
tar -xzf "$archive" -C "$srcdir"
cd "$builddir" || exit 2
for step in build check package; do
  (set -e; $step) >"$work/log" 2>&1 || { cat "$work/log"; fail "$step fails"; }
done

amove() {  # as abuild: from the main package into that which is being made
  for each in "$@"; do
    # shellcheck disable=SC2086  # a pattern
    (cd "$pkgdir" && find $each -type f -o -type l) | while read -r file; do
      mkdir -p "$subpkgdir/$(dirname "$file")"
      mv "$pkgdir/$file" "$subpkgdir/$file"
    done || exit 1
  done
}
cp -r "$pkgdir" "$work/all"
# in abuild's order: those before -dev in the list would take their files first
for subpackage in static:static tools:tools secure:secure secure-dev:_secure_dev; do
  subpkgdir=$work/sub-${subpackage%%:*}
  (set -e; ${subpackage#*:}) || fail "$subpackage fails"
  find "$subpkgdir" -type f -o -type l | grep -q . || fail "$subpackage is empty"
done
ls "$pkgdir/usr/lib/libmimalloc.so.3" "$work/sub-secure/usr/lib/libmimalloc-secure.so.3" "$work/sub-tools/usr/bin/mi" >/dev/null || fail "files are missing"
find "$pkgdir" -name '*secure*' | grep . && fail "these are the plain package's"
cd "$work" || exit 2
$CC "$tree/test/consumer/use.c" -I"$work/all/usr/include" -L"$work/all/usr/lib" -lmimalloc -Wl,-rpath,"$work/all/usr/lib" -o use || fail "not linked"
logged ./use
echo "alpine: $pkgname $pkgver by $CC"
