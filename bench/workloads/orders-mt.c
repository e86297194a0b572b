// bench: threads, as orders, by several threads, and half of the batches are freed by another one
/* After the description of MicroQuill's SmartHeap benchmark for SMP: threads allocate batches of
   blocks of 16 to 1000 bytes, small sizes more often; they swap every second batch with what lies
   in a table that all share, and free what they have first to last, last to first, every second
   one and then the rest. Whole batches migrate, so frees from afar come in long rows. */
#include "workload.h"

enum { BATCH = 1000, SHELVES = 16, ORDERS = 3 };

typedef struct {
  slot_t slots[BATCH];
} batch_t;

static _Atomic(batch_t*) shelves[SHELVES];
static long batches; /* in all */

static batch_t* new_batch(rng_t* rng) {
  batch_t* batch = take(sizeof(batch_t));
  for (size_t i = 0; i < BATCH; i++) {
    slot_fill(&batch->slots[i], rng_log_between(rng, 16, 512) + rng_below(rng, 488) / 8);
  }
  return batch;
}

static void free_batch(batch_t* batch, size_t order) {
  if (batch == NULL) { return; }
  slot_t* slots = batch->slots;
  switch (order) {
    case 0:
      for (size_t i = 0; i < BATCH; i++) { slot_empty(&slots[i]); }
      break;
    case 1:
      for (size_t i = BATCH; i-- > 0;) { slot_empty(&slots[i]); }
      break;
    default:
      for (size_t i = 0; i < BATCH; i += 2) { slot_empty(&slots[i]); }
      for (size_t i = 1; i < BATCH; i += 2) { slot_empty(&slots[i]); }
  }
  give(batch, sizeof(batch_t));
}

static void work(int index) {
  rng_t rng = rng_seeded((uint64_t)index + 1);
  for (long i = share_of(batches, index); i > 0; i--) {
    batch_t* batch = new_batch(&rng);
    if (i % 2 == 0) { batch = atomic_exchange(&shelves[rng_below(&rng, SHELVES)], batch); }
    free_batch(batch, (size_t)i % ORDERS);
  }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  batches = scaled(18000);
  run_workers(work);
  for (size_t i = 0; i < SHELVES; i++) { free_batch(atomic_load(&shelves[i]), 0); }
  return report(batches * BATCH);
}
