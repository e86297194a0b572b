#!/bin/sh
# test: timeout=900 when="release gcc"
# Each step that a mutant changes is still in the sources, and the models notice each memory order that is weakened. The other
# mutants take longer: mutate.sh, genmc.sh.
set -eu
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
stale=0

list() { sed -n "/<<'END'/,/^END/p" "$source/test/model/$1.sh" | grep ';' >"$lists/$1"; }

look() {  # file what script
  if sed -e "$3" "$source/src/${1#=}" | cmp -s - "$source/src/${1#=}"; then
    echo "no longer applies: $1: $2"
    stale=$((stale + 1))
  fi
}

list mutate
while IFS=';' read -r file _ what script; do look "$file" "$what" "$script"; done <"$lists/mutate"
list genmc
while IFS=';' read -r file what script _; do look "$file" "$what" "$script"; done <"$lists/genmc"
echo "$(cat "$lists"/* | wc -l) mutants, $stale do not apply"
[ "$stale" = 0 ]
MUTATE_ONLY=';[A-Z][0-9]' sh "$source/test/model/mutate.sh"
