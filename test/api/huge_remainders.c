/* test: timeout=60
   What is left of huge pages is used: blocks of no round size lie side by side, so memory that is
   resident and free stays below a sixteenth of them. */
#include "api.h"

enum { COUNT = 200, LEAST = 300 << 10, SPREAD = 1200 << 10 };

static int64_t resident_and_free(void) {
  const mi_stats_t stats = stats_now();
  return stats.committed.current - stats.page_committed.current;
}

int main(void) {
  void* blocks[COUNT];
  size_t total = 0;
  uint64_t random = 1;
  for (int i = 0; i < COUNT; i++) {
    const size_t size = LEAST + random_below(&random, SPREAD);
    CHECK((blocks[i] = mi_malloc(size)) != NULL);
    memset(blocks[i], i, size);
    total += size;
  }
  CHECK(resident_and_free() < (int64_t)(total / 16));
  for (int i = 0; i < COUNT; i++) { mi_free(blocks[i]); }
  return check_done();
}
