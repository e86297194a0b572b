#!/bin/sh
# test: when="release gcc glibc override" timeout=600
# What can be chosen when the library is built: each option of CMake has its effect or a line that
# says why it has none; the macros of the source; a platform without a port. Wants what run.sh wants.
# shellcheck disable=SC2317  # the functions way_... are called by way
set -u
# shellcheck source=ways
. "$(dirname "$0")/ways"

configure() {  # options...: in one folder, where each call begins with the defaults
  cmake -S "$MI_SOURCE_DIR" -B conf -U'MI_[!AHL]*' -UMI_ALLOW_THP -UMI_LOCAL_DYNAMIC_TLS -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_C_FLAGS_RELEASE=-O0 -DCMAKE_CXX_FLAGS_RELEASE=-O0 "$@" \
    >configured 2>&1 || { cat configured; return 1; }
}
# says PATTERN options...: configuring with them prints it
says() {
  pattern=$1
  shift
  configure "$@"
  grep -E -q -e "$pattern" configured || { echo "no \"$pattern\" with $*"; cat configured; exit 1; }
}
refuses() {
  if configure "$@"; then
    echo "accepted: $*"
    exit 1
  fi
}
archive() {  # options...: libmimalloc.a with them
  configure -DMI_BUILD_SHARED=OFF -DMI_BUILD_OBJECT=OFF "$@"
  rm -f conf/*.a
  cmake --build conf --verbose >built 2>&1 || { cat built; return 1; }
}
program() {  # source archive
  "$CC" -I"$MI_SOURCE_DIR/include" "$here/$1" "$2" -o program -pthread
}

way_summary() {
  says "mimalloc [0-9.]+: libmimalloc-secure"'$' -DMI_SECURE=ON
  says "targets +mimalloc mimalloc-static mimalloc-obj"
  says "definitions .*MI_SECURE=0 MI_DEBUG=0"
}
way_levels() {
  says "MI_DEBUG=2" -DMI_DEBUG=ON
  says "MI_DEBUG=2" -DMI_DEBUG_INTERNAL=ON
  says "MI_DEBUG=3" -DMI_DEBUG_FULL=ON
  says "MI_DEBUG=0" -DMI_DEBUG=OFF
  says "MI_SECURE=5" -DMI_SECURE_FULL=ON
  refuses -DMI_SECURE=SOME
  refuses -DMI_DEBUG=SOME
  refuses -DMI_ALLOW_THP=SOME
  refuses -DMI_TLS_MODEL=SOME
}
way_without_effect() {
  names="MI_OPT_SIMD MI_OPT_FREE_SMALL MI_FREE_USE_PAGEMAP MI_FREE_IS_CHECKED \
    MI_SKIP_COLLECT_ON_EXIT MI_STATS MI_PROFILE MI_TLS_RECURSE_GUARD MI_CHECK_FULL MI_OSX_INTERPOSE \
    MI_OSX_ZONE MI_WIN_REDIRECT MI_WIN_USE_FIXED_TLS MI_WIN_USE_FLS MI_WIN_DIRECT_TLS MI_WIN_INIT"
  # shellcheck disable=SC2046  # a list of options
  configure $(printf -- '-D%s=ON ' $names)
  for name in $names; do grep "$name=ON has no effect: [a-z]" configured; done
  says "MI_TLS_MODEL=PTHREADS has no effect: [a-z]" -DMI_TLS_MODEL_PTHREADS=ON
  says "thread-local LOCAL_DYNAMIC" -DMI_TLS_MODEL_LOCAL_DYNAMIC=ON
  configure
  if grep "has no effect" configured; then exit 1; fi
}
way_unknown_option() {
  says "no option MI_SECURITY" -DMI_SECURITY=ON
  says "libmimalloc-secure" -DMI_SECURE:BOOL=ON
  if grep "no option" configured; then exit 1; fi
}
way_tools_with_checks() {
  printf '#include <valgrind/memcheck.h>\n' | "$CC" -fsyntax-only -x c - || return 0
  says "MI_SECURE=4 .*MI_TRACK_VALGRIND=1" -DMI_TRACK=VALGRIND -DMI_SECURE=ON
  says "MI_DEBUG=3 .*MI_TRACK_VALGRIND=1" -DMI_TRACK_VALGRIND=ON -DMI_DEBUG_FULL=ON
  says "MI_GUARDED has no effect: .* checks each access" -DMI_TRACK=VALGRIND -DMI_GUARDED=ON
}

way_out_of_memory() {
  archive -DMI_XMALLOC=ON
  program limits.c conf/libmimalloc.a
  if ./program memory 2>errors; then exit 1; fi
  grep "fatal: out of memory" errors
}
way_padding() {
  archive -DMI_PADDING=ON
  program limits.c conf/libmimalloc.a
  if ./program block 2>errors; then exit 1; fi
  grep "error:" errors
}
way_defaults() {
  archive -DMI_NO_THP=ON -DMI_SHOW_ERRORS=ON \
    "-DMI_EXTRA_CPPDEFS=MI_DEFAULT_PURGE_DELAY=-1;MI_DEFAULT_ARENA_RESERVE=(64*1024)"
  program chosen.c conf/libmimalloc.a
  ./program purge_delay=-1 arena_reserve=65536 allow_thp=0 show_errors=1
  says MI_DEFAULT_ALLOW_THP=2 -DMI_ALLOW_THP=FULL
}
way_macros() {
  "$CC" -O1 -c -DMI_SHOW_ERRORS -DMI_NO_THP -DMI_DEFAULT_PURGE_DELAY=7 "$MI_SOURCE_DIR/src/static.c"
  program chosen.c static.o
  ./program purge_delay=7 allow_thp=0 show_errors=1
}
way_code() {
  archive -DMI_OPT_ARCH=ON -DMI_SEE_ASM=ON -DMI_USE_LIBATOMIC=ON
  grep -e -save-temps built
  case $(uname -m) in
    x86_64) grep -e -march=haswell built ;;
    aarch64) grep -e -march=armv8.1-a built ;;
  esac
  grep -e "-pthread -latomic" conf/mimalloc.pc
  configure -DMI_OPT_ARCH=ON -DMI_NO_OPT_ARCH=ON
  if grep -r -e -march= conf --include=flags.make; then exit 1; fi
}
way_as_cxx() {
  command -v "$CXX" >/dev/null || return 0
  archive -DMI_USE_CXX=ON -DCMAKE_CXX_COMPILER="$CXX"
  "$CC" -c -I"$MI_SOURCE_DIR/include" "$here/use.c" -o use.o
  "$CXX" use.o conf/libmimalloc.a -o program -pthread
  ./program
}
way_configurations() {
  command -v ninja >/dev/null || return 0
  cmake -G "Ninja Multi-Config" -S "$MI_SOURCE_DIR" -B multi -DMI_BUILD_SHARED=OFF \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS_RELEASE=-O0 -DCMAKE_INSTALL_LIBDIR=lib
  for configuration in Debug Release; do
    cmake --build multi --config $configuration
    cmake --install multi --config $configuration --prefix "$work/$configuration"
  done
  find Debug Release
  ls Debug/lib/*/libmimalloc-debug.a Debug/lib/*/mimalloc-debug.o Release/lib/*/libmimalloc.a
  grep "lmimalloc-debug" Debug/lib/pkgconfig/mimalloc-debug.pc
  program limits.c Debug/lib/*/libmimalloc-debug.a
  if ./program block; then exit 1; fi
  program limits.c Release/lib/*/libmimalloc.a
  ./program block
}
way_absolute_folders() {
  configure -DCMAKE_INSTALL_LIBDIR=/abs/lib -DCMAKE_INSTALL_INCLUDEDIR=/abs/include
  cat conf/mimalloc.pc
  grep -x "libdir=/abs/lib" conf/mimalloc.pc
  grep "^archivedir=/abs/lib/mimalloc-" conf/mimalloc.pc
  grep "^includedir=/abs/include/mimalloc-" conf/mimalloc.pc
  configure -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_INCLUDEDIR=include
  grep "^prefix=.{pcfiledir}/../..$" conf/mimalloc.pc
}
way_comma_in_path() {
  ln -s "$MI_SOURCE_DIR" "a,tree"
  cmake -S "$work/a,tree" -B comma -DMI_BUILD_STATIC=OFF -DMI_BUILD_OBJECT=OFF \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS_RELEASE=-O0
  cmake --build comma
  readelf -V comma/libmimalloc.so.3 | grep MIMALLOC
}
way_musl_of_the_system() {  # whose compiler has a plain name
  # shellcheck disable=SC2016  # is expanded there
  printf '#!/bin/sh\n[ "$*" != -dumpmachine ] || { echo x86_64-alpine-linux-m""usl; exit; }\nexec %s "$@"\n' \
    "$CC" >plain-cc
  chmod +x plain-cc
  cmake -S "$MI_SOURCE_DIR" -B alpine -DCMAKE_C_COMPILER="$work/plain-cc" >configured
  grep "thread-local LOCAL_DYNAMIC" configured
}
way_no_port() {
  if "$CC" -U__linux__ -fsyntax-only "$MI_SOURCE_DIR/src/static.c" 2>errors; then
    exit 1
  fi
  [ "$(grep -c "error:" errors)" = 1 ]
  grep "no port to this platform" errors
}
way_least_ports() {  # which nothing here can run: that this system's headers do for them
  for system in sun HAIKU QNX CYGWIN DragonFly; do
    "$CC" -U__linux__ -D__${system}__ -D__$system -fsyntax-only "$MI_SOURCE_DIR/src/static.c"
  done
}

for each in summary levels without_effect unknown_option tools_with_checks out_of_memory padding \
  defaults macros code as_cxx configurations absolute_folders comma_in_path musl_of_the_system no_port least_ports; do
  way $each
done
exit $bad
