#!/bin/sh
# test: label=long when="release gcc glibc" timeout=1800
# packages: debhelper dpkg-dev fakeroot lintian pkg-config autopkgtest mmdebstrap
# The Debian packages: built from the archive, no complaint of lintian's, installed into a folder of
# their own, which their test then uses. As root also in a Debian of its own, which has nothing but
# what the packages ask for. What cannot be done here is named, and then the test counts as skipped.
set -u
# shellcheck source=lib/package
. "$(dirname "$0")/lib/package"
need dpkg-buildpackage dh fakeroot pkg-config
left_out=

cp "$archive" "mimalloc_$version.orig.tar.gz"
tar -xzf "$archive"
cp -r "$dist/packaging/debian/debian" "mimalloc-$version/"
cd "mimalloc-$version" || exit 2
unset MAKEFLAGS MFLAGS
PATH=/usr/sbin:/usr/bin:/sbin:/bin logged dpkg-buildpackage -us -uc -d
cd ..
if command -v lintian >/dev/null; then
  # that number Debian gives
  lintian --allow-root --suppress-tags initial-upload-closes-no-bugs --fail-on error,warning ./*.changes \
    >"$work/log" 2>&1 || { cat "$work/log"; fail "lintian complains"; }
else
  left_out="no lintian here"
fi
for package in libmimalloc3 libmimalloc-dev libmimalloc-tools; do
  dpkg-deb -x ${package}_*.deb root
done
export PATH="$work/root/usr/bin:$PATH"
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
export PKG_CONFIG_PATH="$work/root/usr/lib/$triplet/pkgconfig"
export LD_LIBRARY_PATH="$work/root/usr/lib/$triplet" CMAKE_PREFIX_PATH="$work/root/usr"
(cd "mimalloc-$version" && logged sh debian/tests/consumer)
ls root/usr/share/man/man1/mi.1.gz root/usr/share/man/man3/mimalloc.3.gz root/usr/share/man/man7/mimalloc-options.7.gz >/dev/null || fail "no manual"
if [ "$(id -u)" != 0 ]; then
  left_out="$left_out${left_out:+; }a system of its own is made by root alone"
elif ! command -v autopkgtest >/dev/null || ! command -v mmdebstrap >/dev/null; then
  left_out="$left_out${left_out:+; }no autopkgtest or no mmdebstrap here"
elif ! mmdebstrap --variant=apt "$(. /etc/os-release && echo "$VERSION_CODENAME")" system >"$work/log" 2>&1; then
  left_out="$left_out${left_out:+; }mmdebstrap cannot make a system here: $(tail -n 1 "$work/log")"
else
  unset PKG_CONFIG_PATH LD_LIBRARY_PATH CMAKE_PREFIX_PATH CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
  logged autopkgtest --setup-commands="apt-get update" mimalloc_*.changes -- chroot "$work/system"
  grep -q "^consumer *PASS" "$work/log" || fail "no test was run"
fi
echo "debian: $(ls ./*.deb | wc -l) packages"
[ -z "$left_out" ] || skip "what could be done passed, but: $left_out"
