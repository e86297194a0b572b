#!/bin/sh
# test: timeout=300 when="release gcc linux"
# Instructions per operation of the fast and slow paths, counted by valgrind and held to the bounds
# in bounds.txt (x86-64, gcc). The loop and the calls through the PLT are in the count: about 13 of
# it. What the library gives back to the system depends on the clock too: on a busy machine a run
# may have more of that, so that the lowest of three counts.
set -eu
: "${MI_LIB_SHARED:?path of the library}" "${MI_SOURCE_DIR:?}"
[ "$(uname -m)" = x86_64 ] || { echo "the bounds are for x86-64"; exit 77; }
command -v valgrind >/dev/null || { echo "valgrind is missing"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
${CC:-cc} -O2 -fno-builtin -pthread "$MI_SOURCE_DIR/bench/micro/patterns.c" -o "$dir/patterns"

count() { # SETTING PATTERN SIZE COUNT
  setting=$1 && shift
  env ${setting:+"$setting"} LD_PRELOAD="$MI_LIB_SHARED" valgrind --tool=callgrind --callgrind-out-file=/dev/null "$dir/patterns" "$@" 2>&1 |
    awk '/Collected/ { print $4 }'
}

each() { # SETTING PATTERN SIZE
  low=$(count "$1" "$2" "$3" 10000)
  high=$(count "$1" "$2" "$3" 40000)
  echo $(( (high - low) / 30000 ))
}

failed=0 passed=0
while read -r pattern size bound setting; do
  case $pattern in ''|'#'*) continue ;; esac
  lowest=$(each "$setting" "$pattern" "$size")
  for _ in second third; do
    [ "$lowest" -gt "$bound" ] || break
    now=$(each "$setting" "$pattern" "$size")
    [ "$now" -ge "$lowest" ] || lowest=$now
  done
  if [ "$lowest" -gt "$bound" ]; then
    echo "FAILED $pattern $size $setting: $lowest instructions, at most $bound"; failed=$((failed + 1))
  else
    echo "$pattern $size $setting: $lowest (at most $bound)"; passed=$((passed + 1))
  fi
done <"$MI_SOURCE_DIR/test/codegen/bounds.txt"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
