/* test: runs-itself timeout=60 only=preload when="release layout linux" */
/* What it costs a program that does next to nothing to run on this allocator: system calls, page
   faults and resident memory, beside the same program on the system's allocator, and with a library
   preloaded that does nothing: the loader needs some seven calls and five page faults for any.
   Counted by tracing; the least of several runs, as where things lie is random.

   Of the library's own file only what cmake/near.ld.in puts in front is to be resident. A function
   that is called early and not in cmake/near.txt brings another 64 KiB. */
#define _GNU_SOURCE
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "../check.h"
#include "process.h"

/* Beyond any library's. Pages of the C library's file are not counted: how many are resident
   differs by where it comes to lie, by 128 KiB and two page faults. musl writes another page of its
   own for a key of thread-local data, and its loader reads another one of ours. */
#ifdef __GLIBC__
enum { LIBC_KIB = 0 };
#else
enum { LIBC_KIB = 4 };
#endif
enum { RUNS = 15, CALLS_MOST = 12, OWN_MOST_KIB = 40 + LIBC_KIB };
/* Of the file: 24 of tables, 56 of code, 8 of data, and a page or two; clang makes more code. */
#ifdef __clang__
enum { FAULTS_MOST = 13, FILE_MOST_KIB = 120 + LIBC_KIB };
#else
enum { FAULTS_MOST = 12, FILE_MOST_KIB = 92 + LIBC_KIB };
#endif

typedef struct {
  long calls, faults, own_kib, file_kib;
} cost_t;

/* Allocates, as stdio does, and frees, as most programs do, so that a page falls empty. */
static int hello(void) {
  char* volatile text = (char*)malloc(1024);
  char* volatile word = (char*)malloc(100);
  free(word);
  return text == NULL;
}

/* What is resident and no file's. */
static long own_kib(pid_t pid) {
  char name[40], text[8192];
  snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
  const char* line = read_text(name, text, sizeof(text)) ? strstr(text, "\nRssAnon:") : NULL;
  return line == NULL ? 0 : strtol(line + strlen("\nRssAnon:"), NULL, 10);
}

/* Of the files whose names have this in them. */
static long resident_of(pid_t pid, const char* file) {
  char name[40], line[4096];
  long sum = 0;
  bool counts = false;
  snprintf(name, sizeof(name), "/proc/%d/smaps", (int)pid);
  FILE* smaps = fopen(name, "re");
  while (smaps != NULL && fgets(line, sizeof(line), smaps) != NULL) {
    if (line[0] >= 'A' && line[0] <= 'Z') {
      if (counts && strncmp(line, "Rss:", 4) == 0) { sum += strtol(line + 4, NULL, 10); }
    } else {
      counts = strstr(line, file) != NULL;
    }
  }
  if (smaps != NULL) { fclose(smaps); }
  return sum;
}

/* With vfork: what a child of fork copies before it runs the program would be counted as well.
   False where tracing is not allowed. */
static bool run_hello(const char* library, cost_t* cost) {
  char* const arguments[] = {(char*)(size_t)"start_cost", (char*)(size_t)"hello", NULL};
  char preload[4200];
  char* environment[] = {preload, NULL};
  snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library);
  const pid_t pid = vfork();
  if (pid == 0) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) { _exit(77); }
    execve("/proc/self/exe", arguments, environment);
    _exit(127);
  }
  int status = 0, stops = 0;
  struct rusage use;
  cost->own_kib = cost->file_kib = 0;
  while (wait4(pid, &status, 0, &use) == pid && WIFSTOPPED(status)) {
    if (stops++ == 0) { ptrace(PTRACE_SETOPTIONS, pid, NULL, (void*)PTRACE_O_TRACEEXIT); }
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) {
      cost->own_kib = own_kib(pid);
      cost->file_kib = resident_of(pid, "/libmimalloc");
    }
    /* It stops at exec, before and after each call, and at its exit. */
    if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0) { return false; }
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) { return false; }
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  cost->calls = stops / 2;
  cost->faults = use.ru_minflt + use.ru_majflt;
  return true;
}

static void keep_less(long* least, long value) {
  if (value < *least) { *least = value; }
}

static bool measure(const char* what, const char* library, cost_t* least) {
  if (!run_hello(library, least)) { return false; }
  for (int i = 1; i < RUNS; i++) {
    cost_t cost;
    if (!run_hello(library, &cost)) { return false; }
    keep_less(&least->calls, cost.calls);
    keep_less(&least->faults, cost.faults);
    keep_less(&least->own_kib, cost.own_kib);
    keep_less(&least->file_kib, cost.file_kib);
  }
  printf("%s: %ld system calls, %ld page faults, %ld KiB of its own, %ld KiB of our file\n", what,
         least->calls, least->faults, least->own_kib, least->file_kib);
  return true;
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) { return hello(); }
  char nothing[4096];
  const char* directory = getenv("MI_TEST_MODULE_DIR");
  CHECK(directory != NULL);
  snprintf(nothing, sizeof(nothing), "%s/empty.so", directory);
  cost_t ours, any, system;
  if (!measure("this allocator", getenv("LD_PRELOAD"), &ours) ||
      !measure("any library", nothing, &any) || !measure("the system's", "", &system)) {
    return skip("no tracing here");
  }
  CHECK(ours.calls - any.calls <= CALLS_MOST);
  CHECK(ours.faults - any.faults <= FAULTS_MOST);
  CHECK(ours.own_kib - any.own_kib <= OWN_MOST_KIB);
  CHECK(ours.file_kib > 0 && ours.file_kib <= FILE_MOST_KIB);
  return check_done();
}
