/* Forks from many threads at once, while these allocate: the system tells the zone of each once, it
   is locked from then until the fork is done, and the child can free what others have allocated.
   forks THREADS TIMES */
#include <malloc/malloc.h>
#include <mach/mach.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { MOST = 16, BLOCKS = 100, CHILD_SECONDS = 60 };

static malloc_zone_t* zone;
static malloc_introspection_t before;
static _Atomic(int) prepared, done, done_in_child;
static void* _Atomic shared[MOST];
static int times;

static void force_lock(malloc_zone_t* z) {
  CHECK(!before.zone_locked(z));
  before.force_lock(z);
  CHECK(before.zone_locked(z));
  prepared++;
}

static void unlocked(malloc_zone_t* z, void (*unlock)(malloc_zone_t*)) {
  CHECK(before.zone_locked(z));
  unlock(z);
  CHECK(!before.zone_locked(z));
}

static void force_unlock(malloc_zone_t* z) {
  done++;
  unlocked(z, before.force_unlock);
}

static void reinit_lock(malloc_zone_t* z) {
  done_in_child++;
  unlocked(z, before.reinit_lock);
}

static void allocate(unsigned seed) {
  void* blocks[BLOCKS];
  for (unsigned i = 0; i < BLOCKS; i++) { blocks[i] = malloc((seed + i * 97) % 3000); }
  for (unsigned i = 0; i < BLOCKS; i++) { free(blocks[i]); }
}

static int child(void) {
  alarm(CHILD_SECONDS);
  CHECK(prepared > done && done_in_child == 1);
  for (int i = 0; i < MOST; i++) { free(shared[i]); } /* of threads that are not there */
  allocate(1);
  return check_failures != 0;
}

static void* run(void* at) {
  void* _Atomic* own = at;
  for (int i = 0; i < times; i++) {
    int status = -1;
    allocate((unsigned)i);
    *own = malloc((size_t)i * 10);
    const pid_t id = fork();
    if (id == 0) { _exit(child()); }
    CHECK(id > 0 && waitpid(id, &status, 0) == id && status == 0);
    free(atomic_exchange(own, NULL));
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[MOST];
  const int count = argc > 2 ? atoi(argv[1]) : 0;
  times = argc > 2 ? atoi(argv[2]) : 0;
  if (count < 1 || count > MOST) { return 2; }
  void* p = malloc(1);
  zone = malloc_zone_from_ptr(p);
  free(p);
  CHECK(strcmp(zone->zone_name, "mimalloc") == 0);
  before = *zone->introspect;
  zone->introspect->force_lock = force_lock;
  zone->introspect->force_unlock = force_unlock;
  zone->introspect->reinit_lock = reinit_lock;
  for (int i = 0; i < count; i++) { pthread_create(&threads[i], NULL, run, (void*)&shared[i]); }
  for (int i = 0; i < count; i++) { pthread_join(threads[i], NULL); }
  CHECK(prepared == count * times && done == prepared && done_in_child == 0);
  return check_done();
}
