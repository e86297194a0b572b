/* test: timeout=60 when="grow|wasm"
   Where memory only grows: what is free again is used before there is more, whoever else grows it,
   and what lies behind is never taken for ours. */
#include "api.h"

enum { BLOCKS = 4000, CYCLES = 10 };

/* By how much memory may be more than what was in use at most, in percent: which blocks lie where
   makes 20 to 32 of them. It is more where memory goes on beyond 4 GiB, for which a part of the map
   has come behind the first arena, which ends there. */
enum { MORE_PERCENT = 40, MORE_PERCENT_BEYOND = 60 };

#ifdef __wasm__
enum { IS_WASM = 1 };

extern unsigned char __heap_base; /* by the linker: what lies behind it is nobody's as it starts */

static size_t memory_bytes(void) { return __builtin_wasm_memory_size(0) * (64 * KIB); }

/* Of all that has grown since the program began. (Emscripten begins with 16 MiB.) */
static bool grew_little(void) {
#ifdef __EMSCRIPTEN__
  return true;
#else
  return memory_bytes() - (size_t)&__heap_base <= MIB + 64 * KIB;
#endif
}
#else
enum { IS_WASM = 0 };
static size_t memory_bytes(void) { return 0; }
static bool grew_little(void) { return true; }
#endif

static struct {
  unsigned char* start;
  size_t bytes;
} blocks[BLOCKS];

static uint64_t lowest = UINT64_MAX, highest; /* addresses */

static size_t live, most_live; /* bytes */

static unsigned state;

static unsigned next(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

static size_t reserved(void) { return (size_t)stats_now().reserved.current; }

static void put(int i) {
  const unsigned kind = next(100);
  const size_t bytes = kind < 90 ? 1 + next(2000) : kind < 99 ? next(100000) : next(1 << 20);
  blocks[i].start = mi_malloc(bytes);
  blocks[i].bytes = bytes;
  live += bytes;
  most_live = live > most_live ? live : most_live;
  CHECK(blocks[i].start != NULL);
  const uint64_t address = (uintptr_t)blocks[i].start;
  lowest = address < lowest ? address : lowest;
  highest = address > highest ? address : highest;
  memset(blocks[i].start, i, bytes);
}

static void drop(int i) {
  size_t wrong = 0;
  for (size_t at = 0; at < blocks[i].bytes; at++) {
    wrong += blocks[i].start[at] != (unsigned char)i;
  }
  CHECK(wrong == 0);
  mi_free(blocks[i].start);
  live -= blocks[i].bytes;
}

/* The same again and again: memory does not grow each time. (Little is there that is not in use, so
   where blocks lie shows.) */
static void test_cycles(void) {
  int grown = 0;
  for (int cycle = 0; cycle < CYCLES; cycle++) {
    const size_t before = reserved();
    state = 1;
    for (int i = 0; i < BLOCKS; i++) { put(i); }
    for (int i = 0; i < BLOCKS; i += 2) { drop(i); }
    for (int i = 0; i < BLOCKS; i += 2) { put(i); }
    for (int i = 0; i < BLOCKS; i++) { drop(i); }
    printf("%zu ", reserved() / KIB);
    grown += reserved() > before;
  }
  printf("KiB, %.3f of what was in use at most\n", (double)reserved() / (double)most_live);
  CHECK(grown <= CYCLES / 2);
  const bool beyond = lowest >> 32 != highest >> 32;
  CHECK(reserved() <= most_live / 100 * (100 + (beyond ? MORE_PERCENT_BEYOND : MORE_PERCENT)));
}

/* The last block grows with its arena, or moves where that ends. */
static void test_realloc(void) {
  unsigned char* p = NULL;
  size_t wrong = 0;
  for (size_t bytes = 1000; bytes < 12 * MIB; bytes += bytes / 4) {
    p = mi_realloc(p, bytes);
    CHECK(p != NULL);
    memset(p, 0x5A, bytes);
  }
  for (size_t at = 0; at < 9 * MIB; at++) { wrong += p[at] != 0x5A; }
  CHECK(wrong == 0);
  mi_free(p);
}

/* New memory is zero; what was used is cleared. */
static void test_zero(void) {
  for (size_t bytes = 1000; bytes < 4 * MIB; bytes *= 3) {
    unsigned char* p = mi_calloc(1, bytes);
    size_t wrong = 0;
    for (size_t at = 0; at < bytes; at++) { wrong += p[at] != 0; }
    CHECK(wrong == 0);
    memset(p, 0xFF, bytes);
    mi_free(p);
  }
}

/* What one size leaves free another one gets, in one piece. */
static void test_joined(void) {
  enum { PIECES = 64 };
  static void* pieces[PIECES];
  for (int i = 0; i < PIECES; i++) { pieces[i] = mi_malloc(200000); }
  for (int i = 0; i < PIECES; i++) { mi_free(pieces[i]); }
  const size_t before = reserved();
  void* p = mi_malloc(2 * MIB);
  CHECK(p != NULL && reserved() == before);
  mi_free(p);
}

/* Little of what memory grows by lies unused. (Others grow it too on the port "grow", so that each
   third time a new arena begins, which is longer.) */
static void test_steps(void) {
  enum { STEPS = 32 << 10, SIZE = 4096 };
  static void* kept[STEPS];
  const size_t before = reserved();
  size_t i = 0;
  for (; i < STEPS && reserved() == before; i++) { kept[i] = mi_malloc(SIZE); }
  double used = 0, had = 0;
  CHECK(i < STEPS * 3 / 4);
  for (size_t more = 0; i < STEPS; i++, more += SIZE) {
    kept[i] = mi_malloc(SIZE);
    used += (double)(before + more);
    had += (double)reserved();
  }
  printf("while it grows, memory is %.3f of what is in use\n", had / used);
  CHECK(had < used * (IS_WASM ? 1.04 : 1.2));
  for (i = 0; i < STEPS; i++) { mi_free(kept[i]); }
}

int main(void) {
  const size_t before = memory_bytes();
  void* p = mi_malloc(1);
  CHECK(reserved() <= MIB && memory_bytes() - before <= MIB && grew_little());
  mi_free(p);
  test_cycles();
  test_realloc();
  test_zero();
  test_joined();
  test_steps();
  return check_done();
}
