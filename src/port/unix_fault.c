// Faults where nothing is known of registers, stacks and modules. See fault.h.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fault.h"

#include <errno.h>
#include <signal.h>

#include "port.h"

// ---- stacks and names: none ----

PRIVATE void port_stack_prepare(void) {}

PRIVATE size_t port_stack(void** frames, size_t most) {
  (void)frames, (void)most;
  return 0;
}

PRIVATE size_t port_fault_stack(const port_fault_t* fault, void** frames, size_t most) {
  (void)fault, (void)frames, (void)most;
  return 0;
}

PRIVATE void port_locate(const void* code, port_place_t* out) {
  (void)code;
  *out = (port_place_t){0};
}

// ---- faults ----

static void context_access(const void* context, port_fault_t* fault) { (void)context, (void)fault; }

static void send_again(siginfo_t* info) { (void)raise(info->si_signo); }

#include "unix_fault.h"
