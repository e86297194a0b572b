/* test: only=preload runs-itself timeout=60 */
/* The table at exit, of a child: it says whose it is, has a column for what was given back, and
   comes also after the program has closed its standard error, as coreutils do. The copy that this
   takes is never the program's: it lies far from the numbers that its files get, children that
   exec do not have it, and if the program closes all it has and opens another file under that
   number, nothing is written there. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"

static bool contains(const char* text, const char* part) { return strstr(text, part) != NULL; }

enum { LAST_NUMBER = 1023 };

static int child(const char* mode) {
  int numbers = 0;
  free(malloc(100));
  const int next = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (next != 3) { return 2; } /* the lowest number that was free */
  for (int fd = 0; fd <= LAST_NUMBER; fd++) { numbers += fcntl(fd, F_GETFD) != -1; }
  if (strcmp(mode, "count") == 0) { return numbers; }
  if (strcmp(mode, "exec") == 0) {
    unsetenv("MIMALLOC_SHOW_STATS");
    execl("/proc/self/exe", "again", "count", (char*)NULL);
    return 3;
  }
  if (strcmp(mode, "others") == 0) { /* each number is another file's */
    for (int fd = 3; fd <= LAST_NUMBER; fd++) { dup2(next, fd); }
    close(2);
  }
  if (strcmp(mode, "close") == 0) { fclose(stderr); }
  return 0;
}

/* What the child writes to its standard error; its exit status. */
static int run(const char* mode, const char* stats, char* text, size_t size) {
  int ends[2];
  CHECK(pipe2(ends, O_CLOEXEC) == 0);
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    dup2(ends[1], 2);
    for (int fd = 3; fd <= LAST_NUMBER; fd++) { close(fd); }
    setenv("MIMALLOC_SHOW_STATS", stats, 1);
    execl("/proc/self/exe", "stats_at_exit", mode, (char*)NULL);
    _exit(77);
  }
  close(ends[1]);
  size_t have = 0;
  ssize_t got = 0;
  while ((got = read(ends[0], text + have, size - 1 - have)) > 0) { have += (size_t)got; }
  text[have] = 0;
  close(ends[0]);
  return child_result(pid);
}

static void check_table(const char* text) {
  CHECK(contains(text, "process: stats_at_exit, id ") ||
        contains(text, "process: a program, id ")); /* POSIX tells no names */
  CHECK(contains(text, "peak       total       freed     current\n"));
}

int main(int argc, char** argv) {
  if (argc > 1) { return child(argv[1]); }
  (void)argv;
  static char text[64 << 10];
  CHECK(run("plain", "1", text, sizeof(text)) == 0);
  check_table(text);
  CHECK(run("close", "1", text, sizeof(text)) == 0);
  check_table(text);
  CHECK(run("others", "1", text, sizeof(text)) == 0 && text[0] == 0);
  CHECK(run("count", "0", text, sizeof(text)) == 4);
  CHECK(run("count", "1", text, sizeof(text)) == 5); /* the copy */
  CHECK(run("exec", "1", text, sizeof(text)) == 4);
  return check_done();
}
