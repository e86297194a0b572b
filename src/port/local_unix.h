// Any system with POSIX 2008. See local.h.
#ifndef MI_PORT_LOCAL_UNIX_H
#define MI_PORT_LOCAL_UNIX_H

#include "unix_end.h"
#include "unix_errno.h"
#include "unix_foreign.h"

#define PORT_SOURCE       "port/unix.c"
#define PORT_FAULT_SOURCE "port/unix_fault.c"

enum { PORT_DECOMMIT_STAYS = 1, PORT_CAN_RELEASE = 1, PORT_CAN_MOVE = 0 };
enum { PORT_HAS_THREADS = 1, PORT_WIDE_VARIABLES = 0 };
enum { PORT_FIRST_ARENA = 8 << 20, PORT_ARENA_ALIGN = 2 << 20 };
enum { PORT_EXIT_ROUNDS = 3 };  // POSIX promises four rounds of destructors
enum { PORT_ENDS_ARE_TOLD = 1, PORT_SLOT_STAYS = 1 };
#define PORT_NATIVE_TLS 0

FAST uintptr_t port_thread_id(void) { return (uintptr_t)&errno; }  // each thread has its own

#include "unix_slot.h"

#endif
