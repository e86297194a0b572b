/* test: timeout=30 */
/* After its start a process may open and look up nothing more (open, openat, readlink, stat,
   access: EACCES). */
#define _GNU_SOURCE
#include "filter.h"

#include "../check.h"
#include "process.h"
#include "workout.h"

static const long file_calls[] = {
#ifdef SYS_open
    SYS_open,       SYS_readlink, SYS_access,     SYS_stat,      SYS_lstat,
#endif
#ifdef SYS_newfstatat
    SYS_newfstatat,
#else
    SYS_fstatat64, SYS_stat64,  SYS_lstat64,
#endif
    SYS_openat,     SYS_openat2,  SYS_readlinkat, SYS_faccessat, SYS_statx,
};

static int child(void) {
  if (!filter_calls(file_calls, sizeof(file_calls) / sizeof(file_calls[0]), EACCES)) {
    return skip("no seccomp filters here");
  }
  CHECK(open("/dev/null", O_RDONLY) == -1 && errno == EACCES);
  CHECK(workout() && workout_in_thread());
  void* p = malloc(200 << 20);
  CHECK(p != NULL);
  free(p);
  malloc_trim(0);
  CHECK(in_child(workout_of_child, 8) == 0);
  return check_done();
}

int main(void) {
  CHECK(in_child(child, 20) == 0);
  return check_done();
}
