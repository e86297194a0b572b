/* test: timeout=30 */
/* No hidden thread: after 256 MiB came and went, a process of one thread is still one, and what the
   system allows only to such a process (unshare and setns of a user namespace) still works. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <sched.h>

static int tasks(void) {
  int n = 0;
  DIR* directory = opendir("/proc/self/task");
  if (directory == NULL) { return 1; }
  for (struct dirent* e = readdir(directory); e != NULL; e = readdir(directory)) {
    n += e->d_name[0] != '.';
  }
  closedir(directory);
  return n;
}

static void use_much(void) {
  static void* block[256];
  for (int i = 0; i < 256; i++) { block[i] = memset(malloc(1 << 20), 1, 1 << 20); }
  for (int i = 0; i < 256; i++) { free(block[i]); }
  for (int i = 0; i < 10; i++) {
    sleep_ms(30);
    CHECK(tasks() == 1);
  }
}

/* Without an allocator's doing, is it allowed here? A fork of the fresh process tells. */
static int try_unshare(void) { return unshare(CLONE_NEWUSER) == 0 ? 0 : 1; }

static int unshare_after_use(void) {
  use_much();
  return try_unshare();
}

/* Join the user namespace of a child that made one; fails with EINVAL for a process of several
   threads. */
static int setns_after_use(void) {
  int ready[2];
  CHECK(pipe(ready) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const char answer = (char)(unshare(CLONE_NEWUSER) == 0);
    if (write(ready[1], &answer, 1) == 1) { sleep_ms(10000); }
    _exit(0);
  }
  use_much();
  char name[64];
  char answer = 0;
  CHECK(read(ready[0], &answer, 1) == 1);
  snprintf(name, sizeof(name), "/proc/%d/ns/user", (int)pid);
  const int fd = open(name, O_RDONLY);
  const int result = answer == 1 && fd >= 0 ? setns(fd, CLONE_NEWUSER) : -1;
  const int error = errno;
  kill(pid, SIGKILL);
  child_result(pid);
  if (result != 0) { printf("setns: %s\n", strerror(error)); }
  return result == 0 || error != EINVAL ? check_done() : 1;
}

int main(void) {
  if (in_child(try_unshare, 5) != 0) { return skip("user namespaces are not allowed here"); }
  CHECK(in_child(unshare_after_use, 10) == 0);
  CHECK(in_child(setns_after_use, 15) == 0);
  use_much();
  return check_done();
}
