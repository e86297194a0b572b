# shellcheck shell=bash disable=SC2154,SC2034  # sourced, with what it needs set
# Builds the library for macOS and runs the tests: for run.sh under the loader, for
# tools/macos-check.sh on the system itself. For each a line that begins with pass, FAIL or skip.
# `compiler` and, for C++, `cxx` are for macOS, with the options `processors` for the shared library;
# `run` begins each command that runs a program.
here=$root/test/macos
options="-std=gnu11 -O2 -I$root/include -I$root/test -fno-builtin-malloc -fno-builtin-free -fexceptions"
library="-fPIC -fvisibility=hidden -Wall -Wextra -Werror -DMI_MALLOC_OVERRIDE=1"
dylib=libmimalloc.3.dylib
failed=0

outcome() {  # name status
  if [ "$2" = 0 ]; then echo "pass $1"; else echo "FAIL $1 (status $2)"; failed=1; fi
}

expect() {  # name expected-status command...
  local name=$1 expected=$2 status
  shift 2
  timeout 900 "$@" >"$name.log" 2>&1 </dev/null
  status=$?
  [ $status != 77 ] || { echo "skip $name"; return; }
  [ $status = "$expected" ] || tail -n 5 "$name.log"
  outcome "$name" $((status == expected ? 0 : status == 0 ? 1 : status))
}

# ---- the library -----------------------------------------------------------------------------------

for variant in release debug secure small embedded; do
  case $variant in
    release) defines=-DNDEBUG ;;
    debug) defines=-UNDEBUG ;;  # zig defines it with -O2
    secure) defines="-DNDEBUG -DMI_SECURE=4" ;;
    small) defines="-DNDEBUG -DMI_SMALL" ;;
    embedded) defines="-DNDEBUG -UMI_MALLOC_OVERRIDE" ;;
  esac
  # shellcheck disable=SC2086
  $compiler $options $library $defines -c -o $variant.o "$root/src/static.c" >$variant.log 2>&1
  outcome static-$variant $?
done
# shellcheck disable=SC2086
$cxx $options $library -w -x c++ -std=c++17 -c -o cxx.o "$root/src/static.c" >cxx.log 2>&1
outcome static-cxx $?

# shellcheck disable=SC2086
$compiler $options $library -DNDEBUG -DMI_SHARED_LIB -DMI_SHARED_LIB_EXPORT $processors -shared -o $dylib \
  -Wl,-install_name,@rpath/$dylib,-compatibility_version,3.0.0,-current_version,3.6.0 \
  "$root/src/static.c" >dylib.log 2>&1
outcome dylib $?
cp $dylib other.dylib

# ---- tests that ask for no more than POSIX ---------------------------------------------------------

# shellcheck source=test/directives.sh
. "$root/test/directives.sh"

