/* test: not-emulated="the emulator's own memory lies where the program's may not" timeout=60 */
/* An address space of 39 bits, as AArch64 systems with small page tables have it, Android among
   them: all that is free above is taken, with reservations that are not ours, and from then on
   memory comes from below or there is none. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <sys/mman.h>

#define TOP ((uint64_t)1 << 39)
#define END ((uint64_t)1 << 47)

enum { BIG = 300 << 20, BLOCKS = 100, EACH = 20 << 20 };

static bool take(uint64_t from, uint64_t to) {
  enum { FIXED_NOREPLACE = 0x100000 };
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | FIXED_NOREPLACE;
  if (from < TOP) { from = TOP; }
  if (from >= to) { return true; }
  const void* p = mmap((void*)from, to - from, PROT_NONE, flags, -1, 0);
  return p == (void*)from;
}

/* Between what is mapped already. The gaps that a stack keeps below itself stay. */
static bool take_all(void) {
  static char text[128 << 10];
  uint64_t last = 0;
  if (!read_text("/proc/self/maps", text, sizeof(text))) { return false; }
  for (const char* line = text; line != NULL && *line != 0; line = strchr(line, '\n')) {
    line += *line == '\n';
    char* rest = NULL;
    const uint64_t start = strtoul(line, &rest, 16);
    if (rest == line || *rest != '-') { break; }
    if (start < END && !take(last, start) && strstr(rest, "[stack]") == NULL) { return false; }
    last = strtoul(rest + 1, NULL, 16);
  }
  return true;
}

static bool is_below(const void* p) { return p != NULL && (uint64_t)(uintptr_t)p < TOP; }

static int child(void) {
  static unsigned char* block[BLOCKS];
  free(malloc(100)); /* what is there from the start stays where it is */
  if (!take_all()) { return skip("the addresses above cannot be had"); }
  unsigned char* big = (unsigned char*)malloc(BIG);
  CHECK(is_below(big) && is_below(big + BIG - 1));
  big[0] = big[BIG - 1] = 1;
  for (size_t i = 0; i < BLOCKS; i++) {
    block[i] = (unsigned char*)malloc(EACH);
    CHECK(is_below(block[i]));
    pattern_fill(block[i], 1000, i);
  }
  CHECK(workout() && workout_in_thread());
  for (size_t i = 0; i < BLOCKS; i++) {
    CHECK(pattern_holds(block[i], 1000, i));
    free(block[i]);
  }
  free(big);
  CHECK(workout());
  return check_done();
}

int main(void) {
  if (sizeof(void*) == 4) { return skip("addresses have 32 bits"); }
  CHECK(in_child(child, 40) == 0);
  return check_done();
}
