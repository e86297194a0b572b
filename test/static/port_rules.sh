#!/bin/sh
# test: when="release linux glibc" timeout=300
# The port strict notices who breaks a rule of src/port/port.h: test/api/commit_refused.c, with the library in it, fails
# once the library is changed so that it does.
#   port_rules.sh [anything]    prints each change; exit status 1 if one goes unnoticed
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cc=${CC:-cc}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cp -r "$source/include" "$source/src" "$work" && cp -r "$work/src" "$work/original" || exit 2
bad=0

notices() {  # whether it does not compile, or does not run
  "$cc" -std=gnu11 -O1 -w -fno-builtin -DMI_PORT_STRICT=1 -I "$work/include" -I "$source/test" \
    -o "$work/program" "$source/test/api/commit_refused.c" "$work/src/static.c" -pthread \
    >"$work/output" 2>&1 || return 0
  ! MI_STRICT_COMMIT_MIB=64 timeout 60 "$work/program" >"$work/output" 2>&1
}

if notices; then
  echo "port_rules: fails as it is:"
  cat "$work/output"
  exit 1
fi

# file below src/ ; what is done ; sed script
while IFS=';' read -r file what script; do
  sed "$script" "$work/original/$file" >"$work/src/$file"
  if cmp -s "$work/original/$file" "$work/src/$file"; then
    echo "port_rules: no longer applies: $what"
    bad=1
  elif notices; then
    echo "noticed: $what: $(tail -n 1 "$work/output")"
  else
    echo "port_rules: not noticed: $what"
    bad=1
  fi
  cp "$work/original/$file" "$work/src/$file"
done <<'END'
memory/memory.c;clean memory is taken without a commit;s/|| port_commit(span->start, bytes) == 0/|| port_commit(span->start, 0) == 0/
memory/arena.c;an arena is released in part;s/port_release(arena->start, arena->mapped_bytes)/port_release(arena->start, arena->mapped_bytes - SLICE_BYTES)/
alloc/malloc.c;errno is set directly;s/port_errno_set(ENOMEM)/errno = ENOMEM/
END
exit $bad
