# Configuring and building variants, into build/. A part of ./mi.

library_of() {  # preset
  case $1 in
    release) echo "$root/build/release/libmimalloc.so.3" ;;
    secure-full) echo "$root/build/secure-full/libmimalloc-secure.so.3" ;;
    *) echo "$root/build/$1/libmimalloc-$1.so.3" ;;
  esac
}

# Runs a command with its output in a log, which is shown if it fails.
logged() {  # log command...
  local log=$1
  shift
  if ! "$@" >>"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    return 1
  fi
}

configure() {  # preset cmake-options...
  local preset=$1 dir=$root/build/$1 home
  shift
  mkdir -p "$dir"
  home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$dir/CMakeCache.txt" 2>/dev/null)
  if [ -n "$home" ] && ! [ "$home" -ef "$root" ]; then  # the tree was moved
    rm -rf "$dir" && mkdir -p "$dir"
  fi
  : >"$dir/build.log"
  (cd "$root" && logged "$dir/build.log" cmake -S "$root" --preset "$preset" "$@")
}

build() {  # preset cmake-build-options...
  local dir=$root/build/$1
  shift
  : >"$dir/build.log"
  logged "$dir/build.log" cmake --build "$dir" --parallel "$jobs" "$@"
}

is_current() {  # file: whole, and newer than everything that it is built from
  [ -s "$1" ] && [ -z "$(cd "$root" && find -H src include CMakeLists.txt CMakePresets.json \
    cmake -newer "$1" -print -quit)" ]
}

# Only one of several ./mi at a time builds; the others then find it done.
build_library() {  # preset
  local library lock
  library=$(library_of "$1")
  is_current "$library" && return
  need_tools run
  mkdir -p "$root/build" || exit 1
  exec {lock}>"$root/build/.lock" || die "the library is to be built, and $root/build is not writable"
  have flock && flock "$lock"
  if ! is_current "$library"; then
    [ -s "$library" ] || rm -f "$(readlink -f "$library")"  # what an interrupted link left is no result
    if ! { configure "$1" && build "$1" --target mimalloc; }; then
      die "the library does not build"
    fi
    touch -c "$library"  # it may not have changed
  fi
  exec {lock}>&-
}

build_tool() {  # path below build/, source, compiler options
  local tool=$root/build/$1 source=$root/$2 folder
  shift 2
  folder=$(dirname "$source")
  [ -z "$(find -H "$folder" -name '*.[ch]' -newer "$tool" -print -quit 2>&1)" ] && return
  need_tools run
  mkdir -p "$(dirname "$tool")"
  "$(c_compiler)" -std=gnu11 -O2 "$@" -o "$tool.$$" "$source" || die "$source: no tool"
  mv "$tool.$$" "$tool"
}

build_measure() { build_tool measure tools/measure.c; }
