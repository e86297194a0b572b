/* test: timeout=60 */
/* A sandbox that allows what a program cannot live without, and refuses all else, madvise and
   mremap among it: allocation goes on, in new threads and children too. Memory cannot be given back
   then, but what is freed is used again. */
#define _GNU_SOURCE
#include "filter.h"

#include "../check.h"
#include "process.h"
#include "workout.h"

static const long essential[] = {
    CALLS_ALL_NEED,   SYS_rt_sigreturn, SYS_tgkill, SYS_kill,
#ifdef SYS_futex_time64
    SYS_futex_time64,
#endif
};
enum { ESSENTIAL = sizeof(essential) / sizeof(essential[0]) };

static int errors[] = {EPERM, ENOSYS};
static int error;

static bool large_ones(void) {
  bool fine = true;
  for (int i = 0; i < 40; i++) { /* 4 GiB in all */
    unsigned char* p = (unsigned char*)calloc(1, 100 << 20);
    fine &= p != NULL && p[0] == 0 && p[(100 << 20) - 1] == 0;
    if (p == NULL) { break; }
    p[0] = p[50 << 20] = 1;
    free(p);
  }
  return fine;
}

static int child(void) {
  if (!filter_all_but(essential, ESSENTIAL, error)) { return skip("no seccomp filters here"); }
  CHECK(workout() && workout_in_thread());
  CHECK(large_ones());
  malloc_trim(0);
  CHECK(workout());
  CHECK(in_child(workout_of_child, 10) == 0);
  return check_done();
}

int main(void) {
  for (int i = 0; i < 2; i++) {
    error = errors[i];
    CHECK(in_child(child, 20) == 0);
  }
  return check_done();
}
