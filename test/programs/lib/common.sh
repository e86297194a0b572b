# What the scripts of test/programs share. Each begins with
#   . "$(dirname "$0")/lib/common.sh"
# and is called as `sh script.sh LIBRARY`. From here it has $work, a folder that vanishes with the
# script; $library, a copy of LIBRARY that other users can read; $root, this source tree.
# Exit status: 0 all well, 77 a program is not installed, else a failure, with a line that says it.
# shellcheck shell=sh
set -u
# shellcheck disable=SC2034  # for the scripts
root=$(cd "$(dirname "$0")/../.." && pwd)

fail() { echo "FAILED: $*"; exit 1; }

# need COMMAND PACKAGE: skips the test where COMMAND is missing.
need() {
  command -v "$1" >/dev/null 2>&1 && return
  echo "skipped: no $1 here (Debian package $2)"
  exit 77
}

[ -r "${1:-}" ] || fail "usage: sh $0 LIBRARY"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$work"
library=$work/$(basename "$1")
cp "$(readlink -f "$1")" "$library" || exit 2
chmod 644 "$library"

# No options and no preloading but our own; times, languages and hashes alike in every run.
for name in $(env | sed -n 's/^\(MIMALLOC_[A-Za-z0-9_]*\)=.*/\1/p'); do unset "$name"; done
unset LD_PRELOAD
export LC_ALL=C TZ=UTC HOME="$work/home"
mkdir "$HOME" || exit 2

# is_preloaded COMMAND...: fails unless COMMAND, in a run of its own, says that it uses the library.
is_preloaded() {
  MIMALLOC_VERBOSE=1 LD_PRELOAD=$library "$@" >"$work/banner" 2>&1 </dev/null
  grep -q '^mimalloc: ' "$work/banner" || {
    tail -n 5 "$work/banner"
    fail "the library is not in use in: $*"
  }
}

# has_library PID: the process has the library mapped.
has_library() { grep -q -F "$library" "/proc/$1/maps" || fail "process $1 is without the library"; }

# Runs a function, whose first failing command ends it, in the new folder $work/run, on the library
# or without it; sets $status. Only what it starts is preloaded, not this shell. A server that it
# starts and notes in $server does not outlive it.
run_on() {  # system|ours function args...
  side=$1
  shift
  rm -rf "$work/run"
  mkdir "$work/run" || exit 2
  (
    server=
    trap '[ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null' EXIT
    trap 'exit 1' HUP INT TERM
    set -e
    cd "$work/run"
    [ "$side" = system ] || export LD_PRELOAD="$library"
    "$@"
  ) >"$work/$side.out" 2>"$work/$side.err" </dev/null
  status=$?
}

show_side() {
  [ ! -s "$work/$1.out" ] || tail -n 20 "$work/$1.out" | sed "s/^/  $1 stdout: /"
  [ ! -s "$work/$1.err" ] || tail -n 20 "$work/$1.err" | sed "s/^/  $1 stderr: /"
}

# both FUNCTION ARGS...: runs it on either allocator. Both must succeed, with the same output, which
# must not be empty; the library must have no complaint.
both() {
  for side in system ours; do
    run_on $side "$@"
    [ $status = 0 ] || {
      show_side "$side"
      fail "$1 ends with status $status, allocator: $side"
    }
  done
  [ -s "$work/system.out" ] || fail "$1 prints nothing that could be compared"
  cmp "$work/system.out" "$work/ours.out" || {
    diff "$work/system.out" "$work/ours.out" | head -n 20
    fail "$1: the output differs from that with the system's allocator"
  }
  ! grep '^mimalloc: ' "$work/ours.err" || fail "$1: messages of the library"
  echo "ok: $1, $(wc -c <"$work/ours.out") bytes of output alike"
}

# until_true SECONDS COMMAND...
until_true() {
  left=$(($1 * 20))
  shift
  while ! "$@" >/dev/null 2>&1; do
    left=$((left - 1))
    [ $left -gt 0 ] || return 1
    sleep 0.05
  done
}
