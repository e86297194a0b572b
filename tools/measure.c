// Runs a program several times with the system's allocator and with a preloaded one, in turn, and
// prints the medians side by side.
//   measure RUNS LIBRARY PROGRAM ARGS...
//
// It is a small process of its own because a child's peak RSS starts from its launcher's. The order
// of the two is swapped each round, so that a drift of the machine falls on both. The program's
// stdout is kept in the very first run only. Each run gets the same stdin: a file is wound back,
// piped input is spooled first.
//
// Exit status: that of a run that failed, 128 + n for signal n; 127 if it cannot be started.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

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

static double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

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

static pid_t start(const plan_t* plan, bool quiet) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t child;
  int error = posix_spawnp(&child, plan->command[0], &actions, NULL, plan->command, environ);
  if (error != 0) { fail(plan->command[0], error); }
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

static run_t run_once(const plan_t* plan, int side, bool quiet) {
  const char* inherited = getenv("LD_PRELOAD");
  char* kept = inherited == NULL ? NULL : strdup(inherited);
  set_preload(side == OURS ? plan->library : NULL, kept);
  if (plan->stdin_start >= 0) { lseek(STDIN_FILENO, plan->stdin_start, SEEK_SET); }

  double begin = seconds_now();
  pid_t child = start(plan, quiet);
  int status;
  struct rusage use;
  while (wait4(child, &status, 0, &use) < 0) {
    if (errno != EINTR) { fail("wait", errno); }
  }
  double end = seconds_now();

  set_preload(NULL, kept);
  free(kept);
  return (run_t){
      .figure = {[WALL] = end - begin,
                 [CPU] = seconds(use.ru_utime) + seconds(use.ru_stime),
                 [PEAK_RSS] = (double)use.ru_maxrss / 1024,
                 [FAULTS] = (double)(use.ru_minflt + use.ru_majflt)},
      .status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
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
