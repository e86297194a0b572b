#!/usr/bin/env bash
# Runs the cases of test/misuse on this allocator and on its peers, and prints the table "Beside others" of
# docs/misuse.md.
#   misuse.sh [--runs N] [NAME...]
#
# Each case runs N times (3), for each size and thread: it counts as harmful if one of the runs was.
# NAME: release, secure, secure-full are ours; glibc, or what peers.sh makes; without one, all. The table shows them, and
# those of an earlier run. All is built into build/.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
root=$(cd "$here/.." && pwd) || exit 1
work=$root/build/misuse
jobs=${MI_JOBS:-$(nproc 2>/dev/null || echo 2)}
runs=3

OURS="release secure secure-full"
PEERS="mimalloc3 mimalloc3-secure snmalloc snmalloc-checks scudo jemalloc tcmalloc"

say() { printf 'misuse: %s\n' "$*" >&2; }
is_ours() { case " $OURS " in *" $1 "*) ;; *) return 1 ;; esac; }

build_crimes() {
  local sources=("$root"/test/misuse/*.c) options=(-O2 -fno-builtin -w)
  mkdir -p "$work" || return
  sources=("${sources[@]/#*runner.c/}")
  "${CC:-cc}" -std=gnu11 -O2 -o "$work/runner" "$root/test/misuse/runner.c" -pthread &&
    "${CXX:-c++}" -std=c++17 "${options[@]}" -c -o "$work/delete.o" "$root/test/misuse/delete.cpp" || return
  # shellcheck disable=SC2068  # one of them is empty
  "${CC:-cc}" -std=gnu11 "${options[@]}" -o "$work/crimes" ${sources[@]} "$work/delete.o" -lstdc++ -pthread
}

build_ours() {  # preset
  (cd "$root" && cmake --preset "$1" && cmake --build --preset "$1" --parallel "$jobs" --target mimalloc) >/dev/null
}

library_of() {  # name; glibc has none
  local found=()
  if is_ours "$1"; then
    found=("$root/build/$1"/libmimalloc*.so.3)
  elif [ "$1" != glibc ]; then
    found=("$work/peers/$1.so")
  fi
  [ ${#found[@]} = 0 ] || echo "${found[0]}"
}

version_of() {  # name
  if is_ours "$1"; then
    echo "this one, $1"
  elif [ "$1" = glibc ]; then
    getconf GNU_LIBC_VERSION
  else
    cat "$work/peers/$1.version"
  fi
}

commit_crimes() {  # name
  local library options=() variable
  library=$(library_of "$1")
  [ -z "$library" ] || options+=(--preload "$library")
  variable=$(cat "$work/peers/$1.env" 2>/dev/null)
  [ -z "$variable" ] || options+=(--env "$variable")
  "$work/runner" --table "$root/test/misuse/expected.txt" --runs "$runs" --jobs "$jobs" --seconds 5 \
    ${options[@]+"${options[@]}"} "$work/crimes" >"$work/$1.txt"
}

machine() {
  echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, Linux $(uname -r | cut -d - -f 1)"
}

# Of the outcomes of each allocator one column.
print_tables() {  # names
  local name
  for name in "$@"; do sed "s/^/$name /" "$work/$name.txt"; done | awk -v names="$*" '
    function harm(o) { return o == "harmful" }
    function stop(o) { return o == "abort" || o == "fault" }
    {
      cell = $1 " " $2; one = cell " " $3 " " $4
      if (!($2 in known)) { known[$2] = 1; crimes[++n] = $2 }
      if (!(one in seen)) { seen[one] = 1; total[cell]++; whole[$1]++ }
      if (harm($5) && !(one in bad)) { bad[one] = 1; harmed[cell]++; all[$1]++ }
      if (stop($5)) { stopped[cell]++ } else { other[cell]++ }
      if ($5 == "not-here") { missing[cell] = 1 }
      if ($5 == "hang") { hangs[cell] = " hangs" }
    }
    function text(cell) {
      if (!(cell in total) || cell in missing) { return "–" }
      if (cell in harmed) { return "**" harmed[cell] "**/" total[cell] hangs[cell] }
      if (cell in hangs) { return "hangs" }
      return !(cell in other) ? "stopped" : cell in stopped ? "safe" : "harmless"
    }
    END {
      columns = split(names, column, " ")
      line = "| case |"; rule = "|---|"; sum = "| **harmful, of all** |"
      for (c = 1; c <= columns; c++) {
        line = line " " column[c] " |"; rule = rule "---|"
        sum = sum " **" all[column[c]] + 0 "**/" whole[column[c]] " |"
      }
      print line; print rule; print sum
      for (i = 1; i <= n; i++) {
        line = "| `" crimes[i] "` |"
        for (c = 1; c <= columns; c++) { line = line " " text(column[c] " " crimes[i]) " |" }
        print line
      }
    }'
}

if [ "${1-}" = --runs ]; then runs=${2:-3}; shift 2; fi
# shellcheck disable=SC2086  # lists of words
[ $# -gt 0 ] || set -- $OURS glibc $PEERS
build_crimes || exit 1
peers=()
for name in "$@"; do
  if is_ours "$name"; then build_ours "$name" || exit 1
  elif [ "$name" != glibc ]; then peers+=("$name")
  fi
done
[ ${#peers[@]} = 0 ] || "$here/peers.sh" "$work/peers" "${peers[@]}" || exit 1

for name in "$@"; do
  if [ "$name" != glibc ] && [ ! -e "$(library_of "$name")" ]; then continue; fi
  say "$name"
  commit_crimes "$name"
done
there=()
for name in $OURS glibc $PEERS; do
  if [ -s "$work/$name.txt" ]; then there+=("$name"); fi
done
echo "$(machine), $(date +%B\ %Y); each case $runs times."
echo
for name in "${there[@]}"; do echo "- $name: $(version_of "$name")"; done
echo
print_tables "${there[@]}"
