# shellcheck shell=bash disable=SC2154  # sourced, with what it needs set
# What Apple's tools would make, by LLVM's: a build by CMake for both processors, whose part for this
# one runs, and objects for the other systems of Apple's. Headers and stubs are zig's. Part of run.sh.
zig_lib=$(echo "$root"/build/cross/zig/lib/python*/site-packages/ziglang/lib)
arch=${processor/aarch64/arm64}

# In the stubs' lists of targets, where arm64 should be, there is a kind of arm64e that clang 19 does
# not know. CMake asks sw_vers whether the system has @rpath.
make_sdk() {
  mkdir -p sdk/usr/lib sdk/bin && ln -sfn "$zig_lib/libc/include/any-darwin-any" sdk/usr/include &&
    sed 's/arm64e\.x1-/arm64-/g' "$zig_lib/libc/darwin/libSystem.tbd" >sdk/usr/lib/libSystem.tbd &&
    ln -sf "$(type -P llvm-lipo-19)" sdk/bin/lipo &&
    printf '#!/bin/sh\necho 11.0\n' >sdk/bin/sw_vers && chmod +x sdk/bin/sw_vers
}

# ---- what the loader of macOS goes by --------------------------------------------------------------

holds() {  # text pattern
  grep -qE -e "$2" <<<"$1" || { echo "not there: $2"; return 1; }
}

lacks() {  # text pattern
  ! grep -E -e "$2" <<<"$1" || { echo "there: $2"; return 1; }
}

equal() {  # what value value
  [ "$2" = "$3" ] || { echo "$1: $2, not $3"; return 1; }
}

check_dylib() {  # file
  local header load names undefined places
  header=$(llvm-otool-19 -hv "$1") load=$(llvm-otool-19 -l "$1") names=$(llvm-nm-19 -gU "$1")
  undefined=$(llvm-nm-19 -mu "$1")
  places=$(llvm-objdump-19 --macho --rebase --bind --lazy-bind "$1")
  holds "$header" ' DYLIB .* NOUNDEFS .*TWOLEVEL' &&
    holds "$load" "name @rpath/$dylib " &&
    holds "$load" 'compatibility version 3\.0\.0' &&
    holds "$load" 'current version 3\.6\.0' &&
    holds "$load" 'cmd LC_UUID' &&
    holds "$load" 'cmd LC_BUILD_VERSION' &&
    holds "$load" 'platform 1$' &&
    { [[ $header != *ARM64* ]] || holds "$load" 'cmd LC_CODE_SIGNATURE'; } &&
    holds "$load" 'sectname __mod_init_func' &&
    equal "libraries needed" "$(grep -c 'cmd LC_LOAD_.*DYLIB$' <<<"$load")" 1 &&
    lacks "$load" 'LC_RPATH|LC_REEXPORT_DYLIB|sectname __thread' &&
    lacks "$load" 'n(ext|loc|)rel(oc)? [1-9]' &&
    lacks "$places" '^__TEXT' &&
    equal "names interposed" "$(grep -c '^__DATA *__interpose .* libSystem ' <<<"$places")" \
      "$(grep -c '^    BY(' "$root/src/entry/darwin.c")" &&
    lacks "$undefined" '\) external _malloc_type_' &&
    holds "$names" ' T _mi_malloc$' &&
    equal "names shown that are not mi_" "$(grep ' T ' <<<"$names" | grep -v ' _mi_')" ""
}

if command -v llvm-otool-19 >/dev/null; then
  check_dylib "$dylib"
  outcome dylib-checked $?
else
  echo "skip dylib-checked: it needs llvm-19"
fi

# ---- names of libSystem, by its stub: each is interposed, or names.txt says why not ---------------

# Less the first underscore.
system_names() {
  grep -oE "\b_[A-Za-z0-9_]+" "$zig_lib/libc/darwin/libSystem.tbd" | cut -c 2- |
    grep -E 'alloc|free|zone|memalign|strn?dup' | sort -u
}

names_interposed() {
  sed -n 's/^    BY(by_name_[a-z_]*, \(.*\)),$/\1/p' "$root/src/entry/darwin.c" |
    sed 's/^typed_/malloc_type_/'
}

is_exception() {  # name
  local pattern reason
  while read -r pattern reason; do
    # shellcheck disable=SC2254  # it is a pattern
    case $1 in $pattern) [ -n "$reason" ] && return ;; esac
  done < <(grep -v '^#' "$here/names.txt")
  return 1
}

