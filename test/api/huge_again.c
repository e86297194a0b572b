/* test: timeout=60 when="release linux" not-emulated="the emulator shows no huge pages"
   A program that builds something, frees all of it in another order, and builds it again, works on
   huge pages again after some rounds, though the first ones split them; and what it frees goes
   nevertheless. Long blocks, of which a few wait for the next ones, leave nearly all huge pages in
   use in part: then they are split, so that the rest of them goes. */
#include <sys/mman.h>

#include "../lifecycle/process.h"
#include "api.h"
#include "huge_advice.h"

enum { TOTAL = 96 * MIB, ROUNDS = 12, SMALL = 1000 };

static void* blocks[TOTAL / SMALL];
static unsigned order[TOTAL / SMALL];

static size_t huge_kib(void) {
  char text[4096] = "";
  const bool is_read = read_text("/proc/self/smaps_rollup", text, sizeof(text));
  const char* line = strstr(text, "\nAnonHugePages:");
  return is_read && line != NULL ? strtoul(line + strlen("\nAnonHugePages:"), NULL, 10) : 0;
}

/* Does the system make a huge page where it split one, once all of it has gone? */
static bool has_huge_pages_again(void) {
  unsigned char* room = (unsigned char*)mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(room != MAP_FAILED);
  unsigned char* page = (unsigned char*)(((uintptr_t)room + HUGE - 1) / HUGE * HUGE);
  const size_t before = huge_kib();
  madvise(page, HUGE, MADV_HUGEPAGE);
  memset(page, 1, HUGE);
  madvise(page, HUGE / 32, MADV_DONTNEED);
  memset(page, 1, HUGE);
  madvise(page, HUGE, MADV_DONTNEED);
  memset(page, 1, HUGE);
  const bool is_huge = huge_kib() >= before + HUGE / 1024;
  munmap(room, 2 * HUGE);
  return is_huge;
}

/* In huge pages when the blocks of the last round were there. */
static size_t build_and_free(size_t size) {
  const size_t count = TOTAL / size;
  size_t huge = 0;
  shuffle(order, count);
  for (int round = 0; round < ROUNDS; round++) {
    for (size_t i = 0; i < count; i++) { memset(blocks[i] = mi_malloc(size), 1, size); }
    huge = huge_kib();
    for (size_t i = 0; i < count; i++) { mi_free(blocks[order[i]]); }
  }
  return huge;
}

static int goes(size_t size, size_t huge_least_kib) {
  shuffle(order, TOTAL / SMALL); /* the array is resident */
  const size_t before = held_kib();
  const size_t huge = build_and_free(size), after = held_kib();
  printf("%zu: %zu KiB in huge pages; %zu KiB before, %zu after\n", size, huge, before, after);
  CHECK(huge >= huge_least_kib);
  CHECK(after <= before + TOTAL / 1024 / 4);
  return check_done();
}

static int small_ones(void) { return goes(SMALL, TOTAL / 1024 / 2); }
/* What one of their pages leaves of a huge page is too short for another one. */
static int odd_ones(void) { return goes(50000, TOTAL / 1024 / 2); }
static int long_ones(void) { return goes(70000, 0); }

int main(void) {
  if (!has_huge_pages_again()) { return skip("the system makes no huge pages again"); }
  CHECK(in_child(small_ones, 30) == 0);
  CHECK(in_child(odd_ones, 30) == 0);
  CHECK(in_child(long_ones, 30) == 0);
  return check_done();
}
