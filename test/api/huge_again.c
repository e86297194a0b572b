/* test: timeout=60 when="release linux" not-emulated="the emulator shows no huge pages"
   A program that builds something, frees all of it in another order, and builds it again, works on
   huge pages again in the next round, though what it freed had split them, and then the first arena
   does so too; and what it frees goes nevertheless. The same holds for long blocks, of which a few
   would wait for the next ones, and for blocks of many sizes, each of which would hold a page. */
#include <sys/mman.h>

#include "../lifecycle/process.h"
#include "api.h"
#include "huge_advice.h"

enum { MOST = 96 * MIB, FEW = 24 * MIB, ROUNDS = 12, SMALL = 1000 };

static void* blocks[MOST / SMALL];
static unsigned order[MOST / SMALL];

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
static size_t build_and_free(size_t total, size_t least, size_t most, int rounds) {
  const size_t count = total / ((least + most) / 2);
  size_t huge = 0;
  uint64_t random = 1;
  shuffle(order, count);
  for (int round = 0; round < rounds; round++) {
    for (size_t i = 0; i < count; i++) {
      const size_t size = least + random_below(&random, most - least + 1);
      memset(blocks[i] = mi_malloc(size), 1, size);
    }
    huge = huge_kib();
    for (size_t i = 0; i < count; i++) { mi_free(blocks[order[i]]); }
  }
  return huge;
}

static int goes(size_t total, size_t least, size_t most, int rounds, size_t huge_least) {
  shuffle(order, MOST / SMALL); /* the array is resident */
  const size_t before = held_kib();
  const size_t huge = build_and_free(total, least, most, rounds), after = held_kib();
  printf("%zu MiB of %zu to %zu, %d rounds: %zu KiB in huge pages; %zu KiB before, %zu after\n",
         total / MIB, least, most, rounds, huge, before, after);
  CHECK(huge >= huge_least / 1024);
  CHECK(after <= before + total / 1024 / 4);
  return check_done();
}

static int small_ones(void) { return goes(MOST, SMALL, SMALL, ROUNDS, MOST / 2); }
static int at_once(void) { return goes(MOST, SMALL, SMALL, 2, MOST / 2); }
static int few(void) { return goes(FEW, SMALL, SMALL, ROUNDS, FEW - 6 * MIB); }
/* What one of their pages leaves of a huge page is too short for another one. */
static int odd_ones(void) { return goes(MOST, 50000, 50000, ROUNDS, MOST / 2); }
static int long_ones(void) { return goes(MOST, 70000, 70000, ROUNDS, MOST / 2); }
static int many_sizes(void) { return goes(MOST, SMALL, 3000, ROUNDS, MOST / 2); }
static int long_and_short(void) { return goes(MOST, 20000, 120000, ROUNDS, MOST / 2); }

int main(void) {
  if (!has_huge_pages_again()) { return skip("the system makes no huge pages again"); }
  CHECK(in_child(small_ones, 30) == 0);
  CHECK(in_child(at_once, 30) == 0);
  CHECK(in_child(few, 30) == 0);
  CHECK(in_child(odd_ones, 30) == 0);
  CHECK(in_child(long_ones, 30) == 0);
  CHECK(in_child(many_sizes, 30) == 0);
  CHECK(in_child(long_and_short, 30) == 0);
  return check_done();
}
