#!/bin/bash
# Builds for Windows on x86 and arm64: for each test a line that begins with pass, FAIL or skip, the
# toolchain and the test. Part of ./mi cross windows-x86 and windows-arm64.
#   other.sh FOLDER x86|arm64        what is built goes there
# What there is is in the environment: ZIG, zig's compiler; GENUINE, a folder with Microsoft's own
# ucrtbase.dll for x86; WINE_ROOT, a root folder with a wine for the processor (see enter_wine). What
# is empty is skipped: then programs are linked, and not run.
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/test/windows processor=$2
mkdir -p "$1" && cd "$1" || exit 2
export folder=$PWD WINEPREFIX=$PWD/prefix WINEDEBUG=-all HOME=/root DISPLAY=''
export WINEARCH=win32 WINELOADER=/usr/lib/wine/wine WINESERVER=/usr/lib/wine/wineserver32
export EMULATOR='' NAMESPACE=--mount
if [ "$processor" = arm64 ]; then  # which the kernel is told of in a name space of its own
  WINEARCH=win64 WINELOADER=/usr/lib/wine/wine64 WINESERVER=/usr/lib/wine/wineserver64
  EMULATOR=/usr/lib/binfmt.d/qemu-aarch64.conf NAMESPACE='--user --map-root-user --mount'
  patience=600
fi
options="-std=gnu11 -O2 -I$root/include -I$root/test -fno-builtin-malloc -fexceptions -DNDEBUG"
failed=0
# shellcheck source=lib.sh
. "$here/lib.sh"

# Programs of another processor have their libraries where this system may have others: they get a
# root folder of their own, in which the folder of the tests is where it is here.
# shellcheck disable=SC2317  # called by other shells, by name
enter_wine() {  # program arguments...
  # shellcheck disable=SC2016,SC2086  # expands there; a list of words
  unshare $NAMESPACE bash -c 'if [ -n "$EMULATOR" ]; then
      mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
        cat "$EMULATOR" >/proc/sys/fs/binfmt_misc/register || exit 1
    fi
    for at in /dev /proc "$folder"; do
      mkdir -p "$WINE_ROOT$at" && mount --rbind "$at" "$WINE_ROOT$at" || exit 1
    done
    exec chroot "$WINE_ROOT" "$WINELOADER" "$@"' sh "$@"
}
export -f enter_wine

run() {  # toolchain name status program arguments...
  local program=$4
  if [ -n "$WINE_ROOT" ]; then
    # shellcheck disable=SC2086  # a list of words
    expect "$1" "$2" "$3" env ${environment:-} bash -c 'enter_wine "$@"' sh "$PWD/$program" "${@:5}"
  else
    outcome "$1" "$2-linked" 0
  fi
}

imports() {  # file
  llvm-objdump-19 -p "$1" | sed -n 's/.*DLL Name: //p' | tr '[:upper:]' '[:lower:]' | sort -u
}

dll() {  # toolchain entry libraries compiler...
  local toolchain=$1 entry=$2 libraries=$3
  shift 3
  # shellcheck disable=SC2086  # lists of words
  build "$toolchain" dll "$@" $options -DMI_SHARED_LIB -DMI_SHARED_LIB_EXPORT -c -o dll.o \
    "$root/src/static.c" &&
    build "$toolchain" dll "$@" -nostdlib -shared "-Wl,-e,$entry" -o mimalloc.dll dll.o -lkernel32 \
      -lntdllcrt -lntdll $libraries || return
  [ "$(imports mimalloc.dll)" = $'kernel32.dll\nntdll.dll' ]
  outcome "$toolchain" dll-imports $?
}

# shellcheck source=../directives.sh
. "$root/test/directives.sh"
kinds="windows release static stacks jumps"

static() {  # toolchain tests libraries compiler...
  local toolchain=$1 tests=$2 libraries=$3 test
  shift 3
  # shellcheck disable=SC2086
  build "$toolchain" library "$@" $options -c -o "static-$toolchain.o" "$root/src/static.c" &&
    build "$toolchain" library "$@" $options -DMI_MALLOC_OVERRIDE=1 -c \
      -o "override-$toolchain.o" "$root/src/static.c" || return
  # On x86 without two that want more than 2 GiB, on arm64 without one that counts on printf.
  for test in $tests windows/last_error windows/guard; do
    case $processor/$test in
      x86/api/page_release | x86/api/arena_full | arm64/windows/guard) continue ;;
    esac
    local name object environment
    name=$(test_name "$test") object=$(test_object "$test" "static-$toolchain.o")
    environment=$(directive "$root/test/$test.c" env)
    # shellcheck disable=SC2086
    build "$toolchain" "$name" "$@" $options -w -o "$name-$toolchain.exe" \
      "$root/test/$test.c" $object $libraries &&
      run "$toolchain" "$name" 0 "$name-$toolchain.exe"
  done
  # shellcheck disable=SC2086
  build "$toolchain" static "$@" $options -fno-builtin -w -o "static-$toolchain.exe" \
    "$here/static.c" "override-$toolchain.o" -lntdll &&
    run "$toolchain" static 0 "static-$toolchain.exe"
}

cxx() {  # toolchain libraries compiler...
  local toolchain=$1 libraries=$2 test
  shift 2
  for test in new new_delete; do
    # shellcheck disable=SC2086
    build "$toolchain" $test "$@" -std=c++17 -O2 -w -I"$root/include" -I"$root/test" \
      "$root/test/api/$test.cpp" "static-$toolchain.o" -lntdll $libraries \
      -o "$test-$toolchain.exe" && run "$toolchain" $test 0 "$test-$toolchain.exe"
  done
}

