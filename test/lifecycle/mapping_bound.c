/* test: timeout=60 when="linux|unix" */
/* The number of mappings stays small (64, and one per GiB in use, beyond those at the start)
   through phases of mixed sizes, frees in every order, and memory given back in between: holes must
   not become mappings. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { BLOCKS = 30000, PHASES = 12 };
static void* block[BLOCKS];
static unsigned random_state = 1;

static unsigned next_random(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return random_state >> 8;
}

/* Mostly small, some up to 100 KiB: below the size at which the system allocator maps each block by
   itself. */
static size_t random_size(void) {
  const unsigned r = next_random();
  return r % 100 == 0 ? r % 100000 + 1 : r % 10 == 0 ? r % 10000 + 1 : r % 500 + 1;
}

int main(void) {
  const size_t before = mapping_count();
  if (before == 0) { return skip("no /proc/self/maps"); }
  size_t most = 0;
  for (int phase = 0; phase < PHASES; phase++) {
    for (int i = 0; i < BLOCKS; i++) {
      if (block[i] == NULL) {
        const size_t size = random_size();
        block[i] = memset(malloc(size), 1, size);
      }
    }
    for (int i = 0; i < BLOCKS; i++) {
      if (next_random() % 8 >= (unsigned)(phase % 3) + 1) {
        free(block[i]);
        block[i] = NULL;
      }
    }
    if (phase % 2 == 1) { malloc_trim(0); }
    if (phase % 4 == 3) { sleep_ms(300); }
    const size_t now = mapping_count();
    if (now > most) { most = now; }
  }
  printf("%zu mappings at the start, %zu at most\n", before, most);
  CHECK(most <= before + 64);
  for (int i = 0; i < BLOCKS; i++) { free(block[i]); }
  return check_done();
}
