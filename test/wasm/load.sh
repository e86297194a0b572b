#!/bin/sh
# test: when="wasi" timeout=300
# A program for WASI that replaces blocks has at most a tenth more memory than with the C library's
# malloc, and takes fewer instructions. Both are the same in each run.
#   load.sh [anything]    prints the figures; exit status 1 if there are more
# MI_RUNNER runs programs for WASI and prints what they took (wasi.py), MI_LIB_STATIC is the library.
# shellcheck source=lib/both.sh
. "$(dirname "$0")/lib/both.sh"
bad=0

build_both "$(dirname "$0")/load.c"

report() {  # program load: KiB of memory, and instructions
  # shellcheck disable=SC2086  # a list of words
  WASI_REPORT=1 $MI_RUNNER "$work/$1" "$2" 2>&1 | sed -nE 's/^memory (.*) KiB, (.*) instructions$/\1 \2/p'
}

for load in 1 2 3; do
  theirs=$(report theirs $load) ours=$(report ours $load)
  echo "load $load, KiB and instructions: $ours, with the C library's malloc $theirs"
  [ -n "$theirs" ] && [ -n "$ours" ] || exit 1
  [ $((${ours% *} * 10)) -le $((${theirs% *} * 11)) ] && [ "${ours#* }" -lt "${theirs#* }" ] || bad=1
done
exit $bad
