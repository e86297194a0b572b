/* test: when=glibc timeout=20 */
/* mallinfo and mallinfo2 tell the truth: what is in use rises by what is allocated and falls by
   what is freed. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

#if !__GLIBC_PREREQ(2, 33)
#define mallinfo2 mallinfo
#endif

enum { MIB = 1 << 20, BLOCKS = 64, SMALL_BLOCKS = 160000, SMALL_SIZE = 200 };

static size_t in_use(void) {
  const struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static size_t in_use_int(void) {
  const struct mallinfo m = mallinfo();
  return (size_t)(unsigned)m.uordblks + (size_t)(unsigned)m.hblkhd;
}

static bool about(size_t value, size_t expected) {
  return value >= expected - expected / 10 && value <= expected + expected / 4 + MIB;
}

static void large_blocks(size_t (*reading)(void)) {
  static void* block[BLOCKS];
  const size_t before = reading();
  for (int i = 0; i < BLOCKS; i++) {
    block[i] = malloc(MIB);
    memset(block[i], 1, MIB);
  }
  const size_t full = reading();
  CHECK(about(full - before, (size_t)BLOCKS * MIB));
  for (int i = 0; i < BLOCKS / 2; i++) { free(block[i]); }
  CHECK(about(reading() - before, (size_t)BLOCKS / 2 * MIB));
  for (int i = BLOCKS / 2; i < BLOCKS; i++) { free(block[i]); }
  CHECK(reading() < before + MIB);
}

static void small_blocks(size_t (*reading)(void)) {
  static void* block[SMALL_BLOCKS];
  const size_t before = reading();
  for (int i = 0; i < SMALL_BLOCKS; i++) { block[i] = malloc(SMALL_SIZE); }
  CHECK(about(reading() - before, (size_t)SMALL_BLOCKS * SMALL_SIZE));
  for (int i = 0; i < SMALL_BLOCKS; i++) { free(block[i]); }
  CHECK(reading() < before + MIB);
}

/* Sums that hold by their meaning: the arena is what is used and what is free in it. */
static void sums(void) {
  void* p = malloc(100000);
  const struct mallinfo2 m = mallinfo2();
  CHECK(m.uordblks + m.fordblks == m.arena);
  CHECK(m.uordblks + m.hblkhd >= 100000);
  CHECK(m.keepcost <= m.arena);
  free(p);
}

int main(void) {
  large_blocks(in_use);
  small_blocks(in_use);
  large_blocks(in_use_int);
  small_blocks(in_use_int);
  sums();
  return check_done();
}
