/* test: timeout=60
   The profiler's functions: each answers that there is none. */
#include "api.h"

#include <mimalloc-profile.h>

int main(void) {
  mi_profiler_t* const some = (mi_profiler_t*)mi_malloc(8);
  CHECK_ERRNO(mi_pprof_profiler_new(1000, "name", 0, 0, 0) == NULL, ENOTSUP);
  mi_pprof_profiler_delete(NULL);
  CHECK_ERRNO(!mi_profile(some), ENOTSUP);
  CHECK_ERRNO(!mi_subproc_profile(mi_subproc_main(), some), ENOTSUP);
  CHECK_ERRNO(!mi_heap_profile(mi_heap_main(), some), ENOTSUP);
  CHECK_ERRNO(mi_profile(NULL) && mi_heap_profile(mi_heap_main(), NULL), 0);
  CHECK_ERRNO(!mi_profiler_start(some), ENOTSUP);
  CHECK_ERRNO(!mi_profiler_stop(some), ENOTSUP);
  CHECK_ERRNO(!mi_profiler_snapshot(some), ENOTSUP);
  mi_heap_profile_disable(mi_heap_main());
  mi_free(some);
  return check_done();
}
