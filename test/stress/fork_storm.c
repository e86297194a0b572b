/* test: timeout=120 when="glibc release|debug|secure|guarded threads posix"
   Forks while other threads allocate, purge, make heaps and delete or destroy them: each child
   finds every lock free and every list whole, allocates, starts a thread, makes a heap of its own,
   and the parent is none the worse. */
#define _GNU_SOURCE 1
#include "stress.h"

#include <sys/wait.h>

enum { KINDS = 3, CHILD_SECONDS = 20, HEAP_BLOCKS = 100 };

static _Atomic(bool) stop;
static stress_args_t args;

static void heap_life(uint64_t* seed) {
  mi_heap_t* heap = mi_heap_new();
  parcel_t* kept[HEAP_BLOCKS];
  const bool destroy = random_below(seed, 2) == 0;
  CHECK(heap != NULL);
  if (heap == NULL) { return; }
  for (size_t i = 0; i < HEAP_BLOCKS; i++) { kept[i] = parcel_new(heap, stress_size(seed, 14), i); }
  if (destroy) {
    mi_heap_destroy(heap);
    return;
  }
  mi_heap_delete(heap);
  for (size_t i = 0; i < HEAP_BLOCKS; i++) { parcel_free(kept[i]); }
}

static void allocate(uint64_t* seed) {
  parcel_t* kept[HEAP_BLOCKS];
  for (size_t i = 0; i < HEAP_BLOCKS; i++) { kept[i] = parcel_new(NULL, stress_size(seed, 16), i); }
  for (size_t i = 0; i < HEAP_BLOCKS; i++) { parcel_free(kept[i]); }
}

static void* work(void* arg) {
  const size_t self = (size_t)(uintptr_t)arg;
  uint64_t seed = stress_seed(args.seed, self);
  while (!atomic_load(&stop)) {
    switch (self % KINDS) {
      case 0: heap_life(&seed); break;
      case 1: allocate(&seed); break;
      default:
        allocate(&seed);
        mi_collect(true); /* purges */
        break;
    }
  }
  return NULL;
}

static void* child_thread(void* arg) {
  uint64_t seed = (uint64_t)(uintptr_t)arg;
  heap_life(&seed);
  allocate(&seed);
  return NULL;
}

static int child(uint64_t seed, parcel_t* known) {
  alarm(CHILD_SECONDS);
  check_failures = 0;
  parcel_free(known);
  heap_life(&seed);
  allocate(&seed);
  pthread_join(stress_start(child_thread, (void*)(uintptr_t)seed), NULL);
  mi_collect(true);
  return check_failures == 0 ? 0 : 1;
}

static void fork_once(uint64_t* seed) {
  int status = -1;
  parcel_t* known = parcel_new(NULL, stress_size(seed, 18), 7);
  const pid_t pid = fork();
  if (pid == 0) { _exit(child(random_next(seed), known)); }
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
  parcel_free(known);
}

int main(int argc, char** argv) {
  args = stress_args(argc, argv, 2 * KINDS, 120);
  uint64_t seed = stress_seed(args.seed, STRESS_MAX_THREADS);
  const size_t before = stress_resident();
  pthread_t threads[STRESS_MAX_THREADS];
  for (size_t i = 0; i < args.threads; i++) {
    threads[i] = stress_start(work, (void*)(uintptr_t)i);
  }
  for (size_t i = 0; i < args.iterations && check_failures == 0; i++) { fork_once(&seed); }
  atomic_store(&stop, true);
  for (size_t i = 0; i < args.threads; i++) { pthread_join(threads[i], NULL); }
  mi_collect(true);
  stress_check_resident(before + 16 * STRESS_MIB, "nothing is live");
  return check_done();
}
