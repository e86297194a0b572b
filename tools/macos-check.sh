#!/bin/bash
# On a Mac, with Xcode's command line tools: builds the library for both processors, runs the tests of
# test/macos on the system itself, and shows what only a Mac can (docs/platforms.md). Prints a line
# for each that begins with pass, FAIL or skip; what a failed one printed is in NAME.log.
#   tools/macos-check.sh [FOLDER]      what is built goes there
# It does not show: how the system's memory pressure reaches the library, anything on a device.
# shellcheck disable=SC2154  # tests.sh sets it
root=$(cd "$(dirname "$0")/.." && pwd)
[ "$(uname)" = Darwin ] || { echo "this is for macOS"; exit 2; }
command -v cc >/dev/null || { echo "this needs Xcode's command line tools: xcode-select --install"; exit 2; }
folder=${1:-$(mktemp -d)}
mkdir -p "$folder" && cd "$folder" || exit 2
echo "macOS $(sw_vers -productVersion), $(uname -m), in $folder"
command -v timeout >/dev/null || timeout() { shift; "$@"; }
# shellcheck disable=SC2034  # what is sourced uses them
compiler=cc cxx=c++ processors='-arch x86_64 -arch arm64' run=()

# shellcheck source-path=SCRIPTDIR source=../test/macos/tests.sh
. "$root/test/macos/tests.sh"
# shellcheck source-path=SCRIPTDIR source=../test/macos/programs.sh
. "$root/test/macos/programs.sh"

# ---- dyld and libmalloc ----------------------------------------------------------------------------

expect dylib-for-both 0 lipo $dylib -verify_arch x86_64 arm64
for nano in 0 1; do  # without and with libmalloc's zone for small blocks
  expect redirect-nano-$nano 0 "${inserted[@]}" MallocNanoZone=$nano ./redirect ours
  expect zone-nano-$nano 0 env MallocNanoZone=$nano ./zone-release
done
if [ "$(uname -m)" = arm64 ] && arch -x86_64 /usr/bin/true 2>/dev/null; then
  expect x64-build 0 cc -arch x86_64 -O2 -w -fno-builtin -Wl,-undefined,dynamic_lookup \
    -o redirect-x64 "$here/redirect.c"
  expect x64 0 "${inserted[@]}" ./redirect-x64 ours
else
  echo "skip x64: no Rosetta, or no need of it"
fi
# From a hardened program the system takes DYLD_INSERT_LIBRARIES.
cp redirect hardened
expect hardened-sign 0 codesign -f -s - -o runtime hardened
expect hardened 0 "${inserted[@]}" ./hardened theirs

# ---- tools that read the zone of another process ---------------------------------------------------

expect tools-build 0 cc -O0 -fno-builtin -w -o tools "$here/tools.c"
"${inserted[@]}" MIMALLOC_OS_TAG=250 ./tools &
process=$!
sleep 2
expect heap 0 heap $process
expect heap-names-the-zone 0 grep -qi mimalloc heap.log
expect vmmap 0 vmmap $process
expect vmmap-names-the-zone 0 grep -qi mimalloc vmmap.log
expect vmmap-shows-the-tag 0 grep -q 'Memory Tag 250' vmmap.log
expect leaks 1 leaks $process  # 1: there are some
expect leaks-finds-them 0 grep -qE '[0-9]+ leaks for' leaks.log
kill $process

# ---- Objective-C, Swift ----------------------------------------------------------------------------

build_program program-objc -fobjc-arc -framework Foundation "$here/objects.m"
same_output objc 1000 ./program-objc
if command -v swiftc >/dev/null; then
  expect swift-build 0 swiftc -O -o program-swift "$here/objects.swift"
  same_output swift 1000 ./program-swift
else
  echo "skip swift: no swiftc"
fi

# ---- other builds ----------------------------------------------------------------------------------

object() {  # name SDK options...
  local sdk
  if sdk=$(xcrun --sdk "$2" --show-sdk-path 2>/dev/null); then
    # shellcheck disable=SC2086  # lists of words
    expect "object-$1" 0 cc $options $library -isysroot "$sdk" "${@:3}" -c -o "$1.o" "$root/src/static.c"
  else
    echo "skip object-$1: no SDK $2"
  fi
}

object ios iphoneos -target arm64-apple-ios12
object simulator iphonesimulator -target arm64-apple-ios14-simulator
object catalyst macosx -target arm64-apple-ios14-macabi
object arm64e macosx -arch arm64e
object tvos appletvos -target arm64-apple-tvos12
object visionos xros -target arm64-apple-xros1
if command -v cmake >/dev/null; then
  expect cmake-configure 0 cmake -S "$root" -B universal -DMI_WERROR=ON \
    '-DCMAKE_OSX_ARCHITECTURES=x86_64;arm64'
  expect cmake-build 0 cmake --build universal
  for product in libmimalloc.dylib libmimalloc.a mimalloc.o; do
    expect cmake-$product 0 lipo universal/$product -verify_arch x86_64 arm64
  done
  expect cmake-install-name 0 grep -q "@rpath/$dylib" <(otool -D universal/libmimalloc.dylib)
else
  echo "skip cmake: no CMake"
fi
exit $failed
