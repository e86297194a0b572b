// bench: large, blocks of 64 KiB to 1 MiB replaced at random, and a steady stream of 4 MiB ones
/* Two patterns of buffers in turn: 100 blocks of 64 KiB to 1 MiB, of which random ones are
   replaced by others of random size; and blocks of 4 MiB, of which four live at a time, first in,
   first out. Nothing grows: after the start, neither the system's memory calls nor page faults are
   needed. Blocks are written at each 4 KiB, so a page fault more or less shows. */
#include "workload.h"

enum { SLOTS = 100, LARGE = 4 * MIB, QUEUE = 4, STRIDE = 4 * KIB };

typedef struct {
  unsigned char* p;
  size_t bytes;
} buffer_t;

static void release(buffer_t* b) {
  if (b->p == NULL) { return; }
  for (size_t i = 0; i < b->bytes; i += STRIDE) {
    CHECK(b->p[i] == (unsigned char)(b->bytes / 16 + i / STRIDE));
  }
  give(b->p, b->bytes);
}

static void replace(buffer_t* b, size_t bytes) {
  release(b);
  b->p = take(bytes);
  b->bytes = bytes;
  for (size_t i = 0; i < bytes; i += STRIDE) { b->p[i] = (unsigned char)(bytes / 16 + i / STRIDE); }
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  static buffer_t table[SLOTS], queue[QUEUE];
  rng_t rng = rng_seeded(1);
  const long rounds = scaled(18000);
  for (long i = 0; i < rounds; i++) {
    for (int k = 0; k < 8; k++) {
      replace(&table[rng_below(&rng, SLOTS)], rng_log_between(&rng, 64 * KIB, MIB));
    }
    replace(&queue[i % QUEUE], LARGE);
  }
  for (size_t i = 0; i < SLOTS; i++) { release(&table[i]); }
  for (size_t i = 0; i < QUEUE; i++) { release(&queue[i]); }
  return report(rounds * 9);
}
