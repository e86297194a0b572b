#!/bin/sh
# On a Mac, with Xcode's command line tools: builds the library for both processors, runs the tests of
# test/macos on the system itself, and what only a Mac can show (docs/platforms.md). Prints a line for
# each that begins with pass, FAIL or skip.
#   tools/macos-check.sh [FOLDER]      what is built goes there
root=$(cd "$(dirname "$0")/.." && pwd)
[ "$(uname)" = Darwin ] || { echo "this is for macOS"; exit 2; }
folder=${1:-$(mktemp -d)}
mkdir -p "$folder" && cd "$folder" || exit 2
flags="-std=gnu11 -O2 -DNDEBUG -I$root/include -I$root/test -fno-builtin-malloc -fno-builtin-free"
library="-fPIC -fvisibility=hidden -fexceptions -Wall -Wextra -DMI_MALLOC_OVERRIDE=1"
dylib=libmimalloc.3.dylib
failed=0

expect() {  # name status command...
  name=$1 wanted=$2
  shift 2
  "$@" >"$name.log" 2>&1 </dev/null
  status=$?
  if [ $status = "$wanted" ]; then
    echo "pass $name"
  else
    echo "FAIL $name (status $status)"
    tail -n 5 "$name.log"
    failed=1
  fi
}

# shellcheck disable=SC2086  # lists of words
expect dylib 0 cc $flags $library -arch x86_64 -arch arm64 -DMI_SHARED_LIB -DMI_SHARED_LIB_EXPORT \
  -dynamiclib -install_name @rpath/$dylib -compatibility_version 3.0.0 -current_version 3.6.0 \
  -o $dylib "$root/src/static.c"
# shellcheck disable=SC2086
expect static 0 cc $flags $library -c -o static.o "$root/src/static.c"
for sdk in iphoneos iphonesimulator; do
  # shellcheck disable=SC2086
  if xcrun --sdk $sdk --show-sdk-path >/dev/null 2>&1; then
    expect ios-$sdk 0 xcrun --sdk $sdk cc $flags $library -arch arm64 -c -o ios.o "$root/src/static.c"
  else
    echo "skip ios-$sdk: no such SDK"
  fi
done

for test in zone late; do
  # shellcheck disable=SC2086
  expect build-$test 0 cc $flags -o $test "$root/test/macos/$test.c" static.o
  expect $test 0 ./$test
done
# shellcheck disable=SC2086
expect build-fork_storm 0 cc $flags -o fork_storm "$root/test/stress/fork_storm.c" static.o
expect fork_storm 0 ./fork_storm 8 1000
# shellcheck disable=SC2086
expect build-redirect 0 cc $flags -Wl,-undefined,dynamic_lookup -o redirect "$root/test/macos/redirect.c"
expect redirect-not 0 ./redirect theirs
# The system drops DYLD_ variables from what its own programs start, so each program has its own.
expect redirect 0 env DYLD_INSERT_LIBRARIES="$PWD/$dylib" ./redirect ours
expect redirect-disabled 0 env MIMALLOC_DISABLE_REDIRECT=1 DYLD_INSERT_LIBRARIES="$PWD/$dylib" \
  ./redirect theirs
cp $dylib other.dylib
expect redirect-copies 0 env DYLD_INSERT_LIBRARIES="$PWD/$dylib:$PWD/other.dylib" ./redirect ours
for time in 1 2 3 4 5 6 7 8; do expect exit-$time 7 ./late exit; done

# Tools that read the zone of another process.
cat >sleeper.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  static void* kept[1000];
  for (int i = 0; i < 1000; i++) { kept[i] = malloc(1000); }
  sleep(60);
  return kept[0] == NULL;
}
END
cc -O2 -fno-builtin -o sleeper sleeper.c
DYLD_INSERT_LIBRARIES="$PWD/$dylib" ./sleeper &
sleeper=$!
sleep 2
expect heap 0 heap $sleeper
expect heap-knows-the-zone 0 grep -qi mimalloc heap.log
expect vmmap 0 vmmap $sleeper
expect leaks 0 leaks $sleeper
kill $sleeper
exit $failed
