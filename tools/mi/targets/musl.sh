# Musl on this machine's processor, by musl-gcc.

cross_all+=(musl musl-static)

cross_describe_musl() {  # target
  case $1 in
    musl)
      title="x86-64, musl"
      compiler=musl-gcc packages=(musl-tools) options=(-DMI_LIBC_MUSL=ON) ;;
    musl-static)
      title="x86-64, musl, statically linked"
      compiler=musl-gcc packages=(musl-tools)
      options=(-DMI_LIBC_MUSL=ON -DMI_BUILD_SHARED=OFF -DCMAKE_EXE_LINKER_FLAGS=-static) ;;
    *) return 1 ;;
  esac
}
