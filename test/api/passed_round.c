/* test: timeout=60 when="release threads"
   Pools of blocks are passed round between two threads, each of which replaces random blocks of the
   pool that it has. So each frees what either has allocated, long ago. The memory of pages stays in
   proportion to what lives: what one thread returns to the other's pages does not pile up there. */
#include "../system.h"
#include "api.h"

enum { POOLS = 3, BLOCKS = 1000, LONGEST = 16000, TURNS = 40000, EACH = 100 };

static test_barrier_t barrier;
static struct {
  void* block[BLOCKS];
  size_t bytes[BLOCKS];
} pools[POOLS];
static size_t live;

/* The longer the rarer. */
static size_t random_size(uint64_t* random) {
  return 8 + random_below(random, LONGEST) * random_below(random, LONGEST) / LONGEST;
}

static void replace(int pool, size_t i, uint64_t* random) {
  mi_free(pools[pool].block[i]);
  live -= pools[pool].bytes[i];
  pools[pool].bytes[i] = random_size(random);
  pools[pool].block[i] = mi_malloc(pools[pool].bytes[i]);
  live += pools[pool].bytes[i];
}

/* The threads take turns: one waits while the other works. A pool comes to either. */
static void take_turns(int first, uint64_t seed) {
  uint64_t random = seed;
  for (int turn = 0; turn < TURNS; turn++) {
    if (turn % 2 == first) {
      const int pool = turn % POOLS;
      for (int i = 0; i < EACH; i++) { replace(pool, random_below(&random, BLOCKS), &random); }
    }
    barrier_wait(&barrier);
  }
}

static void* work(void* unused) {
  take_turns(1, 2);
  return unused;
}

int main(void) {
  test_thread_t thread;
  uint64_t random = 3;
  for (int pool = 0; pool < POOLS; pool++) {
    for (size_t i = 0; i < BLOCKS; i++) { replace(pool, i, &random); }
  }
  barrier_init(&barrier, 2);
  CHECK(thread_start(&thread, work, NULL));
  take_turns(0, 1);
  const size_t pages = (size_t)stats_now().page_committed.current;
  printf("%zu KiB of pages for %zu KiB\n", pages / 1024, live / 1024);
  CHECK(pages < 2 * live);
  thread_join(thread);
  for (int pool = 0; pool < POOLS; pool++) {
    for (size_t i = 0; i < BLOCKS; i++) { mi_free(pools[pool].block[i]); }
  }
  return check_done();
}
