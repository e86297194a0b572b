/* test: timeout=60 when="release threads"
   Many threads that each use every size class a little: what is resident is what they touch, not
   the pages of blocks that they hold. (Where the kernel has no huge pages that is no wonder.) */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdio.h>

#include "../api/api.h"

enum { THREADS = 64, LARGEST = 32 * KIB, MOST_MIB = 64 };

static pthread_barrier_t all;

static void* use_a_little(void* arg) {
  char* blocks[512];
  size_t count = 0;
  for (size_t size = 16; size <= LARGEST; size += size / 8 + 1) {
    blocks[count] = mi_malloc(size);
    blocks[count++][0] = 1;
  }
  pthread_barrier_wait(&all);
  pthread_barrier_wait(&all);
  for (size_t i = 0; i < count; i++) { mi_free(blocks[i]); }
  return arg;
}

int main(void) {
  static pthread_t threads[THREADS];
  pthread_barrier_init(&all, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++) { pthread_create(&threads[i], NULL, use_a_little, NULL); }
  pthread_barrier_wait(&all);
  const size_t resident = resident_bytes() / MIB;
  if (resident > MOST_MIB) { fprintf(stderr, "%zu MiB are resident\n", resident); }
  CHECK(resident <= MOST_MIB);
  pthread_barrier_wait(&all);
  for (int i = 0; i < THREADS; i++) { pthread_join(threads[i], NULL); }
  return check_done();
}
