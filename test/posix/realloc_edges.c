/* test: timeout=30 when="posix|wasm" */
/* realloc: from NULL, to zero, beyond what exists; a refusal leaves the block as it was. */
#define _GNU_SOURCE
#include "../check.h"
#include "../system.h"
#include "opaque.h"

#ifdef __wasm__
static size_t resident_kib(void) { return __builtin_wasm_memory_size(0) * 64; }
#else
#include "../lifecycle/process.h"
#endif

static void from_null_is_malloc(void) {
  void* p = realloc(NULL, 100);
  CHECK(p != NULL);
  pattern_fill(p, 100, 1);
  free(p);
  p = realloc(NULL, 0);
  void* q = realloc(NULL, 0);
  CHECK(p != NULL && q != NULL && p != q);
  free(p);
  free(q);
}

/* realloc(p, 0) frees p and returns NULL without an error: nothing piles up. */
static void to_zero_frees(void) {
  errno = 77;
  CHECK(realloc(malloc(10), 0) == NULL);
  CHECK(errno == 77);
  const size_t before = resident_kib();
  for (int i = 0; i < 4000; i++) {
    void* p = malloc(65536);
    CHECK(p != NULL);
    memset(p, 1, 65536);
    CHECK(realloc(p, 0) == NULL);
  }
  for (int i = 0; i < 1000000; i++) { CHECK(realloc(malloc(48), 0) == NULL); }
  CHECK(resident_kib() < before + 32 * 1024);
}

static void refusal_keeps_the_block(void) {
  const size_t sizes[] = {1, 24, 100, 1000, 10000, 100000, 1000000, 10000000};
  for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
    void* p = malloc(sizes[s]);
    CHECK(p != NULL);
    pattern_fill(p, sizes[s], s);
    for (int i = 0; i < IMPOSSIBLE_SIZES; i++) {
      errno = 0;
      CHECK(realloc(p, impossible_sizes[i]) == NULL);
      CHECK(errno == ENOMEM);
    }
    CHECK(pattern_holds(p, sizes[s], s));
    p = realloc(p, sizes[s] + 1);
    CHECK(p != NULL && pattern_holds(p, sizes[s], s));
    free(p);
  }
  errno = 0;
  CHECK(realloc(NULL, SIZE_MAX) == NULL);
  CHECK(errno == ENOMEM);
}

/* Growing and shrinking between all magnitudes keeps what both sizes have in common. */
static void contents_follow(void) {
  const size_t sizes[] = {1,    8,    16,    17,    63,    100,    500,     1024,
                          4095, 4097, 20000, 32768, 70000, 300000, 1100000, 5000000};
  enum { N = sizeof(sizes) / sizeof(sizes[0]) };
  for (int from = 0; from < N; from++) {
    for (int to = 0; to < N; to++) {
      void* p = malloc(sizes[from]);
      pattern_fill(p, sizes[from], 3);
      p = realloc(p, sizes[to]);
      CHECK(p != NULL);
      CHECK(pattern_holds(p, sizes[from] < sizes[to] ? sizes[from] : sizes[to], 3));
      CHECK(malloc_usable_size(p) >= sizes[to]);
      free(p);
    }
  }
}

/* The same size again is the same block. */
static void same_size_stays(void) {
  for (size_t size = 1; size < 3000000; size = size * 3 + 1) {
    void* p = malloc(size);
    CHECK(realloc(p, size) == p);
    free(p);
  }
}

int main(void) {
  from_null_is_malloc();
  to_zero_frees();
  refusal_keeps_the_block();
  contents_follow();
  same_size_stays();
  return check_done();
}
