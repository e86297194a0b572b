/* test: timeout=20 */
/* calloc: zero counts, products that overflow, contents that are zero. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

static void zero_product_is_a_block(void) {
  const size_t pair[][2] = {{0, 0}, {0, 1}, {1, 0}, {0, SIZE_MAX}, {SIZE_MAX, 0}};
  for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
    void* p = calloc(pair[i][0], pair[i][1]);
    void* q = calloc(pair[i][0], pair[i][1]);
    CHECK(p != NULL && q != NULL && p != q);
    free(p);
    free(q);
  }
}

static void overflow_is_enomem(void) {
  const size_t half = (size_t)1 << (sizeof(size_t) * 4);
  const size_t pair[][2] = {
      {SIZE_MAX, 2},
      {2, SIZE_MAX},
      {SIZE_MAX, SIZE_MAX},
      {half, half},
      {half + 1, half},
      {half, half + 1},
      {SIZE_MAX / 2 + 1, 2},
      {SIZE_MAX / 16 + 1, 16},
      {SIZE_MAX / 3 + 1, 3},
      {SIZE_MAX / 3 + 2, 3},
      {3, SIZE_MAX / 3 + 1},
      {SIZE_MAX, 1},
      {1, SIZE_MAX},
      {1, impossible_sizes[0]},
      {(size_t)PTRDIFF_MAX + 1, 1},
  };
  for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
    errno = 0;
    CHECK(calloc(pair[i][0], pair[i][1]) == NULL);
    CHECK(errno == ENOMEM);
  }
}

/* Every size is zero at once, and again after its memory was dirtied and freed. */
static void contents_are_zero(void) {
  for (size_t size = 1; size <= (4u << 20); size += size / 5 + 1) {
    for (int round = 0; round < 3; round++) {
      unsigned char* p = (unsigned char*)calloc(1, size);
      CHECK(p != NULL && all_zero(p, size));
      memset(p, 0xa5, size);
      free(p);
    }
  }
}

int main(void) {
  zero_product_is_a_block();
  overflow_is_enomem();
  contents_are_zero();
  return check_done();
}
