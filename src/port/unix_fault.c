// Faults where nothing is known of registers, stacks and modules. See fault.h.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fault.h"

#include <errno.h>
#include <signal.h>

#include "port.h"

#include "plain_stack.h"

// ---- faults ----

static void context_access(const void* context, port_fault_t* fault) { (void)context, (void)fault; }

static void send_again(siginfo_t* info) { (void)raise(info->si_signo); }

#include "unix_fault.h"
