#!/bin/sh
# test: when="release gcc glibc override shared static" timeout=300
# The plain, the secure, the debug and the guarded library are installed into one prefix, and found
# there: by component, by pkg-config, by the tool `mi`. What is chosen by BUILD_SHARED_LIBS. What was
# installed goes away again. Wants what run.sh wants.
# shellcheck disable=SC2317  # the functions way_... are called by way
set -u
# shellcheck source=ways
. "$(dirname "$0")/ways"

# built FOLDER options...: a quick build, and not into the folder of the one that is tested
built() {
  folder=$1
  shift
  cmake -S "$MI_SOURCE_DIR" -B "$folder" -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_C_FLAGS_RELEASE=-O0 -DCMAKE_C_FLAGS_DEBUG=-O0 \
    -DMI_BUILD_OBJECT=OFF -DCMAKE_INSTALL_LIBDIR=lib "$@"
  cmake --build "$folder" --parallel 2
}
installed() {  # folder prefix
  cmake --install "$1" --prefix "$2"
}
project() {  # prefix components targets
  rm -rf project
  cmake -S "$here/variants" -B project -DCMAKE_PREFIX_PATH="$1" -DCMAKE_C_COMPILER="$CC" \
    -DCOMPONENTS="$2" -DTARGETS="$3"
  cmake --build project
}
uses() {  # program library
  ldd "$1" | grep -F "$2 => "
  "$1"
}

way_side_by_side() {
  built plain
  built secure -DMI_SECURE=ON
  built debug -DCMAKE_BUILD_TYPE=Debug
  built guarded -DMI_GUARDED=ON
  for each in plain secure debug guarded; do
    installed $each "$work/once/$each"
    installed $each "$work/all"
  done
  # none of them takes another's place
  for each in plain secure debug guarded; do diff -r "$work/once/$each" "$work/all" | grep '^Files' && exit 1; done
  cat "$work/all/share/doc/mimalloc/LICENSE" "$work/all/share/man/man7/mimalloc-options.7" >/dev/null
  ls "$work/all/share/man/man3/mimalloc.3" "$work/all/share/man/man1/mi.1"
}
way_components() {
  project "$work/all" "secure;debug;guarded;shared;static" \
    "mimalloc;mimalloc-static;mimalloc::mimalloc;mimalloc::static;mimalloc::secure;mimalloc::secure-static;mimalloc::debug;mimalloc::guarded"
  uses project/use-1 libmimalloc.so.3
  uses project/use-3 libmimalloc.so.3
  uses project/use-5 libmimalloc-secure.so.3
  uses project/use-7 libmimalloc-debug.so.3
  uses project/use-8 libmimalloc-guarded.so.3
  for number in 2 4 6; do
    ldd project/use-$number | grep mimalloc && exit 1
    ./project/use-$number
  done
}
way_component_that_is_not_there() {
  if project "$work/once/plain" secure mimalloc >said 2>&1; then exit 1; fi
  tr '\n' ' ' <said | tr -s ' ' | grep "component secure is not installed"
}
way_old_names_where_one_variant_is() {
  project "$work/once/secure" "" "mimalloc;mimalloc-static;mimalloc::mimalloc"
  uses project/use-1 libmimalloc-secure.so.3
  uses project/use-3 libmimalloc-secure.so.3
  ./project/use-2
}
# shellcheck disable=SC2046  # lists of options
way_pkg_config() {
  command -v pkg-config >/dev/null || { echo "no pkg-config"; return 0; }
  export PKG_CONFIG_PATH="$work/all/lib/pkgconfig"
  for each in mimalloc mimalloc-secure mimalloc-debug mimalloc-guarded; do
    "$CC" $(pkg-config --cflags $each) "$here/use.c" -o pc $(pkg-config --libs $each) -Wl,-rpath,"$work/all/lib"
    uses ./pc lib$each.so.3
  done
}

