/* test: when=glibc timeout=60 */
/* vfork and exec, posix_spawn, system and popen from a threaded process: the parent's memory is
   none the worse. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <spawn.h>

enum { ROUNDS = 15 };
extern char** environ;
static bool stop;

static void* allocate_forever(void* unused) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    for (size_t size = 10; size < 200000; size *= 5) { free(malloc(size)); }
  }
  return unused;
}

static void by_vfork(void) {
  static char name[] = "/bin/sh", option[] = "-c", command[] = "exit 5";
  char* const argv[] = {name, option, command, NULL};
  const pid_t pid = vfork();
  if (pid == 0) {
    execve(argv[0], argv, environ);
    _exit(127);
  }
  CHECK(pid > 0 && child_result(pid) == 5);
}

static void by_failing_vfork(void) {
  const pid_t pid = vfork();
  if (pid == 0) {
    execl("/no/such/program", "none", (char*)NULL);
    _exit(6);
  }
  CHECK(pid > 0 && child_result(pid) == 6);
}

static void by_spawn(void) {
  static char name[] = "sh", option[] = "-c", command[] = "exit 7";
  char* const argv[] = {name, option, command, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  pid_t pid;
  CHECK(posix_spawnp(&pid, "sh", &actions, NULL, argv, environ) == 0);
  CHECK(child_result(pid) == 7);
  posix_spawn_file_actions_destroy(&actions);
  /* an emulator that makes a vfork a fork cannot tell what the child finds out */
  CHECK(is_emulated() ||
        posix_spawn(&pid, "/no/such/program", NULL, NULL, argv, environ) == ENOENT);
}

static void by_shell(void) {
  const int status = system("exit 8");
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 8);
  FILE* f = popen("echo hello", "r");
  char line[20] = "";
  CHECK(f != NULL && fgets(line, sizeof(line), f) == line && strcmp(line, "hello\n") == 0);
  CHECK(pclose(f) == 0);
}

int main(void) {
  pthread_t thread[2];
  for (int i = 0; i < 2; i++) { pthread_create(&thread[i], NULL, allocate_forever, NULL); }
  for (int i = 0; i < ROUNDS; i++) {
    by_vfork();
    by_failing_vfork();
    by_spawn();
    by_shell();
    CHECK(workout());
  }
  __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
  for (int i = 0; i < 2; i++) { pthread_join(thread[i], NULL); }
  return check_done();
}
