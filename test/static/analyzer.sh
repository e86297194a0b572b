#!/bin/sh
# test: when="release gcc" timeout=600
# gcc -fanalyzer finds nothing in src/, in release, FULL and debug builds, a file at a time.
# elf.c is left out: in it malloc is defined, of which the analyzer knows what it returns and
# that it leaks; what it calls is in the other files.
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cc=${CC:-gcc}
cd "$source" || exit 2
echo 'int f(void);' | "$cc" -x c -fanalyzer -c -o /dev/null - 2>/dev/null ||
  { echo "analyzer: skipped: $cc has no -fanalyzer"; exit 77; }

bad=0
for file in src/*/*.c; do
  port=-DMI_SPLIT
  case $file in
    src/entry/elf.c) continue ;;
    src/port/bsd.c | src/port/darwin* | src/port/wasm* | src/*/windows*) continue ;;  # whose headers are not here
    src/port/strict*) port=-DMI_PORT_STRICT ;;
    src/port/grow*) port=-DMI_PORT_GROW ;;
  esac
  for modes in -DMI_SECURE=0 -DMI_SECURE=5 -DMI_DEBUG=3; do
    "$cc" -std=c11 -O1 -fanalyzer -Werror -DMI_SPLIT $port -DMI_MALLOC_OVERRIDE=1 $modes -fexceptions \
      -fvisibility=hidden -fno-builtin-malloc -c -o /dev/null "$file" || bad=1
  done
done
exit $bad