# ---- gcc, and the DLL in use ---------------------------------------------------------------------

gcc_x86() {
  local ucrt="-specs=ucrt.specs -D_UCRT -D__MSVCRT_VERSION__=0xE00" name tests
  tests=$(tests_of "$kinds gcc threads" api unit)
  static gcc "$tests" "-static -lpthread -lntdll" i686-w64-mingw32-gcc
  # shellcheck disable=SC2086
  build gcc fault i686-w64-mingw32-gcc $options -w -o fault.exe "$here/fault.c" static-gcc.o \
    -lntdll -static && {
    patience=600 run gcc fault 0 fault.exe
    FAULT_OLD=1 patience=600 run gcc fault-old 0 fault.exe
  }
  cxx gcc "-static -Wl,-u,__ZSt17__throw_bad_allocv,-u,__ZSt15get_new_handlerv" \
    i686-w64-mingw32-g++
  dll gcc _DllMain@12 -lgcc i686-w64-mingw32-gcc || return
  i686-w64-mingw32-gcc -dumpspecs | sed 's/-lmsvcrt/-lucrt/g' >ucrt.specs
  for name in redirect.exe unload.exe late_load.exe exit_storm.exe late.dll; do
    local source=$here/${name%.*}.c library=mimalloc.dll
    case $name in redirect.exe | unload.exe | late_load.exe) library='' ;; esac
    # shellcheck disable=SC2086
    build gcc "$name" i686-w64-mingw32-gcc $ucrt $options -w \
      "$([ "${name##*.}" = exe ] && echo -mconsole || echo -shared)" -o "$name" "$source" $library
  done
  ./minject --force redirect.exe || outcome gcc minject 1
  run gcc redirect-not 0 redirect.exe theirs
  run gcc redirect 0 redirect-mi.exe ours
  # shellcheck disable=SC2086
  build gcc refuse i686-w64-mingw32-gcc $options -w -nostdlib -shared -Wl,-e,_DllMain@12 \
    -o refuse.dll "$here/refuse.c" -lkernel32 && ./minject --force --dll refuse.dll \
    --function refused -o redirect-refused.exe redirect-mi.exe &&
    run gcc redirect-refused 0 redirect-refused.exe ours refused
  for name in nothing blocks pinned; do
    environment=WINEDLLOVERRIDES=winedbg.exe=d patience=600 run gcc "unload-$name" 0 unload.exe \
      mimalloc.dll $name 1000
  done
  run gcc late_load 0 late_load.exe
  patience=1200 run gcc exit_storm 0 exit_storm.exe 1000 running
  patience=1200 run gcc exit_storm-stopped 0 exit_storm.exe 1000 stopped
  if [ -n "$GENUINE" ]; then
    mkdir -p genuine &&
      cp -u "$GENUINE"/{ucrtbase,vcruntime140}.dll redirect-mi.exe mimalloc.dll genuine
    WINEDLLOVERRIDES='ucrtbase,vcruntime140=n,b' run gcc redirect-genuine 0 genuine/redirect-mi.exe \
      ours handler
  else
    echo "skip gcc redirect-genuine: no genuine ucrtbase.dll"
  fi
  exports_known gcc
}

if [ -n "$WINE_ROOT" ] && ! [ -d prefix ]; then
  timeout 300 bash -c 'enter_wine wineboot -i' >wineboot.log 2>&1
  [ -e prefix/drive_c/windows/system32/ntdll.dll ] || WINE_ROOT=''
fi
[ -n "$WINE_ROOT" ] ||
  echo "skip wine: it needs root, unshare and Debian's packages"
"${CC:-cc}" -std=gnu11 -O2 -o minject "$root/tools/minject.c" || exit 1
[ "$processor" = arm64 ] || gcc_x86

# ---- zig, and clang with the ABI of Microsoft's compiler -----------------------------------------

if [ -n "$ZIG" ]; then
  triple=${processor/arm64/aarch64}-windows-gnu entry=DllMain
  [ "$processor" = arm64 ] || entry=DllMain@12
  # shellcheck disable=SC2086
  {
    static zig "$(tests_of "$kinds clang" api)" -lntdll $ZIG -target $triple -DTEST_HAS_THREADS=0
    cxx zig "" ${ZIG% cc} c++ -target $triple
    dll zig $entry -lcompiler_rt $ZIG -target $triple
    build zig minject $ZIG -target $triple $options -w -o plain.exe "$here/speed.c" && {
      minject_use plain.exe && [ "$(imports use/a-mi.exe)" = "$(
        printf '%s\n' mimalloc.dll "$(imports plain.exe)" | sort)" ]
      outcome zig minject $?
    }
  }
else
  echo "skip zig: no zig (Python package ziglang)"
fi

headers=/usr/include/wine/wine
if [ -d $headers/windows ] && command -v clang-19 >/dev/null; then
  triple=${processor/x86/i686}-pc-windows-msvc
  # shellcheck disable=SC2086
  build msvc object clang-19 --target="${triple/arm64/aarch64}" -w -nostdlibinc \
    -isystem $headers/msvcrt -isystem $headers/windows -D_UCRT \
    -DInterlockedExchange64=_InterlockedExchange64 -fno-builtin $options -DMI_MALLOC_OVERRIDE=1 \
    -c -o static-msvc.obj "$root/src/static.c" && outcome msvc object 0
else
  echo "skip msvc: it needs clang-19 and libwine-dev"
fi

exit $failed
