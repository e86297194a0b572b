// Runs a program several times with the system's allocator and with a preloaded one, in turn, and
// prints the medians side by side.
//   measure RUNS LIBRARY PROGRAM ARGS...
//
// The order of the two is swapped each round, so that a drift of the machine falls on both. The
// program's stdout is kept in the very first run only. Each run gets the same stdin: a file is
// wound back, piped input is spooled first.
//
// Exit status: that of a run that failed, 128 + n for signal n; 127 if it cannot be started.
#define _GNU_SOURCE
#include "child.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { WALL, CPU, PEAK_RSS, FAULTS, FIGURES };
enum { SYSTEM, OURS, SIDES };
enum { RUNS_MAX = 1000 };

typedef struct {
  const char* library;
  char** command;
  off_t stdin_start;  // -1: cannot be wound back
} plan_t;

typedef struct {
  double figure[FIGURES];
  int status;  // exit status as a shell would give it
} run_t;

static const char* const SIDE_NAME[SIDES] = {"system", "mimalloc"};

static void fail(const char* what, int error) {
  fprintf(stderr, "measure: %s: %s\n", what, strerror(error));
  exit(127);
}

// ---- stdin --------------------------------------------------------------------------------------

static bool is_pipe(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

// Replaces a piped stdin by a file with the same contents; a silent pipe counts as empty.
static void spool_stdin(void) {
  FILE* spool = tmpfile();
  if (spool == NULL) { fail("temporary file", errno); }
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  if (poll(&input, 1, 500) > 0) {
    char part[65536];
    for (ssize_t n; (n = read(STDIN_FILENO, part, sizeof part)) > 0;) {
      if (fwrite(part, 1, (size_t)n, spool) != (size_t)n) { fail("temporary file", errno); }
    }
  }
  fflush(spool);
  rewind(spool);
  dup2(fileno(spool), STDIN_FILENO);
}

static off_t prepare_stdin(void) {
  if (is_pipe(STDIN_FILENO)) { spool_stdin(); }
  return lseek(STDIN_FILENO, 0, SEEK_CUR);
}

// ---- one run ------------------------------------------------------------------------------------

// Puts the library before what LD_PRELOAD already names.
static void set_preload(const char* library, const char* inherited) {
  char* value;
  if (library == NULL) {
    if (inherited != NULL) {
      setenv("LD_PRELOAD", inherited, 1);
    } else {
      unsetenv("LD_PRELOAD");
    }
  } else if (inherited == NULL || inherited[0] == 0) {
    setenv("LD_PRELOAD", library, 1);
  } else if (asprintf(&value, "%s:%s", library, inherited) > 0) {
    setenv("LD_PRELOAD", value, 1);
    free(value);
  }
}

static run_t run_once(const plan_t* plan, int side, bool quiet) {
  const char* inherited = getenv("LD_PRELOAD");
  char* kept = inherited == NULL ? NULL : strdup(inherited);
  set_preload(side == OURS ? plan->library : NULL, kept);
  if (plan->stdin_start >= 0) { lseek(STDIN_FILENO, plan->stdin_start, SEEK_SET); }

  child_t used = child_run(plan->command, quiet, 0);
  if (used.error != 0) { fail(plan->command[0], used.error); }
  if (used.stopped) { exit(128 + SIGTERM); }

  set_preload(NULL, kept);
  free(kept);
  return (run_t){
      .figure = {[WALL] = used.wall,
                 [CPU] = used.user + used.sys,
                 [PEAK_RSS] = (double)used.rss_kib / 1024,
                 [FAULTS] = (double)(used.minor_faults + used.major_faults)},
      .status = used.status,
  };
}

// ---- the table ----------------------------------------------------------------------------------

static int compare_doubles(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(const run_t* runs, int count, int figure) {
  double values[RUNS_MAX];
  for (int i = 0; i < count; i++) { values[i] = runs[i].figure[figure]; }
  qsort(values, (size_t)count, sizeof values[0], compare_doubles);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void print_row(const char* name, const char* format, const double value[SIDES]) {
  char text[SIDES][32];
  for (int side = 0; side < SIDES; side++) {
    snprintf(text[side], sizeof text[side], format, value[side]);
  }
  printf("%-16s %14s %14s", name, text[SYSTEM], text[OURS]);
  if (value[SYSTEM] > 0) {
    printf(" %14.3f\n", value[OURS] / value[SYSTEM]);
  } else {
    printf(" %14s\n", "-");
  }
}

static void print_table(run_t runs[SIDES][RUNS_MAX], int count) {
  static const struct {
    const char *name, *format;
  } ROW[FIGURES] = {[WALL] = {"wall", "%.3f s"},
                    [CPU] = {"CPU (user+sys)", "%.3f s"},
                    [PEAK_RSS] = {"peak RSS", "%.1f MiB"},
                    [FAULTS] = {"page faults", "%.0f"}};
  printf("\nmedian of %d %-5s %14s %14s %14s\n", count, count == 1 ? "run" : "runs",
         SIDE_NAME[SYSTEM], SIDE_NAME[OURS], "ours/system");
  for (int f = 0; f < FIGURES; f++) {
    double value[SIDES];
    for (int side = 0; side < SIDES; side++) { value[side] = median(runs[side], count, f); }
    print_row(ROW[f].name, ROW[f].format, value);
  }
}

// Says how many of a side's runs failed; returns the status of the first of them, or 0.
static int print_failures(const char* side, const run_t* runs, int count) {
  int failed = 0, first = 0;
  for (int i = 0; i < count; i++) {
    if (runs[i].status != 0 && failed++ == 0) { first = runs[i].status; }
  }
  if (failed > 0) {
    fprintf(stderr, "measure: with the %s allocator %d of %d runs failed, the first with %s %d\n",
            side, failed, count, first > 128 ? "signal" : "exit status",
            first > 128 ? first - 128 : first);
  }
  return first;
}

int main(int argc, char** argv) {
  int count = argc > 1 ? atoi(argv[1]) : 0;
  if (argc < 4 || count < 1 || count > RUNS_MAX) {
    fprintf(stderr, "usage: measure RUNS LIBRARY PROGRAM ARGS...   (RUNS: 1 to %d)\n", RUNS_MAX);
    return 2;
  }
  plan_t plan = {.library = argv[2], .command = argv + 3, .stdin_start = prepare_stdin()};
  static run_t runs[SIDES][RUNS_MAX];
  for (int i = 0; i < count; i++) {
    for (int turn = 0; turn < SIDES; turn++) {
      int side = i % 2 == 0 ? turn : SIDES - 1 - turn;
      runs[side][i] = run_once(&plan, side, i > 0 || turn > 0);
    }
  }
  print_table(runs, count);
  fflush(stdout);
  int status[SIDES];
  for (int side = 0; side < SIDES; side++) {
    status[side] = print_failures(SIDE_NAME[side], runs[side], count);
  }
  return status[SYSTEM] != 0 ? status[SYSTEM] : status[OURS];
}
