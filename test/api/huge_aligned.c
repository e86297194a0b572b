/* test: timeout=60 when="release linux" not-emulated="the emulator shows no flags of mappings"
   What is advised for huge pages begins and ends with whole ones: small blocks in arenas that are
   full, and long blocks in a large heap. A part of one would be in small OS pages. */
#include "api.h"
#include "../lifecycle/process.h"
#include "huge_advice.h"

enum { SMALL = 100 << 10, SMALL_COUNT = 1000, LONG_COUNT = 12 };

int main(void) {
  static void* blocks[SMALL_COUNT + LONG_COUNT];
  size_t count = 0;
  uint64_t random = 1;
  while (count < SMALL_COUNT) { blocks[count++] = memset(mi_malloc(SMALL), 1, SMALL); }
  huge_advice_t found = huge_advice_now();
  if (found.bytes == 0) { return skip("no huge pages here"); }
  CHECK(found.bytes >= (size_t)SMALL_COUNT / 2 * SMALL && found.broken == 0);
  while (count < SMALL_COUNT + LONG_COUNT) {
    const size_t size = 5 * MIB + random_below(&random, 20 * MIB);
    blocks[count++] = memset(mi_malloc(size), 1, size);
  }
  found = huge_advice_now();
  CHECK(found.bytes >= (size_t)LONG_COUNT * 5 * MIB && found.broken == 0);
  while (count > 0) { mi_free(blocks[--count]); }
  return check_done();
}
