/* test: timeout=60 */
/* A thousand threads alive at once, each with blocks of its own; when they are gone their memory is
   used again. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { THREADS = 1000, BLOCKS = 30 };
static pthread_barrier_t all_here;
static pthread_t thread[THREADS];

static void* run(void* arg) {
  unsigned char* block[BLOCKS];
  bool fine = true;
  for (int i = 0; i < BLOCKS; i++) {
    block[i] = (unsigned char*)malloc((size_t)i * 30 + 1);
    memset(block[i], i + 1, (size_t)i * 30 + 1);
  }
  pthread_barrier_wait(&all_here);
  for (int i = 0; i < BLOCKS; i++) {
    fine &= block[i][i * 30] == i + 1;
    free(block[i]);
  }
  CHECK(fine);
  return arg;
}

static size_t wave(int count) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  pthread_barrier_init(&all_here, NULL, (unsigned)count + 1);
  for (int i = 0; i < count; i++) {
    if (pthread_create(&thread[i], &small, run, NULL) != 0) {
      printf("skipped: only %d threads can be had here\n", i);
      fflush(NULL);
      _exit(0);
    }
  }
  pthread_barrier_wait(&all_here);
  for (int i = 0; i < count; i++) { pthread_join(thread[i], NULL); }
  pthread_barrier_destroy(&all_here);
  return held_kib();
}

int main(void) {
  const size_t first = wave(THREADS);
  wave(THREADS);
  const size_t third = wave(THREADS);
  printf("%zu KiB after the first wave, %zu KiB after the third\n", first, third);
  CHECK(is_emulated() || third < first + 24 * 1024);
  return check_done();
}
