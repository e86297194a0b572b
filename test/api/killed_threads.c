/* test: timeout=240 when="strict" (the port whose threads can be stopped for good) */
/* The process ends after its other threads were ended, wherever they were, in the middle of changes
   too: what the last thread then allocates, frees and asks is served, and nothing is waited for. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "../check.h"
#include "mimalloc-stats.h"
#include "mimalloc.h"

enum { ROUNDS = 200, THREADS = 4, SHARED = 64 };

extern _Atomic(bool) port_ending; /* of the port */

static _Atomic(void*) shared[SHARED];
static _Atomic(int) stopped;

static void stop(int number) {
  (void)number;
  (void)atomic_fetch_add(&stopped, 1);
  for (;;) { (void)pause(); }
}

static size_t next(uint64_t* random) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return (size_t)(*random >> 33);
}

static size_t some_size(uint64_t* random) {
  static const size_t sizes[] = {16, 200, 5000, 60000, 600000};
  return sizes[next(random) % 5] + next(random) % 64;
}

static void step(uint64_t* random) {
  void* p = mi_malloc(some_size(random));
  memset(p, 1, 16);
  mi_free(atomic_exchange(&shared[next(random) % SHARED], p));
  if (next(random) % 64 == 0) { mi_collect(next(random) % 2 == 0); }
  if (next(random) % 16 == 0) {
    mi_heap_t* heap = mi_heap_new();
    p = mi_heap_malloc(heap, some_size(random));
    memset(p, 2, 16);
    if (next(random) % 2 == 0) { mi_free(p); }
    mi_heap_destroy(heap);
  }
  if (next(random) % 64 == 0) { mi_thread_done(); }
}

static void* live(void* arg) {
  uint64_t random = (uintptr_t)arg;
  for (;;) { step(&random); }
  return NULL;
}

static void ignore(const char* text, void* arg) { (void)text, (void)arg; }

static void late(void) {
  uint64_t random = 7;
  for (int i = 0; i < SHARED; i++) { mi_free(atomic_exchange(&shared[i], NULL)); }
  for (int i = 0; i < 60; i++) {
    void* p = mi_malloc(some_size(&random));
    CHECK(p != NULL);
    memset(p, 3, 16);
    p = mi_realloc(p, some_size(&random));
    CHECK(p != NULL && *(char*)p == 3);
    mi_free(p);
  }
  mi_heap_t* heap = mi_heap_new();
  CHECK(heap != NULL && mi_heap_malloc(heap, 100) != NULL);
  mi_heap_destroy(heap);
  mi_collect(true);
  mi_stats_print_out(ignore, NULL);
}

static int process(int round) {
  pthread_t threads[THREADS];
  const char* seconds = getenv("TEST_SECONDS"); /* before it is taken to hang */
  (void)alarm(seconds == NULL ? 30 : (unsigned)atoi(seconds));
  (void)signal(SIGUSR1, stop);
  void* own[20];
  for (int i = 0; i < 20; i++) { own[i] = mi_malloc((size_t)(i + 1) * 100); }
  for (int i = 0; i < THREADS; i++) {
    const uintptr_t seed = (uintptr_t)(round * THREADS + i + 1);
    CHECK(pthread_create(&threads[i], NULL, live, (void*)seed) == 0);
  }
  const struct timespec moment = {.tv_nsec = 1000000 + round * 10007L % 3000000};
  (void)nanosleep(&moment, NULL);
  for (int i = 0; i < THREADS; i++) { CHECK(pthread_kill(threads[i], SIGUSR1) == 0); }
  while (stopped < THREADS) { (void)usleep(100); }
  port_ending = true;
  for (int i = 0; i < 20; i++) { mi_free(own[i]); }
  (void)atexit(late);
  late();
  return check_done();
}

int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) { exit(process(round)); }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (status != 0) {
      fprintf(stderr, "round %d: status %#x\n", round, (unsigned)status);
      break;
    }
  }
  return check_done();
}
