/* test: timeout=60 when="release|debug"
   Internal waste is bounded: of a block, at most 20 % for any size above 64 bytes, at most 6 % on
   average over log-uniform sizes from 256 bytes to 1 MiB. And what mi_good_size says is what one
   gets. */
#define _GNU_SOURCE 1
#include "api.h"

static double waste_of(size_t size) {
  return (double)(mi_good_size(size) - size) / (double)mi_good_size(size);
}

static void test_worst(void) {
  double worst = 0;
  size_t worst_size = 0;
  for (size_t size = 65; size <= 4 * MIB; size += size < 64 * KIB ? 1 : 13) {
    if (waste_of(size) > worst) {
      worst = waste_of(size);
      worst_size = size;
    }
  }
  printf("worst waste %.2f %% at %zu bytes (%zu)\n", 100 * worst, worst_size,
         mi_good_size(worst_size));
  CHECK(worst <= 0.20);
  for (size_t size = 1; size <= 64; size++) { CHECK(mi_good_size(size) <= (size + 15) / 16 * 16); }
}

/* 256 × 2^(k/1000) for all k to 12 doublings, without a library function. */
static void test_mean(void) {
  enum { STEPS = 1000, DOUBLINGS = 12 };
  const double ratio = 1.0006933874625807; /* 2^(1/1000) */
  double sum = 0;
  double size = 256;
  for (int k = 0; k < STEPS * DOUBLINGS; k++) {
    sum += waste_of((size_t)size);
    size *= ratio;
  }
  const double mean = sum / (STEPS * DOUBLINGS);
  printf("mean waste %.2f %%, sizes to %.0f\n", 100 * mean, size);
  CHECK(mean <= 0.06);
  CHECK(size > 1.04e6 && size < 1.06e6);
}

static void test_good_is_usable(void) {
  for (size_t size = 0; size <= 8 * MIB; size += 1 + size / 200) {
    void* p = mi_malloc(size);
    CHECK(p != NULL && mi_usable_size(p) == mi_good_size(size));
    mi_free(p);
    p = mi_calloc(1, size);
    CHECK(p != NULL && mi_usable_size(p) == mi_good_size(size));
    mi_free(p);
  }
}

int main(void) {
  test_worst();
  test_mean();
  test_good_is_usable();
  return check_done();
}
