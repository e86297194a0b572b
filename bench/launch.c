// Runs a program once and prints what it used.
//   launch FIGURES LIMIT PRELOAD PROGRAM ARGS...
//
// FIGURES is the file to write to: one line
//   wall user sys maxrss_kib minor_faults major_faults mappings exit_status
// times in seconds, those of the program and of the children that it waited for; mappings: the most
// lines that /proc/PID/maps was seen to have. LIMIT: seconds after which the program is killed.
// PRELOAD becomes its LD_PRELOAD; -: none.
//
// It is a small process of its own because a program's peak RSS starts from its launcher's, and it
// is not preloaded itself. On SIGTERM it passes the signal on to the program and goes on waiting.
// Its exit status is the program's as a shell would give it, 127 if it cannot be started.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

// Mappings are counted this often, and less often later on.
enum { FIRST_POLL_MS = 10, LAST_POLL_MS = 100 };

static void fail(const char* what, int error) {
  fprintf(stderr, "launch: %s: %s\n", what, strerror(error));
  exit(127);
}

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

static long count_mappings(pid_t program) {
  char path[64], part[65536];
  snprintf(path, sizeof path, "/proc/%d/maps", (int)program);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) { return 0; }
  long lines = 0;
  for (ssize_t n; (n = read(file, part, sizeof part)) > 0;) {
    for (ssize_t i = 0; i < n; i++) { lines += part[i] == '\n'; }
  }
  close(file);
  return lines;
}

static pid_t start(char** command, const char* preload) {
  if (strcmp(preload, "-") != 0) { setenv("LD_PRELOAD", preload, 1); }
  posix_spawnattr_t attributes;  // the signals that are blocked here are not to be there
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t program;
  int error = posix_spawnp(&program, command[0], NULL, &attributes, command, environ);
  if (error != 0) { fail(command[0], error); }
  return program;
}

// Waits for the program's end, or for a signal to this one, at most that long; returns the signal.
static int wait_ms(const sigset_t* waited_for, int ms) {
  struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
  return sigtimedwait(waited_for, NULL, &time);
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: launch FIGURES LIMIT PRELOAD PROGRAM ARGS...\n");
    return 2;
  }
  FILE* figures = fopen(argv[1], "we");
  if (figures == NULL) { fail(argv[1], errno); }
  double limit = atof(argv[2]);
  sigset_t waited_for;
  sigemptyset(&waited_for);
  sigaddset(&waited_for, SIGCHLD);
  sigaddset(&waited_for, SIGTERM);
  sigprocmask(SIG_BLOCK, &waited_for, NULL);

  double begin = seconds_now();
  pid_t program = start(argv + 4, argv[3]);
  struct rusage use;
  int status, poll_ms = FIRST_POLL_MS;
  long mappings = 0;
  for (;;) {
    pid_t ended = wait4(program, &status, WNOHANG, &use);
    if (ended == program) { break; }
    if (ended < 0 && errno != EINTR) { fail("wait", errno); }
    long now = count_mappings(program);
    if (now > mappings) { mappings = now; }
    if (seconds_now() - begin > limit) { kill(program, SIGKILL); }
    if (wait_ms(&waited_for, poll_ms) == SIGTERM) { kill(program, SIGTERM); }
    if (poll_ms < LAST_POLL_MS) { poll_ms++; }
  }
  double wall = seconds_now() - begin;

  int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  fprintf(figures, "%.6f %.6f %.6f %ld %ld %ld %ld %d\n", wall, seconds(use.ru_utime),
          seconds(use.ru_stime), use.ru_maxrss, use.ru_minflt, use.ru_majflt, mappings, code);
  fclose(figures);
  return code;
}
