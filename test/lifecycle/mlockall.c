/* test: not-emulated="its own memory would be locked" timeout=30 */
/* mlockall locks what is used, not what is reserved: with MCL_CURRENT | MCL_FUTURE a small program
   stays under 64 MiB, and allocation goes on, threads too. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <sys/mman.h>
#include <sys/resource.h>

enum { CEILING_KIB = 64 * 1024 };

static int lock_then_use(int flags) {
  if (mlockall(flags) != 0) {
    printf("skipped: mlockall is not allowed here\n");
    return 0;
  }
  CHECK(resident_kib() < CEILING_KIB && locked_kib() < (size_t)CEILING_KIB * 2);
  CHECK(workout());
  static void* block[8];
  for (int i = 0; i < 8; i++) { block[i] = memset(malloc(1 << 20), 1, 1 << 20); }
  CHECK(resident_kib() < CEILING_KIB);
  for (int i = 0; i < 8; i++) { free(block[i]); }
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 * 1024);
  for (int i = 0; i < 4; i++) {
    bool fine = false;
    pthread_t thread;
    CHECK(pthread_create(&thread, &small, workout_thread, &fine) == 0);
    pthread_join(thread, NULL);
    CHECK(fine);
  }
  printf("%zu KiB resident, %zu KiB locked\n", resident_kib(), locked_kib());
  CHECK(resident_kib() < CEILING_KIB);
  return check_done();
}

static int all(void) { return lock_then_use(MCL_CURRENT | MCL_FUTURE); }
static int future(void) { return lock_then_use(MCL_FUTURE); }

/* An ordinary user with the usual 8 MiB to lock: whatever mlockall says, malloc gives a block or
   NULL. */
static int limited(void) {
  struct rlimit limit = {8 << 20, 8 << 20};
  setrlimit(RLIMIT_MEMLOCK, &limit);
  if (geteuid() == 0 && setuid(65534) != 0) { return 0; }
  if (mlockall(MCL_FUTURE) != 0) { return 0; }
  for (int i = 0; i < 2000; i++) {
    void* p = malloc(100);
    if (p == NULL) { break; }
    memset(p, 1, 100);
  }
  return check_done();
}

int main(void) {
  CHECK(in_child(all, 10) == 0);
  CHECK(in_child(future, 10) == 0);
  CHECK(in_child(limited, 10) == 0);
  return check_done();
}
