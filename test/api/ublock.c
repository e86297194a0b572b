/* test: timeout=60
   The functions that report the block size along with the block. */
#define _GNU_SOURCE 1
#include "api.h"

static void test_allocate(void) {
  for (size_t size = 0; size <= 3 * MIB; size += 1 + size / 4) {
    size_t block_size = 0;
    void* p = mi_umalloc(size, &block_size);
    CHECK(p != NULL && block_size >= size && block_size == mi_usable_size(p));
    fill(p, block_size, 1); /* all that is reported is ours */
    CHECK(is_filled(p, block_size, 1));
    size_t freed_size = 0;
    mi_ufree(p, &freed_size);
    CHECK(freed_size == block_size);

    p = mi_ucalloc(size, 2, &block_size);
    CHECK(p != NULL && block_size >= 2 * size && block_size == mi_usable_size(p));
    CHECK(is_zero(p, 2 * size));
    memset(p, 0xDD, 2 * size);
    mi_ufree(p, &freed_size);
    CHECK(freed_size == block_size);
  }
}

static void test_small(void) {
  for (size_t size = 0; size <= MI_SMALL_SIZE_MAX; size++) {
    size_t block_size = 0;
    void* p = mi_umalloc_small(size, &block_size);
    CHECK(p != NULL && block_size >= size && block_size == mi_usable_size(p));
    memset(p, 0xDD, block_size);
    mi_free(p);
    p = mi_uzalloc_small(size, &block_size);
    CHECK(p != NULL && block_size >= size && block_size == mi_usable_size(p));
    CHECK(is_zero(p, size));
    mi_free(p);
  }
}

static void test_aligned(void) {
  for (size_t alignment = 1; alignment <= 4 * MIB; alignment *= 2) {
    for (size_t size = 1; size <= 300000; size = size * 9 + 1) {
      size_t block_size = 0;
      void* p = mi_umalloc_aligned(size, alignment, &block_size);
      CHECK(p != NULL && is_aligned(p, alignment));
      CHECK(block_size >= size && block_size == mi_usable_size(p));
      memset(p, 0xDD, size);
      size_t freed_size = 0;
      mi_ufree(p, &freed_size);
      CHECK(freed_size == block_size);
      p = mi_uzalloc_aligned(size, alignment, &block_size);
      CHECK(p != NULL && is_aligned(p, alignment) && is_zero(p, size));
      CHECK(block_size >= size && block_size == mi_usable_size(p));
      mi_free(p);
    }
  }
}

static void test_realloc(void) {
  size_t before = 99;
  size_t after = 0;
  void* p = mi_urealloc(NULL, 50, &before, &after);
  CHECK(p != NULL && before == 0 && after >= 50 && after == mi_usable_size(p));
  fill(p, 50, 7);
  for (size_t size = 100; size < 2 * MIB; size *= 3) {
    const size_t usable = mi_usable_size(p);
    p = mi_urealloc(p, size, &before, &after);
    CHECK(p != NULL && before == usable && after >= size && after == mi_usable_size(p));
    CHECK(is_filled(p, 50, 7));
  }
  CHECK_ERRNO(mi_urealloc(p, size_too_large(), &before, &after) == NULL, ENOMEM);
  CHECK(is_filled(p, 50, 7));
  mi_free(p);
}

static void test_failures(void) {
  size_t block_size = 0;
  CHECK_ERRNO(mi_umalloc(size_too_large(), &block_size) == NULL, ENOMEM);
  CHECK_ERRNO(mi_ucalloc(count_overflowing(), 16, &block_size) == NULL, ENOMEM);
  CHECK_ERRNO(mi_umalloc_aligned(size_too_large(), 64, &block_size) == NULL, ENOMEM);
  CHECK_ERRNO(mi_uzalloc_aligned(size_too_large(), 64, &block_size) == NULL, ENOMEM);
  CHECK_ERRNO(mi_umalloc_aligned(100, alignment_invalid(), &block_size) == NULL, EINVAL);
  block_size = 99;
  CHECK(mi_umalloc(size_too_large(), &block_size) == NULL && block_size == 0);
  block_size = 99;
  mi_ufree(NULL, &block_size);
  CHECK(block_size == 0);
  void* p = mi_urealloc(mi_ucalloc(3, 3, NULL), 1000, NULL, NULL); /* nobody asks */
  CHECK(p != NULL && is_zero(p, 9));
  mi_ufree(p, NULL);
}

int main(void) {
  test_allocate();
  test_small();
  test_aligned();
  test_realloc();
  test_failures();
  return check_done();
}