portable() {  # object, or `unit`: the tests bring their sources along; defines tests...
  local object=$1 defines=$2 linked=("$1.o") test name
  [ "$object" != unit ] || linked=()
  shift 2
  for test in "$@"; do
    name=${test##*/}-$object
    # shellcheck disable=SC2086
    $compiler $options $defines -w -include "$here/barrier.h" -o "$name" "$root/test/$test.c" \
      "${linked[@]}" -Wl,-undefined,dynamic_lookup >build.log 2>&1 || head -n 3 build.log
    # shellcheck disable=SC2046  # lists of words
    expect "$name" 0 env MI_SOURCE_DIR="$root" $(directive "$root/test/$test.c" env) \
      "${run[@]}" "./$name" $(directive "$root/test/$test.c" args)
  done
}

kinds="macos release clang override static posix threads stacks jumps"
checked="basic extended aligned realloc_grid page_release zero theaps heaps words"

# shellcheck disable=SC2046,SC2086  # lists of words
portable release -DNDEBUG $(tests_of "$kinds" api stress) stress/fork_storm \
  posix/align_grid posix/content_model posix/strings
# shellcheck disable=SC2046,SC2086
portable debug -UNDEBUG $(printf 'api/%s ' $checked)
# shellcheck disable=SC2046,SC2086
portable secure "-DNDEBUG -DMI_SECURE=4" $(printf 'api/%s ' $checked)
# shellcheck disable=SC2046,SC2086
portable embedded -DNDEBUG $(printf 'api/%s ' $checked) stress/fork_storm stress/thread_churn

# shellcheck disable=SC2046
portable unit "-DNDEBUG -DMI_INCLUDED_BY_TEST" $(tests_of "$kinds" unit)

# ---- the family as C and POSIX have it, by the names that the library is inserted for ---------------

inserted=(env "DYLD_INSERT_LIBRARIES=./$dylib")
copies=(env "DYLD_INSERT_LIBRARIES=./$dylib:./other.dylib")
for test in align_grid calloc_edges calloc_zero content_model free_keeps_errno malloc_edges \
  posix_memalign_edges reallocarray_edges strings usable_size; do
  # shellcheck disable=SC2086
  $compiler $options -w -include "$here/barrier.h" -o posix-$test "$root/test/posix/$test.c" \
    >build.log 2>&1 || head -n 3 build.log
  # shellcheck disable=SC2046  # a list of words
  expect posix-$test 0 "${inserted[@]}" "${run[@]}" ./posix-$test \
    $(directive "$root/test/posix/$test.c" args)
done

# ---- names, zone, ends of threads and of the process -----------------------------------------------

for test in zone late reuse forks redirect; do
  case $test in
    forks) args="8 125" ;;
    redirect) args=ours ;;
    *) args= ;;
  esac
  for object in release debug secure; do
    [ $object = release ] || [ $test != reuse ] || continue
    # shellcheck disable=SC2086
    $compiler $options -w -o $test-$object "$here/$test.c" $object.o -Wl,-undefined,dynamic_lookup \
      >build.log 2>&1 || head -n 3 build.log
    # shellcheck disable=SC2086
    expect $test-$object 0 "${run[@]}" ./$test-$object $args
  done
done
# shellcheck disable=SC2086
$compiler $options -w -o redirect "$here/redirect.c" -Wl,-undefined,dynamic_lookup >build.log 2>&1 ||
  head -n 3 build.log

expect redirect-not 0 "${run[@]}" ./redirect theirs
expect redirect 0 "${inserted[@]}" "${run[@]}" ./redirect ours
expect redirect-disabled 0 "${inserted[@]}" MIMALLOC_DISABLE_REDIRECT=1 "${run[@]}" ./redirect theirs
expect redirect-copies 0 "${copies[@]}" "${run[@]}" ./redirect ours
expect fork_storm-1000 0 "${run[@]}" ./fork_storm-release 8 1000
expect fork_storm-copies 0 "${copies[@]}" "${run[@]}" ./fork_storm-release 4 50
expect late-copies 0 "${copies[@]}" "${run[@]}" ./late-release
# shellcheck disable=SC2086
{
  $compiler $options -w -o unload "$here/unload.c" &&
    $compiler $options -w -shared -DEARLY_LIBRARY -o early.dylib -Wl,-install_name,@rpath/early.dylib \
      "$here/early.c" &&
    $compiler $options -w -o early "$here/early.c" early.dylib $dylib -Wl,-rpath,.
} >build.log 2>&1 || head -n 3 build.log
expect early 0 "${run[@]}" ./early
expect unload 0 "${run[@]}" ./unload ./$dylib

# Threads are inside malloc, somewhere else each time.
exits() {  # command...
  local time status
  for ((time = 1; time <= 100; time++)); do
    timeout 60 "$@" >exits.log 2>&1 </dev/null
    status=$?
    [ $status = 7 ] || { echo "time $time: status $status"; tail -n 5 exits.log; return 1; }
  done
}
exits "${run[@]}" ./late-release exit
outcome exit $?
exits "${inserted[@]}" "${run[@]}" ./late-release exit
outcome exit-copies $?
