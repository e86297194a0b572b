/* test: env="MIMALLOC_SHOW_LEAKS=1" exit=0 when="debug glibc shared" libs="-rdynamic" stderr="#[0-9]+ 0x[0-9a-f]+ keep_some[+]" */
/* Debug builds: the listing at exit says where the blocks come from, also in a child of a fork that
   had other threads. */
#include "api.h"

static void* kept[8];

__attribute__((noinline)) void keep_some(int first, int count);

__attribute__((noinline)) void keep_some(int first, int count) {
  for (int i = first; i < first + count; i++) { kept[i] = mi_malloc(12345); }
}

int main(void) {
  keep_some(0, 7);
  return check_done();
}
