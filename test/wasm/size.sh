#!/bin/sh
# test: when="wasi" timeout=300
# What malloc and free add to a program for WASI that is to be short (MI_SMALL), beside the same
# program without them; and it runs.
#   size.sh [anything]    prints the bytes; exit status 1 if there are more than 24 KiB
# MI_RUNNER runs programs for WASI.
source=${MI_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
most=24576
for tool in clang-19 wasm-ld-19 wasm-opt; do
  command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
compile="clang-19 --target=wasm32-wasi --sysroot=/usr -B/usr/lib/llvm-19/bin -Oz -mbulk-memory -DNDEBUG
  -ffunction-sections -fdata-sections"
link="$compile -fno-builtin -Wl,--strip-all"

# Without arguments: the C library makes room for them by malloc.
cat >"$work/without.c" <<'END'
static volatile int size = 100;
int main(void) { return size - 100; }
END
cat >"$work/with.c" <<'END'
#include <stdlib.h>
static volatile int size = 100;
int main(void) {
  void* p = malloc((size_t)size);
  if (p == NULL) { return 1; }
  free(p);
  return size - 100;
}
END

length() {  # program: its bytes once it is optimized
  wasm-opt -Oz --strip-debug --strip-producers --enable-bulk-memory -o "$work/optimized" "$1" &&
    wc -c <"$work/optimized"
}

# shellcheck disable=SC2086  # a list of words
{
  $compile -std=gnu11 -fno-builtin-malloc -DMI_SMALL=1 -DMI_MALLOC_OVERRIDE=1 \
    -I"$source/include" -c -o "$work/library.o" "$source/src/static.c" &&
    $link -o "$work/without" "$work/without.c" &&
    $link -o "$work/ours" "$work/with.c" "$work/library.o" &&
    $link -o "$work/theirs" "$work/with.c"
} || exit 1
without=$(length "$work/without") ours=$(length "$work/ours") theirs=$(length "$work/theirs")
[ -n "$without" ] && [ -n "$ours" ] && [ -n "$theirs" ] || exit 1
$MI_RUNNER "$work/ours" || { echo "size: the short program fails"; exit 1; }
echo "malloc and free: $((ours - without)) bytes, at most $most; the C library's $((theirs - without))"
[ $((ours - without)) -le $most ]