way_shared_or_static() {
  built shared -DBUILD_SHARED_LIBS=ON
  ls shared/libmimalloc.so
  if [ -e shared/libmimalloc.a ]; then exit 1; fi
  built static -DBUILD_SHARED_LIBS=OFF
  ls static/libmimalloc.a
  if [ -e static/libmimalloc.so ]; then exit 1; fi
  installed static "$work/archive"
  project "$work/archive" static "mimalloc::mimalloc;mimalloc-static"
  ./project/use-1
  command -v pkg-config >/dev/null || return 0
  # shellcheck disable=SC2046
  PKG_CONFIG_PATH=$work/archive/lib/pkgconfig "$CC" "$here/use.c" -o pc \
    $(PKG_CONFIG_PATH=$work/archive/lib/pkgconfig pkg-config --cflags --libs mimalloc)
  ./pc
}

way_uninstall() {
  built away
  # the first would match no pattern, and looks as if all below it were ours
  for prefix in "$work/in[1]/mimalloc/prefix" /usr; do
    export DESTDIR="$work/away-root"
    [ "$prefix" = /usr ] || DESTDIR=''
    cmake -DCMAKE_INSTALL_PREFIX="$prefix" away
    cmake --build away --target install
    touch "$DESTDIR$prefix/lib/another"
    find "$DESTDIR$prefix" -name "*mimalloc*" | grep .
    cmake --build away --target uninstall
    if find "$DESTDIR$prefix" -name "*mimalloc*" -o -name mi -o -name _mi | grep .; then exit 1; fi
    ls "$DESTDIR$prefix/lib/another"
  done
}

way_tool() {
  "$CC" "$here/plain.c" -o plain-program -ldl
  mi=$work/all/bin/mi
  ln -s "$mi" linked-mi
  "$mi" library
  [ "$("$mi" library)" = "$work/all/lib/libmimalloc.so.3" ]
  [ "$(./linked-mi library --secure)" = "$work/all/lib/libmimalloc-secure.so.3" ]
  "$mi" run ./plain-program
  PATH=$work:$PATH "$mi" run --secure -- plain-program
  status=0; "$mi" run sh -c 'exit 7' || status=$?
  [ $status = 7 ]
  "$mi" run --stats ./plain-program 2>statistics
  grep -i commit statistics
  if "$work/once/plain/bin/mi" run --secure ./plain-program 2>said; then exit 1; fi
  grep "this variant is not installed" said
  status=0; "$mi" run --nonsense ./plain-program || status=$?
  [ $status = 2 ]
  cp -R "$work/once/plain" "$work/a prefix"
  "$work/a prefix/bin/mi" run ./plain-program
  "$mi" version | grep -x "mimalloc [0-9]*\.[0-9]*\.[0-9]*"
}

way_completion() {
  shares=$work/all/share
  if command -v bash >/dev/null; then
    # shellcheck disable=SC2016
    bash -c '. "$1"; COMP_WORDS=("$2" ru); COMP_CWORD=1; _mi; echo "${COMPREPLY[@]}"
      COMP_WORDS=(mi run --se); COMP_CWORD=2; _mi; echo "${COMPREPLY[@]}"
      COMP_WORDS=("$3/mi" co); COMP_CWORD=1; _mi; echo "${COMPREPLY[@]}"' \
      bash "$shares/bash-completion/completions/mi" "$work/all/bin/mi" "$MI_SOURCE_DIR" >completed
    printf 'run\n--secure\ncoverage\n' | diff - completed
  fi
  if command -v zsh >/dev/null; then zsh -n "$shares/zsh/site-functions/_mi"; fi
  if command -v fish >/dev/null; then
    # shellcheck disable=SC2016
    PATH=$work/all/bin:$PATH HOME=$work fish -c 'source $argv[1]; complete -C "mi ru"; complete -C "mi run --se"' \
      "$shares/fish/vendor_completions.d/mi.fish" >completed
    grep '^run' completed
    grep '^--secure' completed
  fi
}

for each in side_by_side components component_that_is_not_there old_names_where_one_variant_is \
  pkg_config shared_or_static uninstall tool completion; do
  way $each
done
exit $bad
