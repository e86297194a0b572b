/* test: runs-itself timeout=60 */
/* A program starts, threads and all, under limits barely larger than itself: 40, 64, 200 and 1200
   MiB of address space, 64 MiB of data, a small stack. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <sys/resource.h>

static void* use(void* fine) {
  *(bool*)fine = workout();
  return NULL;
}

static int limited(void) {
  bool fine = workout();
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128 * 1024);
  for (int i = 0; i < 10; i++) {
    bool in_thread = false;
    pthread_t thread;
    fine &= pthread_create(&thread, &small, use, &in_thread) == 0;
    pthread_join(thread, NULL);
    fine &= in_thread;
  }
  return fine ? 0 : 1;
}

static int start_under(char** argv, int resource, size_t mib) {
  char* const again[] = {argv[0], (char*)(size_t)"again", NULL};
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) {
    const struct rlimit limit = {(rlim_t)mib << 20, (rlim_t)mib << 20};
    alarm(10);
    if (setrlimit(resource, &limit) != 0) { _exit(88); }
    execv("/proc/self/exe", again);
    _exit(77);
  }
  return child_result(pid);
}

int main(int argc, char** argv) {
  if (argc > 1) { return limited(); }
  CHECK(start_under(argv, RLIMIT_AS, 40) == 0);
  CHECK(start_under(argv, RLIMIT_AS, 64) == 0);
  CHECK(start_under(argv, RLIMIT_AS, 200) == 0);
  CHECK(start_under(argv, RLIMIT_AS, 1200) == 0);
  CHECK(start_under(argv, RLIMIT_DATA, 64) == 0);
  CHECK(start_under(argv, RLIMIT_STACK, 1) == 0);
  return check_done();
}
