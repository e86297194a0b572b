// bench: threads, each replaces random blocks of its own table; sizes by an inverse square
/* As the C library's own benchmark with threads: each thread has a table of 1024 blocks, and
   replaces a random one again and again, by one whose size is distributed by the inverse square:
   half of them are below 32 bytes, one in a thousand above 16 KiB. Threads share nothing; they
   should run as fast together as alone. */
#include "workload.h"

enum { SLOTS = 1024, SMALLEST = 16, LARGEST = 32 * KIB };

static long operations;

static size_t random_size(rng_t* rng) {
  const size_t below = 1 + rng_below(rng, 1u << 20);
  const size_t bytes = ((size_t)SMALLEST << 20) / below;
  return bytes < LARGEST ? bytes : LARGEST;
}

static void work(int index) {
  rng_t rng = rng_seeded((uint64_t)index + 1);
  slot_t* slots = take_zeroed(SLOTS * sizeof(slot_t));
  for (long i = share_of(operations, index); i > 0; i--) {
    slot_t* slot = &slots[rng_below(&rng, SLOTS)];
    slot_empty(slot);
    slot_fill(slot, random_size(&rng));
  }
  for (size_t i = 0; i < SLOTS; i++) { slot_empty(&slots[i]); }
  give(slots, SLOTS * sizeof(slot_t));
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  operations = scaled(30 * 1000 * 1000);
  run_workers(work);
  return report(operations);
}
