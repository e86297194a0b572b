/* test: timeout=60 */
/* What a child frees and uses is its own affair: after many forks that dirty and free everything,
   the parent's contents and size are what they were. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { BLOCKS = 5000, FORKS = 60 };
static unsigned char* block[BLOCKS];

static int child(void) {
  for (int i = 0; i < BLOCKS; i++) {
    block[i][0] = 99;
    if (i % 2 == 0) { free(block[i]); }
  }
  for (int i = 0; i < 1000; i++) { free(malloc((size_t)i * 50)); }
  malloc_trim(0);
  return workout() ? 0 : 1;
}

int main(void) {
  for (int i = 0; i < BLOCKS; i++) {
    block[i] = (unsigned char*)malloc((size_t)(i % 50) * 40 + 1);
    memset(block[i], i, (size_t)(i % 50) * 40 + 1);
  }
  const size_t before = resident_kib();
  for (int i = 0; i < FORKS; i++) {
    CHECK(in_child(child, 8) == 0);
    free(memset(malloc(100000), 1, 100000));
  }
  for (int i = 0; i < BLOCKS; i++) {
    CHECK(block[i][0] == (unsigned char)i && block[i][(i % 50) * 40] == (unsigned char)i);
    free(block[i]);
  }
  CHECK(resident_kib() < before + 4 * 1024);
  return check_done();
}
