/* test: timeout=60
   The extended section: small forms, zalloc, mallocn, reallocn, reallocf, usable and good size, the
   typed macros. */
#define _GNU_SOURCE 1
#include "api.h"

static void test_small(void) {
  CHECK(MI_SMALL_WSIZE_MAX == 128 && MI_SMALL_SIZE_MAX == 128 * sizeof(void*));
  void* blocks[2][MI_SMALL_SIZE_MAX + 1];
  for (size_t size = 0; size <= MI_SMALL_SIZE_MAX; size++) {
    blocks[0][size] = mi_malloc_small(size);
    blocks[1][size] = mi_zalloc_small(size);
    CHECK(blocks[0][size] != NULL && mi_usable_size(blocks[0][size]) >= size);
    CHECK(blocks[1][size] != NULL && is_zero(blocks[1][size], size));
    fill(blocks[0][size], size, 1);
    fill(blocks[1][size], size, 2);
  }
  for (size_t size = 0; size <= MI_SMALL_SIZE_MAX; size++) {
    CHECK(is_filled(blocks[0][size], size, 1) && is_filled(blocks[1][size], size, 2));
    mi_free_small(blocks[0][size]);
    mi_free(blocks[1][size]);
  }
  for (size_t size = 0; size <= MI_SMALL_SIZE_MAX; size++) { /* again, out of dirty memory */
    void* p = mi_zalloc_small(size);
    CHECK(p != NULL && is_zero(p, size));
    mi_free_small(p);
  }
  mi_free_small(NULL);
}

static void test_zalloc(void) {
  for (size_t size = 0; size <= 4 * MIB; size += 1 + size / 9) {
    void* p = mi_zalloc(size);
    CHECK(p != NULL && mi_usable_size(p) >= size && is_zero(p, mi_usable_size(p)));
    memset(p, 0xDD, size);
    mi_free(p);
  }
  CHECK_ERRNO(mi_zalloc(size_too_large()) == NULL, ENOMEM);
}

static void test_arrays(void) {
  unsigned char* p = mi_mallocn(100, 12);
  CHECK(p != NULL && mi_usable_size(p) >= 1200);
  fill(p, 1200, 5);
  p = mi_reallocn(p, 1000, 12);
  CHECK(p != NULL && mi_usable_size(p) >= 12000 && is_filled(p, 1200, 5));
  CHECK_ERRNO(mi_reallocn(p, count_overflowing(), 16) == NULL, ENOMEM);
  CHECK(is_filled(p, 1200, 5));
  mi_free(p);
  CHECK_ERRNO(mi_mallocn(count_overflowing(), 16) == NULL, ENOMEM);
  p = mi_reallocn(NULL, 3, 5);
  CHECK(p != NULL && mi_usable_size(p) >= 15);
  mi_free(p);
}

static void test_reallocf(void) {
  void* p = mi_reallocf(NULL, 10);
  CHECK(p != NULL);
  fill(p, 10, 1);
  p = mi_reallocf(p, 100000);
  CHECK(p != NULL && is_filled(p, 10, 1));
  mi_free(p);
  const size_t before = resident_bytes();
  for (int i = 0; i < 2000; i++) { /* 500 MiB in all, if the failing call did not free */
    p = mi_malloc(256 * KIB);
    memset(p, 1, 256 * KIB);
    CHECK_ERRNO(mi_reallocf(p, size_too_large()) == NULL, ENOMEM);
  }
  CHECK(resident_bytes() < before + 64 * MIB);
}

static void test_sizes(void) {
  CHECK(mi_usable_size(NULL) == 0);
  size_t previous = 0;
  for (size_t size = 0; size <= 20 * MIB; size += 1 + size / 50) {
    const size_t good = mi_good_size(size);
    CHECK(good >= size && good >= previous);
    CHECK(mi_good_size(good) == good);
    previous = good;
  }
}

typedef struct {
  char bytes[40];
} item_t;

static void test_macros(void) {
  item_t* p = mi_malloc_tp(item_t);
  CHECK(p != NULL && mi_usable_size(p) >= sizeof(item_t));
  mi_free(p);
  p = mi_zalloc_tp(item_t);
  CHECK(p != NULL && is_zero(p, sizeof(item_t)));
  mi_free(p);
  p = mi_calloc_tp(item_t, 50);
  CHECK(p != NULL && is_zero(p, 50 * sizeof(item_t)));
  p = mi_recalloc_tp(item_t, p, 500);
  CHECK(p != NULL && is_zero(p, 500 * sizeof(item_t)));
  mi_free(p);
  p = mi_mallocn_tp(item_t, 7);
  CHECK(p != NULL && mi_usable_size(p) >= 7 * sizeof(item_t));
  p = mi_reallocn_tp(item_t, p, 70);
  CHECK(p != NULL && mi_usable_size(p) >= 70 * sizeof(item_t));
  mi_free(p);
}

int main(void) {
  test_small();
  test_zalloc();
  test_arrays();
  test_reallocf();
  test_sizes();
  test_macros();
  return check_done();
}
