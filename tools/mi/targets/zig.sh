# What zig compiles: it brings every C library along, old ones too.

cross_all+=(aarch64-musl glibc-2.17)

cross_describe_zig() {  # target
  case $1 in
    aarch64-musl)
      title="AArch64, musl, statically linked" zig=aarch64-linux-musl qemu=qemu-aarch64-static
      packages=(qemu-user-static)
      options=(-DMI_LIBC_MUSL=ON -DMI_BUILD_SHARED=OFF -DCMAKE_SYSTEM_PROCESSOR=aarch64) ;;
    glibc-2.17) title="x86-64, compiled for glibc 2.17" zig=x86_64-linux-gnu.2.17 ;;
    *) return 1 ;;
  esac
}
