#include <errno.h>
#include <mimalloc-profile.h>
#include <stdio.h>

/* Written for mimalloc's profiler; where there is none it says so once, and the program runs on. */
int main(void) {
  const size_t sample = 512 * 1024, each_time_in_use = 64 * 1024 * 1024;
  mi_profiler_t* profiler = mi_pprof_profiler_new(sample, "heap", 0, each_time_in_use, 0);
  if (profiler == NULL) {
    if (errno != ENOTSUP) { return 1; } /* out of memory */
    puts("no heap profile: this allocator has no profiler");
  } else if (mi_profile(profiler)) {
    mi_profiler_start(profiler);
  }
  void* block = mi_malloc(1000);
  mi_free(block);
  if (profiler != NULL) {
    mi_profiler_snapshot(profiler);
    mi_profile(NULL); /* detached before it is deleted */
    mi_pprof_profiler_delete(profiler);
  }
  return 0;
}
