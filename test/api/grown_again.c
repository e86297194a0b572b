/* test: timeout=60 when="release linux" not-emulated="the emulator counts other page faults"
   A block that grows, or is very long, gets a mapping of its own, which moves without a copy. Where
   such blocks come and go they are served from memory that is kept for a while: it is not faulted
   in anew for each. A second after the last of them went it is as at first. */
#include "../lifecycle/process.h"
#include "api.h"

enum { FIRST = 4096, END = 3 * MIB, EACH = END / 4096 };

/* By half of its size at a time, and filled as it grows. */
static unsigned char* grown(void) {
  size_t bytes = FIRST;
  unsigned char* p = (unsigned char*)mi_malloc(bytes);
  memset(p, 1, bytes);
  while (bytes < END) {
    const size_t more = bytes + bytes / 2;
    p = (unsigned char*)mi_realloc(p, more);
    CHECK(p != NULL && p[0] == 1 && p[bytes - 1] == 1);
    memset(p + bytes, 1, more - bytes);
    bytes = more;
  }
  return p;
}

static int64_t mappings(void) { return stats_now().mmap_calls.total; }

static void grow_and_free(int times) {
  for (int i = 0; i < times; i++) { mi_free(grown()); }
}

static void test_first(void) {
  const int64_t before = mappings();
  unsigned char* a = grown();
  unsigned char* b = grown();
  CHECK(mappings() - before >= 2);
  mi_free(a);
  mi_free(b);
}

static void test_again(void) {
  enum { TIMES = 50 };
  grow_and_free(10);
  const long before = page_faults();
  const int64_t mapped = mappings();
  grow_and_free(TIMES);
  const long faults = (page_faults() - before) / TIMES;
  printf("%ld page faults for each block of %d pages\n", faults, EACH);
  CHECK(faults < EACH / 8);
  CHECK(mappings() - mapped < TIMES / 4);
}

/* Each OS page of it is written. */
static void* filled(size_t bytes) {
  unsigned char* p = (unsigned char*)mi_malloc(bytes);
  CHECK(p != NULL);
  for (size_t i = 0; i < bytes; i += 4096) { p[i] = 1; }
  return p;
}

/* One is allocated before the last one is freed, as a program does that computes one array from
   another. */
enum { LONG = 40 * MIB };

static void fill_long_ones(int times) {
  void* last = filled(LONG);
  for (int i = 0; i < times; i++) {
    void* next = filled(LONG);
    mi_free(last);
    last = next;
  }
  mi_free(last);
}

static void test_long(void) {
  enum { TIMES = 20 };
  int64_t mapped = mappings();
  fill_long_ones(1);
  CHECK(mappings() - mapped == 2);
  fill_long_ones(8);
  mapped = mappings();
  mi_free(mi_calloc(1, LONG));
  CHECK(mappings() - mapped == 1);
  const long before = page_faults();
  mapped = mappings();
  fill_long_ones(TIMES);
  printf("%ld page faults for %d blocks of 40 MiB\n", page_faults() - before, TIMES);
  CHECK(page_faults() - before < TIMES);
  CHECK(mappings() == mapped);
}

/* None of what waits is long enough: little of it stays beside what is mapped. */
static void test_longer(void) {
  enum { LONGER = 60 * MIB };
  mi_collect(true);
  const size_t before = resident_bytes();
  fill_long_ones(8);
  CHECK(resident_bytes() > before + LONG);
  void* p = filled(LONGER);
  CHECK(resident_bytes() < before + LONGER + LONG / 2);
  mi_free(p);
}

int main(void) {
  test_first();
  test_again();
  sleep_ms(1100);
  test_first();
  test_long();
  test_longer();
  return check_done();
}
