#!/bin/sh
# test: label=long when="release gcc glibc"
# packages: ninja-build pkg-config
# The wrap for Meson: as a subproject of the consumer, and installed by itself.
set -u
# shellcheck source=lib/package
. "$(dirname "$0")/lib/package"
need ninja
python_tool meson

mkdir -p subprojects/packagecache
cp -r "$dist/packaging/meson/." subprojects/
cp "$archive" subprojects/packagecache/
cp "$source/test/consumer/use.c" .
cat >meson.build <<'END'
project('consumer', 'c')
executable('use', 'use.c', dependencies: dependency('mimalloc'))
END
for kind in shared static; do
  logged meson setup $kind --wrap-mode=forcefallback -Dmimalloc:default_library=$kind
  logged meson compile -C $kind
  logged $kind/use
done
if ldd static/use | grep mimalloc; then fail "not linked statically"; fi

logged meson setup alone "subprojects/mimalloc-$version" --prefix="$work/prefix" --libdir=lib -Ddefault_library=both -Dsecure=on
logged meson install -C alone
[ -e "$work/prefix/lib/libmimalloc-secure.so.3" ] && [ -e "$work/prefix/lib/libmimalloc-secure.a" ] || fail "not installed"
sh "$source/test/static/exports.sh" alone/libmimalloc-secure.so.3 | grep -v SONAME | grep . | grep -v functions && fail "other exports"
readelf -dW alone/libmimalloc-secure.so.3 | grep -q 'SONAME.*\[libmimalloc-secure.so.3\]' || fail "another SONAME"
consume "$work/prefix" mimalloc-secure
echo "meson: $(meson --version)"
