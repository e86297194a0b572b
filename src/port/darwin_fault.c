// Faults and stacks on macOS and iOS. See fault.h.
#include "fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <mach-o/loader.h>
#include <signal.h>
#include <string.h>
#include <sys/ucontext.h>

#include "../base/atomic.h"
#include "port.h"

// ---- registers of a context ----

static uintptr_t context_code(const void* context) {
  const ucontext_t* at = (const ucontext_t*)context;
#if defined(__x86_64__)
  return (uintptr_t)at->uc_mcontext->__ss.__rip;
#else
  return (uintptr_t)__darwin_arm_thread_state64_get_pc(at->uc_mcontext->__ss);
#endif
}

static uintptr_t context_frame(const void* context) {
  const ucontext_t* at = (const ucontext_t*)context;
#if defined(__x86_64__)
  return (uintptr_t)at->uc_mcontext->__ss.__rbp;
#else
  return (uintptr_t)__darwin_arm_thread_state64_get_fp(at->uc_mcontext->__ss);
#endif
}

// What kind of access it was: the processor's word about the fault.
static void context_access(const void* context, port_fault_t* fault) {
  const ucontext_t* at = (const ucontext_t*)context;
#if defined(__x86_64__)
  enum { PAGE_FAULT = 14, BY_WRITE = 2 };
  if (at->uc_mcontext->__es.__trapno != PAGE_FAULT) { return; }
  fault->is_known_write = (at->uc_mcontext->__es.__err & BY_WRITE) != 0;
#else
  enum { CLASS_SHIFT = 26, DATA_ABORT = 0x24, BY_WRITE = 1 << 6 };
  const uint32_t syndrome = at->uc_mcontext->__es.__esr;
  if (syndrome >> CLASS_SHIFT != DATA_ABORT) { return; }
  fault->is_known_write = (syndrome & BY_WRITE) != 0;
#endif
  fault->is_known_read = !fault->is_known_write;
}

// ---- stacks: all code here has frame pointers ----

static _Atomic(bool) stack_is_prepared;

PRIVATE void port_stack_prepare(void) { store_relaxed(&stack_is_prepared, true); }

PRIVATE NOINLINE size_t port_stack(void** frames, size_t most) {
  const int saved = errno;
  const int count = load_relaxed(&stack_is_prepared) ? backtrace(frames, (int)most) : 0;
  errno = saved;
  if (count <= 1) { return 0; }
  memmove(frames, frames + 1, (size_t)(count - 1) * sizeof(frames[0]));  // less this one
  return (size_t)count - 1;
}

typedef struct frame {
  const struct frame* caller;
  void* code;
} frame_t;

// Frames lie above one another, in the thread's stack.
PRIVATE size_t port_fault_stack(const port_fault_t* fault, void** frames, size_t most) {
  const uintptr_t end = (uintptr_t)pthread_get_stackaddr_np(pthread_self());
  uintptr_t below = end - pthread_get_stacksize_np(pthread_self());
  uintptr_t at = context_frame(fault->context);
  size_t count = 0;
  frames[count++] = (void*)context_code(fault->context);
  while (count < most && at > below && at % sizeof(void*) == 0 && at + sizeof(frame_t) <= end) {
    const frame_t* frame = (const frame_t*)at;
    if (frame->code == NULL) { break; }
    frames[count++] = frame->code;
    below = at;
    at = (uintptr_t)frame->caller;
  }
  return count;
}

// ---- names ----

extern const struct mach_header_64 own_header __asm__("___dso_handle") HIDDEN;

PRIVATE void port_locate(const void* code, port_place_t* out) {
  Dl_info info;
  memset(&info, 0, sizeof(info));
  *out = (port_place_t){0};
  if (dladdr(code, &info) == 0 || info.dli_fbase == NULL) { return; }
  out->module = info.dli_fname;
  out->offset = (uintptr_t)code - (uintptr_t)info.dli_fbase;
  out->symbol = info.dli_sname;
  if (out->symbol != NULL) {
    out->into_symbol = (size_t)((uintptr_t)code - (uintptr_t)info.dli_saddr);
  }
  out->is_ours = info.dli_fbase == (const void*)&own_header && own_header.filetype == MH_DYLIB;
}

// ---- faults: a guard that is hit is a SIGBUS ----

static void send_again(siginfo_t* info) { (void)raise(info->si_signo); }

#include "unix_fault.h"
