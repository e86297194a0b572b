/* test: timeout=60 only=preload when="release glibc linux" */
/* A heap that swings between 21 MiB and nothing many times a second has no page faults: what was
   given back in the first rounds was wanted again, and is only offered to the system after that.
   What it keeps beside is bounded, and what it has offered goes when the swinging is over and calls
   come. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"

enum { BLOCKS = 168, BLOCK = 128 << 10, IDLE_MOST = (8 + 16) << 20, WARM_UP = 10, ROUNDS = 50 };

static void swing(int rounds) {
  static char* block[BLOCKS];
  for (int i = 0; i < rounds; i++) {
    for (int b = 0; b < BLOCKS; b++) {
      block[b] = (char*)malloc(BLOCK);
      for (size_t at = 0; at < BLOCK; at += 4096) { block[b][at] = (char)i; }
    }
    for (int b = 0; b < BLOCKS; b++) { free(block[b]); }
  }
}

int main(void) {
  const size_t before = held_kib();
  swing(WARM_UP);
  const long begin = page_faults();
  swing(ROUNDS);
  const long each = (page_faults() - begin) / ROUNDS;
  const size_t kept = held_kib() - before;
  printf("%ld page faults in each round, %zu KiB resident afterwards\n", each, kept);
  CHECK(each < BLOCKS * (BLOCK / 4096) / 10);
  CHECK(kept <= IDLE_MOST / 1024);
  for (int i = 0; i < 150; i++) { /* three seconds of little work */
    usleep(20 * 1000);
    char* volatile p = (char*)malloc(2 << 20);
    free(p);
  }
  const size_t after = held_kib() - before;
  printf("%zu KiB three seconds later\n", after);
  CHECK(after <= (9 << 20) / 1024);
  CHECK(resident_kib() - before <= (9 << 20) / 1024); /* what was offered has been given back */
  return check_done();
}
