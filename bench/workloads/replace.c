// bench: replace, one of many live blocks is freed and another allocated in its place
// rows: --live 1000,10000,100000,1000000 --sizes 1000,power --threads 1,2,8
// rows: --live 1000,10000,100000 --sizes 16000 --threads 1,2,8
// rows: --live 1000000 --sizes 16000 --threads 1,2,8; needs 16 GiB
/* Each thread keeps its part of the live blocks and replaces random ones, with no pattern in time:
   the steady state of caches, tables and indexes. Sizes are from 8 to 1000 bytes, from 8 to 16,000
   bytes, each as likely as another, or follow a power law from 8 bytes to 64 KiB, of 724 bytes on
   average. Live sets are such that they fit a core's cache, do not, or exceed all caches by far. */
#include "workload.h"

#include <limits.h>

enum { SMALLEST = 8, POWER_MOST = 64 * KIB, POWER_MEAN = 724 };
/* Those of many live blocks take so much longer that a third of the operations tells as much. */
enum { OPERATIONS = 12 * 1000 * 1000, MANY = 50 * 1000, OPERATIONS_OF_MANY = 4 * 1000 * 1000 };

static const char *live_text = "10000", *sizes_text = "1000";
static size_t live, largest; /* largest is 0 for the power law */
static long operations;
static pthread_barrier_t phase;

static size_t size_next(rng_t* rng) {
  if (largest == 0) { return rng_power(rng, SMALLEST, POWER_MOST); }
  return rng_between(rng, SMALLEST, largest);
}

static void work(int index) {
  rng_t rng = rng_seeded((uint64_t)index + 1);
  const size_t count = (size_t)share_of((long)live, index);
  slot_t* slots = take_zeroed(count * sizeof(slot_t));
  for (size_t i = 0; i < count; i++) { slot_fill(&slots[i], size_next(&rng)); }
  pthread_barrier_wait(&phase);
  for (long i = share_of(operations, index); i > 0; i--) {
    slot_t* slot = &slots[rng_below(&rng, count)];
    slot_empty(slot);
    slot_fill(slot, size_next(&rng));
  }
  pthread_barrier_wait(&phase);
  for (size_t i = 0; i < count; i++) { slot_empty(&slots[i]); }
  give(slots, count * sizeof(slot_t));
}

int main(int argc, char** argv) {
  workload_option("--live", &live_text);
  workload_option("--sizes", &sizes_text);
  workload_start(argc, argv);
  live = number_of(live_text);
  largest = strcmp(sizes_text, "power") == 0 ? 0 : number_of(sizes_text);
  CHECK(live >= (size_t)workload.threads && live < UINT_MAX && largest < UINT_MAX);
  CHECK(largest == 0 || largest >= SMALLEST);
  operations = scaled(live < MANY ? OPERATIONS : OPERATIONS_OF_MANY);
  const size_t mean = largest == 0 ? POWER_MEAN : largest / 2;
  const ptrdiff_t part = (ptrdiff_t)(live * mean / (size_t)workload.threads / 64);
  if (part > live_grain) { live_grain = part; }
  CHECK(pthread_barrier_init(&phase, NULL, (unsigned)workload.threads + 1) == 0);
  static worker_t workers[MAX_THREADS];
  for (int i = 0; i < workload.threads; i++) { worker_start(&workers[i], work, i); }
  pthread_barrier_wait(&phase);
  const long begin = cpu_now();
  pthread_barrier_wait(&phase);
  const long spent = cpu_now() - begin;
  for (int i = 0; i < workload.threads; i++) { worker_join(&workers[i]); }
  metric("steady_ps", spent * 1000 / operations); /* for one operation */
  return report(operations);
}
