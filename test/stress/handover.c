/* test: timeout=60 when="threads"
   A server's pattern: each worker replaces random blocks in a table of its own, then ends and hands
   the table to a fresh thread, which frees and replaces what others allocated. */
#define _GNU_SOURCE 1
#include "stress.h"

enum { BLOCKS = 1000 };

typedef struct {
  parcel_t* blocks[BLOCKS];
  size_t iterations;
  uint64_t seed;
} table_t;

static void* work(void* arg) {
  table_t* t = arg;
  for (size_t i = 0; i < t->iterations; i++) {
    const size_t k = random_below(&t->seed, BLOCKS);
    parcel_free(t->blocks[k]);
    t->blocks[k] = parcel_new(NULL, random_below(&t->seed, 1000), random_next(&t->seed) % 997);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const stress_args_t a = stress_args(argc, argv, 4, 1200000);
  enum { GENERATIONS = 40 };
  static table_t tables[STRESS_MAX_THREADS];
  size_t resident = 0;
  for (size_t g = 0; g < GENERATIONS; g++) {
    pthread_t threads[STRESS_MAX_THREADS];
    for (size_t i = 0; i < a.threads; i++) {
      table_t* t = &tables[(i + g) % a.threads];
      t->iterations = a.iterations / GENERATIONS / a.threads + 1;
      t->seed = stress_seed(a.seed + g, i);
      threads[i] = stress_start(work, t);
    }
    for (size_t i = 0; i < a.threads; i++) { pthread_join(threads[i], NULL); }
    if (g == GENERATIONS / 4) { resident = stress_resident(); }
  }
  stress_check_resident(resident + 2 * a.threads * STRESS_MIB + 4 * STRESS_MIB,
                        "flat after ten generations");
  for (size_t i = 0; i < a.threads; i++) {
    for (size_t k = 0; k < BLOCKS; k++) { parcel_free(tables[i].blocks[k]); }
  }
  return check_done();
}
