#include <mimalloc-stats.h>

int main(void) {
  void* block = mi_malloc(1000000);
  mi_stats_t_decl(stats);
  if (block == NULL || !mi_stats_get(&stats)) { return 1; }
  const int ok = stats.allocated.current >= 1000000 && stats.committed.current > 0;
  mi_free(block);
  return ok ? 0 : 1;
}
