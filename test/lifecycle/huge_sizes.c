/* test: not-emulated="mappings of terabytes cost the emulator much memory and time" timeout=30 when="linux|unix" */
/* Requests from 2^30 bytes to SIZE_MAX: NULL with ENOMEM past the address space, never a small
   block in disguise; below it a block that may be used lazily at both ends, freed at once. Old
   blocks stay intact. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { ADDRESS_BIT = sizeof(size_t) == 8 ? 47 : TOP_BIT };

static void try_size(size_t size, void* old) {
  for (int way = 0; way < 4; way++) {
    errno = 0;
    void* p = NULL;
    switch (way) {
      case 0: p = malloc(size); break;
      case 1: p = memalign(4096, size); break;
      case 2: p = calloc(size / 4096, 4096); break;
      default: p = realloc(old, size);
    }
    if (p == NULL) {
      CHECK(errno == ENOMEM);
      continue;
    }
    CHECK(size < (size_t)1 << ADDRESS_BIT);
    CHECK(malloc_usable_size(p) >= size / 4096 * 4096);
    ((char*)p)[size / 4096 * 4096 - 1] = 1;
    if (way == 3) {
      CHECK(pattern_holds(p, 1000, 5));
      void* q = realloc(p, 1000); /* and back again */
      CHECK(q != NULL && pattern_holds(q, 1000, 5));
      free(q);
      return;
    }
    ((char*)p)[0] = 1;
    free(p);
  }
  CHECK(pattern_holds(old, 1000, 5));
  free(old);
}

int main(void) {
  const long start = now_ms();
  for (int bit = 30; bit <= TOP_BIT; bit++) {
    for (int delta = -1; delta <= 1; delta++) {
      void* old = malloc(1000);
      pattern_fill(old, 1000, 5);
      try_size(((size_t)1 << bit) + (size_t)(delta * 4096), old);
    }
  }
  CHECK(now_ms() - start < 20000);
  CHECK(resident_kib() < 64 * 1024);
  CHECK(workout());
  return check_done();
}
