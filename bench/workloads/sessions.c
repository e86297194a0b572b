// bench: threads, each builds sets of blocks and frees them, but for a few that others free later
// rows: --sizes 16-400,72-2700 --passed 100,10 --threads 2,8
/* Sessions of a server: what a thread allocates for one it frees at its end, in the same order or
   another, but for one block in so many. That goes into a table that all threads share, in place of
   a block that one of them has put there before, which it frees. So hardly a page falls empty,
   though nearly all of each is free at the end of each session. */
#include "workload.h"

enum { OPERATIONS = 8 * 1000 * 1000, LIVE_BYTES = 1000 * 1000, TABLE = 256 };

static const char *sizes_text = "16-400", *passed_text = "100";
static size_t least, most, count, passed;
static long rounds; /* of each thread */
static _Atomic(sized_t*) table[TABLE];

static sized_t* passed_on(sized_t* block, rng_t* rng) {
  _Atomic(sized_t*)* place = &table[rng_below(rng, TABLE)];
  return atomic_exchange_explicit(place, block, memory_order_acq_rel);
}

static void work(int index) {
  rng_t rng = rng_seeded(3 + (uint64_t)index);
  sized_t** blocks = take_zeroed(count * sizeof(*blocks));
  uint32_t* order = in_succession(count);
  for (long round = 0; round < rounds; round++) {
    for (size_t i = 0; i < count; i++) { blocks[i] = sized_new(rng_between(&rng, least, most)); }
    if (round % 8 == 7) { shuffle(order, count); }
    for (size_t i = 0; i < count; i++) {
      sized_t* block = blocks[order[i]];
      sized_end(rng_below(&rng, passed) == 0 ? passed_on(block, &rng) : block);
    }
  }
  give(order, count * sizeof(*order));
  give(blocks, count * sizeof(*blocks));
}

int main(int argc, char** argv) {
  workload_option("--sizes", &sizes_text);
  workload_option("--passed", &passed_text);
  workload_start(argc, argv);
  range_of(sizes_text, &least, &most);
  CHECK(least > sizeof(sized_t));
  passed = number_of(passed_text);
  count = LIVE_BYTES / ((least + most) / 2);
  rounds = scaled(OPERATIONS) / workload.threads / (long)count + 2;
  run_workers(work);
  for (size_t i = 0; i < TABLE; i++) { sized_end(atomic_load(&table[i])); }
  return report(workload.threads * rounds * (long)count);
}
