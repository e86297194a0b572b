/* test: timeout=60 when="threads"
   A thousand short threads, some at a time. Each allocates, frees most, leaves some blocks that the
   main thread frees: memory stays flat, and the blocks arrive whole. */
#define _GNU_SOURCE 1
#include "stress.h"

enum { LEFT = 20, BLOCKS = 300 };

typedef struct {
  uint64_t seed;
  parcel_t* left[LEFT];
} job_t;

static void* short_life(void* arg) {
  job_t* job = arg;
  parcel_t* blocks[BLOCKS];
  for (size_t i = 0; i < BLOCKS; i++) {
    blocks[i] = parcel_new(NULL, stress_size(&job->seed, 12), i);
  }
  for (size_t i = 0; i < BLOCKS; i++) {
    if (i % (BLOCKS / LEFT) == 0) {
      job->left[i / (BLOCKS / LEFT)] = blocks[i];
    } else {
      parcel_free(blocks[i]);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  const stress_args_t a = stress_args(argc, argv, 8, 1000);
  static job_t jobs[STRESS_MAX_THREADS];
  size_t resident = 0;
  size_t started = 0;
  for (size_t round = 0; started < a.iterations; round++) {
    pthread_t threads[STRESS_MAX_THREADS];
    for (size_t i = 0; i < a.threads; i++, started++) {
      jobs[i].seed = stress_seed(a.seed, started);
      threads[i] = stress_start(short_life, &jobs[i]);
    }
    for (size_t i = 0; i < a.threads; i++) {
      pthread_join(threads[i], NULL);
      for (size_t k = 0; k < LEFT; k++) { parcel_free(jobs[i].left[k]); }
    }
    if (round == 10) { resident = stress_resident(); }
  }
  if (resident != 0) {
    stress_check_resident(resident + 4 * STRESS_MIB + a.threads * STRESS_MIB / 2,
                          "flat after ten rounds");
  }
  return check_done();
}
