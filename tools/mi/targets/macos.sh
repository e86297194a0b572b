# macOS: what zig compiles, under a loader of the tests' own; AArch64 in QEMU.

cross_all+=(macos macos-arm64)

cross_describe_macos() {  # target
  packages=(clang-19 lld-19 llvm-19) build_and_test=cross_macos
  case $1 in
    macos) title="macOS x64, under a loader" zig=x86_64-macos ;;
    macos-arm64)
      title="macOS arm64, under a loader" zig=aarch64-macos
      packages+=(qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross) ;;
    *) packages=() build_and_test=cross_build_and_test; return 1 ;;
  esac
}

cross_macos() {
  install_missing clang-19 lld-19 llvm-19
  local loader=("$(c_compiler)")
  [ "$target" = macos ] ||
    loader=(aarch64-linux-gnu-gcc "$(type -P qemu-aarch64-static)" -L /usr/aarch64-linux-gnu)
  bash "$root/test/macos/run.sh" "$dir" "${zig%-macos}" "$compiler" "${loader[@]}" 2>&1 |
    tee "$dir/test.log"
  passed=$((passed + $(grep -c '^pass' "$dir/test.log")))
  skipped=$((skipped + $(grep -c '^skip' "$dir/test.log")))
  failed=$((failed + $(grep -c '^FAIL' "$dir/test.log")))
}
