#!/bin/sh
# test: when="release gcc"
# docs/design.md lists the places where freed memory waits, and each limit of these: the source has
# the limit with that value, and a limit that bounds a place is in the list.
#   limits.sh [anything]      prints each that differs; exit status 1 if there is one
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source" || exit 2
bad=0
offence() { echo "limits: $*"; bad=1; }

section() { sed -n "/^## $1\$/,/^## /p" docs/design.md; }

# Prints `name value`, a row each.
limits() { section Limits | sed -n 's/^| `\([A-Z_]*\)` | `\([^`]*\)` |.*/\1 \2/p'; }

listed=$(limits | cut -d' ' -f1)
count=$(echo "$listed" | grep -c .)
[ "$count" -ge 30 ] || offence "the table of limits is not understood: $count rows"
while read -r name value; do
  found=$(grep -rhoE "\\b$name = [^,;}]*[^,;} ]" src --include='*.[ch]' | sed "s/^$name = //; s/ *\/\/.*//" | sort -u)
  [ "$found" = "$value" ] || offence "$name is \`$value\` in docs/design.md, and in src/ \`$found\`"
done <<EOF
$(limits)
EOF

# The third column of the tables of places.
for name in $(section 'Where freed memory waits' | cut -d'|' -f4 | grep -oE '`[A-Z_]+`' | tr -d '`' | sort -u); do
  echo "$listed" | grep -qx "$name" || offence "$name bounds a place, but has no row in the table of limits"
done
[ $bad = 0 ] && echo "limits: $count"
exit $bad
