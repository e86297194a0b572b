// The profiler's public names: there is none. Tests: test/api/profile.c.
#include "../../include/mimalloc-profile.h"

#include <errno.h>

#include "../port/port.h"

static bool not_there(void) {
  port_errno_set(ENOTSUP);
  return false;
}

API mi_profiler_t* mi_pprof_profiler_new(size_t initial_threshold, const char* base_file_name,
                                         size_t alloc_interval_size, size_t inuse_interval_size,
                                         size_t time_interval_secs) {
  (void)initial_threshold, (void)base_file_name, (void)alloc_interval_size;
  (void)inuse_interval_size, (void)time_interval_secs;
  (void)not_there();
  return NULL;
}

API void mi_pprof_profiler_delete(mi_profiler_t* profiler) { (void)profiler; }

API bool mi_profile(mi_profiler_t* profiler) { return profiler == NULL || not_there(); }

API bool mi_subproc_profile(mi_subproc_id_t subproc_id, mi_profiler_t* profiler) {
  (void)subproc_id;
  return mi_profile(profiler);
}

API bool mi_heap_profile(mi_heap_t* heap, mi_profiler_t* profiler) {
  (void)heap;
  return mi_profile(profiler);
}

API void mi_heap_profile_disable(mi_heap_t* heap) { (void)heap; }

API bool mi_profiler_start(mi_profiler_t* profiler) {
  (void)profiler;
  return not_there();
}

API bool mi_profiler_stop(mi_profiler_t* profiler) { return mi_profiler_start(profiler); }
API bool mi_profiler_snapshot(mi_profiler_t* profiler) { return mi_profiler_start(profiler); }
