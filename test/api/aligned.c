/* test: timeout=120 when="release|debug|secure|guarded"
   Aligned allocation: every alignment from 1 byte to 4 MiB × sizes × offsets, three live blocks
   each, with contents. */
#define _GNU_SOURCE 1
#include "api.h"

static const size_t sizes[] = {0,    1,    7,    8,     16,    24,    40,     64,     100,    513,
                               1024, 4096, 5000, 16384, 40000, 65536, 100000, 300000, 1048579};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), OFFSETS = 6, LIVE = 3 };

static size_t offset_at(size_t i, size_t size) {
  const size_t offsets[OFFSETS] = {0, 1, 8, 17, size / 2, size};
  return offsets[i] <= size ? offsets[i] : 0;
}

static void* allocate_at(size_t form, size_t size, size_t alignment, size_t offset) {
  switch (form) {
    case 0: return mi_malloc_aligned_at(size, alignment, offset);
    case 1: return mi_zalloc_aligned_at(size, alignment, offset);
    default: return mi_calloc_aligned_at(1, size, alignment, offset);
  }
}

static void test_at(size_t size, size_t alignment, size_t offset) {
  char* blocks[LIVE];
  for (size_t i = 0; i < LIVE; i++) {
    blocks[i] = allocate_at(i, size, alignment, offset);
    CHECK(blocks[i] != NULL && is_aligned(blocks[i] + offset, alignment));
    CHECK(mi_usable_size(blocks[i]) >= size);
    CHECK(i == 0 || is_zero(blocks[i], size));
    fill(blocks[i], size, (unsigned)i);
  }
  for (size_t i = 0; i < LIVE; i++) {
    CHECK(is_filled(blocks[i], size, (unsigned)i));
    mi_free(blocks[i]);
  }
}

static void* allocate(size_t form, size_t size, size_t alignment) {
  switch (form) {
    case 0: return mi_malloc_aligned(size, alignment);
    case 1: return mi_zalloc_aligned(size, alignment);
    default: return mi_calloc_aligned(size, 1, alignment);
  }
}

static void test_plain(size_t size, size_t alignment) {
  char* blocks[LIVE];
  for (size_t i = 0; i < LIVE; i++) {
    blocks[i] = allocate(i, size, alignment);
    CHECK(blocks[i] != NULL && is_aligned(blocks[i], alignment));
    CHECK(mi_usable_size(blocks[i]) >= size);
    CHECK(is_aligned(blocks[i], size >= 16 ? 16 : 8)); /* the least, however little was asked */
    CHECK(i == 0 || is_zero(blocks[i], size));
    fill(blocks[i], size, (unsigned)i);
  }
  for (size_t i = 0; i < LIVE; i++) {
    CHECK(is_filled(blocks[i], size, (unsigned)i));
    mi_free(blocks[i]);
  }
}

/* Many of one alignment at a time: the blocks of a page, not the first one only. */
static void test_many(size_t size, size_t alignment) {
  enum { MANY = 300 };
  char* blocks[MANY];
  for (size_t i = 0; i < MANY; i++) {
    blocks[i] = mi_malloc_aligned(size, alignment);
    CHECK(blocks[i] != NULL && is_aligned(blocks[i], alignment));
    fill(blocks[i], size, (unsigned)i);
  }
  for (size_t i = 0; i < MANY; i++) {
    CHECK(is_filled(blocks[i], size, (unsigned)i));
    mi_free(blocks[i]);
  }
}

static void test_huge_alignment(void) {
  /* 4 GiB of addresses hold three starts of 1 GiB at best */
  const size_t largest = (sizeof(void*) == 8 ? 1024 : 128) * (size_t)MIB;
  for (size_t alignment = 8 * (size_t)MIB; alignment <= largest; alignment *= 2) {
    char* p = mi_malloc_aligned(100, alignment);
    char* q = mi_zalloc_aligned(3 * MIB, alignment);
    char* r = mi_malloc_aligned_at(5000, alignment, 72);
    CHECK(p != NULL && is_aligned(p, alignment));
    CHECK(q != NULL && is_aligned(q, alignment) && is_zero(q, 3 * MIB));
    CHECK(r != NULL && is_aligned(r + 72, alignment));
    if (p == NULL || q == NULL || r == NULL) { return; }
    fill(p, 100, 1);
    fill(q, 3 * MIB, 2);
    fill(r, 5000, 3);
    CHECK(is_filled(p, 100, 1) && is_filled(q, 3 * MIB, 2) && is_filled(r, 5000, 3));
    mi_free(q);
    mi_free(p);
    mi_free(r);
  }
}

static void test_errors(void) {
  static const size_t bad[] = {0, 3, 24, 48, 4095};
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    CHECK_ERRNO(mi_malloc_aligned(100, bad[i]) == NULL, EINVAL);
    CHECK_ERRNO(mi_malloc_aligned_at(100, bad[i], 8) == NULL, EINVAL);
    CHECK_ERRNO(mi_zalloc_aligned(100, bad[i]) == NULL, EINVAL);
    CHECK_ERRNO(mi_zalloc_aligned_at(100, bad[i], 8) == NULL, EINVAL);
    CHECK_ERRNO(mi_calloc_aligned(10, 10, bad[i]) == NULL, EINVAL);
    CHECK_ERRNO(mi_calloc_aligned_at(10, 10, bad[i], 8) == NULL, EINVAL);
  }
  for (size_t alignment = 1; alignment <= 64 * MIB; alignment *= 8) {
    CHECK_ERRNO(mi_malloc_aligned(size_too_large(), alignment) == NULL, ENOMEM);
    CHECK_ERRNO(mi_malloc_aligned(size_too_large() - 1, alignment) == NULL, ENOMEM);
    CHECK_ERRNO(mi_malloc_aligned_at(size_too_large(), alignment, 8) == NULL, ENOMEM);
    CHECK_ERRNO(mi_zalloc_aligned(size_largest(), alignment) == NULL, ENOMEM);
    CHECK_ERRNO(mi_zalloc_aligned_at(size_too_large(), alignment, 8) == NULL, ENOMEM);
    CHECK_ERRNO(mi_calloc_aligned(count_overflowing(), 16, alignment) == NULL, ENOMEM);
    CHECK_ERRNO(mi_calloc_aligned_at(count_overflowing(), 16, alignment, 8) == NULL, ENOMEM);
  }
}

int main(void) {
  for (size_t alignment = 1; alignment <= 4 * MIB; alignment *= 2) {
    for (size_t s = 0; s < SIZES; s++) {
      test_plain(sizes[s], alignment);
      for (size_t o = 0; o < OFFSETS; o++) { test_at(sizes[s], alignment, offset_at(o, sizes[s])); }
    }
    if (alignment <= 64 * KIB) {
      test_many(40, alignment);
      test_many(1000, alignment);
    }
  }
  test_huge_alignment();
  test_errors();
  return check_done();
}
