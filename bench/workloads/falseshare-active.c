// bench: threads, each writes to small blocks of its own: do two threads' blocks share a line?
/* After Berger and others, "Hoard: A Scalable Memory Allocator" (2000): active false sharing. Each
   thread again and again allocates a block of 8 bytes, writes to it many times, and frees it. The
   threads share no data; if the allocator carves one cache line up among threads, each write waits
   for the line to come over from the other core. On one core there is nothing to see. */
#include "falseshare.h"

static long rounds;

static void work(int index) { write_to_blocks(share_of(rounds, index)); }

int main(int argc, char** argv) {
  workload_start(argc, argv);
  rounds = scaled(2000 * 1000);
  run_workers(work);
  return report(rounds);
}
