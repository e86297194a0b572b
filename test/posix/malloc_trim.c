/* test: when=glibc timeout=30 */
/* malloc_trim gives freed memory back to the system, from any thread, and says 0 or 1. */
#define _GNU_SOURCE
#include "../check.h"
#include "../system.h"
#include "../lifecycle/process.h"
#include "opaque.h"

enum { BLOCKS = 1 << 20, SIZE = 100, KEEP_EVERY = 4096 };
static void* block[BLOCKS];
static int answer;

static void* trim(void* unused) {
  answer = malloc_trim(0);
  return unused;
}

/* About 100 MiB in small blocks, freed but for one in 4096, so that what is left holds no memory
   together. */
static void trims(bool in_thread) {
  memset(block, 0, sizeof(block));
  const size_t before = resident_kib();
  for (int i = 0; i < BLOCKS; i++) {
    block[i] = malloc(SIZE);
    memset(block[i], 1, SIZE);
  }
  const size_t full = resident_kib();
  CHECK(full - before > 90 * 1024);
  for (int i = 0; i < BLOCKS; i++) {
    if (i % KEEP_EVERY != 0) { free(block[i]); }
  }
  if (in_thread) {
    test_thread_t thread;
    CHECK(thread_start(&thread, trim, NULL));
    thread_join(thread);
  } else {
    trim(NULL);
  }
  const size_t after = resident_kib();
  CHECK(answer == 0 || answer == 1);
  CHECK(after < before + (full - before) / 4);
  for (int i = 0; i < BLOCKS; i += KEEP_EVERY) { free(block[i]); }
}

/* The answer is true: 1 if the resident size falls, else 0. About 4 MiB, in blocks that the C
   library and ours keep for a while. */
static void says_whether(void) {
  enum { SOME = 64, LENGTH = 60000 };
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < SOME; i++) { block[i] = memset(malloc(LENGTH), 1, LENGTH); }
    for (int i = 0; i < SOME; i++) { free(block[i]); }
    const size_t before = resident_kib();
    const int given = malloc_trim(0);
    const size_t after = resident_kib();
    CHECK(given == 1 ? after < before : after + 1024 > before);
    if (getenv("LD_PRELOAD") != NULL) { CHECK(malloc_trim(0) == 0); } /* glibc says 1 */
  }
}

int main(void) {
  const int first = malloc_trim(0); /* also before anything was allocated */
  CHECK(first == 0 || first == 1);
  trims(false);
  trims(true);
  trims(false);
  says_whether();
  const int pad = malloc_trim(1 << 20);
  CHECK(pad == 0 || pad == 1);
  /* keep everything: nothing to give back, nothing to go wrong */
  const int all = malloc_trim(SIZE_MAX / 2);
  CHECK(all == 0 || all == 1);
  void* p = malloc(100);
  CHECK(p != NULL);
  free(p);
  return check_done();
}
