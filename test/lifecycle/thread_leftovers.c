/* test: timeout=60 */
/* Threads allocate, end, and others free what they left: waves of it keep one size, wherever the
   frees are done. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { THREADS = 4, BLOCKS = 20000, WAVES = 30 };
static unsigned char* block[THREADS][BLOCKS];

static size_t size_of(int i) { return (size_t)(i % 37 + 1) * 16; }

static void* allocate(void* arg) {
  unsigned char** mine = block[(size_t)arg];
  for (int i = 0; i < BLOCKS; i++) {
    mine[i] = (unsigned char*)malloc(size_of(i));
    memset(mine[i], i, size_of(i));
  }
  return NULL;
}

/* The next thread's blocks, whose maker has ended. */
static void* release(void* arg) {
  unsigned char** theirs = block[((size_t)arg + 1) % THREADS];
  for (int i = 0; i < BLOCKS; i++) {
    CHECK(theirs[i][size_of(i) - 1] == (unsigned char)i);
    free(theirs[i]);
  }
  return NULL;
}

static void all_at_once(void* (*work)(void*)) {
  pthread_t thread[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&thread[i], NULL, work, (void*)i) == 0);
  }
  for (int i = 0; i < THREADS; i++) { pthread_join(thread[i], NULL); }
}

int main(void) {
  size_t most = 0;
  const size_t live_kib = (size_t)THREADS * BLOCKS * (37 + 1) / 2 * 16 / 1024;
  for (int wave = 0; wave < WAVES; wave++) {
    all_at_once(allocate);
    const size_t now = resident_kib();
    if (now > most) { most = now; }
    if (wave % 2 == 0) {
      all_at_once(release);
    } else {
      for (size_t i = 0; i < THREADS; i++) { release((void*)i); }
    }
  }
  printf("%zu KiB live, %zu KiB resident at most\n", live_kib, most);
  CHECK(most < 4 * live_kib + 16 * 1024);
  return check_done();
}
