#!/bin/bash
# Builds for macOS by zig and runs the tests under the loader, tools/machorun: for each a line that
# begins with pass, FAIL or skip. Part of ./mi cross macos and macos-arm64.
#   run.sh FOLDER x86_64|aarch64 ZIG-CC CC [EMULATOR…]        what is built goes to the folder
# shellcheck disable=SC2034  # what is sourced uses them
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck disable=SC2034
processor=$2 compiler=$3 processors='' cc=$4
emulator=("${@:5}") cxx="$root/build/cross/zig/bin/python3 -m ziglang c++ -target $2-macos"
mkdir -p "$1" && cd "$1" || exit 2
loader=$root/tools/machorun run=("${emulator[@]}" ./machorun)
[ ${#emulator[@]} = 0 ] || export MI_EMULATED=1 QEMU_PAGESIZE=16384  # as there

$cc -std=gnu11 -O1 -g -fno-omit-frame-pointer -fno-builtin -rdynamic -Wall -Wextra -Werror \
  -o machorun "$loader/machorun.c" "$loader/libsystem.c" \
  -Wl,--no-as-needed -ldl -lm -lpthread || { echo "FAIL machorun"; exit 1; }

# shellcheck source-path=SCRIPTDIR source=tests.sh
. "$root/test/macos/tests.sh"
# ---- C++: what a new-handler throws, by the C++ runtime and the unwinder of Linux -------------------

# The unwinder knows no compact tables, so there are none.
cxx_test() {
  local name
  for name in release.o new.o; do
    # shellcheck disable=SC2086
    case $name in
      release.o) $compiler $options $library -DNDEBUG -femit-dwarf-unwind=always -c -o cxx-$name \
        "$root/src/static.c" ;;
      *) $compiler -lc++ ${options/gnu11/c++17} -w -femit-dwarf-unwind=always -c -o cxx-$name \
        "$root/test/api/new.cpp" ;;
    esac && llvm-objcopy-19 --remove-section __LD,__compact_unwind cxx-$name || return 1
  done
  $compiler -o new cxx-release.o cxx-new.o -Wl,-undefined,dynamic_lookup
}
if ! command -v llvm-objcopy-19 >/dev/null; then
  echo "skip new: it needs llvm-19"
else
  cxx_test >build.log 2>&1 || head -n 3 build.log
  expect new 0 env MACHORUN_CXX=1 "${run[@]}" ./new
fi

# What the system may do otherwise.
expect redirect-bound-before 0 "${inserted[@]}" MACHORUN_INSIDE=1 "${run[@]}" ./redirect ours
expect redirect-untyped 0 "${inserted[@]}" MACHORUN_UNTYPED=1 "${run[@]}" ./redirect ours
expect redirect-refused 0 "${inserted[@]}" MACHORUN_REFUSE=1 "${run[@]}" ./redirect theirs
expect redirect-threaded 0 "${inserted[@]}" MACHORUN_THREADED=1 "${run[@]}" ./redirect ours names
expect reuse-segv 0 env MACHORUN_SEGV=1 "${run[@]}" ./reuse-release segv
apart=(env MACHORUN_KEYS_APART=1)  # so the thread's slot is read by call
expect late-apart 0 "${apart[@]}" "${run[@]}" ./late-release
expect redirect-apart 0 "${inserted[@]}" "${apart[@]}" "${run[@]}" ./redirect ours
expect fork_storm-apart 0 "${apart[@]}" "${run[@]}" ./fork_storm-release 8 100
# shellcheck source-path=SCRIPTDIR source=clang.sh
. "$root/test/macos/clang.sh"
# shellcheck source-path=SCRIPTDIR source=programs.sh
. "$root/test/macos/programs.sh"

exit $failed
