#!/bin/bash
# Builds for macOS by zig and runs the tests under machorun.c: for each a line that begins with pass,
# FAIL or skip. Part of ./mi cross macos and macos-arm64.
#   run.sh FOLDER x86_64|aarch64 ZIG-CC CC [EMULATOR…]        what is built goes to the folder
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck disable=SC2034  # what is sourced below asks for the processor
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

# ---- what the loader of macOS goes by --------------------------------------------------------------

holds() {  # text pattern
  grep -qE -e "$2" <<<"$1" || { echo "not there: $2"; return 1; }
}

lacks() {  # text pattern
  ! grep -E -e "$2" <<<"$1" || { echo "there: $2"; return 1; }
}

equal() {  # what value value
  [ "$2" = "$3" ] || { echo "$1: $2, not $3"; return 1; }
}

check_dylib() {  # file
  local header load names undefined places
  header=$(llvm-otool-19 -hv "$1") load=$(llvm-otool-19 -l "$1") names=$(llvm-nm-19 -gU "$1")
  undefined=$(llvm-nm-19 -mu "$1")
  places=$(llvm-objdump-19 --macho --rebase --bind --lazy-bind "$1")
  holds "$header" ' DYLIB .* NOUNDEFS .*TWOLEVEL' &&
    holds "$load" "name @rpath/$dylib " &&
    holds "$load" 'compatibility version 3\.0\.0' &&
    holds "$load" 'current version 3\.6\.0' &&
    holds "$load" 'cmd LC_UUID' &&
    holds "$load" 'cmd LC_BUILD_VERSION' &&
    holds "$load" 'platform 1$' &&
    { [[ $header != *ARM64* ]] || holds "$load" 'cmd LC_CODE_SIGNATURE'; } &&
    holds "$load" 'sectname __mod_init_func' &&
    equal "libraries needed" "$(grep -c 'cmd LC_LOAD_.*DYLIB$' <<<"$load")" 1 &&
    lacks "$load" 'LC_RPATH|LC_REEXPORT_DYLIB|sectname __thread' &&
    lacks "$load" 'n(ext|loc|)rel(oc)? [1-9]' &&
    lacks "$places" '^__TEXT' &&
    equal "names interposed" "$(grep -c '^__DATA *__interpose .* libSystem ' <<<"$places")" \
      "$(grep -c '^    BY(' "$root/src/entry/darwin.c")" &&
    lacks "$undefined" '\) external _malloc_type_' &&
    holds "$names" ' T _mi_malloc$' &&
    equal "names shown that are not mi_" "$(grep ' T ' <<<"$names" | grep -v ' _mi_')" ""
}
if command -v llvm-otool-19 >/dev/null; then
  check_dylib $dylib
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

# shellcheck disable=SC2046,SC2086  # lists of words
portable release -DNDEBUG $(printf 'api/%s ' $api) $(printf 'stress/%s ' $stress)
# shellcheck disable=SC2046,SC2086
portable debug "" $(printf 'api/%s ' $checked)
# shellcheck disable=SC2046,SC2086
portable secure "-DNDEBUG -DMI_SECURE=4" $(printf 'api/%s ' $checked)

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
# shellcheck disable=SC2086
$zig $options -w -o unload "$here/unload.c" >build.log 2>&1 || head -n 3 build.log
expect unload 0 "${run[@]}" ./unload ./$dylib
for time in 1 2 3 4 5 6 7 8; do
  expect exit-$time 7 "${run[@]}" ./late-release exit
  expect exit-copies-$time 7 "${inserted[@]}" "${run[@]}" ./late-release exit
done

# shellcheck source=clang.sh
. "$here/clang.sh"
# shellcheck source=programs.sh
. "$here/programs.sh"

exit $failed
