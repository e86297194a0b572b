#!/bin/sh
# test: when="release gcc glibc override" timeout=600
# Installs the library into a folder of its own and uses it in every way that the README names.
# Wants MI_BUILD_DIR (a finished build), MI_SOURCE_DIR, CC and CXX. What is compiled again is compiled
# without optimization, which is several times quicker.
# shellcheck disable=SC2317  # the functions way_... are called by way
set -u
# shellcheck source=ways
. "$(dirname "$0")/ways"
command -v "$CXX" >/dev/null || { echo "no C++ compiler: skipped"; exit 77; }

install_into() {  # prefix cmake-options...
  prefix=$1
  shift
  if [ $# -gt 0 ]; then
    cmake -S "$MI_SOURCE_DIR" -B again -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS_RELEASE=-O0 "$@"
    cmake --build again --parallel 2
    cmake --install again --prefix "$prefix"
  else
    cmake --install "$MI_BUILD_DIR" --prefix "$prefix"
  fi
}
one() { find "$1" -name "$2" | grep . || { echo "no $2 below $1"; exit 1; }; }

way_install() {
  install_into "$work/p"
  for file in mimalloc.h mimalloc-stats.h mimalloc-override.h mimalloc-new-delete.h mimalloc-cpp.h mimalloc.cppm \
    libmimalloc.so libmimalloc.so.3 libmimalloc.a mimalloc.o mimalloc.pc \
    mimalloc-config.cmake mimalloc-config-version.cmake; do
    one "$work/p" "$file"
  done
  # the whole tree can be moved
  mv "$work/p" "$work/prefix"
}

way_install_toplevel() {
  install_into "$work/top" -DMI_INSTALL_TOPLEVEL=ON -DCMAKE_INSTALL_LIBDIR=lib
  ls "$work/top/include/mimalloc.h" "$work/top/lib/libmimalloc.a" \
    "$work/top/lib/mimalloc.o" "$work/top/lib/libmimalloc.so.3"
  project "$work/top" toplevel
}

project() {  # prefix name
  cmake -S "$here" -B "$2" -DCMAKE_PREFIX_PATH="$1" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX"
  cmake --build "$2"
  for program in use-shared use-static use-new use-object; do
    echo "running $program"
    "./$2/$program"
  done
}
way_find_package() { project "$work/prefix" package; }

way_add_subdirectory() {
  cmake -S "$here" -B part -DSOURCE_DIR="$MI_SOURCE_DIR" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS_RELEASE=-O0 -DCMAKE_CXX_FLAGS_RELEASE=-O0 \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX"
  cmake --build part --parallel 2
  ./part/use-shared
  ./part/use-static
  ./part/use-chosen purge_delay=-1 show_errors=1
  ./part/use-chosen-object purge_delay=5 show_errors=1
  ./part/use-new
}
# A project that says nothing of a build type keeps its assertions, and has a library that is fast.
way_add_subdirectory_without_type() {
  cmake -S "$here" -B untyped -DSOURCE_DIR="$MI_SOURCE_DIR" -DCMAKE_C_FLAGS_RELEASE="-O0 -DNDEBUG" \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX"
  grep -x "CMAKE_BUILD_TYPE:STRING=" untyped/CMakeCache.txt
  if grep -e -DNDEBUG untyped/CMakeFiles/use-static.dir/flags.make; then exit 1; fi
  grep -e -DNDEBUG untyped/mimalloc/CMakeFiles/mimalloc-static.dir/flags.make
  cmake --build untyped --parallel 2
  cmake --install untyped --prefix "$work/untyped-prefix"
  ./untyped/use-static
  project "$work/untyped-prefix" of-untyped
}

# shellcheck disable=SC2046  # lists of options
way_pkg_config() {
  command -v pkg-config >/dev/null || { echo "no pkg-config"; return 0; }
  PKG_CONFIG_PATH=$(dirname "$(one prefix mimalloc.pc)")
  export PKG_CONFIG_PATH
  "$CC" $(pkg-config --cflags mimalloc) "$here/use.c" -o pc-shared \
    $(pkg-config --libs mimalloc)
  LD_LIBRARY_PATH=$libraries ./pc-shared
  rm -f "$libraries"/libmimalloc.so  # so that -lmimalloc means the archive
  "$CC" $(pkg-config --cflags mimalloc) "$here/use.c" -o pc-static \
    $(pkg-config --static --libs mimalloc)
  ln -s libmimalloc.so.3 "$libraries/libmimalloc.so"
  ./pc-static
}

way_object_first() {
  "$CC" -I"$headers" "$(one prefix mimalloc.o)" "$here/use.c" -o object -pthread
  ./object
}

way_archive_in_static_program() {
  archive=$(one prefix libmimalloc.a)
  "$CC" -static -I"$headers" "$here/use.c" "$archive" -o fully-static -pthread
  ./fully-static
}

way_single_source() {
  "$CC" -O2 -c "$MI_SOURCE_DIR/src/static.c" -o single.o
  "$CC" -DNO_OVERRIDE -I"$MI_SOURCE_DIR/include" single.o "$here/use.c" -o single -pthread
  ./single
  "$CC" -DMI_MALLOC_OVERRIDE=1 -I"$MI_SOURCE_DIR/include" "$MI_SOURCE_DIR/src/static.c" \
    "$here/use.c" -o single-override -pthread
  ./single-override
}

way_override_macros() {
  "$CC" -I"$headers" "$here/macros.c" -o macros "$libraries/libmimalloc.so" \
    -Wl,-rpath,"$libraries"
  ./macros
}

way_new_delete() {
  for standard in 11 14 17 20; do
    "$CXX" -std="c++$standard" -Wall -Wextra -Wpedantic -Werror -I"$headers" \
      -c "$here/new.cpp" -o "new-$standard.o"
  done
  "$CXX" -std=c++17 -I"$headers" "$here/new.cpp" -o new "$(one prefix libmimalloc.a)" \
    -pthread
  ./new
}

way_module() {
  for clang in clang++-19 clang++ ''; do command -v "$clang" >/dev/null && break; done
  [ -n "$clang" ] || { echo "no clang"; return 0; }
  "$clang" -std=c++20 -pthread -I"$headers" --precompile "$headers/mimalloc.cppm" -o mimalloc.pcm
  "$clang" -std=c++20 -fmodule-file=mimalloc=mimalloc.pcm "$here/import.cpp" mimalloc.pcm \
    "$(one prefix libmimalloc.a)" -pthread -o import
  ./import
}

way_preload() {
  "$CC" "$here/plain.c" -o plain -ldl
  LD_PRELOAD=$libraries/libmimalloc.so.3 ./plain
}

way install
headers=$(dirname "$(one prefix mimalloc.h)")
libraries=$(dirname "$(one prefix libmimalloc.so.3)")
for each in find_package install_toplevel add_subdirectory add_subdirectory_without_type pkg_config object_first \
  archive_in_static_program single_source override_macros new_delete module preload; do
  way $each
done
exit $bad
