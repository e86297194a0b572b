// Windows 7 and later: mingw's gcc, and clang with either of the ABIs there. See local.h.
//
// What errno is elsewhere is here the thread's last error: the program may ask for it after a free.
// errno itself is the C runtime's, which makes it at its first use.
#ifndef MI_PORT_LOCAL_WINDOWS_H
#define MI_PORT_LOCAL_WINDOWS_H

#include "../base/atomic.h"
#include "../base/attributes.h"
#include "unix_foreign.h"

#define PORT_SOURCE       "port/windows.c"
#define PORT_FAULT_SOURCE "port/windows_fault.c"

enum { PORT_DECOMMIT_STAYS = 0, PORT_CAN_RELEASE = 1, PORT_CAN_MOVE = 0 };
enum { PORT_HAS_THREADS = 1, PORT_WIDE_VARIABLES = 1 };
enum { PORT_FIRST_ARENA = 8 << 20, PORT_ARENA_ALIGN = 2 << 20 };
enum { PORT_EXIT_ROUNDS = 0 };                         // the loader calls once,
enum { PORT_ENDS_ARE_TOLD = 0, PORT_SLOT_STAYS = 0 };  // but not for what TerminateThread ends
#if defined(__clang__) && !defined(MI_SHARED_LIB)
#define PORT_NATIVE_TLS 1
#else  // gcc's are its library's, which is gone when the loader calls; the DLL is linked with none
#define PORT_NATIVE_TLS 0
#endif

EXTERN_C __declspec(dllimport) unsigned long __stdcall GetLastError(void);
EXTERN_C __declspec(dllimport) void __stdcall SetLastError(unsigned long error);

FAST int port_errno_keep(void) { return (int)GetLastError(); }
FAST void port_errno_restore(int kept) { SetLastError((unsigned long)kept); }
PRIVATE int port_errno_get(void);
PRIVATE void port_errno_set(int error);

EXTERN_C __declspec(dllimport) unsigned char __stdcall RtlDllShutdownInProgress(void);

FAST bool port_is_ending(void) { return RtlDllShutdownInProgress() != 0; }
PRIVATE void port_end_init(void (*on_end)(void));
PRIVATE void port_see_end(void);
PRIVATE void port_retry_for(long ms);
UNUSED PRIVATE void port_unwatch_faults(void);

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

#if !PORT_NATIVE_TLS
// An index of TlsAlloc. The first 64 have their words in the thread's block: where it is there,
// or 0 as long as that is not known.
extern HIDDEN _Atomic(uint32_t) port_slot_place;

HIDDEN void* port_slot_get_by_call(void);
PRIVATE bool port_slot_set(void* value);

FAST void* port_slot_at(uint32_t place) {
  void* value;
#if defined(__x86_64__)
  __asm__ volatile("movq %%gs:(%q1), %0" : "=r"(value) : "r"(place));
#elif defined(__i386__)
  __asm__ volatile("movl %%fs:(%1), %0" : "=r"(value) : "r"(place));
#else
  __asm__ volatile("ldr %0, [x18, %1]" : "=r"(value) : "r"((uintptr_t)place));
#endif
  return value;
}

FAST void* port_slot_get(void) {
  const uint32_t place = load_relaxed(&port_slot_place);
  return likely(place != 0) ? port_slot_at(place) : port_slot_get_by_call();
}
#endif

#endif
