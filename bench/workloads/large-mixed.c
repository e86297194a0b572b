// bench: large, blocks of 5 to 25 MiB are replaced among small ones, which are replaced too
/* Twenty blocks of 5 to 25 MiB live among 20,000 of 8 to 1000 bytes. Again and again a random large
   one is replaced and written to at each 4 KiB, and then 2000 random small ones are replaced, so
   that small pages come and go where large blocks were. */
#include "workload.h"

enum { LARGE = 20, SMALL = 20 * 1000, EACH = 2000, OPERATIONS = 1200 };
enum { SMALLEST_LARGE = 5 * MIB, LARGEST_LARGE = 25 * MIB };

int main(int argc, char** argv) {
  workload_start(argc, argv);
  static slot_t large[LARGE], small[SMALL];
  rng_t rng = rng_seeded(1);
  const long operations = scaled(OPERATIONS);
  for (size_t i = 0; i < SMALL; i++) { slot_fill(&small[i], rng_between(&rng, 8, 1000)); }
  for (size_t i = 0; i < LARGE; i++) {
    slot_fill(&large[i], rng_between(&rng, SMALLEST_LARGE, LARGEST_LARGE));
  }
  for (long i = 0; i < operations; i++) {
    slot_t* slot = &large[rng_below(&rng, LARGE)];
    slot_empty(slot);
    slot_fill(slot, rng_between(&rng, SMALLEST_LARGE, LARGEST_LARGE));
    for (size_t k = 0; k < EACH; k++) {
      slot = &small[rng_below(&rng, SMALL)];
      slot_empty(slot);
      slot_fill(slot, rng_between(&rng, 8, 1000));
    }
  }
  for (size_t i = 0; i < LARGE; i++) { slot_empty(&large[i]); }
  for (size_t i = 0; i < SMALL; i++) { slot_empty(&small[i]); }
  return report(operations * (EACH + 1));
}
