/* test: timeout=60 only=preload */
/* A thread frees its burst and then blocks for good, still alive: what it used goes back all the
   same. glibc keeps it in the arena of that thread. */
#define _GNU_SOURCE
#include "returned.h"

static pthread_barrier_t freed, finished;
static size_t full;

static void* burst_then_block(void* unused) {
  full = burst(400);
  pthread_barrier_wait(&freed);
  pthread_barrier_wait(&finished);
  return unused;
}

int main(void) {
  const size_t before = held_kib();
  pthread_t thread;
  pthread_barrier_init(&freed, NULL, 2);
  pthread_barrier_init(&finished, NULL, 2);
  CHECK(pthread_create(&thread, NULL, burst_then_block, NULL) == 0);
  pthread_barrier_wait(&freed);
  CHECK(returned_in_time(before, full));
  pthread_barrier_wait(&finished);
  pthread_join(thread, NULL);
  return check_done();
}
