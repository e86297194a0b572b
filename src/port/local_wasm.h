// WebAssembly: WASI without threads; Emscripten, with threads too. See local.h.
#ifndef MI_PORT_LOCAL_WASM_H
#define MI_PORT_LOCAL_WASM_H

#include "unix_end.h"
#include "unix_errno.h"
#include "unix_foreign.h"

#define PORT_SOURCE       "port/wasm.c"
#define PORT_FAULT_SOURCE "port/wasm_fault.c"

enum { PORT_DECOMMIT_STAYS = 1, PORT_CAN_RELEASE = 0, PORT_CAN_MOVE = 0 };
enum { PORT_FIRST_ARENA = 128 << 10, PORT_ARENA_ALIGN = 16 << 10 };
enum { PORT_WIDE_VARIABLES = 0 };

#ifndef _REENTRANT

enum { PORT_HAS_THREADS = 0, PORT_EXIT_ROUNDS = 0 };
enum { PORT_ENDS_ARE_TOLD = 1, PORT_SLOT_STAYS = 0 };
#define PORT_NATIVE_TLS 1

enum { PORT_ONLY_THREAD = 4 };
FAST uintptr_t port_thread_id(void) { return PORT_ONLY_THREAD; }

#elif defined(__EMSCRIPTEN__)

#include <pthread.h>

enum { PORT_HAS_THREADS = 1, PORT_EXIT_ROUNDS = 3 };  // POSIX promises four rounds of destructors
enum { PORT_ENDS_ARE_TOLD = 1, PORT_SLOT_STAYS = 1 };
// The memory of a thread's variables is allocated as it begins, and it still frees blocks once it
// has given that back.
#define PORT_NATIVE_TLS 0

// A worker that runs no thread has none.
enum { PORT_NO_THREAD = 4 };
FAST uintptr_t port_thread_id(void) {
  const uintptr_t self = (uintptr_t)pthread_self();
  return self == 0 ? PORT_NO_THREAD : self;
}

#include "unix_slot.h"

#else
#error "mimalloc has no port to WASI with threads yet"
#endif

#endif
