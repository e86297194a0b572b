/* test: not-emulated="limits of memory have no effect in it" timeout=60 */
/* RLIMIT_DATA, which counts what is writable and private: the same promises as for the address
   space. */
#define _GNU_SOURCE
#include "oom.h"

#include <sys/resource.h>

enum { ROOM_MIB = 80 };

static int child(void) {
  const rlim_t bytes = ((rlim_t)status_value("\nVmData:") * 1024) + ((rlim_t)ROOM_MIB << 20);
  const struct rlimit limit = {bytes, bytes};
  CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
  oom_cycle((size_t)ROOM_MIB << 20);
  return check_done();
}

int main(void) {
  if (status_value("\nVmData:") == 0) { return skip("no VmData in /proc/self/status"); }
  CHECK(in_child(child, 40) == 0);
  return check_done();
}
