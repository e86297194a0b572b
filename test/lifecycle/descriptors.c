/* test: runs-itself timeout=30 */
/* The allocator holds no file open: a fresh descriptor is the lowest free number, before and after
   much use, and in threads and children; and closing them all from 3 on does it no harm. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

static int open_descriptors(void) {
  int n = 0;
  for (int fd = 0; fd < 1024; fd++) { n += fcntl(fd, F_GETFD) != -1; }
  return n;
}

static int open_in_exec(char** argv) {
  char* const again[] = {argv[0], (char*)(size_t)"again", NULL};
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(15);
    for (int fd = 3; fd < 1024; fd++) { close(fd); }
    execv("/proc/self/exe", again);
    _exit(77);
  }
  return child_result(pid);
}

int main(int argc, char** argv) {
  if (argc > 1) { /* started with 0, 1, 2 and no others */
    const int at_main = open_descriptors();
    return workout() && at_main == 3 && open_descriptors() == 3 ? 0 : 1;
  }
  const int before = open_descriptors();
  CHECK(workout() && workout_in_thread());
  for (int i = 0; i < 20; i++) { free(memset(malloc(20 << 20), 1, 20 << 20)); }
  malloc_trim(0);
  CHECK(open_descriptors() == before);
  CHECK(open_in_exec(argv) == 0);
  for (int fd = 3; fd < 1024; fd++) { close(fd); }
  CHECK(workout() && workout_in_thread());
  CHECK(open("/dev/null", O_RDONLY) == 3);
  return check_done();
}
