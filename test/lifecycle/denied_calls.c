/* test: runs-itself timeout=60 */
/* Calls that a sandbox may forbid: getrandom, mbind, prctl, sysinfo, membarrier, sched_getaffinity
   and the like fail with EPERM or ENOSYS, in the running process and from the first instruction of
   a new one. Everything goes on. */
#define _GNU_SOURCE
#include "filter.h"

#include "../check.h"
#include "process.h"
#include "workout.h"

static const long optional_calls[] = {
    SYS_getrandom, SYS_mbind,      SYS_set_mempolicy,     SYS_get_mempolicy,
    SYS_sysinfo,   SYS_membarrier, SYS_sched_getaffinity, SYS_getcpu,
    SYS_uname,     SYS_getrusage,
};
static const long only_getrandom[] = {SYS_getrandom};
static const long prctl_call[] = {SYS_prctl};
enum { OPTIONAL_CALLS = sizeof(optional_calls) / sizeof(optional_calls[0]) };

static const long* numbers;
static int count;
static int error;
static char** arguments;

static bool everything_works(void) {
  bool fine = workout() && workout_in_thread();
  void* p = malloc(100 << 20);
  fine &= p != NULL;
  free(p);
  malloc_trim(0);
  return fine && workout();
}

static int use(void) { return everything_works() ? 0 : 1; }

/* Denied to the process itself, which then forks as well. */
static int denied_here(void) {
  if (!filter_calls(numbers, count, error)) { return skip("no seccomp filters here"); }
  return everything_works() && in_child(use, 8) == 0 ? 0 : 1;
}

/* Denied to a program from its start on. */
static int denied_at_start(void) {
  char* const again[] = {arguments[0], (char*)(size_t)"again", NULL};
  if (!filter_calls(numbers, count, error)) { return skip("no seccomp filters here"); }
  execv("/proc/self/exe", again);
  return 77;
}

static void deny(const long* calls, int n, int with) {
  numbers = calls;
  count = n;
  error = with;
  CHECK(in_child(denied_here, 10) == 0);
  CHECK(in_child(denied_at_start, 10) == 0);
}

int main(int argc, char** argv) {
  if (argc > 1) { return use(); }
  arguments = argv;
  const int errors[] = {EPERM, ENOSYS, EINVAL};
  for (int i = 0; i < 3; i++) {
    deny(optional_calls, OPTIONAL_CALLS, errors[i]);
    deny(only_getrandom, 1, errors[i]);
    deny(prctl_call, 1, errors[i]);
  }
  return check_done();
}
