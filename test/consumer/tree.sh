#!/bin/sh
# test: when="release gcc glibc override shared static" timeout=900
# What a source tree does by itself: ./mi in a folder whose path has a space, what it refuses and
# what it installs, and what plain CMake builds. Wants what run.sh wants, and bash.
# shellcheck disable=SC2317  # the functions way_... are called by way
set -u
# shellcheck source=ways
. "$(dirname "$0")/ways"
command -v bash >/dev/null || { echo "no bash: skipped"; exit 77; }

way_copy() {
  mkdir "$work/a tree"
  (cd "$MI_SOURCE_DIR" && tar -c --exclude=./build --exclude=./.git .) | tar -x -C "$work/a tree"
}
way_path_with_space() {
  cd "$work/a tree"
  ./mi run --stats -- true 2>said
  grep "elapsed" said
  ./mi run --compare 1 -- true | grep "peak RSS"
  ./mi trace record ../recording -- sh -c true
  ./mi trace replay ../recording
}
# A program is looked for as the shell does, whatever lies in the folder.
way_program_by_name() {
  mkdir folder
  cd folder
  mkfifo true
  printf 'MZ, but text' >wc
  timeout 20 "$work/a tree/mi" run -- true
  echo one | "$work/a tree/mi" run -- wc -l | grep 1
  status=0; "$work/a tree/mi" run -- no-such-program 2>said || status=$?
  [ $status = 127 ] && grep "no such program" said
}
way_broken_library() {
  cd "$work/a tree"
  : >build/release/libmimalloc.so.3
  ./mi run --stats -- true 2>said
  grep "elapsed" said
  touch src/static.c
  rm build/.lock
  mkdir build/.lock
  if ./mi run -- true 2>said; then exit 1; fi
  rmdir build/.lock
  cat said
  grep "^mi: .*not writable" said
  if grep "unbound" said; then exit 1; fi
}
# What ./mi build does, but of the tests one alone.
way_build_with_space() {
  cd "$work/a tree"
  cmake --preset release -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX"
  cmake --build build/release --target api.heaps
  (cd build/release && ctest -R 'api.heaps$') | grep "100% tests passed, 0 tests failed out of 1"
}
# ./mi test, of one variant and with few tests left, so that it takes seconds. Each fails if the
# library is not preloaded.
way_test_with_space() {
  cp -R "$work/a tree" "$work/a: tree"
  cd "$work/a: tree"
  find test \( -name '*.c' -o -name '*.cpp' -o -name '*.sh' \) ! -path 'test/misuse/*' \
    ! -name mallopt.c ! -name aligned_edges.c ! -name dlopen_deepbind.c \
    ! -path 'test/lifecycle/modules/*' -exec rm {} +
  CI=false ./mi test --only secure -R '^(posix|lifecycle).*preload' | tee said
  grep -x "3 passed, 0 failed, 0 skipped" said
  for each in posix.mallopt posix.aligned_edges lifecycle.dlopen_deepbind; do
    grep "$each.preload .*Passed" said
  done
  folder=$(cat build/.link)
  ls "$folder/tree/mi"
  ./mi build --secure 2>said
  grep "worked on as $folder/tree" said
  if ./mi test --only walk 2>said; then exit 1; fi
  grep "no test preset walk" said
  ./mi clean
  [ ! -e "$folder" ] && [ ! -e build ]
}
way_release_with_space() {
  command -v git >/dev/null || { echo "no git"; return 0; }
  cd "$work/a tree"
  git init -q .
  git add -A
  git -c user.name=tester -c user.email=tester@localhost commit -q -m "a tree"
  version=$(sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)
  ./mi release "$version" --output "$work/a folder"
  (cd "$work/a folder" && sha256sum -c SHA256SUMS)
  tar -tzf "$work/a folder/mimalloc-$version.tar.gz" | grep -x "mimalloc-$version/src/static.c"
  rm -rf .git
}
way_docs_with_space() {
  tools=$MI_SOURCE_DIR/build/docs-tools
  cmp -s "$MI_SOURCE_DIR/docs/requirements.txt" "$tools/requirements.txt" || { echo "no tools"; return 0; }
  mkdir -p "$work/a tree/build"
  ln -s "$tools" "$work/a tree/build/docs-tools"
  cd "$work/a tree"
  ./mi docs
  ls build/site/index.html build/site/api/mimalloc.html
}
way_refusals() {
  cd "$MI_SOURCE_DIR"
  for runs in 0 1001 99999999999999999999; do
    if ./mi run --compare $runs -- true 2>"$work/said"; then exit 1; fi
    cat "$work/said"
    [ "$(grep -c "takes 1 to 1000 runs, not $runs" "$work/said")" = 1 ]
    [ "$(wc -l <"$work/said")" = 1 ]
  done
  if ./mi walk 2>"$work/said"; then exit 1; fi
  grep "unknown command walk" "$work/said"
  if ./mi "run trace" 2>"$work/said"; then exit 1; fi
  grep "unknown command run trace" "$work/said"
}

# On a machine that has no cmake, as root, with an apt-get that only notes what it is asked for.
bare() {  # arguments of env, command of mi
  env -i PATH="$work/bare" HOME="$work" "$@" >"$work/said" 2>&1 </dev/null && exit 1
  cat "$work/said"
  grep "missing: cmake" "$work/said"
}
way_packages() {
  mkdir "$work/bare"
  for each in bash sh env sed dirname readlink find cat sort head grep nproc rm mkdir make cc gcc nm; do
    path=$(command -v $each) && ln -s "$path" "$work/bare/$each"
  done
  for each in apt-get dpkg-query id; do
    # shellcheck disable=SC2016  # is expanded there
    printf '#!/bin/sh\necho "%s $*" >>"$HOME/%s-calls"\n[ %s = apt-get ] || echo 0\n' $each $each $each \
      >"$work/bare/$each"
    chmod +x "$work/bare/$each"
  done
  for asked in "$work/mi run" "CI=true $work/mi run" "$work/mi --install run" "$work/mi run --install"; do
    rm -f "$work/apt-get-calls" "$work/mi"
    ln -s "$work/a tree/mi" "$work/mi"
    # shellcheck disable=SC2086  # words
    bare $asked --secure -- cat
    grep "install .*cmake" "$work/apt-get-calls"
  done
  # A package that is only useful is not installed unasked.
  rm "$work/apt-get-calls"
  # shellcheck disable=SC2016  # is expanded there
  env -i PATH="$work/bare" HOME="$work" bash -c '
    have() { command -v "$1" >/dev/null; }
    say() { echo "$*"; }
    . "$1/tools/mi/lib/install.sh"
    install_missing valgrind' bash "$MI_SOURCE_DIR" </dev/null >"$work/said" 2>&1
  cat "$work/said"
  grep "may be skipped.*: valgrind" "$work/said"
  [ ! -e "$work/apt-get-calls" ]
}
way_library_only() {
  cmake -S "$MI_SOURCE_DIR" -B plain -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS_RELEASE=-O0
  cmake --build plain
  ls plain/libmimalloc.so.3 plain/libmimalloc.a plain/mimalloc.o
  [ ! -e plain/test ]
  [ ! -e plain/bench ]
}

for each in copy path_with_space program_by_name broken_library build_with_space test_with_space release_with_space docs_with_space refusals packages library_only; do
  way $each
done
exit $bad
