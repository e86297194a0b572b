# Linux on other processors: Debian's cross compilers, and QEMU.

cross_all+=(aarch64 aarch64-16k aarch64-64k armhf riscv64 ppc64le s390x)

cross_describe_debian() {  # target
  case $1 in
    aarch64) title="AArch64, 4 KiB pages"; cross_debian aarch64 aarch64-linux-gnu arm64 ;;
    aarch64-16k)
      title="AArch64, 16 KiB pages" page=16384 folder=aarch64
      cross_debian aarch64 aarch64-linux-gnu arm64 ;;
    aarch64-64k)
      title="AArch64, 64 KiB pages" page=65536 folder=aarch64
      cross_debian aarch64 aarch64-linux-gnu arm64 ;;
    armhf) title="32-bit Arm, hard float"; cross_debian arm arm-linux-gnueabihf armhf ;;
    riscv64) title="64-bit RISC-V"; cross_debian riscv64 riscv64-linux-gnu riscv64 ;;
    ppc64le)
      title="64-bit POWER, little endian, 64 KiB pages" page=65536
      cross_debian ppc64le powerpc64le-linux-gnu ppc64el ;;
    s390x) title="IBM Z, big endian"; cross_debian s390x s390x-linux-gnu s390x ;;
    *) return 1 ;;
  esac
}

cross_debian() {  # qemu's name, compiler's triple, Debian's architecture
  compiler=$2-gcc cxx=$2-g++ qemu=qemu-$1-static libraries=/usr/$2/lib
  packages=("gcc-$2" "g++-$2" "libc6-dev-$3-cross" qemu-user-static)
  options=(-DCMAKE_SYSTEM_PROCESSOR="$1")
}
