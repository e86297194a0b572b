// Faults and stacks on Linux. See fault.h.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fault.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "../base/atomic.h"
#include "port.h"

#ifdef __GLIBC__
#include <execinfo.h>
#endif

// ---- registers of a context ----

static const void* context_code(const void* context) {
  const ucontext_t* at = (const ucontext_t*)context;
#if defined(__x86_64__)
  return (const void*)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__i386__)
  return (const void*)at->uc_mcontext.gregs[REG_EIP];
#elif defined(__aarch64__)
  return (const void*)at->uc_mcontext.pc;
#elif defined(__arm__)
  return (const void*)at->uc_mcontext.arm_pc;
#elif defined(__riscv)
  return (const void*)at->uc_mcontext.__gregs[REG_PC];
#else
  (void)at;
  return NULL;
#endif
}

// What kind of access it was: the processor's error code of a page fault.
static void context_access(const void* context, port_fault_t* fault) {
#if defined(__x86_64__) || defined(__i386__)
  enum { PAGE_FAULT = 14, BY_WRITE = 2 };
  const ucontext_t* at = (const ucontext_t*)context;
  if (at->uc_mcontext.gregs[REG_TRAPNO] != PAGE_FAULT) { return; }
  fault->is_known_write = (at->uc_mcontext.gregs[REG_ERR] & BY_WRITE) != 0;
  fault->is_known_read = !fault->is_known_write;
#else
  (void)context, (void)fault;
#endif
}

// ---- stacks ----

static _Atomic(bool) stack_is_prepared;

#ifdef __GLIBC__

// The first call loads the unwinder.
PRIVATE void port_stack_prepare(void) {
  void* frame = NULL;
  const int saved = errno;
  if (!load_relaxed(&stack_is_prepared)) { (void)backtrace(&frame, 1); }
  errno = saved;
  store_relaxed(&stack_is_prepared, true);
}

PRIVATE NOINLINE size_t port_stack(void** frames, size_t most) {
  const int saved = errno;
  const int count = load_relaxed(&stack_is_prepared) ? backtrace(frames, (int)most) : 0;
  errno = saved;
  if (count <= 1) { return 0; }
  memmove(frames, frames + 1, (size_t)(count - 1) * sizeof(frames[0]));  // less this one
  return (size_t)count - 1;
}

// The unwinder goes through the signal's frame.
static size_t fault_frames(const void* context, void** frames, size_t most) {
  size_t count = port_stack(frames, most), first = 0;
  while (first < count && frames[first] != context_code(context)) { first++; }
  if (first == count) { return 0; }
  memmove(frames, frames + first, (count - first) * sizeof(frames[0]));
  return count - first;
}

#else

PRIVATE void port_stack_prepare(void) { store_relaxed(&stack_is_prepared, true); }

// A frame pointer leads to the caller's one, with the return address beside it; in code without
// them it is any number, so each step is checked before it is taken.
typedef struct frame {
  const struct frame* caller;
  void* code;
} frame_t;

// The kernel reads the mask before it finds that there is no such operation.
static bool is_readable(const void* p) {
  enum { NO_OPERATION = -1, MASK_BYTES = 8 };
  const int saved = errno;
  const bool bad =
      syscall(SYS_rt_sigprocmask, NO_OPERATION, p, NULL, MASK_BYTES) == -1 && errno == EFAULT;
  errno = saved;
  return !bad;
}

static bool is_next_frame(const frame_t* frame, uintptr_t below) {
  enum { FRAME_MOST = 1 << 20 };
  const uintptr_t at = (uintptr_t)frame;
  return at % sizeof(void*) == 0 && at - below - 1 < FRAME_MOST && is_readable(frame) &&
         is_readable(&frame->code);
}

static size_t walk(const frame_t* frame, void** frames, size_t most) {
  size_t count = 0;
  uintptr_t below = (uintptr_t)__builtin_frame_address(0) - 1;
  while (count < most && is_next_frame(frame, below) && frame->code != NULL) {
    frames[count++] = frame->code;
    below = (uintptr_t)frame;
    frame = frame->caller;
  }
  return count;
}

PRIVATE NOINLINE size_t port_stack(void** frames, size_t most) {
  if (!load_relaxed(&stack_is_prepared)) { return 0; }
  return walk(__builtin_frame_address(0), frames, most);
}

static const frame_t* context_frame(const void* context) {
  const ucontext_t* at = context;
#if defined(__x86_64__)
  return (const frame_t*)at->uc_mcontext.gregs[REG_RBP];
#elif defined(__aarch64__)
  return (const frame_t*)at->uc_mcontext.regs[29];
#else
  (void)at;
  return NULL;
#endif
}

static size_t fault_frames(const void* context, void** frames, size_t most) {
  memcpy(&frames[0], &(const void*){context_code(context)}, sizeof(frames[0]));
  return frames[0] == NULL ? 0 : 1 + walk(context_frame(context), frames + 1, most - 1);
}

#endif

PRIVATE size_t port_fault_stack(const port_fault_t* fault, void** frames, size_t most) {
  const size_t count = fault_frames(fault->context, frames, most);
  const void* code = context_code(fault->context);
  if (count > 0 || code == NULL) { return count; }
  memcpy(&frames[0], &code, sizeof(code));
  return 1;
}

// ---- names ----

#pragma weak dladdr  // a program without shared libraries may have none
extern const char own_header[] __asm__("__ehdr_start") HIDDEN WEAK;

// Addresses in a program that is not relocatable are what its file says.
static uintptr_t module_offset(const void* base, const void* code) {
  const ElfW(Ehdr)* header = (const ElfW(Ehdr)*)base;
  return header->e_type == ET_EXEC ? (uintptr_t)code : (uintptr_t)code - (uintptr_t)base;
}

PRIVATE void port_locate(const void* code, port_place_t* out) {
  Dl_info info = {0};
  *out = (port_place_t){0};
  if (dladdr == NULL) {
    out->module = "program";
    out->offset = own_header == NULL ? (uintptr_t)code : module_offset(own_header, code);
    return;
  }
  if (dladdr(code, &info) == 0 || info.dli_fbase == NULL) { return; }
  out->module = info.dli_fname;
  out->offset = module_offset(info.dli_fbase, code);
  out->symbol = info.dli_sname;
  if (out->symbol != NULL) {
    out->into_symbol = (size_t)((uintptr_t)code - (uintptr_t)info.dli_saddr);
  }
  out->is_ours = info.dli_fbase == (const void*)own_header && strstr(info.dli_fname, ".so") != NULL;
}

// ---- faults ----

// What a process sent, for whoever acts on it next.
static void send_again(siginfo_t* info) {
  (void)syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), info->si_signo, info);
}

#include "unix_fault.h"
