// Faults by signals. The port that includes this has defined send_again, and context_access, which
// tells what kind of access it was, if the processor says.
//
// The handler runs as the program's own would: same mask, same stack. Its turn comes by a call. The
// default action's turn comes when the access is repeated with that action in force, so the process
// ends as it would have.
#ifndef MI_PORT_UNIX_FAULT_H
#define MI_PORT_UNIX_FAULT_H

enum { WATCHED = 2 };
static const int watched_signals[WATCHED] = {SIGSEGV, SIGBUS};
static struct sigaction former_actions[WATCHED];
static port_see_fault* see_fault;

static bool is_function(const struct sigaction* action) {
  return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

// Sent by a process, or by the kernel for reasons of its own: nothing would repeat it.
static bool is_sent(const siginfo_t* info) {
#ifdef BUS_MCEERR_AO
  if (info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO) { return true; }
#endif
  return info->si_code <= 0;
}

static void call_former(const struct sigaction* former, siginfo_t* info, void* context) {
  if ((former->sa_flags & (int)SA_RESETHAND) != 0) {
    struct sigaction fallback = *former;
    fallback.sa_handler = SIG_DFL;
    (void)sigaction(info->si_signo, &fallback, NULL);
  }
  if ((former->sa_flags & SA_SIGINFO) != 0) {
    former->sa_sigaction(info->si_signo, info, context);
  } else {
    former->sa_handler(info->si_signo);
  }
}

static void pass_on(const struct sigaction* former, siginfo_t* info, void* context) {
  if (is_function(former)) {
    call_former(former, info, context);
  } else if (!is_sent(info) || former->sa_handler == SIG_DFL) {
    (void)sigaction(info->si_signo, former, NULL);
    if (is_sent(info)) { send_again(info); }
  }
}

static void on_signal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  if (!is_sent(info)) {
    port_fault_t fault = {.address = info->si_addr, .context = context};
    context_access(context, &fault);
    see_fault(&fault);
  }
  errno = saved;
  pass_on(&former_actions[number == watched_signals[0] ? 0 : 1], info, context);
}

static int watch_signal(int number, struct sigaction* former) {
  if (sigaction(number, NULL, former) != 0) { return errno; }
  struct sigaction ours = *former;
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO;
  ours.sa_flags |= is_function(former)
                       ? former->sa_flags & (SA_ONSTACK | (int)SA_NODEFER | SA_RESTART)
                       : SA_ONSTACK;
  return sigaction(number, &ours, NULL) == 0 ? 0 : errno;
}

PRIVATE int port_watch_faults(port_see_fault* see) {
  const int saved = errno;
  int error = 0;
  see_fault = see;
  for (int i = 0; i < WATCHED && error == 0; i++) {
    error = watch_signal(watched_signals[i], &former_actions[i]);
  }
  errno = saved;
  return error;
}

#endif
