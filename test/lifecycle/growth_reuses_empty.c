/* test: timeout=60 only=preload */
/* Blocks of each size from 1 to 32 KiB come and go. What was kept for them then serves a heap of
   one size as it grows: it becomes little larger than its blocks. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"

enum { LEAST = 1 << 10, MOST = 32 << 10, EACH = 4, SPARE_KIB = 1200 };
/* A KiB each, with what debug builds add. */
enum { GROWN_KIB = 5 << 10, BLOCK = 984 };

static void come_and_go(size_t size) {
  void* blocks[EACH];
  for (int i = 0; i < EACH; i++) {
    blocks[i] = malloc(size);
    memset(blocks[i], 1, size);
  }
  for (int i = 0; i < EACH; i++) { free(blocks[i]); }
}

int main(void) {
  static void* blocks[GROWN_KIB];
  memset(blocks, 1, sizeof(blocks));
  const size_t before = resident_kib();
  for (size_t size = LEAST; size <= MOST; size += size / 8) { come_and_go(size); }
  const size_t kept = resident_kib() - before;
  for (int i = 0; i < GROWN_KIB; i++) {
    blocks[i] = malloc(BLOCK);
    memset(blocks[i], 1, BLOCK);
  }
  const size_t grown = resident_kib() - before;
  printf("%zu KiB kept, %zu KiB when grown\n", kept, grown);
  CHECK(is_emulated() || grown < GROWN_KIB + SPARE_KIB);
  for (int i = 0; i < GROWN_KIB; i++) { free(blocks[i]); }
  return check_done();
}
