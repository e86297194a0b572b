#!/bin/sh
# test: when="emscripten" timeout=600 serial
# A program by Emscripten that replaces blocks takes no more processor time than with its dlmalloc
# and its emmalloc: the least of some runs of each, less what node takes for a program that does
# nothing.
#   load_emscripten.sh [anything]    prints the milliseconds; exit status 1 if there are more
# MI_RUNNER runs programs by Emscripten, MI_LIB_STATIC is the library, CC Emscripten's compiler.
here=$(dirname "$0")
export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}"  # where Debian has what its emcc wants
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
bad=0

build() {  # name source options...
  name=$1
  shift
  "$CC" -O2 -fno-builtin -sALLOW_MEMORY_GROWTH "$@" -o "$work/$name.js"
}
echo 'int main(void) { return 0; }' >"$work/nothing.c"
build nothing "$work/nothing.c" && build ours "$here/load.c" "$MI_LIB_STATIC" &&
  build dlmalloc "$here/load.c" -sMALLOC=dlmalloc &&
  build emmalloc "$here/load.c" -sMALLOC=emmalloc || exit 1

once() {  # program load: milliseconds of the only child that this shell has
  # shellcheck disable=SC2016,SC2086  # expands there; a list of words
  sh -c '"$@" >/dev/null || exit 1; times' sh $MI_RUNNER "$work/$1.js" "$2" | awk 'NR == 2 {
    gsub(/s/, ""); split($1, u, "m"); split($2, s, "m")
    printf "%d\n", 1000 * (60 * (u[1] + s[1]) + u[2] + s[2]) }'
}

# In turn, so that what else the machine does is shared.
for load in 1 2 3; do
  for run in 1 2 3 4 5 6 7; do
    for program in nothing ours dlmalloc emmalloc; do
      echo "$program $(once $program $load)"
    done
  done | awk -v load=$load '
    NF == 2 && (!($1 in least) || $2 < least[$1]) { least[$1] = $2 }
    END {
      ours = least["ours"] - least["nothing"]
      printf "load %d, ms: %d, with dlmalloc %d, with emmalloc %d\n", load, ours,
        least["dlmalloc"] - least["nothing"], least["emmalloc"] - least["nothing"]
      exit !(("ours" in least) && least["ours"] <= least["dlmalloc"] && least["ours"] <= least["emmalloc"])
    }' || bad=1
done
exit $bad
