/* test: timeout=60 when="linux|unix" not-emulated="the emulator ignores MADV_FREE" */
/* A burst by four threads that have ended since: what they used goes back, whether they freed it or
   main did, and although nobody allocates any more. */
#define _GNU_SOURCE
#include "returned.h"

enum { THREADS = 4, BLOCKS = BURST_MIB * 1024 / 4 / THREADS, SIZE = 4000 };
static void* block[THREADS][BLOCKS];

static void* allocate(void* arg) {
  void** mine = block[(size_t)arg];
  for (int i = 0; i < BLOCKS; i++) { mine[i] = memset(malloc(SIZE), 1, SIZE); }
  return NULL;
}

static void* release(void* arg) {
  for (int i = 0; i < BLOCKS; i++) { free(block[(size_t)arg][i]); }
  return NULL;
}

static void in_threads(void* (*work)(void*)) {
  pthread_t thread[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&thread[i], NULL, work, (void*)i) == 0);
  }
  for (int i = 0; i < THREADS; i++) { pthread_join(thread[i], NULL); }
}

int main(void) {
  memset(block, 1, sizeof(block));
  for (int round = 0; round < 2; round++) {
    const size_t before = held_kib();
    in_threads(allocate);
    const size_t full = held_kib();
    CHECK(full > before + (size_t)BURST_MIB * 1024 * 8 / 10);
    if (round == 0) {
      in_threads(release);
    } else {
      for (size_t i = 0; i < THREADS; i++) { release((void*)i); }
    }
    CHECK(returned_in_time(before, full));
  }
  CHECK(workout());
  return check_done();
}
