/* test: not-emulated-32="QEMU 7 unmaps what lies behind a mapping that mremap shortens" timeout=120 when="release|debug|secure|guarded"
   realloc from every size of a ladder to every other, plain and aligned, then long random walks:
   contents kept. */
#define _GNU_SOURCE 1
#include "api.h"

static const size_t sizes[] = {1,    8,     15,    16,    33,     100,    512,     1000,   1025,
                               4096, 10000, 32768, 65000, 131072, 300000, 1048576, 2500000};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void test_pair(size_t from, size_t to) {
  void* p = mi_malloc(from);
  fill(p, from, 1);
  p = mi_realloc(p, to);
  CHECK(p != NULL && mi_usable_size(p) >= to && is_filled(p, least(from, to), 1));
  fill(p, to, 2);
  p = mi_realloc(p, from);
  CHECK(p != NULL && is_filled(p, least(from, to), 2));
  mi_free(p);
}

static void test_aligned_pair(size_t from, size_t to, size_t alignment, size_t offset) {
  char* p = mi_malloc_aligned_at(from, alignment, offset);
  CHECK(p != NULL && is_aligned(p + offset, alignment));
  fill(p, from, 3);
  p = mi_realloc_aligned_at(p, to, alignment, offset);
  CHECK(p != NULL && is_aligned(p + offset, alignment) && mi_usable_size(p) >= to);
  CHECK(is_filled(p, least(from, to), 3));
  if (offset == 0) {
    p = mi_realloc_aligned(p, from, alignment);
    CHECK(p != NULL && is_aligned(p, alignment) && is_filled(p, least(from, to), 3));
    p = mi_realloc_aligned(p, to, alignment * 2); /* more than it was allocated with */
    CHECK(p != NULL && is_aligned(p, alignment * 2) && is_filled(p, least(from, to), 3));
  }
  p = mi_realloc(p, to + 1); /* a plain realloc may lose the alignment, never the contents */
  CHECK(p != NULL && is_filled(p, least(from, to), 3));
  mi_free(p);
}

static void test_aligned_errors(void) {
  void* p = mi_malloc(100);
  fill(p, 100, 4);
  CHECK_ERRNO(mi_realloc_aligned(p, size_too_large(), 64) == NULL, ENOMEM);
  CHECK_ERRNO(mi_realloc_aligned_at(p, size_too_large(), 64, 8) == NULL, ENOMEM);
  CHECK_ERRNO(mi_realloc_aligned(p, 1000, alignment_invalid()) == NULL, EINVAL);
  CHECK_ERRNO(mi_realloc_aligned_at(p, 1000, alignment_invalid(), 8) == NULL, EINVAL);
  CHECK(is_filled(p, 100, 4));
  mi_free(p);
  char* q = mi_realloc_aligned(NULL, 100, 512);
  CHECK(q != NULL && is_aligned(q, 512));
  mi_free(q);
  q = mi_realloc_aligned_at(NULL, 100, 512, 24);
  CHECK(q != NULL && is_aligned(q + 24, 512));
  mi_free(q);
}

/* Several blocks grow and shrink beside each other, so that growth in place meets neighbours. */
static void test_walk(uint64_t seed, size_t largest, int steps) {
  enum { BLOCKS = 16 };
  char* blocks[BLOCKS] = {NULL};
  size_t lengths[BLOCKS] = {0};
  for (int step = 0; step < steps; step++) {
    const size_t i = random_below(&seed, BLOCKS);
    const size_t next = 1 + random_below(&seed, 1 + random_below(&seed, largest));
    blocks[i] = mi_realloc(blocks[i], next);
    CHECK(blocks[i] != NULL && is_filled(blocks[i], least(lengths[i], next), (unsigned)i));
    fill(blocks[i], next, (unsigned)i);
    lengths[i] = next;
  }
  for (size_t i = 0; i < BLOCKS; i++) {
    CHECK(is_filled(blocks[i], lengths[i], (unsigned)i));
    mi_free(blocks[i]);
  }
}

/* A vector that grows a little each time costs little copying: checked by contents, not by time. */
static void test_append(void) {
  size_t length = 0;
  char* p = NULL;
  while (length < 6 * MIB) {
    p = mi_realloc(p, length + 16 * KIB);
    CHECK(p != NULL);
    memset(p + length, (int)(length >> 14) & 0xFF, 16 * KIB);
    length += 16 * KIB;
  }
  bool kept = true;
  for (size_t i = 0; i < length; i += 1021) {
    kept = kept && (unsigned char)p[i] == ((i >> 14) & 0xFF);
  }
  CHECK(kept);
  mi_free(p);
}

int main(void) {
  for (size_t from = 0; from < SIZES; from++) {
    for (size_t to = 0; to < SIZES; to++) { test_pair(sizes[from], sizes[to]); }
  }
  for (size_t alignment = 1; alignment <= 2 * MIB; alignment *= 4) {
    for (size_t from = 0; from < SIZES; from += 3) {
      for (size_t to = 0; to < SIZES; to += 2) {
        test_aligned_pair(sizes[from], sizes[to], alignment, 0);
        test_aligned_pair(sizes[from], sizes[to], alignment,
                          least(8, least(sizes[from], sizes[to])));
      }
    }
  }
  test_aligned_errors();
  test_walk(11, 300, 20000);
  test_walk(12, 70000, 3000);
  test_walk(13, 3 * MIB, 300);
  test_append();
  return check_done();
}
