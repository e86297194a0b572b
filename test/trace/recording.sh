#!/bin/sh
# test: when="release glibc"
# The recorder, its summary and the replay: a program that allocates known numbers of blocks, with
# threads and a fork, and what is said about recordings that are cut, damaged or none.
set -eu
: "${MI_LIB_SHARED:?path of the library}" "${MI_SOURCE_DIR:?}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
source=$MI_SOURCE_DIR/bench/trace
cc="${CC:-cc} -std=gnu11 -O1 -fno-builtin -pthread"
$cc -shared -fPIC "$source/record.c" -o "$dir/record.so" -ldl
$cc "$source/resolve.c" -o "$dir/resolve"
$cc "$source/replay.c" -o "$dir/replay"
$cc -w "$MI_SOURCE_DIR/test/trace/known.c" -o "$dir/known"

passed=0 failed=0
good() { passed=$((passed + 1)); }
bad() { echo "FAILED: $*"; failed=$((failed + 1)); }
same() { if [ "$2" = "$3" ]; then good; else bad "$1: $2, expected $3"; fi; }

record() {  # FILE PROGRAM ARGS...
  file=$1
  shift
  rm -f "$file"
  MI_TRACE_FILE=$file LD_PRELOAD=$dir/record.so "$@"
}
figure() {  # FILE NAME
  "$dir/resolve" summary "$1" | awk -v name="$2" 'index($0, name "  ") == 1 { print $NF }'
}
grows() {  # NAME BY: from 0 to 1000
  same "$1" $(($(figure "$dir/thousand" "$1") - $(figure "$dir/none" "$1"))) "$2"
}

for ending in exit _exit; do
  record "$dir/none" "$dir/known" 0 $ending
  record "$dir/thousand" "$dir/known" 1000 $ending
  grows threads 1  # one that allocates nothing is not seen
  grows malloc 3000
  grows calloc 1000
  grows aligned 3000
  grows realloc 2000
  grows free 5000
  grows "freed by another thread" 1000
  grows "live at the end" 2000
  grows "bytes in all" $((1000 * (64 + 1000 + 3000 + 20 + 300 + 50 + 640 + 8192)))
  same threads "$(figure "$dir/thousand" threads)" 2
done

# On the system's allocator and on ours, with little freedom and with much.
for window in 1 1000 1000000; do
  "$dir/resolve" --window $window prepare "$dir/thousand" "$dir/prepared"
  for library in '' "$MI_LIB_SHARED"; do
    for touch in none first pages; do
      if LD_PRELOAD=$library "$dir/replay" --touch $touch "$dir/prepared" >"$dir/out"; then
        same "threads of the replay" "$(sed -n 's/^metric threads //p' "$dir/out")" 2
      else
        bad "the replay with window $window, --touch $touch, LD_PRELOAD=$library"
      fi
    done
  done
done

# A program that runs others: only itself, or with %p each.
record "$dir/only" sh -c "$dir/known 10; $dir/known 20; :"
same "the shell alone" "$(figure "$dir/only" aligned)" 0
MI_TRACE_FILE=$dir/each.%p LD_PRELOAD=$dir/record.so sh -c "$dir/known 10; $dir/known 20; :"
same "a file for each" "$(find "$dir" -name 'each.*' | wc -l)" 3
record "$dir/last" sh -c "exec $dir/known 10"
same "after exec" "$(figure "$dir/last" aligned)" 30

# Bad recordings are told from good ones, never followed.
refuses() {  # FILE WORDS
  if "$dir/resolve" summary "$1" >"$dir/out" 2>"$dir/error"; then
    bad "no error for: $2"
  elif grep -q "$2" "$dir/error"; then
    good
  else
    bad "said $(cat "$dir/error"), expected $2"
  fi
}
refuses "$dir/missing" "No such file"
: >"$dir/empty"
refuses "$dir/empty" "too short"
refuses "$dir/known" "not a recording"
refuses "$dir" "not a file"
record "$dir/killed" "$dir/known" 20000 killed || true
refuses "$dir/killed" "unfinished"
same "what the killed one left" "$("$dir/resolve" --partial prepare "$dir/killed" "$dir/prepared" &&
  "$dir/replay" "$dir/prepared" | grep -c '^metric')" 6

size=$(wc -c <"$dir/thousand")
for part in 1 7 30 100; do
  head -c $((size * part / 101)) "$dir/thousand" >"$dir/cut"
  refuses "$dir/cut" "cut off\|unfinished"
done
# Any byte overwritten: an error, or a recording that still makes sense; no crash.
i=16
while [ $i -lt "$size" ]; do
  cp "$dir/thousand" "$dir/damaged"
  printf '\377\377' | dd of="$dir/damaged" bs=1 seek=$i conv=notrunc 2>"$dir/error"
  for option in '' --partial; do
    status=0
    "$dir/resolve" $option prepare "$dir/damaged" "$dir/prepared" 2>"$dir/error" || status=$?
    if [ $status -gt 1 ] || { [ $status = 1 ] && ! grep -q '^trace: ' "$dir/error"; }; then
      bad "byte $i overwritten, $option: status $status"
    fi
    if [ $status = 0 ]; then
      "$dir/replay" --touch none "$dir/prepared" >"$dir/out" 2>"$dir/error" || status=$?
      [ $status -le 1 ] || bad "byte $i overwritten, $option: the replay ended with $status"
    fi
  done
  i=$((i + 997))
done
good

echo "$passed passed, $failed failed"
[ $failed = 0 ]
