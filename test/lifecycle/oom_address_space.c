/* test: not-emulated="limits of memory have no effect in it" timeout=60 */
/* RLIMIT_AS: filled at five block sizes until NULL with ENOMEM, contents intact, then everything
   freed and usable again; also with threads that meet the limit together. */
#define _GNU_SOURCE
#include "oom.h"

#include <sys/resource.h>

enum { ROOM_MIB = 96 };

static void limit_to(size_t mib_more) {
  const rlim_t bytes = (rlim_t)virtual_kib() * 1024 + ((rlim_t)mib_more << 20);
  const struct rlimit limit = {bytes, bytes};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static int alone(void) {
  limit_to(ROOM_MIB);
  oom_cycle((size_t)ROOM_MIB << 20);
  return check_done();
}

static pthread_barrier_t all_are_there; /* before one of them takes the room for the next stack */

static void* fill_in_thread(void* unused) {
  pthread_barrier_wait(&all_are_there);
  for (int round = 0; round < 5; round++) {
    oom_block_t* list = NULL;
    for (int t = OOM_SIZES - 1; t >= 0; t--) {
      list = oom_fill(list, oom_size[t], (size_t)ROOM_MIB << 20);
    }
    oom_release(list);
  }
  return unused;
}

static int together(void) {
  pthread_t thread[3];
  limit_to(ROOM_MIB + 40); /* room for the stacks */
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_barrier_init(&all_are_there, NULL, 3);
  pthread_attr_setstacksize(&small, 256 * 1024);
  for (int i = 0; i < 3; i++) {
    CHECK(pthread_create(&thread[i], &small, fill_in_thread, NULL) == 0);
  }
  for (int i = 0; i < 3; i++) { pthread_join(thread[i], NULL); }
  CHECK(workout());
  return check_done();
}

int main(void) {
  if (virtual_kib() == 0) { return skip("no /proc/self/status"); }
  CHECK(in_child(alone, 25) == 0);
  CHECK(in_child(together, 25) == 0);
  return check_done();
}
