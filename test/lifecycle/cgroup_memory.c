/* test: not-emulated="what the emulator needs counts too" timeout=120 when="linux|unix" */
/* A control group with a limit of 96 MiB: a process that never has more than 40 MiB in use, in
   blocks of every size, survives there however much it allocates in all. Needs root, and a memory
   controller of version 1 or 2 that can be written to. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <sys/stat.h>

enum { LIMIT_MIB = 96, LIVE_BYTES = 40 << 20, ROUNDS = 40, MOST = 40000 };

static char group[100];

static bool write_text(const char* name, const char* text) {
  char path[200];
  snprintf(path, sizeof(path), "%s/%s", group, name);
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  const bool fine = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  if (fd >= 0) { close(fd); }
  return fine;
}

/* The group is made, with its limit; where that cannot be, nothing is left behind. */
static bool make_group(void) {
  static const char* const roots[] = {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"};
  static const char* const files[] = {"memory.limit_in_bytes", "memory.max"};
  char limit[30];
  snprintf(limit, sizeof(limit), "%d", LIMIT_MIB << 20);
  for (int version = 0; version < 2; version++) {
    snprintf(group, sizeof(group), "%s/allocator-test-%d", roots[version], (int)getpid());
    if (mkdir(group, 0755) != 0) { continue; }
    if (write_text(files[version], limit)) { return true; }
    rmdir(group);
  }
  return false;
}

/* As many blocks of about this size as make 40 MiB, all touched, freed in another order. */
static void fill_and_free(size_t size) {
  static unsigned char* block[MOST];
  size_t count = LIVE_BYTES / size;
  if (count > MOST) { count = MOST; }
  for (size_t i = 0; i < count; i++) {
    block[i] = (unsigned char*)malloc(size - i % 7);
    CHECK(block[i] != NULL);
    if (block[i] != NULL) { memset(block[i], (int)i, size - i % 7); }
  }
  for (size_t start = 0; start < 3; start++) {
    for (size_t i = start; i < count; i += 3) {
      CHECK(block[i] == NULL || block[i][0] == (unsigned char)i);
      free(block[i]);
    }
  }
}

static int child(void) {
  static const size_t sizes[] = {1100, 5000, 20000, 70000, 300000, 2000000, 39000000};
  if (!write_text("cgroup.procs", "0")) { return 77; }
  for (int round = 0; round < ROUNDS; round++) { fill_and_free(sizes[(round * 3) % 7]); }
  CHECK(workout() && workout_in_thread());
  return check_done();
}

int main(void) {
  if (!make_group()) { return skip("no control group for memory can be made here"); }
  const int result = in_child(child, 60);
  for (int i = 0; i < 100 && rmdir(group) != 0; i++) { sleep_ms(20); }
  if (result == 77) { return skip("a process cannot be put into the group"); }
  CHECK(result == 0); /* 137: it was killed, for it used more than it had */
  return check_done();
}
