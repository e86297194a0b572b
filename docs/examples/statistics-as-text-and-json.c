#include <mimalloc-stats.h>
#include <stdio.h>
#include <string.h>

/* Takes the text piece by piece; it must not allocate. */
static void count_bytes(const char* text, void* arg) { *(size_t*)arg += strlen(text); }

int main(void) {
  void* block = mi_malloc(1000);
  size_t length = 0;
  mi_stats_print_out(count_bytes, &length);

  static char json[64 * 1024]; /* without a buffer the text would be a new block */
  const char* text = mi_stats_get_json(sizeof(json), json);

  mi_stats_t stats; /* the same as numbers */
  memset(&stats, 0, sizeof(stats));
  stats.size = sizeof(stats);
  stats.version = MI_STAT_VERSION;
  const int ok =
      mi_stats_get(&stats) && stats.allocated.current >= 1000 && text != NULL && length > 0;
  mi_free(block);
  return ok ? 0 : 1;
}
