/* test: timeout=60 when="threads"
   Heaps are created, allocated in, deleted and destroyed, while other threads free blocks of
   deleted heaps and of live ones. A block of a heap that will be destroyed never leaves its thread.
 */
#define _GNU_SOURCE 1
#include "stress.h"

enum { SLOTS = 256, PER_HEAP = 60 };

static _Atomic(parcel_t*) slots[SLOTS]; /* whoever swaps a block out frees it */
static stress_args_t args;

static void exchange_block(uint64_t* seed, parcel_t* p) {
  const size_t k = random_below(seed, SLOTS);
  parcel_free(atomic_exchange_explicit(&slots[k], p, memory_order_acq_rel));
}

static void live_and_delete(uint64_t* seed) {
  mi_heap_t* h = mi_heap_new();
  CHECK(h != NULL);
  parcel_t* own[PER_HEAP];
  for (size_t i = 0; i < PER_HEAP; i++) {
    exchange_block(seed, parcel_new(h, stress_size(seed, 11), i)); /* others may free it at once */
    own[i] = parcel_new(h, stress_size(seed, 11), i);
  }
  for (size_t i = 0; i < PER_HEAP; i += 2) { parcel_free(own[i]); }
  mi_heap_delete(
      h); /* blocks in slots are freed by others meanwhile, or later from the main heap */
  for (size_t i = 1; i < PER_HEAP; i += 2) { parcel_free(own[i]); }
}

static void live_and_destroy(uint64_t* seed) {
  mi_heap_t* h = mi_heap_new();
  CHECK(h != NULL);
  for (size_t i = 0; i < PER_HEAP; i++) {
    parcel_t* p = parcel_new(h, stress_size(seed, 11), i);
    if (random_below(seed, 2) == 0) {
      parcel_free(p);
    } else {
      parcel_check(p);
    }
  }
  mi_heap_destroy(h);
}

static void* churn(void* arg) {
  uint64_t seed = stress_seed(args.seed, (size_t)(uintptr_t)arg);
  for (size_t i = 0; i < args.iterations / args.threads; i++) {
    if (random_below(&seed, 2) == 0) {
      live_and_delete(&seed);
    } else {
      live_and_destroy(&seed);
    }
    exchange_block(&seed, NULL);
    exchange_block(&seed, parcel_new(NULL, stress_size(&seed, 11), i));
  }
  return NULL;
}

/* One heap that all threads use all the time, and that is deleted under live blocks at the end. */
static mi_heap_t* shared;

static void* use_shared(void* arg) {
  uint64_t seed = stress_seed(args.seed, 1000 + (size_t)(uintptr_t)arg);
  for (size_t i = 0; i < 20 * args.iterations / args.threads; i++) {
    exchange_block(&seed, parcel_new(shared, stress_size(&seed, 11), i));
  }
  return NULL;
}

static void run_all(void* (*body)(void*)) {
  pthread_t threads[STRESS_MAX_THREADS];
  for (size_t i = 0; i < args.threads; i++) {
    threads[i] = stress_start(body, (void*)(uintptr_t)i);
  }
  for (size_t i = 0; i < args.threads; i++) { pthread_join(threads[i], NULL); }
}

int main(int argc, char** argv) {
  args = stress_args(argc, argv, 4, 6000);
  const size_t before = stress_resident();
  run_all(churn);
  stress_check_peak(before + 16 * (args.threads + 1) * STRESS_MIB, "few heaps at a time");
  mi_collect(true); /* what ended threads have left for others differs from run to run */
  const size_t resident = stress_resident();
  run_all(churn);
  mi_collect(true);
  stress_check_resident(resident + 8 * STRESS_MIB, "flat in the second run");
  shared = mi_heap_new();
  run_all(use_shared);
  for (size_t k = 0; k < SLOTS; k++) {
    parcel_t* p = atomic_load_explicit(&slots[k], memory_order_acquire);
    CHECK(p == NULL || mi_heap_of(p) == shared || mi_heap_of(p) == mi_heap_main());
  }
  mi_heap_delete(shared);
  for (size_t k = 0; k < SLOTS; k++) {
    parcel_t* p = atomic_load_explicit(&slots[k], memory_order_acquire);
    CHECK(p == NULL || mi_heap_of(p) == mi_heap_main());
    parcel_free(p);
  }
  return check_done();
}
