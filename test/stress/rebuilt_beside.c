/* test: timeout=60 when="threads"
   One thread builds something and frees it in another order, again and again, so that its memory
   goes back and huge pages are made up, while others replace small blocks beside it. No block
   overlaps another. */
#include "stress.h"

enum { COUNT = 60000, PAYLOAD = 900, KEPT = 16 };

static parcel_t* built[COUNT];
static unsigned order[COUNT];
static stress_args_t args;
static _Atomic(bool) is_done;

static void* churn(void* arg) {
  const size_t id = (size_t)(uintptr_t)arg;
  uint64_t seed = stress_seed(args.seed, id);
  parcel_t* kept[KEPT] = {NULL};
  for (size_t i = 0; !atomic_load(&is_done); i++) {
    const size_t payload = random_below(&seed, 1000);
    parcel_t** slot = &kept[random_below(&seed, KEPT)];
    parcel_free(*slot);
    *slot = parcel_new(NULL, payload, i);
  }
  for (size_t i = 0; i < KEPT; i++) { parcel_free(kept[i]); }
  return NULL;
}

int main(int argc, char** argv) {
  args = stress_args(argc, argv, 2, 20);
  shuffle(order, COUNT);
  pthread_t threads[STRESS_MAX_THREADS];
  for (size_t i = 0; i < args.threads; i++) {
    threads[i] = stress_start(churn, (void*)(uintptr_t)(i + 1));
  }
  for (size_t round = 0; round < args.iterations; round++) {
    for (size_t i = 0; i < COUNT; i++) { built[i] = parcel_new(NULL, PAYLOAD, i + round); }
    for (size_t i = 0; i < COUNT; i++) { parcel_free(built[order[i]]); }
  }
  atomic_store(&is_done, true);
  for (size_t i = 0; i < args.threads; i++) { pthread_join(threads[i], NULL); }
  return check_done();
}
