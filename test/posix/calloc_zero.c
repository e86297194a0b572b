/* test: timeout=60 */
/* calloc is zero after everything that may have been done to its memory before: dirtied, freed in
   any order, merged, trimmed, left alone for a while, resized, freed by another thread. */
#define _GNU_SOURCE
#include "../check.h"
#include "../clock.h"
#include "../system.h"
#include "opaque.h"

enum { BLOCKS = 2000, BYTES = 24 << 20 };
static void* block[BLOCKS];

static int blocks_of(size_t size) {
  const size_t n = BYTES / size;
  return n > BLOCKS ? BLOCKS : (int)n;
}

static void dirty(size_t size, bool aligned) {
  for (int i = 0; i < blocks_of(size); i++) {
    block[i] = aligned ? memalign(256, size) : malloc(size);
    memset(block[i], 0xee, malloc_usable_size(block[i]));
  }
}

static void* free_odd(void* arg) {
  for (int i = 1; i < blocks_of(*(size_t*)arg); i += 2) { free(block[i]); }
  return NULL;
}

/* Even ones here, odd ones by another thread. */
static void free_all(size_t size) {
  test_thread_t thread;
  if (HAS_THREADS) {
    CHECK(thread_start(&thread, free_odd, &size));
    (void)thread_join(thread);
  } else {
    (void)free_odd(&size);
  }
  for (int i = blocks_of(size) - 1; i >= 0; i--) {
    if (i % 2 == 0) { free(block[i]); }
  }
}

static void zero_now(size_t size) {
  const int n = blocks_of(size);
  for (int i = 0; i < n; i++) {
    block[i] = calloc(1, size);
    CHECK(block[i] != NULL && all_zero(block[i], size));
    memset(block[i], 0xdd, malloc_usable_size(block[i]));
  }
  for (int i = 0; i < n; i++) { free(block[i]); }
}

int main(void) {
  const size_t sizes[] = {16,    48,    100,   500,    1024,    4096,   5000,
                          16384, 40000, 65536, 200000, 1 << 20, 5 << 20};
  enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
  for (int round = 0; round < 3; round++) {
    for (int s = 0; s < SIZES; s++) {
      dirty(sizes[s], round == 1);
      free_all(sizes[s]);
      if (round != 0) { malloc_trim(0); }
      if (round == 2 && s % 4 == 0) { sleep_ms(30); }
      zero_now(sizes[(s + round) % SIZES]);
    }
  }
  /* Freed memory that was idle for longer than any delay before it is given back. */
  dirty(3000, false);
  free_all(3000);
  dirty(300000, false);
  free_all(300000);
  sleep_ms(1300);
  for (int s = 0; s < SIZES; s++) { zero_now(sizes[s]); }
  return check_done();
}
