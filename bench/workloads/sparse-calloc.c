// bench: large, twenty blocks of 64 MiB from calloc, of which little is ever touched
/* Hash tables and sparse arrays: 20 blocks of 64 MiB from calloc, written to at one page in 32,
   read at others, freed; some rounds of that. Fresh memory of the system is zero already; an
   allocator that clears it, or that clears what it reuses instead of giving it back, touches 1280
   MiB. */
#include "workload.h"

enum { BLOCKS = 20, BYTES = 64 * MIB, STRIDE = 128 * KIB, TOUCHED = BYTES / STRIDE * 4 * KIB };

int main(int argc, char** argv) {
  workload_start(argc, argv);
  const long rounds = scaled(24);
  for (long r = 0; r < rounds; r++) {
    unsigned char* block[BLOCKS];
    for (size_t b = 0; b < BLOCKS; b++) {
      block[b] = calloc(BYTES / KIB, KIB);
      CHECK(block[b] != NULL);
      live_change(TOUCHED); /* the rest need not be in memory */
      for (size_t i = 0; i < BYTES; i += STRIDE) {
        unsigned char* p = block[b] + i + (i / STRIDE * 64 + b) % STRIDE;
        CHECK(*p == 0);
        *p = (unsigned char)(b + 1);
      }
    }
    for (size_t b = 0; b < BLOCKS; b++) {
      for (size_t i = 0; i < BYTES; i += STRIDE) {
        CHECK(block[b][i + (i / STRIDE * 64 + b) % STRIDE] == b + 1);
      }
      free(block[b]);
      live_change(-TOUCHED);
    }
  }
  return report(rounds * BLOCKS);
}
