# Systems that nothing here can run: their programs are linked, by zig, for x86-64 and AArch64.

cross_all+=(freebsd netbsd openbsd)

cross_describe_bsd() {  # target
  build_and_test=cross_bsd zig=x86_64-$1
  case $1 in
    freebsd) title="FreeBSD, built only" ;;
    netbsd) title="NetBSD, built only" ;;
    openbsd) title="OpenBSD, built only" ;;
    *) build_and_test=cross_build_and_test zig=''; return 1 ;;
  esac
}

# What a lock waits by.
bsd_wait() {
  case $target in
    freebsd) echo _umtx_op ;;
    netbsd) echo syscall ;;
    openbsd) echo futex ;;
  esac
}

# Says which libraries are needed besides the system's own two, and whether that call is missing.
bsd_unexpected() {  # program
  readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\.so.*/\1/p' |
    grep -vxE 'libc|libthr|libpthread'
  readelf --dyn-syms -W "$1" | grep -qE "UND $(bsd_wait)(@.*)?$" || echo "no $(bsd_wait)"
}

# A program with the library in it links with the system's own libraries alone.
bsd_link() {  # processor
  local unexpected
  zig=$1-$target
  cross_set_up_zig && "$compiler" -std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden \
    -fexceptions -DMI_MALLOC_OVERRIDE=1 -I"$root/include" -o "$dir/$1" "$dir/main.c" \
    "$root/src/static.c" -lpthread || return 1
  unexpected=$(bsd_unexpected "$dir/$1")
  [ -z "$unexpected" ] || say "mi: $target: $1:" "$unexpected"
  [ -z "$unexpected" ]
}

cross_bsd() {
  local processor
  echo 'int main(void) { return 0; }' >"$dir/main.c"
  for processor in x86_64 aarch64; do
    if bsd_link $processor; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  done
}
