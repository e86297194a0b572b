// Windows 7 and later: mingw's gcc, and clang with either of the ABIs there. See local.h.
//
// What errno is elsewhere is here the thread's last error: the program may ask for it after a free.
// errno itself is the C runtime's, which makes it at its first use.
#ifndef MI_PORT_LOCAL_WINDOWS_H
#define MI_PORT_LOCAL_WINDOWS_H

#include "../base/attributes.h"
#include "unix_foreign.h"

#define PORT_SOURCE       "port/windows.c"
#define PORT_FAULT_SOURCE "port/windows_fault.c"

enum { PORT_DECOMMIT_STAYS = 0, PORT_CAN_RELEASE = 1, PORT_CAN_MOVE = 0 };
enum { PORT_HAS_THREADS = 1 };
enum { PORT_FIRST_ARENA = 8 << 20, PORT_ARENA_ALIGN = 2 << 20 };
enum { PORT_EXIT_ROUNDS = 0 };  // the loader calls once

EXTERN_C __declspec(dllimport) unsigned long __stdcall GetLastError(void);
EXTERN_C __declspec(dllimport) void __stdcall SetLastError(unsigned long error);

FAST int port_errno_keep(void) { return (int)GetLastError(); }
FAST void port_errno_restore(int kept) { SetLastError((unsigned long)kept); }
PRIVATE void port_errno_set(int error);

// The block that the system has for each thread.
FAST uintptr_t port_thread_id(void) {
  uintptr_t block;
#if defined(__x86_64__)
  __asm__("movq %%gs:0x30, %0" : "=r"(block));
#elif defined(__i386__)
  __asm__("movl %%fs:0x18, %0" : "=r"(block));
#else
  __asm__("mov %0, x18" : "=r"(block));
#endif
  return block;
}

#endif
