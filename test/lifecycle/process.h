/* What the tests ask of the system: figures of this process, children with a deadline, a polite way
   to skip. Nothing here allocates, so that the figures are those of the program under test. Works
   as C and as C++. */
#ifndef TEST_PROCESS_H
#define TEST_PROCESS_H

#include "../clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* A case that this machine does not allow: say why, and pass. */
static inline int skip(const char* why) {
  printf("skipped: %s\n", why);
  return 0;
}

/* QEMU has a thread of its own, and keeps memory of each that ends (300 KiB on AArch64) and of what
   it translated, as of unloaded libraries: these are no business of the program. */
static inline bool is_emulated(void) { return getenv("MI_EMULATED") != NULL; }

/* The first n-1 bytes of a file, as a string; false when it cannot be read. */
static inline bool read_text(const char* name, char* buffer, size_t n) {
  const int fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) { return false; }
  size_t have = 0;
  for (;;) {
    const ssize_t got = read(fd, buffer + have, n - 1 - have);
    if (got <= 0) { break; }
    have += (size_t)got;
  }
  close(fd);
  buffer[have] = 0;
  return have > 0;
}

/* A line "Name:   123 kB" of /proc/self/status; 0 when there is none. */
static inline size_t status_value(const char* name) {
  char text[8192];
  if (!read_text("/proc/self/status", text, sizeof(text))) { return 0; }
  const char* line = strstr(text, name);
  return line == NULL ? 0 : (size_t)strtoul(line + strlen(name), NULL, 10);
}
static inline size_t resident_kib(void) { return status_value("\nVmRSS:"); }
/* What the system can take at any moment is resident, but nobody's. */
static inline size_t held_kib(void) {
  char text[4096];
  if (!read_text("/proc/self/smaps_rollup", text, sizeof(text))) { return resident_kib(); }
  const char *all = strstr(text, "\nRss:"), *lazy = strstr(text, "\nLazyFree:");
  if (all == NULL || lazy == NULL) { return resident_kib(); }
  return (size_t)(strtoul(all + strlen("\nRss:"), NULL, 10) -
                  strtoul(lazy + strlen("\nLazyFree:"), NULL, 10));
}
static inline size_t virtual_kib(void) { return status_value("\nVmSize:"); }
static inline size_t locked_kib(void) { return status_value("\nVmLck:"); }
static inline size_t thread_count(void) { return status_value("\nThreads:"); }

static inline long page_faults(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return use.ru_minflt + use.ru_majflt;
}

/* Number of mappings (lines of /proc/self/maps); 0 when it cannot be read. */
static inline size_t mapping_count(void) {
  const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) { return 0; }
  char buffer[16384];
  size_t lines = 0;
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got <= 0) { break; }
    for (ssize_t i = 0; i < got; i++) { lines += (buffer[i] == '\n'); }
  }
  close(fd);
  return lines;
}

/* Wait for a child: 0 when it ended with exit status 0, else its status or 128 + the signal that
   ended it. */
static inline int child_result(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) { return -1; }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Run body in a forked child that must exit by itself within `seconds`. */
static inline int in_child(int (*body)(void), unsigned seconds) {
  fflush(NULL);
  const pid_t pid = fork();
  if (pid < 0) { return -1; }
  if (pid == 0) {
    alarm(seconds);
    const int result = body();
    fflush(NULL);
    _exit(result);
  }
  return child_result(pid);
}

#endif
