#!/bin/bash
# Builds for Windows and runs the tests under wine: for each a line that begins with pass, FAIL or
# skip. Part of ./mi cross windows.
#   run.sh FOLDER        what is built goes there
#
# Compiler of all that runs is mingw's gcc. With clang 19 and Wine's headers (libwine-dev) the library
# is also compiled with the ABI of MSVC; where zig is in build/cross/zig, its tests run too.
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1" && cd "$1" || exit 2
export WINEPREFIX=$PWD/prefix WINEDEBUG=-all WINEARCH=win64
wine=$(type -P wine64 || echo /usr/lib/wine/wine64)
options="-std=gnu11 -O2 -I$root/include -I$root/test -fno-builtin-malloc -fexceptions"
gcc=x86_64-w64-mingw32-gcc
failed=0

outcome() {  # name status
  if [ "$2" = 0 ]; then echo "pass $1"; else echo "FAIL $1 (status $2)"; failed=1; fi
}

expect() {  # name expected-status command...
  local name=$1 expected=$2 status
  shift 2
  timeout 120 "$@" >"$name.log" 2>&1 </dev/null
  status=$?
  [ $status = "$expected" ] || head -n 5 "$name.log"
  outcome "$name" $((status == expected ? 0 : status == 0 ? 1 : status))
}

[ -d prefix ] || "$wine" wineboot -i >/dev/null 2>&1

# ---- the static library: tests of the interface that ask for no more than Windows has ------------

tests='aligned arena_full extended fill_preserve hooks huge_remainders override_header realloc_grid
  stats_shrinking ublock words zero zero_realloc zero_reset'
threaded='collector full_pages page_lengths page_release stats stats_exact'

static() {  # name compiler defines libraries tests...
  local name=$1 compiler=$2 defines=$3 libraries=$4 test
  shift 4
  # shellcheck disable=SC2086  # lists of words
  $compiler $options $defines -c -o "static-$name.o" "$root/src/static.c" >"static-$name.log" 2>&1
  outcome "static-$name" $?
  for test in "$@" ../windows/last_error; do
    # shellcheck disable=SC2086
    $compiler $options $defines -w -o "${test##*/}-$name.exe" "$root/test/api/$test.c" \
      "static-$name.o" $libraries >build.log 2>&1 || head -n 3 build.log
    expect "${test##*/}-$name" 0 "$wine" "${test##*/}-$name.exe"
  done
}

# shellcheck disable=SC2086  # lists of words
static gcc $gcc -DNDEBUG "-static -lpthread -lntdll" $tests $threaded
# shellcheck disable=SC2086
static gcc-debug $gcc "" "-static -lpthread -lntdll" $tests $threaded
# shellcheck disable=SC2086
static gcc-secure $gcc "-DNDEBUG -DMI_SECURE=4" "-static -lpthread -lntdll" $tests $threaded

zig=$root/build/cross/zig/bin/python3
if [ -x "$zig" ]; then
  # shellcheck disable=SC2086
  static zig "$zig -m ziglang cc -target x86_64-windows-gnu" -DNDEBUG -lntdll $tests
else
  echo "skip zig: not in build/cross/zig (./mi cross glibc-2.17 puts it there)"
fi

wine_headers=/usr/include/wine/wine
if [ -d $wine_headers/windows ] && command -v clang-19 >/dev/null; then
  clang-19 --target=x86_64-pc-windows-msvc -std=gnu11 -O2 -w -nostdlibinc \
    -isystem $wine_headers/msvcrt -isystem $wine_headers/windows -D_UCRT -DNDEBUG \
    -D_InterlockedCompareExchange128=_wine_ICE128 -DInterlockedExchange64=_InterlockedExchange64 \
    -c -o static-msvc.o "$root/src/static.c" >static-msvc.log 2>&1
  outcome static-msvc $?
else
  echo "skip static-msvc: it needs clang-19 and libwine-dev"
fi

# ---- the DLL -------------------------------------------------------------------------------------

# shellcheck disable=SC2086
$gcc $options -DNDEBUG -DMI_SHARED_LIB -DMI_SHARED_LIB_EXPORT -nostdlib -shared -Wl,-e,DllMain \
  -Wl,--out-implib,libmimalloc.dll.a -o mimalloc.dll "$root/src/static.c" \
  -lkernel32 -lntdllcrt -lntdll -lgcc >dll.log 2>&1
outcome dll $?
"${CC:-cc}" -std=gnu11 -O2 -o minject "$root/tools/minject.c" || exit 1
[ "$(./minject --list mimalloc.dll | sort -fu | tr '\n' ' ')" = "KERNEL32.dll ntdll.dll " ]
outcome dll-imports $?

# A program on ucrtbase.dll, which mingw's gcc uses where its specifications are told.
$gcc -dumpspecs | sed 's/-lmsvcrt/-lucrt/g' >ucrt.specs
program() {  # name options...
  local name=$1
  shift
  # shellcheck disable=SC2086
  $gcc -specs=ucrt.specs -D_UCRT -D__MSVCRT_VERSION__=0xE00 $options -w -o "$name" "$@" \
    >build.log 2>&1 || head -n 3 build.log
}
program redirect.exe "$root/test/windows/redirect.c"
program unload.exe "$root/test/windows/unload.c"
program late.dll -shared "$root/test/windows/late.c" mimalloc.dll
program exit_storm.exe "$root/test/windows/exit_storm.c" mimalloc.dll
./minject --force redirect.exe || outcome minject 1

expect redirect-not 0 "$wine" redirect.exe theirs
expect redirect 0 "$wine" redirect-mi.exe ours
expect redirect-disabled 0 env MIMALLOC_DISABLE_REDIRECT=1 "$wine" redirect-mi.exe theirs
expect unload 0 "$wine" unload.exe mimalloc.dll
for time in 1 2 3 4 5 6 7 8; do
  expect exit_storm-$time 7 "$wine" exit_storm.exe
  expect exit_storm-stopped-$time 7 "$wine" exit_storm.exe stopped
done

exit $failed
