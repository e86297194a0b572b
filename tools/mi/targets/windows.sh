# Windows: what mingw's gcc compiles, under wine.

cross_all+=(windows)

cross_describe_windows() {  # target
  [ "$1" = windows ] || return
  title="Windows x64, under wine" compiler=x86_64-w64-mingw32-gcc
  packages=(gcc-mingw-w64-x86-64 wine64 wine) build_and_test=cross_windows
}

cross_windows() {
  CC=$(c_compiler) bash "$root/test/windows/run.sh" "$dir" 2>&1 | tee "$dir/test.log"
  passed=$((passed + $(grep -c '^pass' "$dir/test.log")))
  skipped=$((skipped + $(grep -c '^skip' "$dir/test.log")))
  failed=$((failed + $(grep -c '^FAIL' "$dir/test.log")))
}
