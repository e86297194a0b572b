#   ./mi test [--long] [--only PRESET,...] [CTEST ARGS...]
#       Builds every variant and tests it: the test presets of CMakePresets.json, which say what
#       is tested of each. --long: with the slow tests (presets whose names end in -long), all tests
#       of the test ports, and the quickest targets of ./mi cross. --only: these presets. CTEST
#       ARGS, such as -R name, go to ctest.

find_clang() {
  local c
  for c in clang-19 clang clang-18 clang-17 clang-16; do
    have "$c" && have "${c/clang/clang++}" && echo "$c" && return
  done
}

compiler_options() {  # c-compiler; false if there is none
  [ -n "$1" ] && echo "-DCMAKE_C_COMPILER=$1" || return
  case $1 in
    *clang*) echo "-DCMAKE_CXX_COMPILER=${1/clang/clang++}" ;;
  esac
}

# A compiler whose sanitizer works on this machine.
find_sanitizer_compiler() {  # sanitizer compilers...
  local c dir sanitizer=$1
  shift
  dir=$(mktemp -d) || return
  echo 'int main(void) { return 0; }' >"$dir/a.c"
  for c in "$@"; do
    [ -n "$c" ] && "$c" -fsanitize="$sanitizer" "$dir/a.c" -o "$dir/a" >/dev/null 2>&1 &&
      "$dir/a" >/dev/null 2>&1 && echo "$c" && break
  done
  rm -rf "$dir"
}

# Programs that test scripts want, as named by a line `# packages: a b` in each.
program_packages() {  # with-long
  local script
  for script in "$root"/test/{programs,packaging,static,docs}/*.sh; do
    [ -e "$script" ] || continue
    [ "$1" = yes ] || ! head -n 5 "$script" | grep -q 'test:.*label=long' || continue
    sed -n '1,10s/^# packages: *//p' "$script" | tr ' ' '\n'
  done | sort -u
}

install_optional() {  # with-long
  local list=()
  [ -n "$(find_clang)" ] || list+=(clang-19 libclang-rt-19-dev)
  have valgrind || list+=(valgrind)
  have pkg-config || list+=(pkg-config)
  have cppcheck || list+=(cppcheck)
  have clang-tidy-19 || list+=(clang-tidy-19)
  have clang-format-19 || list+=(clang-format-19)
  # shellcheck disable=SC2046  # a list of words
  install_missing ${list[@]+"${list[@]}"} $(program_packages "$1")
}

# Prints what CMake is told so that this machine can build a preset; false: it cannot.
options_of() {  # preset
  case $1 in
    clang-release) compiler_options "$(find_clang)" ;;
    tsan) compiler_options "$(find_sanitizer_compiler thread "$(find_clang)" "$(c_compiler)")" ;;
    asan) compiler_options "$(find_sanitizer_compiler address "$(c_compiler)" "$(find_clang)")" ;;
    ubsan)
      compiler_options "$(find_sanitizer_compiler undefined "$(c_compiler)" "$(find_clang)")" ;;
    msan) compiler_options "$(find_sanitizer_compiler memory "$(find_clang)")" ;;
    valgrind) have valgrind && [ -e /usr/include/valgrind/memcheck.h ] ;;
  esac
}

# Sets `presets` to those of a list with commas, or to all if that is empty.
choose_presets() {  # with-long list
  local all name
  all=$(test_presets "$1")
  presets=${2//,/ }
  for name in $presets; do
    grep -q -x -F -e "$name" <<<"$all" || die "there is no test preset $name, but: ${all//$'\n'/ }" 2
  done
  presets=${presets:-$all}
}

# Prints the test presets, in their order in CMakePresets.json: of NAME and NAME-long the one that
# is asked for.
test_presets() {  # with-long
  local all
  all=$(cd "$root" && ctest --list-presets | sed -n 's/^ *"\([^"]*\)".*/\1/p')
  if [ "$1" = yes ]; then
    awk '{ at[NR] = $0; there[$0] = 1 }
      END { for (i = 1; i <= NR; i++) if (!((at[i] "-long") in there)) print at[i] }' <<<"$all"
  else
    grep -v -e '-long$' <<<"$all"
  fi
}

# One preset: configure, build, run its tests. A build that fails counts as one failed test.
test_preset() {  # test-preset ctest-args...
  local test=$1 preset=${1%-long} options output=$root/build/${1%-long}/test.log
  shift
  if ! options=$(options_of "$preset"); then
    say "mi: $preset: no tool or compiler for it here: its tests are skipped"
    return
  fi
  say "mi: $preset: build"
  # shellcheck disable=SC2086  # options are words
  if ! { configure "$preset" -DMI_WERROR=ON $options && build "$preset"; }; then
    say "mi: $preset: does not build"
    failed=$((failed + 1))
    return
  fi
  say "mi: $preset: test"
  (cd "$root" && ctest --preset "$test" -j "$jobs" "$@" </dev/null 2>&1) | tee "$output"
  count_results "$output" "${PIPESTATUS[0]}"
}

mi_test() {
  local long=no only='' preset presets
  if [ "${1:-}" = --long ]; then long=yes; shift; fi
  if [ "${1:-}" = --only ]; then
    only=${2:-}
    [ -n "$only" ] || die "which presets? ./mi test --only PRESET,..." 2
    shift 2
  fi
  root_for_preload
  need_tools test
  choose_presets $long "$only"
  install_optional $long
  for preset in $presets; do test_preset "$preset" "$@"; done
  if [ $long = yes ] && [ -z "$only" ]; then
    # shellcheck source=tools/mi/cross.sh
    . "$root/tools/mi/cross.sh"
    cross_quickly "$@"
  fi
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ]
}
