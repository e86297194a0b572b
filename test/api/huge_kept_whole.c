/* test: timeout=60 when="release linux" env="MIMALLOC_ALLOW_THP=2"
   Where huge pages are wanted everywhere, purging splits none: what is shorter stays, also when all
   unused memory is asked for. Needs a port with huge pages. */
#include "api.h"

enum { COUNT = 16 };

static int64_t purged(void) { return stats_now().purged.total; }

int main(void) {
  void* blocks[COUNT];
  void* small = mi_malloc(100); /* keeps the arena from being empty */
  for (int i = 0; i < COUNT; i++) {
    blocks[i] = mi_malloc(MIB);
    memset(blocks[i], 1, MIB);
  }
  for (int i = 0; i < COUNT; i += 2) { mi_free(blocks[i]); } /* no two neighbours */
  mi_collect(true);
  CHECK(purged() == 0);
  for (int i = 1; i < COUNT / 2; i += 2) { mi_free(blocks[i]); }
  mi_collect(true);
  CHECK(purged() >= 4 * MIB && purged() % (2 * MIB) == 0);
  for (int i = COUNT / 2 + 1; i < COUNT; i += 2) { mi_free(blocks[i]); }
  mi_collect(true);
  mi_free(small);
  return check_done();
}
