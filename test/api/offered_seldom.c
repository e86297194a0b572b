/* test: timeout=60 when="release linux"
   A program that builds 30 MB of blocks of many lengths and frees them, thousands of times, does
   not pay for each time that its memory goes back: it is offered to the system a few times over,
   and then only a little as time goes by. Once the program does something else, it goes. */
#include "../lifecycle/process.h"
#include "api.h"

enum { BLOCKS = 430, LEAST = 20000, MOST = 120000, ROUNDS = 3000 };
enum { LIVE = BLOCKS / 2 * (LEAST + MOST) };

static size_t gone_bytes(void) {
  mi_stats_t_decl(stats);
  CHECK(mi_stats_get(&stats));
  return (size_t)(stats.reset.total + stats.purged.total);
}

static void build_and_free(uint64_t* random) {
  static void* blocks[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = mi_malloc(LEAST + random_below(random, MOST - LEAST));
    memset(blocks[i], 1, 100);
  }
  for (int i = 0; i < BLOCKS; i++) { mi_free(blocks[i]); }
}

int main(void) {
  const size_t all = (size_t)ROUNDS * LIVE, before = held_kib();
  const long start = now_ms();
  uint64_t random = 1;
  for (int i = 0; i < ROUNDS; i++) { build_and_free(&random); }
  const size_t took = (size_t)(now_ms() - start), gone = gone_bytes();
  const size_t most = (size_t)20 * LIVE + took * 128 * 1024;
  printf("%zu MiB went back in %zu ms, of %zu MiB that were freed\n", gone / MIB, took, all / MIB);
  CHECK(gone <= most);
  for (int i = 0; i < 150; i++) { /* three seconds of little work */
    usleep(20 * 1000);
    mi_free(mi_malloc(2 * MIB));
  }
  const size_t after = held_kib();
  printf("%zu KiB before, %zu KiB three seconds later\n", before, after);
  CHECK(after <= before + 9 * MIB / 1024);
  return check_done();
}
