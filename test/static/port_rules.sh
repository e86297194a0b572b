#!/bin/sh
# test: when="release linux glibc" timeout=900
# The test ports strict and grow notice who breaks a rule of src/port/port.h: a test of test/api, with the library in it,
# fails once the library is changed so that it does.
#   port_rules.sh [anything]    prints each change; exit status 1 if one goes unnoticed
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cc=${CC:-cc}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cp -r "$source/include" "$source/src" "$work" && cp -r "$work/src" "$work/original" || exit 2
bad=0

notices() {  # test: whether it does not compile, or does not run
  port=STRICT
  case $1 in
    commit_refused) set -- "$1" MI_STRICT_COMMIT_MIB=64 ;;
    missed_ends) set -- "$1" MI_STRICT_MISS_ENDS=1 ;;
    killed_threads) set -- "$1" TEST_SECONDS=5 ;;
    growth) port=GROW; set -- "$1" MI_GROW=1 ;;
    *) set -- "$1" MI_STRICT=1 ;;
  esac
  "$cc" -std=gnu11 -O0 -w -fno-builtin "-DMI_PORT_$port=1" -I "$work/include" -I "$source/test" \
    -o "$work/program" "$source/test/api/$1.c" "$work/src/static.c" -pthread \
    >"$work/output" 2>&1 || return 0
  ! env "$2" timeout 120 "$work/program" >"$work/output" 2>&1
}

for test in commit_refused missed_ends killed_threads errno_kept growth; do
  if notices $test; then
    echo "port_rules: $test fails as it is:"
    cat "$work/output"
    exit 1
  fi
done

# file below src/ ; test ; what is done ; sed script
while IFS=';' read -r file test what script; do
  sed "$script" "$work/original/$file" >"$work/src/$file"
  if cmp -s "$work/original/$file" "$work/src/$file"; then
    echo "port_rules: no longer applies: $what"
    bad=1
  elif notices "$test"; then
    echo "noticed: $what: $(tail -n 1 "$work/output")"
  else
    echo "port_rules: not noticed: $what"
    bad=1
  fi
  cp "$work/original/$file" "$work/src/$file"
done <<'END'
memory/memory.c;commit_refused;clean memory is taken without a commit;s/|| port_commit(span->start, bytes) == 0/|| port_commit(span->start, 0) == 0/
memory/arena.c;commit_refused;an arena is released in part;s/port_release(arena->start, arena->mapped_bytes)/port_release(arena->start, arena->mapped_bytes - SLICE_BYTES)/
alloc/malloc.c;commit_refused;errno is set directly;s/port_errno_set(ENOMEM)/errno = ENOMEM/
port/unix_calls.h;errno_kept;a call of the port loses errno;/os_mprotect/,/^}/s/errno = saved;//
heap/thread.c;missed_ends;who ended untold keeps its pages;s/{ thread_bury(id); }/{ }/
port/lock.h;killed_threads;a lock is waited for at the end;s/{ port_see_end(); }/{ }/
memory/growing.c;growth;what comes next is taken to lie behind;s/arena->mapped_bytes + slices_bytes(slices)) == 0/arena->mapped_bytes + slices_bytes(slices)) != 1/
port/growth.h;growth;others' memory is taken for ours;s/grown_memory.next = start;//
END
exit $bad
