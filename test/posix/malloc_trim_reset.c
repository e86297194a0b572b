/* test: when="release glibc" only=preload timeout=30 env="MIMALLOC_PURGE_DECOMMITS=0" */
/* Where unused memory is left to the OS to take when it wants, malloc_trim says 1 as well. */
#define _GNU_SOURCE
#include "../check.h"
#include "opaque.h"

int main(void) {
  for (int round = 0; round < 3; round++) {
    free(memset(malloc(4 << 20), 1, 4 << 20));
    CHECK(malloc_trim(0) == 1);
    CHECK(malloc_trim(0) == 0);
  }
  return check_done();
}