# A pattern that fits what is interposed could hide that this no longer is.
check_names() {
  local name interposed failed_names=0
  holds "$(system_names)" '^malloc$' || return
  interposed=" $(names_interposed | tr '\n' ' ')"
  for name in $(system_names); do
    if [[ $interposed == *" $name "* ]]; then
      ! is_exception "$name" || { echo "interposed, and in names.txt: $name"; failed_names=1; }
    else
      is_exception "$name" ||
        { echo "neither interposed nor in names.txt: $name"; failed_names=1; }
    fi
  done
  return $failed_names
}

check_names
outcome names $?

# ---- both processors, by CMake ---------------------------------------------------------------------

mac_cmake() {  # arguments...
  PATH=$PWD/sdk/bin:$PATH MACOS_SDK=$PWD/sdk cmake "$@" >>cmake.log 2>&1
}

cmake_build() {  # folder source options...
  : >cmake.log
  mac_cmake -S "$2" -B "$1" -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" \
    -DCMAKE_OSX_DEPLOYMENT_TARGET=11.0 "${@:3}" && mac_cmake --build "$1" && return
  tail -n 20 cmake.log
  return 1
}

check_universal() {
  local name
  for name in libmimalloc.3.6.dylib libmimalloc.a mimalloc.o; do
    equal "processors of $name" "$(llvm-lipo-19 -archs "universal/$name")" "x86_64 arm64 "
    outcome "cmake-$name" $?
  done
  for name in x86_64 arm64; do
    llvm-lipo-19 -thin $name -output $name.dylib universal/libmimalloc.dylib &&
      check_dylib $name.dylib
    outcome "cmake-checked-$name" $?
  done
}

# A program that knows nothing of the library, linked with it.
consumer_source() {
  mkdir -p consumer && cat >consumer/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.18)
project(consumer C)
find_package(mimalloc REQUIRED)
foreach(way mimalloc mimalloc-static)
  add_executable(linked-\${way} "$here/redirect.c")
  target_compile_options(linked-\${way} PRIVATE -w -fno-builtin)
  target_link_options(linked-\${way} PRIVATE -Wl,-undefined,dynamic_lookup)
  target_link_libraries(linked-\${way} \${way})
endforeach()
END
}

check_consumer() {
  mac_cmake --install universal --prefix "$PWD/prefix" && consumer_source &&
    cmake_build consumer/build consumer -DCMAKE_PREFIX_PATH="$PWD/prefix" \
      -DCMAKE_OSX_ARCHITECTURES="$arch" &&
    llvm-lipo-19 -thin "$arch" -output "consumer/build/$dylib" "prefix/lib/$dylib"
  outcome cmake-consumer $?
  expect cmake-linked-shared 0 "${run[@]}" consumer/build/linked-mimalloc ours
  expect cmake-linked-static 0 "${run[@]}" consumer/build/linked-mimalloc-static ours
}

# ---- objects ---------------------------------------------------------------------------------------

# shellcheck disable=SC2046  # a list of words
apple_object() {  # triple
  clang-19 -target "$1" -isysroot sdk -std=c11 -O2 -DNDEBUG -DMI_MALLOC_OVERRIDE=1 \
    $(<"$root/cmake/warnings.txt") -Wunguarded-availability -Werror -fvisibility=hidden \
    -fexceptions -fno-builtin-malloc -I"$root/include" -c -o "$1.o" "$root/src/static.c" \
    >"$1.log" 2>&1 || { head -n 3 "$1.log"; return 1; }
}

triples="x86_64-apple-macos10.12 arm64e-apple-macos11 arm64-apple-ios10 arm64e-apple-ios12
  arm64-apple-ios14-simulator x86_64-apple-ios12-simulator arm64-apple-ios14-macabi
  x86_64-apple-ios13.1-macabi arm64-apple-tvos12 arm64-apple-xros1"

if command -v clang-19 >/dev/null && command -v ld64.lld-19 >/dev/null && make_sdk; then
  cmake_build universal "$root" -DMI_WERROR=ON -DCMAKE_OSX_ARCHITECTURES="x86_64;arm64"
  outcome cmake $?
  check_universal
  check_consumer
  for triple in $triples; do
    [ "$processor" = x86_64 ] || break  # they are the same for both
    apple_object "$triple"
    outcome "object-$triple" $?
  done
else
  echo "skip cmake: it needs clang-19, lld-19 and llvm-19"
  echo "skip objects: they need clang-19"
fi
