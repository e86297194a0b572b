/* test: runs-itself timeout=60 */
/* A program starts, threads and all, under limits barely larger than itself: 40, 64, 200 and 1200
   MiB of address space, 64 MiB of data, a small stack. With less, whatever suffices for its first
   blocks, more does too. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <sys/personality.h>
#include <sys/resource.h>

enum { MIB = 1024 }; /* in KiB */

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

static int first_blocks(void) { return malloc(100) != NULL && malloc(100000) != NULL ? 0 : 1; }

static int start_under(char** argv, const char* what, int resource, size_t kib) {
  char* const again[] = {argv[0], (char*)(size_t)what, NULL};
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) {
    const struct rlimit limit = {(rlim_t)kib << 10, (rlim_t)kib << 10};
    alarm(10);
    if (setrlimit(resource, &limit) != 0) { _exit(88); }
    execv("/proc/self/exe", again);
    _exit(77);
  }
  return child_result(pid);
}

/* At the same addresses each time: by luck a mapping needs no room to be aligned. */
static void test_more_suffices(char** argv) {
  bool suffices = false;
  (void)personality(ADDR_NO_RANDOMIZE); /* of who begins from now on */
  for (size_t kib = 8 * MIB; kib <= 20 * MIB; kib += 512) {
    const bool fine = start_under(argv, "first blocks", RLIMIT_AS, kib) == 0;
    CHECK(fine || !suffices);
    suffices |= fine;
  }
}

int main(int argc, char** argv) {
  if (argc > 1) { return strcmp(argv[1], "workout") == 0 ? limited() : first_blocks(); }
  CHECK(start_under(argv, "workout", RLIMIT_AS, 40 * MIB) == 0);
  CHECK(start_under(argv, "workout", RLIMIT_AS, 64 * MIB) == 0);
  CHECK(start_under(argv, "workout", RLIMIT_AS, 200 * MIB) == 0);
  CHECK(start_under(argv, "workout", RLIMIT_AS, 1200 * MIB) == 0);
  CHECK(start_under(argv, "workout", RLIMIT_DATA, 64 * MIB) == 0);
  CHECK(start_under(argv, "workout", RLIMIT_STACK, 1 * MIB) == 0);
  test_more_suffices(argv);
  return check_done();
}
