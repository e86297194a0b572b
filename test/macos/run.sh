#!/bin/bash
# Builds for macOS by zig and runs the tests under machorun.c: for each a line that begins with pass,
# FAIL or skip. Part of ./mi cross macos and macos-arm64.
#   run.sh FOLDER x86_64|aarch64 ZIG-CC CC [EMULATOR…]        what is built goes to the folder
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/test/macos processor=$2 zig=$3 cc=$4
emulator=("${@:5}")
mkdir -p "$1" && cd "$1" || exit 2
options="-std=gnu11 -O2 -I$root/include -I$root/test -fno-builtin-malloc -fno-builtin-free -fexceptions"
library="-fPIC -fvisibility=hidden -Wall -Wextra -Werror -DMI_MALLOC_OVERRIDE=1"
run=("${emulator[@]}" ./machorun)
[ ${#emulator[@]} = 0 ] || export MI_EMULATED=1 QEMU_PAGESIZE=16384  # as there
failed=0

outcome() {  # name status
  if [ "$2" = 0 ]; then echo "pass $1"; else echo "FAIL $1 (status $2)"; failed=1; fi
}

expect() {  # name expected-status command...
  local name=$1 expected=$2 status
  shift 2
  timeout 300 "$@" >"$name.log" 2>&1 </dev/null
  status=$?
  [ $status = "$expected" ] || tail -n 5 "$name.log"
  outcome "$name" $((status == expected ? 0 : status == 0 ? 1 : status))
}

# shellcheck disable=SC2086  # lists of words
$cc -std=gnu11 -O1 -g -fno-omit-frame-pointer -fno-builtin -rdynamic -Wall -Wextra -Werror \
  -o machorun "$here/machorun.c" "$here/libsystem.c" -Wl,--no-as-needed -ldl -lm -lpthread || { outcome machorun 1; exit 1; }

# ---- the library -----------------------------------------------------------------------------------

for variant in release debug secure small; do
  case $variant in
    release) defines=-DNDEBUG ;;
    debug) defines= ;;
    secure) defines="-DNDEBUG -DMI_SECURE=4" ;;
    small) defines="-DNDEBUG -DMI_SMALL" ;;
  esac
  # shellcheck disable=SC2086
  $zig $options $library $defines -c -o $variant.o "$root/src/static.c" >$variant.log 2>&1
  outcome static-$variant $?
done

dylib=libmimalloc.3.dylib
# shellcheck disable=SC2086
$zig $options $library -DNDEBUG -DMI_SHARED_LIB -DMI_SHARED_LIB_EXPORT -shared -o $dylib \
  -Wl,-install_name,@rpath/$dylib,-compatibility_version,3.0.0,-current_version,3.6.0 \
  "$root/src/static.c" >dylib.log 2>&1
outcome dylib $?
cp $dylib other.dylib

# What the loader of macOS goes by.
check_dylib() {
  local header load symbols
  header=$(llvm-otool-19 -hv $dylib) load=$(llvm-otool-19 -l $dylib) symbols=$(llvm-nm-19 $dylib)
  case $header in *TWOLEVEL*) ;; *) echo "not two-level"; return 1 ;; esac
  case $load in *"name @rpath/$dylib "*) ;; *) echo "install name"; return 1 ;; esac
  case $load in *"compatibility version 3.0.0"*) ;; *) echo "compatibility"; return 1 ;; esac
  case $load in *"sectname __interpose"*) ;; *) echo "no __interpose"; return 1 ;; esac
  [ "$(grep -c 'cmd LC_LOAD_DYLIB$' <<<"$load")" = 1 ] || { echo "needs more than libSystem"; return 1; }
  ! grep -q '__thread' <<<"$load" || { echo "thread-local variables"; return 1; }
  [ "$(sed -n '/sectname __text/,/nreloc/s/ *nreloc //p' <<<"$load")" = 0 ] ||
    { echo "text is relocated"; return 1; }
  grep -q ' T _mi_malloc$' <<<"$symbols" || { echo "no mi_malloc"; return 1; }
  ! grep ' T ' <<<"$symbols" | grep -v ' _mi_' || { echo "shows more than mi_"; return 1; }
}
if command -v llvm-otool-19 >/dev/null; then
  check_dylib
  outcome dylib-checked $?
else
  echo "skip dylib-checked: it needs llvm-19"
fi

# ---- tests that ask for no more than POSIX ---------------------------------------------------------

directive() {  # file name
  sed -n "1s/.* $2=\"\([^\"]*\)\".*/\1/p" "$1"
}

