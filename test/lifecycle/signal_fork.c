/* test: timeout=60 when="glibc linux" */
/* fork in a signal handler that interrupted the allocator (the C library must say that there is one
   thread only: glibc from 2.32 on): the child execs or leaves, the parent
   goes on unharmed; and handlers that allocate nothing may interrupt anything, as often as they
   like. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <sys/time.h>

enum { FORKS = 200 };
static int forks;
static int failures;
static int ticks;

static void fork_in_handler(int signal_number) {
  (void)signal_number;
  const int saved = errno;
  ticks++;
  if (forks < FORKS && ticks % 4 == 0) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(8);
      _exit(5);
    }
    forks++;
    if (pid < 0 || child_result(pid) != 5) { failures++; }
  }
  errno = saved;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = fork_in_handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &often, NULL);
  const long end = now_ms() + 20000;
  bool fine = true;
  while (forks < FORKS && now_ms() < end) {
    unsigned char* block[100];
    for (int i = 0; i < 100; i++) {
      block[i] = (unsigned char*)malloc((size_t)i * 97 + 1);
      block[i][i * 97] = (unsigned char)i;
    }
    for (int i = 0; i < 100; i++) {
      fine &= block[i][i * 97] == (unsigned char)i;
      free(block[i]);
    }
    free(malloc(1000000));
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  CHECK(forks == FORKS && failures == 0);
  CHECK(fine && workout());
  return check_done();
}
