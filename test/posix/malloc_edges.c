/* test: timeout=20 */
/* malloc: size zero, sizes that cannot exist, the alignment of what it returns. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

/* A request for nothing returns a block of its own each time. */
static void zero_size_is_unique(void) {
  enum { COUNT = 1000 };
  static void* block[COUNT];
  for (int i = 0; i < COUNT; i++) {
    block[i] = malloc(0);
    CHECK(block[i] != NULL);
    CHECK(i == 0 || block[i] != block[i - 1]);
    for (int k = 0; k < i && i % 100 == 0; k++) { CHECK(block[k] != block[i]); }
  }
  for (int i = 0; i < COUNT; i++) { free(block[i]); }
}

static void too_large_is_enomem(void) {
  for (int i = 0; i < IMPOSSIBLE_SIZES; i++) {
    errno = 0;
    CHECK(malloc(impossible_sizes[i]) == NULL);
    CHECK(errno == ENOMEM);
  }
  for (size_t below = 0; below < 70000; below += 13) {
    errno = 0;
    CHECK(malloc(SIZE_MAX - below) == NULL);
    CHECK(errno == ENOMEM);
  }
}

/* A block is aligned for any object that fits into it; from 16 bytes on for max_align_t. */
static void aligned_for_its_size(void) {
  for (size_t size = 1; size <= 200000; size += size < 5000 ? 1 : size / 7) {
    void* p = malloc(size);
    CHECK(p != NULL);
    size_t alignment = 1;
    while (alignment * 2 <= size && alignment < _Alignof(max_align_t)) { alignment *= 2; }
    CHECK(is_aligned(p, alignment));
    free(p);
  }
}

static void free_null_does_nothing(void) {
  errno = 77;
  free(NULL);
  CHECK(errno == 77);
}

/* After a refusal the next ordinary request is served. */
static void goes_on_after_refusal(void) {
  CHECK(malloc(SIZE_MAX) == NULL);
  char* p = (char*)malloc(100);
  CHECK(p != NULL);
  memset(p, 1, 100);
  free(p);
}

int main(void) {
  zero_size_is_unique();
  too_large_is_enomem();
  aligned_for_its_size();
  free_null_does_nothing();
  goes_on_after_refusal();
  return check_done();
}
