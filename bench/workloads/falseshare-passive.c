// bench: threads, as falseshare-active, after each has freed a block that lies beside the others'
/* After Berger and others, "Hoard: A Scalable Memory Allocator" (2000): passive false sharing. The
   main thread allocates small blocks, which lie side by side, and gives one to each thread. Each
   frees it, and then again and again allocates a block of 8 bytes, writes to it many times and
   frees it. If a thread gets the freed block back, it shares the line with the others for good. */
#include "falseshare.h"

enum { TURNS = 100 };

static long rounds;
static void* given[MAX_THREADS];

static void work(int index) {
  give(given[index], BYTES);
  write_to_blocks(share_of(rounds, index));
}

int main(int argc, char** argv) {
  workload_start(argc, argv);
  rounds = scaled(22 * 1000);
  for (int turn = 0; turn < TURNS; turn++) {
    for (int i = 0; i < workload.threads; i++) { given[i] = take(BYTES); }
    run_workers(work);
  }
  return report(rounds * TURNS);
}
