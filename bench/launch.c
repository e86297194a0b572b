// Runs a program once and prints what it used.
//   launch FIGURES LIMIT PRELOAD PROGRAM ARGS...
//
// FIGURES is the file to write to: one line
//   wall user sys maxrss_kib minor_faults major_faults mappings exit_status
// times in seconds, those of the program and of the children that it waited for; mappings: the most
// that it was seen to have. LIMIT: seconds after which the program is killed. PRELOAD becomes its
// LD_PRELOAD; -: none.
//
// It is not preloaded itself. On SIGTERM it passes the signal on to the program, and waits on.
// Its exit status is the program's as a shell would give it, 127 if it cannot be started.
#define _GNU_SOURCE
#include "../tools/child.h"

#include <stdlib.h>

static int fail(const char* what, int error) {
  fprintf(stderr, "launch: %s: %s\n", what, strerror(error));
  return 127;
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: launch FIGURES LIMIT PRELOAD PROGRAM ARGS...\n");
    return 2;
  }
  FILE* figures = fopen(argv[1], "we");
  if (figures == NULL) { return fail(argv[1], errno); }
  if (strcmp(argv[3], "-") != 0) { setenv("LD_PRELOAD", argv[3], 1); }
  child_t used = child_run(argv + 4, false, atof(argv[2]));
  if (used.error != 0) { return fail(argv[4], used.error); }
  fprintf(figures, "%.6f %.6f %.6f %ld %ld %ld %ld %d\n", used.wall, used.user, used.sys,
          used.rss_kib, used.minor_faults, used.major_faults, used.mappings, used.status);
  fclose(figures);
  return used.status;
}
