#!/bin/sh
# test: label=long when="release gcc glibc"
# packages: pkg-config
# The port for vcpkg: its steps, by functions that stand in for vcpkg's (lib/vcpkg.cmake), shared and
# static, with each of upstream's features; then the consumer, in both configurations.
set -u
# shellcheck source=lib/package
. "$(dirname "$0")/lib/package"
port=$dist/packaging/vcpkg
export CC
if command -v python3 >/dev/null; then logged python3 -m json.tool "$port/vcpkg.json"; fi

for build in dynamic: static:override "dynamic:override;secure" "static:guarded"; do
  rm -rf port-work
  logged cmake -DPORT="$port" -DWORK="$work/port-work" -DDOWNLOADS="$dist" \
    -DVCPKG_LIBRARY_LINKAGE="${build%%:*}" -DFEATURES="${build#*:}" -P "$source/test/packaging/lib/vcpkg.cmake"
  packages=$work/port-work/packages
  ls "$packages/share/mimalloc/copyright" "$packages/include/mimalloc.h" >/dev/null || fail "$build: files are missing"
  if [ -e "$packages/debug/include" ] || [ -e "$packages/debug/share" ]; then fail "$build: vcpkg forbids these"; fi
  names='mimalloc::mimalloc;mimalloc'
  [ "${build%%:*}" = dynamic ] || names='mimalloc::mimalloc;mimalloc-static'
  for kind in Release Debug; do
    rm -rf project
    logged cmake -S "$source/test/consumer/variants" -B project -DCMAKE_C_COMPILER="$CC" \
      -DTARGETS="$names" -DCMAKE_C_FLAGS="$(case $build in *override*) ;; *) echo -DNO_OVERRIDE ;; esac)" \
      -DCMAKE_PREFIX_PATH="$packages" -DCMAKE_BUILD_TYPE=$kind
    logged cmake --build project
    for number in 1 2; do logged project/use-$number; done
    case $kind:$build in
      Debug:dynamic*) ldd project/use-1 | grep -q "$packages/debug/lib" || fail "Debug does not use the debug library" ;;
      Release:dynamic*) ldd project/use-1 | grep -q "$packages/lib" || fail "Release does not use its library" ;;
    esac
  done
done
echo "vcpkg: $version"
