# Android: objects, compiled against musl's headers, as zig has them; bionic's are in no package.
# What they want of a C library must be what bionic exports at that API level. Those for this
# machine's processor then run, in programs whose C library is musl (test/android/bionic.c).

cross_all+=(android)

cross_describe_android() {  # target
  [ "$1" = android ] || return 1
  title="AArch64 and x86-64 Android, API 21, 29, 35: built, and run on musl"
  zig=x86_64-linux-musl packages=(clang-19 llvm-19) build_and_test=cross_android
}

# Of libc, from API 21 on.
android_libc="__errno abort clock_gettime environ fcntl fstat getauxval getenv getpid getprogname
  getrlimit getrusage longjmp memcmp memcpy memmove memset pthread_atfork pthread_key_create
  pthread_setspecific realpath setjmp sigaction strchr strcmp strlen strncmp strrchr strstr syscall
  wcslen"
android_api_29="__tls_get_addr"
# What may be missing: of libdl, of the program's C++ runtime, and what the linker knows.
android_weak="dladdr dlopen dlsym _ZSt15get_new_handlerv _ZSt17__throw_bad_allocv __cxa_begin_catch
  __cxa_end_catch __ehdr_start"
# Of the compiler's own library, before thread-local variables came.
android_before_29="__emutls_get_address"

# Says what is undefined and not known.
android_unknown() {  # object, API
  local known="$android_libc "
  if [ "$2" -lt 29 ]; then known+=$android_before_29; else known+=$android_api_29; fi
  llvm-nm-19 -u "$1" | awk -v known="$known" -v weak="$android_weak" '
    BEGIN {
      n = split(known, name); for (i = 1; i <= n; i++) { may["U", name[i]] = 1 }
      n = split(weak, name); for (i = 1; i <= n; i++) { may["w", name[i]] = 1 }
    }
    !(($1, $2) in may) { print $2 }'
}

android_object() {  # processor, API, output
  local processor=$1 headers linux=$1-linux-any unknown
  headers=$(echo "$root"/build/cross/zig/lib/python*/site-packages/ziglang/lib/libc/include)
  [ "$processor" = aarch64 ] || linux=x86-linux-any
  clang-19 --target="$processor-linux-android$2" -nostdlibinc \
    -isystem "$headers/$processor-linux-musl" -isystem "$headers/generic-musl" \
    -isystem "$headers/$linux" -isystem "$headers/any-linux-any" \
    -include "$root/test/android/bionic.h" -D__errno_location=__errno \
    -std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -fexceptions \
    -DMI_MALLOC_OVERRIDE=1 -I"$root/include" -c -o "$3" "$root/src/static.c" || return 1
  unknown=$(android_unknown "$3" "$2")
  [ -z "$unknown" ] && return
  say "mi: android: the object for $processor, API $2, wants what is not in bionic:" "$unknown"
  return 1
}

android_run() {  # object, test
  local program
  program=$dir/$(basename "$2" .c)
  "$compiler" -O1 -w -static -D_GNU_SOURCE -I"$root/include" -o "$program" "$2" \
    "$root/test/android/bionic.c" "$1" -lpthread && timeout 120 "$program"
}

android_count() {  # command...
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); say "mi: failed: $*"; fi
}

cross_android() {
  local processor api test
  if ! have clang-19 || ! have llvm-nm-19; then
    say "mi: android: needs ${packages[*]}"
    skipped=$((skipped + 1))
    return
  fi
  for api in 21 29 35; do
    for processor in aarch64 x86_64; do
      android_count android_object "$processor" "$api" "$dir/$processor-$api.o"
    done
    [ "$(uname -m)" = x86_64 ] || continue
    for test in android/foreign stress/mixed stress/thread_churn stress/handover; do
      android_count android_run "$dir/x86_64-$api.o" "$root/test/$test.c"
    done
  done
}
