// bench: objects, blocks of several sizes freed in the order of allocation, in reverse, and mixed
/* After the description of MicroQuill's SmartHeap benchmark: batches of blocks of 16 to 1000
   bytes, small sizes more often, are allocated and freed first to last, last to first, every
   second one and then the rest, and shuffled; and one in eight survives its batch by a few
   batches, so that pages are never wholly free when the next batch comes. It stresses free lists
   in every order. */
#include "workload.h"

enum { BATCH = 4000, SURVIVORS = 6000, ORDERS = 4 };

static slot_t survivors[SURVIVORS];
static size_t oldest;

static void free_or_keep(slot_t* slot, size_t i) {
  if (i % 8 != 3) {
    slot_empty(slot);
    return;
  }
  slot_empty(&survivors[oldest]);
  survivors[oldest] = *slot;
  oldest = (oldest + 1) % SURVIVORS;
  slot->p = NULL;
}

static void free_in_order(slot_t* batch, size_t order, rng_t* rng) {
  switch (order) {
    case 0:
      for (size_t i = 0; i < BATCH; i++) { free_or_keep(&batch[i], i); }
      break;
    case 1:
      for (size_t i = BATCH; i-- > 0;) { free_or_keep(&batch[i], i); }
      break;
    case 2:
      for (size_t i = 0; i < BATCH; i += 2) { free_or_keep(&batch[i], i); }
      for (size_t i = 1; i < BATCH; i += 2) { free_or_keep(&batch[i], i); }
      break;
    default:
      for (size_t i = BATCH; i > 0; i--) {
        const size_t k = rng_below(rng, i);
        free_or_keep(&batch[k], i);
        batch[k] = batch[i - 1];
      }
  }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  static slot_t batch[BATCH];
  static const size_t steps[] = {16, 24, 32, 48, 64, 96, 128, 200, 256, 400, 512, 700, 1000};
  rng_t rng = rng_seeded(1);
  const long batches = scaled(6500);
  for (long b = 0; b < batches; b++) {
    for (size_t i = 0; i < BATCH; i++) { /* the smaller of two: small sizes more often */
      const size_t one = rng_below(&rng, sizeof(steps) / sizeof(steps[0]));
      const size_t other = rng_below(&rng, sizeof(steps) / sizeof(steps[0]));
      slot_fill(&batch[i], steps[one < other ? one : other]);
    }
    free_in_order(batch, (size_t)b % ORDERS, &rng);
  }
  for (size_t i = 0; i < SURVIVORS; i++) { slot_empty(&survivors[i]); }
  return report(batches * BATCH);
}
