// bench: objects, 25 to 1600 blocks of one size allocated, then freed, over and over
/* The simplest loop there is, as in the C library's own benchmark of simple patterns: for sizes
   from 16 bytes to 4 KiB and for 25, 100, 400 and 1600 blocks at a time, allocate all, free all in
   the same order. Once in a process that never had a second thread, then in a second thread: some
   allocators do without locks in the first case. */
#include "workload.h"

enum { MOST = 1600 };

static const size_t sizes[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
static const size_t counts[] = {25, 100, 400, MOST};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), COUNTS = sizeof(counts) / sizeof(counts[0]) };

static long blocks; /* for each size and count */

static void loops(int part) {
  void* block[MOST];
  void* lids[SIZES]; /* what else a program has: no heap ends where the blocks of a loop end */
  for (size_t s = 0; s < SIZES; s++) {
    const size_t bytes = sizes[s];
    for (size_t i = 0; i < MOST; i++) { block[i] = take(bytes); }
    lids[s] = take(bytes);
    for (size_t i = 0; i < MOST; i++) { give(block[i], bytes); }
    for (size_t c = 0; c < COUNTS; c++) {
      const size_t count = counts[c];
      for (long done = 0; done < blocks; done += (long)count) {
        for (size_t i = 0; i < count; i++) {
          block[i] = take(bytes);
          memcpy(block[i], &i, sizeof(i));
        }
        for (size_t i = 0; i < count; i++) {
          CHECK(memcmp(block[i], &i, sizeof(i)) == 0);
          give(block[i], bytes);
        }
      }
    }
  }
  for (size_t s = 0; s < SIZES; s++) { give(lids[s], sizes[s]); }
  (void)part;
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  blocks = scaled(480 * 1000);
  loops(0);
  worker_t worker;
  worker_start(&worker, loops, 1);
  worker_join(&worker);
  return report(blocks * 2 * SIZES * COUNTS);
}
