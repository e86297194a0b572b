#!/bin/sh
# test: label=long timeout=86400 when="release gcc"
# Fuzzes each target with libFuzzer for FUZZ_SECONDS in all (600), from the corpus in the tree:
#   long.sh                    all targets and builds
#   long.sh --one TARGET BUILD one of them
#   long.sh --afl TARGET       with AFL++ instead
#   long.sh --coverage         what the corpus, and what is in FUZZ_KEEP, reaches, by file
# TARGET: operations, options, format, trace. BUILD: release, debug (with sanitizers), secure.
# FUZZ_KEEP=DIR keeps the inputs that are found, and starts from those that are there. Prints
# executions and edges reached; an input that fails is printed as a line for the corpus.
set -u
root=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
seconds=${FUZZ_SECONDS:-600}
export MI_SOURCE_DIR="$root"

first_of() {
  for command in "$@"; do command -v "$command" >/dev/null && echo "$command" && return; done
}
clang=$(first_of clang-19 clang clang-18 clang-17 clang-16)
[ -n "$clang" ] || { echo "no clang here"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
keep=${FUZZ_KEEP:-$work/keep}

flags_of() {  # build
  case $1 in
    release) echo "-DMI_DEBUG=0" ;;
    debug) echo "-DMI_DEBUG=2 -fsanitize=address,undefined -fno-sanitize=pointer-overflow" ;;
    secure) echo "-DMI_DEBUG=0 -DMI_SECURE=4" ;;
  esac
}

compile() {  # compiler target program flags...
  compiler=$1 source=$root/test/fuzz/$2.c program=$3
  shift 3
  "$compiler" -std=gnu11 -O1 -g -w -pthread -fno-builtin -I"$root/include" "$@" "$source" \
    -o "$program" -lm
}

# The corpus as files, the way fuzzers want it.
unpack() {  # target folder
  mkdir -p "$2" && compile "$clang" "$1" "$work/plain" && "$work/plain" --unpack "$2" >/dev/null
}

value_of() { sed -n "s/$1/\\1/p" "$work/log" | tail -n 1; }

fuzz() {  # target build seconds
  unpack "$1" "$keep/$1" || return 1
  # shellcheck disable=SC2046  # flags are words
  compile "$clang" "$1" "$work/fuzzer" -DFUZZ_LIBFUZZER -fsanitize=fuzzer $(flags_of "$2") ||
    return 1
  if ! ASAN_OPTIONS=detect_leaks=0 "$work/fuzzer" -max_total_time="$3" -max_len=1000 -timeout=60 \
    -print_final_stats=1 -artifact_prefix="$work/bad-" "$keep/$1" >"$work/log" 2>&1; then
    grep -v -e NEW -e REDUCE "$work/log" | tail -n 60
    echo "FAILED: $1, $2. The input, for --hex and for the corpus:"
    "$work/plain" --pack "$work"/bad-*
    return 1
  fi
  echo "$1, $2: $(value_of '^stat::number_of_executed_units: *\(.*\)') executions," \
    "edges $(value_of '.* cov: \([0-9]*\) .*') of $(value_of '.*modules *(\([0-9]*\) inline.*')"
}

fuzz_all() {
  failed=0
  while read -r target build percent; do
    fuzz "$target" "$build" $((seconds * percent / 100 + 1)) </dev/null || failed=1
  done <<END
operations release 40
operations debug 25
operations secure 15
options debug 5
format debug 5
trace debug 10
END
  exit $failed
}

afl() {  # target
  compiler=$(first_of afl-clang-fast afl-gcc-fast afl-gcc)
  [ -n "$compiler" ] || { echo "no AFL++ here"; exit 77; }
  unpack "$1" "$work/in" && compile "$compiler" "$1" "$work/$1" -DMI_DEBUG=0 || exit 1
  FUZZ_AFL=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 \
    afl-fuzz -V "$seconds" -t 5000+ -m none -i "$work/in" -o "$keep/afl" -- "$work/$1"
}

coverage() {
  objects=
  for target in operations options format trace; do
    compile "$clang" "$target" "$work/$target" -DMI_DEBUG=0 -fprofile-instr-generate \
      -fcoverage-mapping || exit 1
    LLVM_PROFILE_FILE=$work/$target.raw "$work/$target" \
      "$root/test/fuzz/corpus/$target.txt" $(ls -d "$keep/$target"/* 2>/dev/null) || exit 1
    objects="$objects -object $work/$target"
  done
  tools=${clang#clang}
  "llvm-profdata$tools" merge -o "$work/all" "$work"/*.raw &&
    "llvm-cov$tools" report ${objects# -object} -instr-profile "$work/all" \
      -ignore-filename-regex '/test/|/include/'
}

case ${1:-} in
  --one) fuzz "$2" "$3" "$seconds" ;;
  --afl) afl "$2" ;;
  --coverage) coverage ;;
  *) fuzz_all ;;
esac
