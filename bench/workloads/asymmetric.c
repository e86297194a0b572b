// bench: threads, half of 200 threads only allocate, the others only free
// rows: --sizes 64,1000 --threads 200
/* After Lever and Boreham, as it is usual today: 100 threads allocate batches of blocks and put
   them into one queue, 100 others take batches from it and free them; no thread does both. The
   queue holds 100 batches of 500. Blocks have 64 bytes, or 8 to 1000. Each thread has only a small
   part of the memory, and none of it comes back by itself. With one thread, it frees its own
   batches. */
#include "workload.h"

enum { BATCH = 500, DEPTH = 100, BATCHES = 24 * 1000 };

typedef struct {
  slot_t slots[BATCH];
} batch_t;

static const char* sizes_text = "64";
static size_t largest;

static struct {
  pthread_mutex_t lock;
  pthread_cond_t not_full, not_empty;
  size_t first, count;
  batch_t* batches[DEPTH];
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .not_full = PTHREAD_COND_INITIALIZER,
           .not_empty = PTHREAD_COND_INITIALIZER};

static void put(batch_t* batch) {
  pthread_mutex_lock(&queue.lock);
  while (queue.count == DEPTH) { pthread_cond_wait(&queue.not_full, &queue.lock); }
  queue.batches[(queue.first + queue.count++) % DEPTH] = batch;
  pthread_cond_signal(&queue.not_empty);
  pthread_mutex_unlock(&queue.lock);
}

static batch_t* get(void) {
  pthread_mutex_lock(&queue.lock);
  while (queue.count == 0) { pthread_cond_wait(&queue.not_empty, &queue.lock); }
  batch_t* batch = queue.batches[queue.first];
  queue.first = (queue.first + 1) % DEPTH;
  queue.count--;
  pthread_cond_signal(&queue.not_full);
  pthread_mutex_unlock(&queue.lock);
  return batch;
}

static batch_t* batch_new(rng_t* rng) {
  batch_t* batch = take_zeroed(sizeof(batch_t));
  for (size_t i = 0; i < BATCH; i++) {
    slot_fill(&batch->slots[i], largest == 64 ? 64 : rng_between(rng, 8, largest));
  }
  return batch;
}

static void batch_free(batch_t* batch) {
  for (size_t i = 0; i < BATCH; i++) { slot_empty(&batch->slots[i]); }
  give(batch, sizeof(batch_t));
}

static void work(int index) {
  rng_t rng = rng_seeded((uint64_t)index + 1);
  const int pairs = workload.threads / 2;
  const long total = scaled(BATCHES);
  if (workload.threads == 1) {
    for (long i = total; i > 0; i--) { batch_free(batch_new(&rng)); }
    return;
  }
  if (index >= 2 * pairs) { return; } /* there is nobody for an odd one */
  for (long i = total / pairs + (index / 2 < total % pairs ? 1 : 0); i > 0; i--) {
    if (index % 2 == 0) {
      put(batch_new(&rng));
    } else {
      batch_free(get());
    }
  }
}

int main(int argc, char** argv) {
  workload_option("--sizes", &sizes_text);
  workload_start(argc, argv);
  largest = number_of(sizes_text);
  CHECK(largest >= 8 && largest < UINT32_MAX);
  run_workers(work);
  return report(scaled(BATCHES) * BATCH);
}
