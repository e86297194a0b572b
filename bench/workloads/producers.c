// bench: threads, producers allocate batches of blocks, consumers free them
// rows: --sizes 16,64,256,mixed
/* After Lever and Boreham, "malloc() Performance in a Multithreaded Linux Environment" (2000): one
   thread of each pair only allocates, the other only frees what it gets, by batches through a
   bounded queue. Blocks have one size, or random ones from 16 to 400 bytes. Memory has to find its
   way back to the producer; where it does not, the heap grows or is refilled from the system all
   the time. With one thread, it frees its own batches. */
#include "workload.h"

enum { BATCH = 200, DEPTH = 32, LEAST_DEPTH = 4 };

typedef struct {
  unsigned char* block[BATCH];
  uint16_t bytes[BATCH];
} batch_t;

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t first, count;
  batch_t* queue[DEPTH];
} pair_t;

enum { MIXED_LOW = 16, MIXED_HIGH = 400 };

static const char* sizes_text = "64";
static size_t low, high; /* of sizes */
static pair_t pairs[MAX_THREADS];
static int pair_count;
static size_t depth; /* of each queue: with many, less, so that as many blocks are alive */
static long batches; /* in all */

static batch_t* new_batch(rng_t* rng) {
  batch_t* batch = take(sizeof(batch_t));
  for (size_t i = 0; i < BATCH; i++) {
    const size_t bytes = low == high ? low : rng_between(rng, low, high);
    batch->bytes[i] = (uint16_t)bytes;
    batch->block[i] = take(bytes);
    block_mark(batch->block[i], bytes, bytes + i);
  }
  return batch;
}

static void free_batch(batch_t* batch) {
  for (size_t i = 0; i < BATCH; i++) {
    block_check(batch->block[i], batch->bytes[i], batch->bytes[i] + i);
    give(batch->block[i], batch->bytes[i]);
  }
  give(batch, sizeof(batch_t));
}

static void put(pair_t* pair, batch_t* batch) {
  pthread_mutex_lock(&pair->lock);
  while (pair->count == depth) { pthread_cond_wait(&pair->changed, &pair->lock); }
  pair->queue[(pair->first + pair->count) % DEPTH] = batch;
  if (pair->count++ == 0) { pthread_cond_signal(&pair->changed); }
  pthread_mutex_unlock(&pair->lock);
}

static batch_t* get(pair_t* pair) {
  pthread_mutex_lock(&pair->lock);
  while (pair->count == 0) { pthread_cond_wait(&pair->changed, &pair->lock); }
  batch_t* batch = pair->queue[pair->first];
  pair->first = (pair->first + 1) % DEPTH;
  if (pair->count-- == depth) { pthread_cond_signal(&pair->changed); }
  pthread_mutex_unlock(&pair->lock);
  return batch;
}

static long share_of_pair(int index) {
  return batches / pair_count + (index < batches % pair_count ? 1 : 0);
}

static void work(int index) {
  const int which = index / 2;
  rng_t rng = rng_seeded((uint64_t)which + 1);
  if (which >= pair_count) { return; } /* an odd one */
  for (long i = share_of_pair(which); i > 0; i--) {
    if (workload.threads == 1) {
      free_batch(new_batch(&rng));
    } else if (index % 2 == 0) {
      put(&pairs[which], new_batch(&rng));
    } else {
      free_batch(get(&pairs[which]));
    }
  }
}

int main(int argc, char** argv) {
  workload_option("--sizes", &sizes_text);
  workload_start(argc, argv);
  const bool mixed = strcmp(sizes_text, "mixed") == 0;
  low = mixed ? MIXED_LOW : number_of(sizes_text);
  high = mixed ? MIXED_HIGH : low;
  CHECK(high <= UINT16_MAX);
  pair_count = workload.threads == 1 ? 1 : workload.threads / 2;
  depth = DEPTH / (size_t)pair_count > LEAST_DEPTH ? DEPTH / (size_t)pair_count : LEAST_DEPTH;
  batches = scaled(64 * 1000);
  for (int i = 0; i < pair_count; i++) {
    CHECK(pthread_mutex_init(&pairs[i].lock, NULL) == 0);
    CHECK(pthread_cond_init(&pairs[i].changed, NULL) == 0);
  }
  run_workers(work);
  return report(batches * BATCH);
}
