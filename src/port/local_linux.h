// Linux: glibc, musl, bionic (Android); every architecture. See local.h.
#ifndef MI_PORT_LOCAL_LINUX_H
#define MI_PORT_LOCAL_LINUX_H

#include "unix_end.h"
#include "unix_errno.h"

#define PORT_SOURCE       "port/linux.c"
#define PORT_FAULT_SOURCE "port/linux_fault.c"

enum { PORT_DECOMMIT_STAYS = 1, PORT_CAN_RELEASE = 1, PORT_CAN_MOVE = 1 };
enum { PORT_HAS_THREADS = 1, PORT_WIDE_VARIABLES = 0 };
enum { PORT_FIRST_ARENA = 8 << 20, PORT_ARENA_ALIGN = 2 << 20 };
enum { PORT_EXIT_ROUNDS = 3 };  // POSIX promises four rounds of destructors
enum { PORT_ENDS_ARE_TOLD = 1 };

#define PORT_HAS_GIVE_ALL 1

FAST uintptr_t port_thread_id(void) {
#ifdef __powerpc64__  // no compiler has the builtin there
  uintptr_t pointer;
  __asm__("mr %0, 13" : "=r"(pointer));
  return pointer;
#else
  return (uintptr_t)__builtin_thread_pointer();
#endif
}

#ifndef __ANDROID__
// NOLINTNEXTLINE(bugprone-reserved-identifier) glibc 2.32
EXTERN_C char __libc_single_threaded WEAK;
#define PORT_TELLS_SINGLE 1
FAST bool port_is_single_threaded(void) {
  return &__libc_single_threaded != NULL && __libc_single_threaded != 0;
}
#endif

// What bionic allocates for a program, such as strdup, is from its own malloc.
#ifdef __ANDROID__
#include "unix_libc_head.h"
#else
#include "unix_foreign.h"
#endif

// Before 29 the compiler emulates thread-local variables, by malloc.
#if defined(__ANDROID__) && __ANDROID_API__ < 29
#define PORT_NATIVE_TLS 0
enum { PORT_SLOT_STAYS = 1 };
#include "unix_slot.h"
#else
#define PORT_NATIVE_TLS 1
enum { PORT_SLOT_STAYS = 0 };
#endif

#endif
