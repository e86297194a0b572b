#!/bin/sh
# test: when="wasi" timeout=600
# Of the 4 GiB that a program for WASI can have it gets as much as with the C library's malloc, but
# for 5 %, before malloc returns NULL: in blocks of 1 MiB, and of 16 to 1000 bytes.
#   limit.sh [anything]    prints the MiB; exit status 1 if it gets less
# MI_RUNNER runs programs for WASI, MI_LIB_STATIC is the library.
# shellcheck source=lib/both.sh
. "$(dirname "$0")/lib/both.sh"
bad=0

build_both "$(dirname "$0")/limit.c"
for blocks in "" small; do
  # shellcheck disable=SC2086  # lists of words
  theirs=$($MI_RUNNER "$work/theirs" $blocks) && ours=$($MI_RUNNER "$work/ours" $blocks) || exit 1
  echo "${blocks:-large} blocks: $ours MiB, the C library's $theirs"
  [ "$ours" -gt 3000 ] && [ $((ours * 100)) -ge $((theirs * 95)) ] || bad=1
done
exit $bad
