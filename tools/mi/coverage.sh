#   ./mi coverage [--missed]
#       Builds with counters, runs the tests and prints which lines and branches of src/ they reach;
#       --missed: and each place that they do not. Fails below 95 % of the lines, 85 % of branches.

# Counters lie in mapped files (%c), shared by all runs of a program (%m): so what a process counted
# stays, however it ends.
coverage_build() {  # mode cmake-options...
  local dir=$root/build/coverage/$1 flags="-O1 -fprofile-instr-generate -fcoverage-mapping"
  flags="$flags -mllvm -runtime-counter-relocation=true"
  shift
  rm -rf "$dir/profiles" && mkdir -p "$dir/profiles"
  : >"$dir/build.log"
  logged "$dir/build.log" cmake -S "$root" -B "$dir" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 -DMI_BUILD_TESTS=ON -DMI_BUILD_OBJECT=OFF \
    -DCMAKE_C_FLAGS_RELEASE="$flags" -DCMAKE_CXX_FLAGS_RELEASE="$flags" "$@" &&
    logged "$dir/build.log" cmake --build "$dir" --parallel "$jobs"
}

# These fail here, as the counters write files of their own: at the beginning, at the end, and with
# descriptors closed or in sandboxes. They pass in builds without counters, which ./mi test runs.
coverage_disturbs='lifecycle\.(errno_zero_at_main|start_cost)|misuse|api\.guarded_misuse'

coverage_run() {  # mode labels
  local dir=$root/build/coverage/$1
  say "mi: coverage: $1: test"
  (cd "$dir" && LLVM_PROFILE_FILE="$dir/profiles/%m%c.profraw" \
    ctest -j "$jobs" -L "$2" -LE long </dev/null 2>&1) >"$dir/test.log"
  grep 'tests passed' "$dir/test.log" >&2
  if sed -n '/^The following tests FAILED:/,$p' "$dir/test.log" | grep ' - ' |
    grep -vE " - ($coverage_disturbs)[. ]" >&2; then
    die "coverage: these tests failed: $dir/test.log"
  fi
}

mi_coverage() {
  root_for_preload
  need_tools test
  if ! { have clang-19 && have llvm-cov-19 && have python3 && clang_has_profiles; }; then
    apt_install clang-19 llvm-19 libclang-rt-19-dev python3 ||
      die "coverage needs clang-19, llvm-19, libclang-rt-19-dev and python3"
  fi
  local mode options
  for mode in release secure debug; do
    options=()
    case $mode in secure) options=(-DMI_SECURE=FULL) ;; debug) options=(-DMI_DEBUG=3) ;; esac
    say "mi: coverage: $mode: build"
    coverage_build $mode ${options[@]+"${options[@]}"} || die "the build with counters fails"
    case $mode in
      release) coverage_run $mode 'unit|api|posix|misuse|fault|fuzz|stress|lifecycle' ;;
      *) coverage_run $mode 'unit|api|misuse|fuzz|stress' ;;
    esac
  done
  python3 "$root/tools/coverage.py" "$@" "$root"/build/coverage/{release,secure,debug}
}

clang_has_profiles() {
  echo 'int main(void) { return 0; }' |
    clang-19 -x c -fprofile-instr-generate -fcoverage-mapping -o /dev/null - 2>/dev/null
}
