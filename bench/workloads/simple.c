// bench: objects, 25 or 1600 blocks of one size allocated, then freed, over and over
// rows: --size 16,64,256,1024,4096 --count 25,1600
/* The simplest loop there is, as in the C library's own benchmark of simple patterns: allocate some
   blocks of one size, free all in the same order. Once in a process that never had a second thread,
   then in a second thread: some allocators do without locks in the first case. */
#include "workload.h"

enum { MOST = 1600 };

static const char *size_text = "64", *count_text = "25";
static size_t bytes, count; /* of the blocks that live at a time */
static long blocks;         /* in all, each time */

static void loops(int part) {
  void* block[MOST];
  for (size_t i = 0; i < MOST; i++) { block[i] = take(bytes); }
  void* lid = take(bytes); /* what else a program has: no heap ends where the blocks end */
  for (size_t i = 0; i < MOST; i++) { give(block[i], bytes); }
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
  give(lid, bytes);
  (void)part;
}

int main(int argc, char** argv) {
  workload_option("--size", &size_text);
  workload_option("--count", &count_text);
  workload_start(argc, argv);
  bytes = number_of(size_text);
  count = number_of(count_text);
  CHECK(bytes >= sizeof(size_t) && count <= MOST);
  blocks = scaled(8 * 1000 * 1000);
  loops(0);
  worker_t worker;
  worker_start(&worker, loops, 1);
  worker_join(&worker);
  return report(blocks * 2);
}
