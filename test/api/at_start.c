/* test: timeout=60 env="MIMALLOC_VERBOSE=1 MIMALLOC_RESERVE_OS_MEMORY=64MiB MIMALLOC_DESTROY_ON_EXIT=1" stderr="version 3.*compiler" when="release|debug|secure|guarded whole"
   What options ask for as the process starts and ends: a banner, an arena, and all memory given
   back, heaps that the program left behind included, while handlers of the exit still allocate. */
#include "api.h"

#include <mimalloc-stats.h>

static char* kept;

static void at_exit(void) {
  char* late = mi_malloc(100);
  CHECK(late != NULL && kept[0] == 'k');
  mi_free(late);
  if (check_done() != 0) { _exit(1); }
}

int main(void) {
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  CHECK(mi_stats_get(&stats) && stats.reserved.current >= 64 * MIB);
  CHECK(mi_option_is_enabled(mi_option_verbose));
  mi_heap_t* heap = mi_heap_new();
  for (int i = 0; i < 100; i++) { CHECK(mi_heap_malloc(heap, (size_t)i * 100) != NULL); }
  kept = mi_malloc(10);
  kept[0] = 'k';
  CHECK(atexit(at_exit) == 0);
  return check_done();
}
