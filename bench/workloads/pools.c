// bench: threads, pools of 1000 blocks of 8 bytes to 16 KB are passed round among the threads
// rows: --threads 2,8
/* There are twice as many pools as threads. A thread takes the next pool from a queue, replaces 100
   random ones of its blocks, puts it back and takes another; sizes are from 8 to 16,000 bytes, the
   larger the rarer. So a block is freed by any thread, long after it was allocated. */
#include "workload.h"

enum { BLOCKS = 1000, VISIT = 100, LARGEST = 16000, VISITS = 60 * 1000 };

typedef struct {
  slot_t slots[BLOCKS];
} pool_t;

static struct {
  pthread_mutex_t lock;
  size_t first, count;
  pool_t* pools[2 * MAX_THREADS];
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void put(pool_t* pool) {
  const size_t capacity = 2 * (size_t)workload.threads;
  pthread_mutex_lock(&queue.lock);
  queue.pools[(queue.first + queue.count++) % capacity] = pool;
  pthread_mutex_unlock(&queue.lock);
}

static pool_t* next(void) {
  const size_t capacity = 2 * (size_t)workload.threads;
  pthread_mutex_lock(&queue.lock);
  pool_t* pool = queue.pools[queue.first];
  queue.first = (queue.first + 1) % capacity;
  queue.count--;
  pthread_mutex_unlock(&queue.lock);
  return pool;
}

static void work(int index) {
  rng_t rng = rng_seeded((uint64_t)index + 1);
  for (long visits = share_of(scaled(VISITS), index); visits > 0; visits--) {
    pool_t* pool = next();
    for (size_t i = 0; i < VISIT; i++) {
      slot_t* slot = &pool->slots[rng_below(&rng, BLOCKS)];
      slot_empty(slot);
      slot_fill(slot, rng_falling(&rng, 8, LARGEST));
    }
    put(pool);
  }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  live_grain = 256 * KIB; /* of 10 MiB for each thread */
  rng_t rng = rng_seeded(0);
  for (int i = 0; i < 2 * workload.threads; i++) {
    pool_t* pool = take_zeroed(sizeof(pool_t));
    for (size_t k = 0; k < BLOCKS; k++) {
      slot_fill(&pool->slots[k], rng_falling(&rng, 8, LARGEST));
    }
    put(pool);
  }
  run_workers(work);
  for (int i = 0; i < 2 * workload.threads; i++) {
    pool_t* pool = next();
    for (size_t k = 0; k < BLOCKS; k++) { slot_empty(&pool->slots[k]); }
    give(pool, sizeof(pool_t));
  }
  return report(scaled(VISITS) * VISIT);
}
