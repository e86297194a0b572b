/* test: timeout=60 when="threads"
   Everything at once: random sizes from 1 byte to 1 MiB, malloc, zalloc, aligned, realloc, free at
   home and, through slots that threads exchange, free abroad; now and then a collect. Contents are
   verified. */
#define _GNU_SOURCE 1
#include "stress.h"

enum { SLOTS = 512, OWN = 64 };

static _Atomic(parcel_t*) slots[SLOTS];
static stress_args_t args;

/* Mostly small, as programs are: one in a hundred above 16 KiB. */
static size_t random_size(uint64_t* seed) {
  const size_t dice = random_below(seed, 1000);
  return dice < 990 ? stress_size(seed, 11) : stress_size(seed, 19);
}

static parcel_t* parcel_adopt(void* memory, size_t payload, size_t tag) {
  parcel_t* p = memory;
  CHECK(p != NULL);
  if (p == NULL) { exit(check_done()); }
  *p = (parcel_t){.size = payload, .tag = tag};
  stress_fill(p + 1, payload, tag);
  return p;
}

static bool is_zero_at_steps(const unsigned char* bytes, size_t size) {
  unsigned char all = bytes[size - 1];
  for (size_t i = 0; i < size; i += size < 4096 ? 1 : 61) { all |= bytes[i]; }
  return all == 0;
}

static parcel_t* random_parcel(uint64_t* seed) {
  const size_t payload = random_size(seed);
  const size_t size = sizeof(parcel_t) + payload;
  const size_t tag = random_below(seed, 10000);
  const size_t dice = random_below(seed, 100);
  void* p = NULL;
  if (dice < 15) {
    p = mi_zalloc(size);
    CHECK(p != NULL && is_zero_at_steps(p, size));
  } else if (dice < 25) {
    const size_t alignment = (size_t)16 << random_below(seed, 9);
    p = mi_malloc_aligned(size, alignment);
    volatile uintptr_t address = (uintptr_t)p;
    CHECK((address & (alignment - 1)) == 0);
  } else {
    p = mi_malloc(size);
  }
  return parcel_adopt(p, payload, tag);
}

static parcel_t* resized(uint64_t* seed, parcel_t* p) {
  parcel_check(p);
  const size_t payload = random_size(seed);
  const size_t kept = payload < p->size ? payload : p->size;
  parcel_t* q = mi_realloc(p, sizeof(parcel_t) + payload);
  CHECK(q != NULL);
  if (q == NULL) { return p; }
  const unsigned char* bytes = (const unsigned char*)(q + 1);
  CHECK(bytes[0] == stress_byte(0, q->tag));
  CHECK(kept <= 509 ||
        bytes[(kept - 1) / 509 * 509] == stress_byte((kept - 1) / 509 * 509, q->tag));
  return parcel_adopt(q, payload, q->tag);
}

static void step(uint64_t* seed, parcel_t* own[OWN]) {
  const size_t k = random_below(seed, OWN);
  const size_t dice = random_below(seed, 1000);
  if (dice < 400) {
    parcel_free(own[k]);
    own[k] = random_parcel(seed);
  } else if (dice < 750) {
    own[k] =
        atomic_exchange_explicit(&slots[random_below(seed, SLOTS)], own[k], memory_order_acq_rel);
  } else if (dice < 850) {
    own[k] = own[k] == NULL ? random_parcel(seed) : resized(seed, own[k]);
  } else if (dice < 999) {
    parcel_free(own[k]);
    own[k] = NULL;
  } else {
    mi_collect(random_below(seed, 20) == 0);
  }
}

static void* work(void* arg) {
  uint64_t seed = stress_seed(args.seed, (size_t)(uintptr_t)arg);
  parcel_t* own[OWN] = {NULL};
  for (size_t i = 0; i < args.iterations; i++) { step(&seed, own); }
  for (size_t k = 0; k < OWN; k++) { parcel_free(own[k]); }
  return NULL;
}

int main(int argc, char** argv) {
  args = stress_args(argc, argv, 6, 400000);
  const size_t before = stress_resident();
  pthread_t threads[STRESS_MAX_THREADS];
  for (size_t i = 0; i < args.threads; i++) {
    threads[i] = stress_start(work, (void*)(uintptr_t)i);
  }
  for (size_t i = 0; i < args.threads; i++) { pthread_join(threads[i], NULL); }
  for (size_t k = 0; k < SLOTS; k++) {
    parcel_free(atomic_exchange_explicit(&slots[k], NULL, memory_order_acquire));
  }
  stress_check_peak(before + 16 * (args.threads + 2) * STRESS_MIB, "at the most");
  mi_collect(true);
  stress_check_resident(before + 8 * STRESS_MIB, "nothing is live");
  return check_done();
}
