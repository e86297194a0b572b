/* test: timeout=60 when="release linux" not-emulated="the emulator ignores MADV_FREE"
   A program that builds something, frees it in another order, and builds it again at once, has the
   memory back that it has just given back: it is not faulted in anew each time. */
#include "../lifecycle/process.h"
#include "api.h"

enum { BLOCK = 4096, COUNT = 64 * MIB / BLOCK };

static unsigned char* blocks[COUNT];

static void build_and_free(int times) {
  for (int time = 0; time < times; time++) {
    for (int i = 0; i < COUNT; i++) { memset(blocks[i] = mi_malloc(BLOCK), 1, BLOCK); }
    for (int i = 0; i < COUNT; i++) { mi_free(blocks[(i * 7777 + 5) % COUNT]); }
  }
}

int main(void) {
  enum { TIMES = 8 };
  build_and_free(4);
  const long before = page_faults();
  build_and_free(TIMES);
  const long faults = page_faults() - before;
  printf("%ld page faults for each %d blocks\n", faults / TIMES, COUNT);
  CHECK(faults / TIMES < COUNT / 4);
  return check_done();
}