portable() {  # object defines tests...
  local object=$1 defines=$2 test name
  shift 2
  for test in "$@"; do
    name=${test##*/}-$object
    # shellcheck disable=SC2086
    $zig $options $defines -w -include "$here/barrier.h" -o "$name" "$root/test/$test.c" \
      "$object.o" -Wl,-undefined,dynamic_lookup >build.log 2>&1 || head -n 3 build.log
    # shellcheck disable=SC2046  # lists of words
    expect "$name" 0 env $(directive "$root/test/$test.c" env) "${run[@]}" "./$name" \
      $(directive "$root/test/$test.c" args)
  done
}

api="aligned arena_full arenas at_start bad_pointers basic collector errno_kept extended fill_preserve
  full_pages heaps hooks huge_remainders large_os_pages override_header page_lengths
  page_release posix realloc_grid set_aside stats stats_exact stats_shrinking subprocs tags
  theap_ends theaps ublock v2 vacant_records waste words zero zero_realloc zero_reset"
stress="arena_threads blocked_owner fork_storm free_only_thread handover heap_churn heaps_visited
  mixed producers_consumers sparse_threads thread_churn visited"
checked="basic extended aligned realloc_grid page_release zero theaps heaps words"

# shellcheck disable=SC2046  # lists of words
portable release -DNDEBUG $(printf 'api/%s ' $api) $(printf 'stress/%s ' $stress)
# shellcheck disable=SC2046
portable debug "" $(printf 'api/%s ' $checked)
# shellcheck disable=SC2046
portable secure "-DNDEBUG -DMI_SECURE=4" $(printf 'api/%s ' $checked)

# ---- C++: what a new-handler throws, by the C++ runtime and the unwinder of Linux -------------------

# The unwinder knows no compact tables, so there are none.
cxx_test() {
  local name
  for name in release.o new.o; do
    # shellcheck disable=SC2086
    case $name in
      release.o) $zig $options $library -DNDEBUG -femit-dwarf-unwind=always -c -o cxx-$name \
        "$root/src/static.c" ;;
      *) $zig -lc++ ${options/gnu11/c++17} -w -femit-dwarf-unwind=always -c -o cxx-$name \
        "$root/test/api/new.cpp" ;;
    esac && llvm-objcopy-19 --remove-section __LD,__compact_unwind cxx-$name || return 1
  done
  $zig -o new cxx-release.o cxx-new.o -Wl,-undefined,dynamic_lookup
}
if ! command -v llvm-objcopy-19 >/dev/null; then
  echo "skip new: it needs llvm-19"
else
  cxx_test >build.log 2>&1 || head -n 3 build.log
  expect new 0 env MACHORUN_CXX=1 "${run[@]}" ./new
fi

# ---- names, zone, ends of threads and of the process -----------------------------------------------

for test in zone late reuse; do
  for object in release debug secure; do
    [ $object = release ] || [ $test != reuse ] || continue
    # shellcheck disable=SC2086
    $zig $options -w -o $test-$object "$here/$test.c" $object.o -Wl,-undefined,dynamic_lookup \
      >build.log 2>&1 || head -n 3 build.log
    expect $test-$object 0 "${run[@]}" ./$test-$object
  done
done
# shellcheck disable=SC2086
$zig $options -w -o redirect "$here/redirect.c" -Wl,-undefined,dynamic_lookup >build.log 2>&1 ||
  head -n 3 build.log

inserted=(env "DYLD_INSERT_LIBRARIES=./$dylib")
expect redirect-not 0 "${run[@]}" ./redirect theirs
expect redirect 0 "${inserted[@]}" "${run[@]}" ./redirect ours
expect redirect-disabled 0 "${inserted[@]}" MIMALLOC_DISABLE_REDIRECT=1 "${run[@]}" ./redirect theirs
expect redirect-bound-before 0 "${inserted[@]}" MACHORUN_INSIDE=1 "${run[@]}" ./redirect ours
expect redirect-untyped 0 "${inserted[@]}" MACHORUN_UNTYPED=1 "${run[@]}" ./redirect ours
expect redirect-refused 0 "${inserted[@]}" MACHORUN_REFUSE=1 "${run[@]}" ./redirect theirs
expect redirect-threaded 0 "${inserted[@]}" MACHORUN_THREADED=1 "${run[@]}" ./redirect ours names
expect redirect-copies 0 env "DYLD_INSERT_LIBRARIES=./$dylib:./other.dylib" "${run[@]}" ./redirect ours
expect fork_storm-1000 0 "${run[@]}" ./fork_storm-release 8 1000
for time in 1 2 3 4 5 6 7 8; do
  expect exit-$time 7 "${run[@]}" ./late-release exit
  expect exit-copies-$time 7 "${inserted[@]}" "${run[@]}" ./late-release exit
done

# shellcheck source=programs.sh
. "$here/programs.sh"

exit $failed
