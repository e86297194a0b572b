// bench: threads, each allocates 50,000 blocks and frees those of another in random order
// rows: --threads 2,8
/* Fifty rounds. In each, every thread allocates its blocks, of 8 to 512 bytes, small ones more
   often; all wait for each other; then every thread frees the blocks of another one, in random
   order. What a thread needs for its next round lies in pages that others have just emptied. */
#include "workload.h"

enum { ROUNDS = 50, BLOCKS = 50 * 1000, SMALLEST = 8, LARGEST = 512 };

typedef slot_t set_t[BLOCKS];

static set_t* sets[2]; /* of each thread, for even rounds and for odd ones */
static pthread_barrier_t all_have_allocated;

static void shuffle_slots(slot_t* slots, rng_t* rng) {
  for (size_t i = BLOCKS - 1; i > 0; i--) {
    const size_t other = rng_below(rng, i + 1);
    const slot_t moved = slots[i];
    slots[i] = slots[other];
    slots[other] = moved;
  }
}

static void work(int index) {
  rng_t rng = rng_seeded((uint64_t)index + 1);
  const int others = workload.threads - 1;
  for (long round = 0; round < scaled(ROUNDS); round++) {
    set_t* all = sets[round % 2];
    for (size_t i = 0; i < BLOCKS; i++) {
      slot_fill(&all[index][i], rng_log_between(&rng, SMALLEST, LARGEST));
    }
    pthread_barrier_wait(&all_have_allocated);
    const int step = others == 0 ? 0 : 1 + (int)(round % others);
    slot_t* theirs = all[(index + step) % workload.threads];
    shuffle_slots(theirs, &rng);
    for (size_t i = 0; i < BLOCKS; i++) { slot_empty(&theirs[i]); }
  }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  for (int i = 0; i < 2; i++) { sets[i] = take_zeroed((size_t)workload.threads * sizeof(set_t)); }
  CHECK(pthread_barrier_init(&all_have_allocated, NULL, (unsigned)workload.threads) == 0);
  run_workers(work);
  for (int i = 0; i < 2; i++) { give(sets[i], (size_t)workload.threads * sizeof(set_t)); }
  return report(scaled(ROUNDS) * BLOCKS * workload.threads);
}
