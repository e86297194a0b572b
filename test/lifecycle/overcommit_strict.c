/* test: timeout=60 */
/* Where the system promises no more memory than it has (vm.overcommit_memory = 2), what is only
   reserved must not count: after a workout no more is committed than is used. The setting is the
   whole machine's, so it is not changed here. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

/* What the system counts as promised to this process is, in part, private and writable. */
static size_t private_writable_kib(void) {
  char line[512];
  size_t kib = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
    unsigned long from = 0, to = 0;
    char rights[5] = "";
    if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && rights[1] == 'w' &&
        strstr(line, "[stack") == NULL) {
      kib += (to - from) / 1024;
    }
  }
  if (maps != NULL) { fclose(maps); }
  return kib;
}

int main(void) {
  char mode[8] = "";
  const size_t before = private_writable_kib();
  CHECK(workout());
  CHECK(private_writable_kib() < before + 64 * 1024); /* the proxy that runs everywhere */
  if (!read_text("/proc/sys/vm/overcommit_memory", mode, sizeof(mode)) || mode[0] != '2') {
    if (check_failures != 0) { return check_done(); }
    return skip("the rest: vm.overcommit_memory is not 2 here");
  }
  CHECK(workout_in_thread());
  void* p = malloc((size_t)1 << 46);
  CHECK(p == NULL);
  free(p);
  CHECK(workout());
  return check_done();
}
