#!/bin/sh
# test: label=long timeout=900 when="release gcc glibc"
# Switches off one mitigation at a time (their macros are in src/base/modes.h) and expects a misuse to end otherwise than
# expected.txt says; with all of them on it ends as it should. Prints a table; exit status 1 if a mitigation is not
# missed, 2 if one does not exist or the library does not build.
#   off.sh [anything]        OFF_ONLY=pattern: only the mitigations whose line matches
set -u
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${MI_BUILD_DIR:-$source/build/release}
cc=${CC:-cc}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# macro ; column of expected.txt ; misuses that miss it, in the order to try
mitigations() {
  cat <<'END'
MI_CHECK_FREE;on;free_plus16 free_interior
MI_CHECK_SIZE;on;delete_larger size_free_sized
MI_GUARD_PAGES;on;overflow_write_no_free overflow_read
MI_GUARD_FREED;on;uaf_large_access
MI_LINKS_APART;on;uaf_first_word uaf_leaks_pointer
MI_CHECK_STATE;on;df_interleaved df_delayed
MI_CANARY;on;overflow_8 overflow_1
MI_REUSE_LATER;on;place_lifo_reuse
MI_RANDOM_ORDER;on;place_adjacent place_order
MI_RANDOM_PLACE;on;place_libc_distance place_order
MI_ZERO_FREED;full;uaf_read_stale uaf_secret_to_next_owner
MI_CHECK_REUSE;full;uaf_write_found
MI_QUARANTINE;full;uaf_write_reused df_after_reuse
MI_KEEP_CLASS;full;size_other_class
MI_CHECK_FREE;debug;free_plus16 free_interior
MI_CHECK_SIZE;debug;delete_larger size_free_sized
MI_CHECK_STATE;debug;df_interleaved df_delayed
MI_LINKS_APART;debug;uaf_first_word uaf_leaks_pointer
MI_CHECK_REUSE;debug;uaf_write_found
MI_GUARD_FREED;debug;uaf_large_access
MI_QUARANTINE;debug;df_after_reuse
END
}

level_of() {  # column
  case $1 in
    on) echo "-DMI_SECURE=4 -DMI_DEBUG=0" ;;
    full) echo "-DMI_SECURE=5 -DMI_DEBUG=0" ;;
    debug) echo "-DMI_SECURE=0 -DMI_DEBUG=1" ;;
  esac
}

compile() {  # output column options...
  output=$work/$1.so level=$(level_of "$2")
  shift 2
  [ -e "$output" ] && return
  # shellcheck disable=SC2086  # options are words
  $cc -std=c11 -O1 -w -fPIC -shared -fno-builtin-malloc -ftls-model=initial-exec \
    -DMI_MALLOC_OVERRIDE=1 $level "$@" "$source/src/static.c" -o "$output" -pthread
}

commit() {  # library column misuse; 0: it ends as it should
  "$build/test/misuse.runner" --table "$source/test/misuse/expected.txt" \
    --env MIMALLOC_SHOW_ERRORS=1 --seconds 10 --preload "$work/$1.so" --column "$2" --only "$3" \
    "$build/test/misuse.cases" >"$work/out" 2>&1
}

verdict_of() {  # macro column misuses...
  macro=$1 column=$2
  shift 2
  grep -q "define $macro" "$source/src/base/modes.h" || { echo "DOES NOT EXIST"; return; }
  if ! { compile "$column" "$column" && compile "$column-$macro" "$column" "-D$macro=0"; }; then
    echo "DOES NOT COMPILE"
    return
  fi
  for misuse in "$@"; do
    commit "$column-$macro" "$column" "$misuse" && continue
    said=$(head -n 1 "$work/out")
    if commit "$column" "$column" "$misuse"; then
      echo "missed: $said"
    else
      echo "FAILS ALSO WITH IT: $(head -n 1 "$work/out")"
    fi
    return
  done
  echo "NOT MISSED by $*"
}

missed=0 kept=0 broken=0
mitigations | grep -e "${OFF_ONLY:-.}" >"$work/list"
while IFS=';' read -r macro column misuses; do
  # shellcheck disable=SC2086  # a list of words
  verdict=$(verdict_of "$macro" "$column" $misuses)
  case $verdict in
    missed*) missed=$((missed + 1)) ;;
    DOES*) broken=$((broken + 1)) ;;
    *) kept=$((kept + 1)) ;;
  esac
  printf '| %-15s | %-5s | %s |\n' "$macro" "$column" "$verdict"
done <"$work/list"
echo "$missed mitigations missed when off, $kept not, $broken broken"
[ $broken = 0 ] || exit 2
[ $kept = 0 ]
