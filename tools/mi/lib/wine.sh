# Programs for Windows, under wine: a copy that loads mimalloc.dll first, beside the program.

is_windows_program() {  # file
  [ -f "$1" ] && [ "$(head -c 2 -- "$1" 2>/dev/null | tr -d '\0')" = MZ ]
}

# The number that the file's header has for x64.
is_for_x64() {  # file
  local at
  at=$(od -An -t u4 -j 60 -N 4 -- "$1" | tr -d ' ')
  [ "$(od -An -t x2 -j $((at + 4)) -N 2 -- "$1" | tr -d ' ')" = 8664 ]
}

# The arguments of the program follow it.
run_in_wine() {  # program arguments...
  local program=$1 copy dll=$root/build/windows-mingw/mimalloc.dll inject=$root/build/minject wine
  shift
  is_for_x64 "$program" || die "$program: of programs for Windows, those for x64 alone can be run"
  wine=$(type -P wine64 || type -P /usr/lib/wine/wine64 || type -P wine) ||
    die "$program is for Windows: wine is not installed"
  have x86_64-w64-mingw32-gcc || die "$program is for Windows: mingw's gcc is not installed"
  if ! is_current "$dll"; then
    { configure windows-mingw && build windows-mingw --target mimalloc; } ||
      die "the library does not build"
    touch -c "$dll"
  fi
  if ! [ "$inject" -nt "$root/tools/minject.c" ]; then
    "$(c_compiler)" -std=gnu11 -O2 -o "$inject" "$root/tools/minject.c" || exit 1
  fi
  copy=${program%.*}-mi.exe
  "$inject" --force --output "$copy" "$program" || exit 1
  # Where wine looks for DLLs that are not beside the program.
  export WINEPATH="Z:${dll%/*}${WINEPATH:+;$WINEPATH}"
  exec -- "$wine" "$copy" "$@"
}
