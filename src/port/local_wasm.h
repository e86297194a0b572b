// WebAssembly: WASI and Emscripten, without threads. See local.h.
#ifndef MI_PORT_LOCAL_WASM_H
#define MI_PORT_LOCAL_WASM_H

#include "unix_end.h"
#include "unix_errno.h"
#include "unix_foreign.h"

#define PORT_SOURCE       "port/wasm.c"
#define PORT_FAULT_SOURCE "port/wasm_fault.c"

enum { PORT_DECOMMIT_STAYS = 1, PORT_CAN_RELEASE = 0, PORT_CAN_MOVE = 0 };
enum { PORT_FIRST_ARENA = 128 << 10, PORT_ARENA_ALIGN = 16 << 10 };
enum { PORT_EXIT_ROUNDS = 0 };
enum { PORT_ENDS_ARE_TOLD = 1, PORT_SLOT_STAYS = 0 };
#define PORT_NATIVE_TLS 1

#ifdef _REENTRANT  // a thread allocates there before its thread-local variables are
#error "mimalloc has no port to WebAssembly with threads yet"
#endif
enum { PORT_HAS_THREADS = 0, PORT_WIDE_VARIABLES = 0, PORT_ONLY_THREAD = 4 };
FAST uintptr_t port_thread_id(void) { return PORT_ONLY_THREAD; }

#endif
