#!/bin/sh
# test: when="release gcc" timeout=2400
# clang-tidy 19 finds nothing in src/, by the checks of .clang-tidy, a file at a time.
# elf.c and glibc.c define names of the C library and the C++ runtime, as these declare them:
# there the checks of names are off. The analyzer follows each function for a third as many steps as
# it would by itself, which takes a third of the time; test/static/analyzer.sh is a second one.
#   tidy.sh [anything]        prints the findings; exit status 1 if there is one
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source" || exit 2
command -v clang-tidy-19 >/dev/null || { echo "tidy: skipped: no clang-tidy-19 here"; exit 77; }

check='
  names=""
  case $0 in
    src/entry/elf.c | src/entry/glibc.c)
      names=-bugprone-reserved-identifier,-readability-named-parameter
      names=$names,-readability-inconsistent-declaration-parameter-name ;;
  esac
  case $0 in
    src/port/bsd.c | src/port/darwin* | src/port/wasm* | src/*/windows*) exit 0 ;;  # whose headers are not here
    src/port/strict*) port=-DMI_PORT_STRICT ;;
    src/port/grow*) port=-DMI_PORT_GROW ;;
    *) port=-DMI_SPLIT ;;
  esac
  clang-tidy-19 --quiet --checks="$names" "$0" -- -std=c11 -DMI_SPLIT $port -DMI_MALLOC_OVERRIDE=1 \
    -fno-builtin-malloc -Xclang -analyzer-config -Xclang max-nodes=75000 2>/dev/null'

find src -mindepth 2 -name '*.c' | sort | xargs -n 1 -P "$(nproc)" sh -c "$check" || exit 1
