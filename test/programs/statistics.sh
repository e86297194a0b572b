#!/bin/sh
# test: timeout=60 label=programs
# Statistics at exit of a program of coreutils, which closes its standard error before that.
. "$(dirname "$0")/lib/common.sh"

LD_PRELOAD=$library MIMALLOC_SHOW_STATS=1 ls / >"$work/out" 2>"$work/table" || fail "ls"
[ -s "$work/out" ] || fail "ls prints nothing"
grep -q 'peak  *total  *freed  *current' "$work/table" || fail "no table at exit of ls"
grep -q 'process: ls, id [1-9][0-9]*$' "$work/table" || fail "the table does not name the program"
echo "ls: $(wc -l <"$work/table") lines"
