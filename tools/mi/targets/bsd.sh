# Systems that nothing here can run: their programs are linked, by zig.

cross_all+=(freebsd netbsd openbsd)

cross_describe_bsd() {  # target
  build_and_test=cross_link_program
  case $1 in
    freebsd) title="x86-64 FreeBSD, built only" zig=x86_64-freebsd ;;
    netbsd) title="x86-64 NetBSD, built only" zig=x86_64-netbsd ;;
    openbsd) title="x86-64 OpenBSD, built only" zig=x86_64-openbsd ;;
    *) build_and_test=cross_build_and_test; return 1 ;;
  esac
}

# A program with the library in it links with the system's own libraries alone.
cross_link_program() {
  echo 'int main(void) { return 0; }' >"$dir/main.c"
  if "$compiler" -std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -fexceptions \
    -DMI_MALLOC_OVERRIDE=1 -I"$root/include" -o "$dir/program" "$dir/main.c" "$root/src/static.c" \
    -lpthread; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
}
