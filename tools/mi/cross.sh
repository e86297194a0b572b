#   ./mi cross [TARGET|all|list] [CTEST ARGS...]
#       Builds for other architectures, page sizes and C libraries, and runs the tests, emulated
#       where this machine cannot; list: the targets, and what each needs. See docs/platforms.md.

# ---- The targets ---------------------------------------------------------------------------------

# Each file of tools/mi/targets describes a group of targets; a new group is a new file and a word
# here, which says its place in lists. The file GROUP.sh appends its targets to cross_all and has a
# function cross_describe_GROUP, which is false for a target of other groups, and else sets what
# there is to know: `title`, `folder` of its build below build/cross, Debian `packages`, `compiler`
# and `cxx`, `flags` for both, the `qemu` that runs its programs (empty: this machine does), the
# folder of its `libraries`, `runner`, a list for CMake, of programs that run neither here nor in
# qemu, `page` for an OS page of that size, the `zig` triple if zig compiles it, `system` as CMake
# calls it (empty: the one that this is), CMake `options`, and the function `build_and_test`.
cross_groups=(native debian musl zig android bsd wasm windows macos)
cross_all=()
for group in "${cross_groups[@]}"; do
  # shellcheck disable=SC1090  # one of the groups
  . "$root/tools/mi/targets/$group.sh"
done

cross_describe() {  # target
  local group
  title='' folder=$1 packages=() compiler='' cxx='' flags='' qemu='' libraries='' page='' zig=''
  system=Linux runner='' options=() build_and_test=cross_build_and_test
  for group in "${cross_groups[@]}"; do
    "cross_describe_$group" "$1" && return
  done
  return 1
}

# ---- Setting up ----------------------------------------------------------------------------------

# Compilers that are scripts, which run zig: it brings every C library along.
cross_set_up_zig() {
  local home=$root/build/cross/zig bin=$root/build/cross/bin
  if ! [ -x "$home/bin/python3" ] || ! "$home/bin/python3" -c 'import ziglang' 2>/dev/null; then
    have python3 || return 1
    say "mi: installing zig into build/cross/zig"
    mkdir -p "$root/build/cross" && python3 -m venv "$home" >/dev/null 2>&1 &&
      "$home/bin/pip" install -q ziglang >/dev/null 2>&1 || return 1
  fi
  mkdir -p "$bin" || return 1
  compiler=$bin/$zig-cc
  cross_wrapper "$compiler" "cc -target $zig" && cross_wrapper "$bin/zig-ar" ar &&
    cross_wrapper "$bin/zig-ranlib" ranlib || return 1
  # Its C++ library is part of each program and module: another world than what these tests are for.
  options+=(-DMI_TEST_CXX=OFF)
  options+=(-DCMAKE_AR="$bin/zig-ar" -DCMAKE_RANLIB="$bin/zig-ranlib")
}

cross_wrapper() {  # path, zig's arguments
  grep -qsF "\"$root/" "$1" && return
  printf '#!/bin/sh\nexec "%s" -m ziglang %s "$@"\n' "$root/build/cross/zig/bin/python3" "$2" \
    >"$1" && chmod +x "$1"
}

cross_is_set_up() {
  [ -z "$runner" ] || have "${runner%%;*}" || return 1
  have "$compiler" && { [ -z "$qemu" ] || have "$qemu"; } || return 1
  # That a compiler is there does not mean that it has a library for these options. (Some linkers
  # write to files alone.)
  mkdir -p "$root/build/cross" || return 1
  # shellcheck disable=SC2086  # flags are words
  echo 'int main(void) { return 0; }' |
    "$compiler" $flags -x c - -o "$root/build/cross/returns-0" 2>/dev/null
}

