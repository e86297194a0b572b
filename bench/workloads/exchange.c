// bench: threads, each replaces random blocks of one table that all share
// rows: --live 10000,300000 --sizes 200,2000 --threads 2,8
/* A cache that all threads of a server fill: each puts a block of 16 to so many bytes where another
   one lay, by an atomic exchange, and frees that, which any thread may have allocated, long ago or
   just now. What is free lies in single blocks of pages of all threads. */
#include "workload.h"

enum { OPERATIONS = 6 * 1000 * 1000, SMALLEST = 16 };

static const char *live_text = "10000", *sizes_text = "200";
static size_t live, largest;
static _Atomic(sized_t*)* table;

static sized_t* block_new(rng_t* rng) { return sized_new(rng_between(rng, SMALLEST, largest)); }

static void put(size_t at, sized_t* block) {
  sized_end(atomic_exchange_explicit(&table[at], block, memory_order_acq_rel));
}

static void work(int index) {
  rng_t rng = rng_seeded((uint64_t)index + 1);
  const size_t from = live * (size_t)index / (size_t)workload.threads;
  for (long i = 0; i < share_of((long)live, index); i++) { put(from + (size_t)i, block_new(&rng)); }
  for (long i = share_of(scaled(OPERATIONS), index); i > 0; i--) {
    sized_t* block = block_new(&rng);
    put(rng_below(&rng, live), block);
  }
}

int main(int argc, char** argv) {
  workload_option("--live", &live_text);
  workload_option("--sizes", &sizes_text);
  workload_start(argc, argv);
  live = number_of(live_text);
  largest = number_of(sizes_text);
  CHECK(live >= MAX_THREADS && live < UINT32_MAX && largest >= SMALLEST && largest < UINT32_MAX);
  table = take_zeroed(live * sizeof(*table));
  run_workers(work);
  for (size_t i = 0; i < live; i++) { put(i, NULL); }
  give(table, live * sizeof(*table));
  return report(scaled(OPERATIONS));
}
