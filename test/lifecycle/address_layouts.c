/* test: runs-itself timeout=30 */
/* Programs whose address space is laid out otherwise: without randomisation, in the old bottom-up
   order, with a stack that has no limit, with 3 GiB below the usual place. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <sys/personality.h>
#include <sys/resource.h>

static int run_as(char** argv, unsigned long kind, bool endless_stack) {
  char* const again[] = {argv[0], (char*)(size_t)"again", NULL};
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(10);
    const struct rlimit endless = {RLIM_INFINITY, RLIM_INFINITY};
    if (endless_stack && setrlimit(RLIMIT_STACK, &endless) != 0) { _exit(0); }
    if (personality(kind) == -1) { _exit(0); }
    execv("/proc/self/exe", again);
    _exit(77);
  }
  return child_result(pid);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    void* p = malloc((size_t)300 << 20);
    const bool fine = p != NULL && workout();
    free(p);
    return fine ? 0 : 1;
  }
  CHECK(run_as(argv, ADDR_NO_RANDOMIZE, false) == 0);
  CHECK(run_as(argv, ADDR_COMPAT_LAYOUT, false) == 0);
  CHECK(run_as(argv, ADDR_NO_RANDOMIZE | ADDR_COMPAT_LAYOUT, true) == 0);
  CHECK(run_as(argv, ADDR_LIMIT_3GB, false) == 0);
  CHECK(run_as(argv, 0, true) == 0);
  return check_done();
}