# What is missing is installed; says why the target cannot be had otherwise.
cross_set_up() {
  if [ -n "$zig" ] && ! cross_set_up_zig; then
    say "mi: $target: needs zig, from the Python package ziglang (and python3 with venv)"
    return 1
  fi
  if [[ $runner == *wasi.py ]] && ! cross_set_up_wasmtime; then
    say "mi: $target: needs the Python package wasmtime (and python3 with venv)"
    return 1
  fi
  cross_is_set_up && return
  [ ${#packages[@]} = 0 ] || install_missing "${packages[@]}"
  cross_is_set_up && return
  say "mi: $target: needs ${packages[*]:-a compiler that works}"
  return 1
}

# Programs may start programs if the kernel knows the emulator. It is told in a name space of its
# own, so that nothing changes for others.
cross_in_namespace() {  # command...
  # shellcheck disable=SC2016  # expands there
  unshare --user --map-root-user --mount sh -c '
    mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
      cat "$1" >/proc/sys/fs/binfmt_misc/register && shift && exec "$@"' \
    sh "/usr/lib/binfmt.d/${qemu%-static}.conf" "$@"
}

# Sets `around`, what to run ctest in: cross_in_namespace, or nothing.
cross_find_kernel_support() {
  local program=$root/build/cross/returns-0
  around=()
  [ -n "$qemu" ] || return
  # shellcheck disable=SC2086  # flags are words
  echo 'int main(void) { return 0; }' | "$compiler" $flags -static -x c - -o "$program" &&
    if cross_in_namespace "$program" 2>/dev/null; then
      around=(cross_in_namespace)
    else
      "$program" 2>/dev/null  # the machine as it is may know the emulator
    fi && options+=(-DMI_EMULATOR_IS_KNOWN=ON) && return
  say "mi: $target: the kernel cannot be told of the emulator: tests that start programs are skipped"
}

# ---- Building and testing ------------------------------------------------------------------------

# Where its libraries lie is said in the program, so that it runs whatever its environment.
cross_linker_flags() {
  local program=$root/build/cross/returns-0 loader
  # shellcheck disable=SC2086  # flags are words
  echo 'int main(void) { return 0; }' | "$compiler" $flags -x c - -o "$program"
  loader=$(readelf -lW "$program" | sed -n 's|.*interpreter: .*/\(.*\)].*|\1|p')
  echo "-Wl,--dynamic-linker=$libraries/$loader,-rpath,$libraries,--disable-new-dtags"
}

cross_configure() {  # directory
  local dir=$1 list=()
  [ -z "$cxx" ] || list+=(-DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_CXX_FLAGS="$flags")
  [ -z "$runner" ] || list+=(-DCMAKE_CROSSCOMPILING_EMULATOR="$runner")
  [ -z "$qemu" ] || list+=(-DCMAKE_CROSSCOMPILING_EMULATOR="$(type -P "$qemu")")
  [ -z "$libraries" ] || list+=(-DCMAKE_EXE_LINKER_FLAGS="$(cross_linker_flags)"
    -DCMAKE_MODULE_LINKER_FLAGS=-Wl,--disable-new-dtags)  # else the program's path is not theirs
  # The name of the system tells CMake that this is no build for the machine it runs on.
  [ -z "$system" ] || list+=(-DCMAKE_SYSTEM_NAME="$system")
  mkdir -p "$dir" && : >"$dir/build.log" &&
    logged "$dir/build.log" cmake -S "$root" -B "$dir" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags" -DMI_BUILD_TESTS=ON -DMI_WERROR=ON \
      "${list[@]}" ${options[@]+"${options[@]}"}
}

# The libraries must not ask for more of the C library than the oldest one has.
cross_check_glibc() {  # directory
  local newest
  newest=$(objdump -T "$1/libmimalloc.so.3" | sed -n 's/.*[( ]GLIBC_\([0-9.]*\).*/\1/p' |
    sort -uV | tail -n 1)
  say "mi: $target: the library needs GLIBC_$newest"
  [ "$(printf '%s\n2.17\n' "$newest" | sort -V | tail -n 1)" = 2.17 ]
}

cross_table=''
cross_line() { cross_table+="$(printf '%-13s %6s %7s %6s   %s' "$@")"$'\n'; }

# One target; a build that fails counts as one failed test, a target that cannot be had as skipped.
cross_test() {  # target ctest-args...
  local target=$1 dir before
  local title folder packages compiler cxx flags qemu libraries page zig system options
  local runner build_and_test
  shift
  cross_describe "$target"
  if ! cross_set_up; then
    skipped=$((skipped + 1))
    cross_line "$target" - - - "$title: cannot be set up here"
    return
  fi
  dir=$root/build/cross/$folder before=($passed $failed $skipped)
  mkdir -p "$dir"
  say "mi: $target ($title): build and test"
  "$build_and_test" "$@"
  cross_line "$target" $((passed - before[0])) $((skipped - before[2])) $((failed - before[1])) \
    "$title"
}

cross_build_and_test() {  # ctest-args...
  local around
  cross_find_kernel_support
  if ! { cross_configure "$dir" && logged "$dir/build.log" cmake --build "$dir" --parallel "$jobs"; }
  then
    say "mi: $target: does not build"
    failed=$((failed + 1))
    return
  fi
  if [ "$target" = glibc-2.17 ] && ! cross_check_glibc "$dir"; then failed=$((failed + 1)); fi
  (
    cd "$dir" || exit 1
    [ -z "$page" ] || export QEMU_PAGESIZE=$page
    # QEMU 7 gets the vector unit's loads wrong on such pages.
    [ -z "$page" ] || [ "$folder" != aarch64 ] || export QEMU_CPU=max,sve=off
    ${around[@]+"${around[@]}"} ctest --output-on-failure --no-tests=ignore -j "$jobs" "$@" \
      </dev/null 2>&1
  ) | tee "$dir/test-$target.log"
  count_results "$dir/test-$target.log" "${PIPESTATUS[0]}"
}

cross_list() {
  local target title folder packages compiler cxx flags qemu libraries page zig system options
  local runner build_and_test
  for target in "${cross_all[@]}"; do
    cross_describe "$target"
    printf '%-13s %s: %s\n' "$target" "$title" \
      "${zig:+zig, for $zig}${packages[*]+${zig:+, }${packages[*]}}"
  done
}

# For ./mi test: 32 bits, big endian, another C library; what takes a few minutes.
cross_quickly() {  # ctest-args...
  cross_test small -LE long "$@"
  cross_test i386 -LE 'long|fault' "$@"
  cross_test s390x -L 'api|unit|model' "$@"
  cross_test musl -LE long "$@"
}

mi_cross() {
  local target title folder packages compiler cxx flags qemu libraries page zig system options
  local runner build_and_test
  local targets=("${cross_all[@]}")
  case ${1:-all} in
    list) cross_list; return ;;
    all) [ $# = 0 ] || shift ;;
    *) cross_describe "$1" || die "cross has no target $1; see ./mi cross list" 2
      targets=("$1")
      shift ;;
  esac
  root_for_preload
  need_tools test
  cross_line target passed skipped failed ""
  for target in "${targets[@]}"; do
    cross_test "$target" -LE 'long|programs|bench|static|codegen|consumer|packaging|docs|rust' "$@"
  done
  printf '%s' "$cross_table"
  [ "$failed" = 0 ]
}
