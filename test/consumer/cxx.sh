#!/bin/sh
# test: when="release gcc glibc override static" timeout=400
# Programs that are linked with src/static.c compiled as C++17 work, by each compiler at hand. Wants
# what run.sh wants.
# shellcheck disable=SC2317  # the functions way_... are called by way
set -u
# shellcheck source=ways
. "$(dirname "$0")/ways"
tests=$MI_SOURCE_DIR/test

as_cxx() {  # options of the compiler...
  "$cxx" -x c++ -std=c++17 -fno-builtin-malloc -DMI_MALLOC_OVERRIDE=1 "$@" "$MI_SOURCE_DIR/src/static.c"
}
program() {  # standard source
  "$compiler" -std="$1" -fno-builtin -I"$MI_SOURCE_DIR/include" -I"$tests" -w -c "$2" -o program.o
  "$cxx" program.o library.o -o program -pthread -ldl
  ./program
}

way_programs() {
  as_cxx -O1 -c -o library.o
  compiler=$CC
  program gnu11 "$here/use.c"
  program gnu11 "$tests/posix/malloc_edges.c"
  program gnu11 "$tests/api/theaps.c"
  compiler=$cxx
  program gnu++17 "$here/new.cpp"
  program gnu++17 "$tests/posix/new.cpp"
  program gnu++17 "$tests/posix/new_handler.cpp"
}
for cxx in "$CXX" clang++-19 clang++; do
  command -v "$cxx" >/dev/null || continue
  echo "$cxx"
  way programs
done
exit $bad
