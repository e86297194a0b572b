// Sizes that are wrong or overflow, and memory that changes its size class. Harm: a block is
// smaller than its owner believes, or a dangling pointer meets a block of another kind.
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "misuse.h"

static void must_fail(void* p) {
  if (p != NULL) { harmful("a size that no memory has was granted"); }
}

static void size_overflow(size_t n) {
  char* p = keep_new(n);
  for (size_t k = 0; k <= 64; k += 8) {
    must_fail(take(SIZE_MAX - k));
    must_fail(take((size_t)PTRDIFF_MAX + 1 + k));
    must_fail(realloc(p, SIZE_MAX - k));
  }
  must_fail(take(SIZE_MAX - n));
  expect_heap_whole(n);
}

static void size_product_overflow(size_t n) {
  char* p = keep_new(n);
  must_fail(calloc(SIZE_MAX / n + 2, n));
  must_fail(calloc(n, SIZE_MAX / n + 2));
  must_fail(calloc((size_t)1 << (4 * sizeof(size_t)), (size_t)1 << (4 * sizeof(size_t))));
  must_fail(reallocarray(p, SIZE_MAX / n + 2, n));
  expect_heap_whole(n);
}

static void size_huge_align(size_t n) {
  void* p = NULL;
  for (unsigned k = 8 * sizeof(size_t) - 1; k > 8 * sizeof(size_t) - 8; k--) {
    must_fail(aligned_alloc((size_t)1 << k, n));
    must_fail(memalign((size_t)1 << k, n));
    if (posix_memalign(&p, (size_t)1 << k, n) == 0) { must_fail(p); }
  }
  const size_t step = n < 50000 ? 24 : 240;
  for (size_t odd = 24; odd < 4096; odd += step) {  // no power of two: refused, or rounded up
    p = memalign(odd, n);
    if (p != NULL && (uintptr_t)p % 16 != 0) { harmful("not aligned at all"); }
    keep(p, n);
    p = NULL;
    if (posix_memalign(&p, odd, n) == 0) {
      if ((uintptr_t)p % 16 != 0) { harmful("not aligned at all"); }
      keep(p, n);
    }
  }
  expect_heap_whole(n);
}

static void size_write_zero(size_t n) {
  for (int i = 0; i < CROWD_MAX / 2; i++) { keep_new(n); }
  char* p = take(0);
  for (int i = 0; i < CROWD_MAX / 2; i++) { keep_new(n); }
  *opaque(p) ^= 0x55;
  misuse_free(p);
  expect_heap_whole(n);
}

// Of a C library of C23, or of the allocator.
extern void free_sized(void*, size_t) __attribute__((weak));

static void size_free_sized(size_t n) {
  if (free_sized == NULL) { not_here("there is no free_sized"); }
  char* p = take(n);
  free_sized(p, 2 * n);
  expect_heap_whole(n);
}

// ---- type confusion ----

// Blocks of one size fill memory and are freed; does a block of another size come to lie over one
// of them?
static void size_other_class(size_t n) {
  enum { MOST = 4096 };
  static char* old[MOST];
  size_t count = (2 << 20) / n;
  count = count > MOST ? MOST : count < 6 ? 6 : count;
  for (size_t i = 0; i < count; i++) { old[i] = take(n); }
  for (size_t i = 0; i < count; i++) { misuse_free(old[i]); }
  const size_t other = 3 * n;
  for (size_t i = 0; i < count / 2; i++) {
    char* p = keep_new(other);
    for (size_t k = 0; k < count; k++) {
      if (p < old[k] + n && p + other > old[k]) {
        harmful("a block of another size lies there now");
      }
    }
  }
  expect_heap_whole(n);
}

const misuse_t size_misuses[] = {
    {"size_overflow", size_overflow},
    {"size_product_overflow", size_product_overflow},
    {"size_huge_align", size_huge_align},
    {"size_write_zero", size_write_zero},
    {"size_free_sized", size_free_sized},
    {"size_other_class", size_other_class},
    {NULL, NULL},
};
