#!/bin/sh
# test: when="release gcc"
# packages: mandoc
# The manual pages in docs/man are sound, for mandoc and for groff, and functions that they name are
# declared. (That no option is missing holds test/static/options.sh.)
#   manual.sh [anything]      prints what is not
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source/docs/man" || exit 2
bad=0 tools=0

if command -v mandoc >/dev/null; then
  tools=1
  mandoc -T lint -W warning ./*.[1-9] || bad=1
fi
if command -v man >/dev/null && command -v groff >/dev/null; then
  tools=1
  for page in *.[1-9]; do
    said=$(man --warnings -E UTF-8 -l -Tutf8 -Z "./$page" 2>&1 >/dev/null)
    [ -z "$said" ] || { echo "manual: $page: $said"; bad=1; }
  done
fi
for name in $(grep -ohE '^\.(It )?(Fn|Nm) mi_[a-z_]+|\.Fn mi_[a-z_]+|Fn mi_[a-z_]+' ./*.[1-9] |
  sed 's/.* //' | sort -u); do
  grep -q "[ *]$name(" ../../include/*.h || { echo "manual: there is no function $name"; bad=1; }
done
[ $bad = 0 ] || exit 1
[ $tools = 1 ] || { echo "manual: skipped: neither mandoc nor groff here"; exit 77; }
