#!/bin/sh
# test: when="release gcc glibc override static" timeout=300
# Modules that embed the library and have thread-local variables of their own, more than the loader
# keeps room for, are loaded by programs that run already: the compiler's -ftls-model decides, and
# MI_TLS_MODEL. Wants what run.sh wants.
# shellcheck disable=SC2317  # the functions way_... are called by way
set -u
# shellcheck source=ways
. "$(dirname "$0")/ways"

module() {  # name bytes object-or-archive
  "$CC" -O1 -shared -fPIC -I"$MI_SOURCE_DIR/include" -DROOM="$2" "$here/module.c" "$3" \
    -o "$1.so" -pthread
}
modules() {  # object-or-archive
  module large 4096 "$1"
  module one 1024 "$1"
  module two 1024 "$1"
}
works() {  # count command...
  wanted=$1
  shift
  "$@" >out 2>&1 || true
  [ "$(grep -c "the module works" out)" = "$wanted" ] || { cat out; exit 1; }
}
open_all() {
  works 1 ./opener ./large.so
  works 2 ./opener ./one.so ./two.so
  if command -v python3 >/dev/null; then
    works 1 python3 -c 'import ctypes; ctypes.CDLL("./large.so")'
    works 2 python3 -c 'import ctypes; ctypes.CDLL("./one.so"); ctypes.CDLL("./two.so")'
  fi
  if command -v node >/dev/null; then
    open_in_node='for (const name of process.argv.slice(1)) {
      try { process.dlopen({exports: {}}, name); } catch (error) { console.log(error.message); }
    }'
    works 1 node -e "$open_in_node" ./large.so
    works 2 node -e "$open_in_node" ./one.so ./two.so
  fi
}

is_static() { readelf -d "$1" | grep STATIC_TLS; }

compile() { "$CC" -O1 -fPIC -c "$@" "$MI_SOURCE_DIR/src/static.c" -o library.o; }
way_source_without_a_flag() {
  compile
  modules library.o
  open_all
}
way_source_local_dynamic() {
  compile -ftls-model=local-dynamic
  modules library.o
  open_all
}
way_source_initial_exec() {
  compile -ftls-model=initial-exec
  module small 16 library.o
  works 1 ./opener ./small.so
  is_static small.so
}
way_archive_of() {  # options of CMake...
  cmake -S "$MI_SOURCE_DIR" -B lib -DMI_BUILD_SHARED=OFF -DMI_BUILD_OBJECT=OFF \
    -DCMAKE_C_COMPILER="$CC" -DMI_TLS_MODEL=DEFAULT -DMI_LOCAL_DYNAMIC_TLS=OFF "$@"
  cmake --build lib --target mimalloc-static
  modules lib/libmimalloc.a
  open_all
}
way_archive_by_model() { way_archive_of -DMI_TLS_MODEL=LOCAL_DYNAMIC; }
way_archive_by_switch() { way_archive_of -DMI_LOCAL_DYNAMIC_TLS=ON; }
way_archive_as_it_comes() {
  module small 16 "${MI_LIB_STATIC:?}"
  works 1 ./opener ./small.so
  is_static small.so
}

"$CC" "$here/opener.c" -o opener -ldl || exit 1
for each in source_without_a_flag source_local_dynamic source_initial_exec archive_by_model \
  archive_by_switch archive_as_it_comes; do
  way $each
done
exit $bad
