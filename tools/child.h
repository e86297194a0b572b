// Runs a program once and tells what it used. For small tools of one process each, measure.c and
// ../bench/launch.c: a program's peak RSS starts from that of the process that starts it.
#ifndef TOOLS_CHILD_H
#define TOOLS_CHILD_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

typedef struct {
  double wall, user, sys;  // seconds; of the program and of the children that it waited for
  long rss_kib, minor_faults, major_faults;
  long mappings;  // the most lines that /proc/PID/maps was seen to have
  int status;     // exit status as a shell would give it
  int error;      // why it could not be run, or 0
  bool stopped;   // this process got a SIGTERM, and passed it on
} child_t;

// Mappings are counted this often, and less often later on.
enum { CHILD_FIRST_POLL_MS = 10, CHILD_LAST_POLL_MS = 100 };

static inline double child_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double child_seconds(struct timeval t) {
  return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static inline long child_mappings(pid_t program) {
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

static inline int child_start(pid_t* program, char** command, const sigset_t* mask, bool quiet) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  int error = posix_spawnp(program, command[0], &actions, &attributes, command, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

// Waits for the program's end, or for a signal to this process, at most that long; returns the
// signal.
static inline int child_wait_ms(const sigset_t* waited_for, int ms) {
  struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
  return sigtimedwait(waited_for, NULL, &time);
}

// With this process's environment. `quiet`: without its stdout. `limit`: seconds after which it is
// killed; 0: none.
static inline child_t child_run(char** command, bool quiet, double limit) {
  sigset_t waited_for, before;
  sigemptyset(&waited_for);
  sigaddset(&waited_for, SIGCHLD);
  sigaddset(&waited_for, SIGTERM);
  sigprocmask(SIG_BLOCK, &waited_for, &before);

  child_t child = {0};
  double begin = child_now();
  pid_t program;
  child.error = child_start(&program, command, &before, quiet);
  struct rusage use = {0};
  int status = 0, poll_ms = CHILD_FIRST_POLL_MS;
  while (child.error == 0) {
    pid_t ended = wait4(program, &status, WNOHANG, &use);
    if (ended == program) { break; }
    if (ended < 0 && errno != EINTR) { child.error = errno; }
    long now = child_mappings(program);
    if (now > child.mappings) { child.mappings = now; }
    if (limit > 0 && child_now() - begin > limit) { kill(program, SIGKILL); }
    if (child_wait_ms(&waited_for, poll_ms) == SIGTERM) {
      child.stopped = true;
      kill(program, SIGTERM);
    }
    if (poll_ms < CHILD_LAST_POLL_MS) { poll_ms++; }
  }
  child.wall = child_now() - begin;
  child.user = child_seconds(use.ru_utime);
  child.sys = child_seconds(use.ru_stime);
  child.rss_kib = use.ru_maxrss;
  child.minor_faults = use.ru_minflt;
  child.major_faults = use.ru_majflt;
  child.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return child;
}

#endif
