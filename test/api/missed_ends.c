/* test: timeout=120 when="strict" env="MI_STRICT_MISS_ENDS=1" (only this port keeps ends to itself) */
/* Threads end and nobody is told: the next thread that has an ended one's id clears up after it. No
   block is lost or handed out twice, threads are counted, and memory does not grow with each. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "../check.h"
#include "mimalloc-stats.h"
#include "mimalloc.h"

enum { THREADS = 300, BLOCKS = 400, KEPT = 10, LIMIT = 64 << 20 };
static uint8_t* kept[THREADS][KEPT];

static size_t size_of(int i) { return 16 + (size_t)(i % 50) * 32; }

/* Leaves all its blocks, in a heap of its own, too; some are known to others. */
static void* live(void* argument) {
  const int self = (int)(intptr_t)argument;
  mi_heap_t* heap = mi_heap_new();
  for (int i = 0; i < BLOCKS; i++) {
    uint8_t* p = i % 2 == 0 ? mi_malloc(size_of(i)) : mi_heap_malloc(heap, size_of(i));
    memset(p, self, size_of(i));
    if (i < KEPT) { kept[self][i] = p; }
    if (i >= KEPT && i % 4 != 0) { mi_free(p); }
  }
  mi_heap_delete(heap);
  return NULL;
}

int main(void) {
  mi_stats_t_decl(stats);
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, live, (void*)(intptr_t)i) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    for (int k = 0; k < KEPT; k++) {
      for (size_t at = 0; at < size_of(k); at++) { CHECK(kept[i][k][at] == (uint8_t)i); }
      mi_free(kept[i][k]);
    }
  }
  CHECK(mi_stats_get(&stats) && stats.threads.total >= THREADS && stats.threads.current <= 3);
  CHECK(stats.committed.peak < LIMIT);
  return check_done();
}
