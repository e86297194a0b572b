#!/bin/sh
# test: when="release gcc glibc override shared static" timeout=300
# A program and its plug-in, each with a copy of the library or with the shared one, in all
# mixtures: those that embed it use their own. Wants what run.sh wants, MI_LIB_STATIC and
# MI_LIB_SHARED.
# shellcheck disable=SC2317  # the functions way_... are called by way
set -u
# shellcheck source=ways
. "$(dirname "$0")/ways"
: "${MI_LIB_STATIC:?}" "${MI_LIB_SHARED:?}"

compile() { "$CC" -O1 -I"$MI_SOURCE_DIR/include" "$@" -pthread; }

way_hidden() {
  for plugin in plugin-archive.so plugin-source.so plugin-override.so; do
    nm -D --defined-only "$plugin" | grep ' mi_' && exit 1
  done
  nm -D --defined-only plugin-exports.so | grep ' mi_malloc$'
  nm -D --defined-only plugin-override.so | grep ' malloc$'
}
mixtures() {  # host
  for plugin in archive source override exports; do
    "./$1" ./plugin-$plugin.so
    LD_PRELOAD=$MI_LIB_SHARED "./$1" ./plugin-$plugin.so
  done
  "./$1" ./plugin-shared.so
}
way_host_with_archive() { mixtures host-archive; }
way_host_with_source() { mixtures host-source; }
way_host_with_override() { mixtures host-override; }
way_host_with_shared() {
  ./host-shared ./plugin-shared.so shared
  for plugin in archive source override; do
    ./host-shared ./plugin-$plugin.so
  done
}

set -e
compile -fPIC -c "$MI_SOURCE_DIR/src/static.c" -o source.o
compile -fPIC -DMI_SHARED_LIB_EXPORT -c "$MI_SOURCE_DIR/src/static.c" -o exports.o
compile -fPIC -DMI_MALLOC_OVERRIDE=1 -c "$MI_SOURCE_DIR/src/static.c" -o override.o
compile -fPIC -c "$here/plugin.c" -o plugin.o
compile -c "$here/host.c" -o host.o
for kind in archive:"$MI_LIB_STATIC" source:source.o override:override.o exports:exports.o \
  shared:"$MI_LIB_SHARED"; do
  name=${kind%%:*} library=${kind#*:}
  compile -shared plugin.o "$library" -o "plugin-$name.so" -Wl,-rpath,"${MI_LIB_SHARED%/*}"
  compile host.o "$library" -o "host-$name" -rdynamic -ldl \
    -Wl,-rpath,"${MI_LIB_SHARED%/*}"
done
set +e
for each in hidden host_with_archive host_with_source host_with_override host_with_shared; do
  way $each
done
exit $bad
