/* test: timeout=60 when="linux|unix" */
/* The same bound for blocks of 100 KB to 8 MB, some of them resized. Secure builds take memory at
   random addresses, so that what would be one mapping may be two: 53 to 67 more than at the
   start, by chance. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { BLOCKS = 300, PHASES = 10 };
static void* block[BLOCKS];
static unsigned random_state = 1;

static unsigned next_random(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return random_state >> 8;
}

int main(void) {
  const size_t before = mapping_count();
  if (before == 0) { return skip("no /proc/self/maps"); }
  size_t most = 0;
  for (int phase = 0; phase < PHASES; phase++) {
    for (int i = 0; i < BLOCKS; i++) {
      if (block[i] == NULL) {
        block[i] = malloc((size_t)100000 << (next_random() % 7));
        memset(block[i], 1, 100000);
      }
    }
    for (int i = 0; i < BLOCKS; i++) {
      if (next_random() % 3 != 0) {
        free(block[i]);
        block[i] = NULL;
      } else if (next_random() % 4 == 0) {
        block[i] = realloc(block[i], (size_t)100000 << (next_random() % 7));
      }
    }
    if (phase % 2 == 1) { malloc_trim(0); }
    if (phase % 4 == 3) { sleep_ms(300); }
    const size_t now = mapping_count();
    if (now > most) { most = now; }
  }
  printf("%zu mappings at the start, %zu at most\n", before, most);
  const char* library = getenv("LD_PRELOAD");
  const bool is_secure = library != NULL && strstr(library, "-secure") != NULL;
  CHECK(most <= before + (is_secure ? 80 : 64) + 1);
  for (int i = 0; i < BLOCKS; i++) { free(block[i]); }
  return check_done();
}
