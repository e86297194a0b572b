#!/bin/sh
# Runs a program and checks how it ended. Usage:
#   expect.sh [--preload LIB] [--abort | --exit N | --may-fail] [--stderr REGEX] -- PROGRAM ARGS...
# LIB is preloaded into the program only, not into this shell. REGEX is an extended one, for grep.
want=0 preload='' pattern=''
while [ $# -gt 0 ]; do
  case $1 in
    --preload) preload=$2; shift ;;
    --abort) want=134 ;;
    --exit) want=$2; shift ;;
    --may-fail) want=any ;;
    --stderr) pattern=$2; shift ;;
    --) shift; break ;;
    *) echo "expect.sh: unknown option $1" >&2; exit 2 ;;
  esac
  shift
done

errors=$(mktemp) || exit 2
trap 'rm -f "$errors"' EXIT
if [ -n "$preload" ]; then
  env LD_PRELOAD="$preload" "$@" 2>"$errors"
else
  "$@" 2>"$errors"
fi
status=$?
cat "$errors" >&2

if [ "$want" = any ]; then
  echo "exit status $status (any is accepted)"
elif [ "$status" -ne "$want" ]; then
  echo "expect.sh: exit status $status, expected $want (128 + n: killed by signal n)" >&2
  exit 1
fi
if [ -n "$pattern" ] && ! grep -E -q -e "$pattern" "$errors"; then
  echo "expect.sh: nothing on stderr matches: $pattern" >&2
  exit 1
fi
exit 0
