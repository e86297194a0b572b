// A test port: the rules of Windows, on Linux. See local.h and strict.c.
#ifndef MI_PORT_LOCAL_STRICT_H
#define MI_PORT_LOCAL_STRICT_H

#include "../base/atomic.h"
#include "unix_errno.h"
#include "unix_foreign.h"

#define PORT_SOURCE       "port/strict.c"
#define PORT_FAULT_SOURCE "port/strict_fault.c"

enum { PORT_DECOMMIT_STAYS = 0, PORT_CAN_RELEASE = 1, PORT_CAN_MOVE = 0 };
enum { PORT_HAS_THREADS = 1, PORT_WIDE_VARIABLES = 0 };
enum { PORT_FIRST_ARENA = 8 << 20, PORT_ARENA_ALIGN = 2 << 20 };
enum { PORT_EXIT_ROUNDS = 0 };
enum { PORT_ENDS_ARE_TOLD = 0, PORT_SLOT_STAYS = 0 };
#define PORT_NATIVE_TLS 1

extern HIDDEN THREAD_LOCAL int port_thread_mark;
extern HIDDEN _Atomic(bool) port_ending;  // what a test sets
FAST bool port_is_ending(void) { return load_relaxed(&port_ending); }
PRIVATE void port_end_init(void (*on_end)(void));
PRIVATE void port_see_end(void);
FAST void port_retry_for(long ms) { (void)ms; }

FAST uintptr_t port_thread_id(void) { return (uintptr_t)&port_thread_mark; }

#endif
