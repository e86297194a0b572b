# This machine's processor, in 64 and 32 bits, by its own compiler; the same by the rules of systems
# that do not run here (docs/porting.md).

cross_all+=(x86_64 i386 unix strict grow small)

cross_describe_native() {  # target
  case $1 in
    x86_64) title="x86-64, native" compiler=$(c_compiler) cxx=$(cxx_compiler) system='' ;;
    unix | strict | grow)
      title="x86-64, native, on the port $1" compiler=$(c_compiler) cxx=$(cxx_compiler) system=''
      options=(-DMI_PORT="$1")
      # The other tests are of programs with threads, and of memory that goes back or is protected.
      [ "$1" != grow ] || build_and_test=cross_grow ;;
    small)
      title="x86-64, native, on the port grow, MI_SMALL"
      compiler=$(c_compiler) cxx=$(cxx_compiler) system='' build_and_test=cross_small
      options=(-DMI_PORT=grow -DMI_SMALL=ON) ;;
    i386)
      title="32-bit x86, native"
      compiler=gcc-12 cxx=g++-12
      packages=(gcc-12-multilib g++-12-multilib)  # gcc-multilib conflicts with cross compilers
      flags="-m32 -isystem /usr/include/x86_64-linux-gnu"
      options=(-DCMAKE_SYSTEM_PROCESSOR=i686) ;;
    *) return 1 ;;
  esac
}

cross_small() { cross_build_and_test -L '^(api|unit)$' "$@"; }
cross_grow() { cross_build_and_test -L '^(api|unit|fault)$' "$@"; }
