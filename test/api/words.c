/* test: timeout=60
   Sizes in words and sizes known when compiled, and the functions that free such blocks. */
#define _GNU_SOURCE 1
#include "api.h"

static void test_words(void) {
  mi_theap_t* const theap = mi_theap_get_default();
  CHECK(mi_wsize_from_size(0) == 0 && mi_wsize_from_size(1) == 1);
  CHECK(mi_wsize_from_size(sizeof(void*)) == 1 && mi_wsize_from_size(sizeof(void*) + 1) == 2);
  for (size_t words = 0; words <= MI_SMALL_WSIZE_MAX; words++) {
    const size_t bytes = words * sizeof(void*);
    void* p = mi_wmalloc_small(words);
    void* q = mi_theap_wmalloc_small(theap, words);
    CHECK(p != NULL && mi_usable_size(p) >= bytes && mi_usable_size(q) >= bytes);
    fill(p, bytes, 1);
    fill(q, bytes, 2);
    CHECK(is_filled(p, bytes, 1));
    mi_free_small_nonnull(p);
    mi_free_small_local(q);
    p = mi_wzalloc_small(words);
    q = mi_theap_wzalloc_small(theap, words);
    CHECK(p != NULL && q != NULL && p != q && is_zero(p, bytes) && is_zero(q, bytes));
    mi_free_small_local_nonnull(p);
    mi_free_small(q);
  }
  mi_free_small_local(NULL);
  CHECK_ERRNO(mi_wmalloc_small(size_largest() / 2) == NULL, ENOMEM);
}

static void test_known_sizes(void) {
  mi_theap_t* const theap = mi_theap_get_default();
  for (size_t size = 0; size <= 5000; size += 1 + size / 7) {
    void* p = mi_malloc_csize(size);
    void* q = mi_zalloc_csize(size);
    void* r = mi_theap_malloc_csize(theap, size);
    void* s = mi_theap_zalloc_csize(theap, size);
    fill(p, size, 1);
    fill(r, size, 2);
    CHECK(is_filled(p, size, 1) && is_zero(q, size) && is_zero(s, size));
    mi_free_csize(p, size);
    mi_free_csize_nonnull(q, size);
    mi_free_csize(r, size);
    mi_free_csize_nonnull(s, size);
    p = mi_malloc_aligned(size, 64);
    mi_free_csize_aligned(p, size, 64);
    p = mi_malloc_aligned(size, 64);
    mi_free_csize_aligned_nonnull(p, size, 64);
  }
  mi_free_csize(NULL, 8);
}

typedef struct {
  char bytes[13];
} odd_t;

static void test_typed(void) {
  odd_t* p = mi_malloc_tp(odd_t);
  odd_t* q = mi_zalloc_tp(odd_t);
  CHECK(p != NULL && is_zero(q, sizeof(odd_t)));
  mi_free_tp(odd_t, p);
  mi_free_tp(odd_t, q);
}

static void test_cfree(void) {
  static char foreign[64];
  char* large = mi_malloc(4 * MIB);
  void* small = mi_malloc(100);
  CHECK(!mi_cfree(NULL) && !mi_cfree(foreign) && !mi_cfree(&large));
  CHECK(!mi_cfree(large + MIB)); /* in a block of ours, but none */
  CHECK(mi_cfree(large) && mi_cfree(small));
}

int main(void) {
  mi_free(mi_malloc(1));
  test_words();
  test_known_sizes();
  test_typed();
  test_cfree();
  return check_done();
}
