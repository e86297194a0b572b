// FreeBSD, NetBSD, OpenBSD. See local.h.
#ifndef MI_PORT_LOCAL_BSD_H
#define MI_PORT_LOCAL_BSD_H

#include "unix_end.h"
#include "unix_errno.h"

#define PORT_SOURCE       "port/bsd.c"
#define PORT_FAULT_SOURCE "port/unix_fault.c"

enum { PORT_DECOMMIT_STAYS = 1, PORT_CAN_RELEASE = 1, PORT_CAN_MOVE = 0 };
enum { PORT_HAS_THREADS = 1, PORT_WIDE_VARIABLES = 0 };
enum { PORT_FIRST_ARENA = 8 << 20, PORT_ARENA_ALIGN = 2 << 20 };
enum { PORT_EXIT_ROUNDS = 3 };  // POSIX promises four rounds of destructors
enum { PORT_ENDS_ARE_TOLD = 1 };

FAST uintptr_t port_thread_id(void) { return (uintptr_t)__builtin_thread_pointer(); }

#ifdef __OpenBSD__  // the compiler emulates thread-local variables, by malloc; and what libc \
                    // allocates for a program, such as strdup, is from its own malloc
#define PORT_NATIVE_TLS 0
enum { PORT_SLOT_STAYS = 1 };
#include "unix_slot.h"
#include "unix_libc_head.h"
#else
#define PORT_NATIVE_TLS 1
enum { PORT_SLOT_STAYS = 0 };
#include "unix_foreign.h"
#endif

#endif
