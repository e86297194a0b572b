// bench: threads, 10,000 short threads that leak a little and end
/* Threads that end and leave blocks behind: each allocates 400 blocks of 16 bytes to 2 KiB, frees
   most of them, and leaks one in sixteen, for good. What a thread freed must serve the next ones;
   what an allocator keeps for itself with each thread that ends adds up. It fails if far more is
   resident at the end than the threads leaked. */
#include "workload.h"

enum { BLOCKS = 400, LEAK_ONE_IN = 16 };

static long turns;
static _Atomic(long) leaked_bytes;

static void short_life(uint64_t seed) {
  slot_t slots[BLOCKS];
  rng_t rng = rng_seeded(seed);
  long leaked = 0;
  for (size_t i = 0; i < BLOCKS; i++) { slot_fill(&slots[i], rng_log_between(&rng, 16, 2 * KIB)); }
  for (size_t i = 0; i < BLOCKS; i++) {
    if (i % LEAK_ONE_IN == 0) {
      leaked += (long)slots[i].size;
    } else {
      slot_empty(&slots[i]);
    }
  }
  atomic_fetch_add(&leaked_bytes, leaked);
}

static void live_and_end(int index) { short_life((uint64_t)index + 1); }

/* A row of threads, one after another. */
static void row(int index) {
  for (long i = share_of(turns, index); i > 0; i--) {
    worker_t worker;
    worker_start(&worker, live_and_end, index * 100000 + (int)i);
    worker_join(&worker);
  }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  turns = scaled(10000);
  const long before = rss_kib();
  run_workers(row);
  const long leaked_kib = atomic_load(&leaked_bytes) / KIB;
  metric("leaked_kib", leaked_kib);
  report_idle();
  CHECK(rss_kib() - before < 3 * leaked_kib + 64 * KIB);
  return report(turns * BLOCKS);
}
