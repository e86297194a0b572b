// bench: threads, each builds sets of blocks and frees them, but for a few that others free later
// rows: --sizes 16-400,72-2700 --passed 100,10 --threads 2,8
/* Sessions of a server: what a thread allocates for one it frees at its end, in the same order or
   another, but for one block in so many. That goes into a table that all threads share, in place of
   a block that one of them has put there before, which it frees. So hardly a page falls empty,
   though nearly all of each is free at the end of each session. */
#include "workload.h"

typedef struct {
  size_t bytes;
} head_t;

enum { OPERATIONS = 8 * 1000 * 1000, LIVE_BYTES = 1000 * 1000, TABLE = 256 };

static const char *sizes_text = "16-400", *passed_text = "100";
static size_t least, most, count, passed;
static long rounds; /* of each thread */
static _Atomic(head_t*) table[TABLE];

static head_t* block_new(rng_t* rng) {
  const size_t bytes = least + rng_below(rng, most - least + 1);
  head_t* block = take(bytes);
  block->bytes = bytes;
  block_mark(block + 1, bytes - sizeof(head_t), bytes * 17);
  return block;
}

static void block_end(head_t* block) {
  if (block == NULL) { return; }
  block_check(block + 1, block->bytes - sizeof(head_t), block->bytes * 17);
  give(block, block->bytes);
}

static head_t* passed_on(head_t* block, rng_t* rng) {
  _Atomic(head_t*)* place = &table[rng_below(rng, TABLE)];
  return atomic_exchange_explicit(place, block, memory_order_acq_rel);
}

static void work(int index) {
  rng_t rng = rng_seeded(3 + (uint64_t)index);
  head_t** blocks = take_zeroed(count * sizeof(*blocks));
  uint32_t* order = in_succession(count);
  for (long round = 0; round < rounds; round++) {
    for (size_t i = 0; i < count; i++) { blocks[i] = block_new(&rng); }
    if (round % 8 == 7) { shuffle(order, count); }
    for (size_t i = 0; i < count; i++) {
      head_t* block = blocks[order[i]];
      block_end(rng_below(&rng, passed) == 0 ? passed_on(block, &rng) : block);
    }
  }
  give(order, count * sizeof(*order));
  give(blocks, count * sizeof(*blocks));
}

static void read_options(void) {
  char* dash = NULL;
  least = strtoul(sizes_text, &dash, 10);
  CHECK(least >= sizeof(head_t) && *dash == '-');
  most = number_of(dash + 1);
  passed = number_of(passed_text);
  CHECK(most >= least && passed >= 1);
  count = LIVE_BYTES / ((least + most) / 2);
}

int main(int argc, char** argv) {
  workload_option("--sizes", &sizes_text);
  workload_option("--passed", &passed_text);
  workload_start(argc, argv);
  read_options();
  rounds = scaled(OPERATIONS) / workload.threads / (long)count + 2;
  run_workers(work);
  for (size_t i = 0; i < TABLE; i++) { block_end(atomic_load(&table[i])); }
  return report(workload.threads * rounds * (long)count);
}
