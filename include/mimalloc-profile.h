/* Heap profiles, as mimalloc 3.6 declares them. This library has no profiler yet: each function
   answers that there is none, so that a program which uses them builds and runs. */
#ifndef MIMALLOC_PROFILE_H
#define MIMALLOC_PROFILE_H

#include "mimalloc.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Takes samples of the allocations of heaps. None can be made. */
typedef struct mi_profiler_s mi_profiler_t;

/* Makes a profiler that writes files for pprof: NULL, and errno is ENOTSUP. */
mi_decl_result mi_profiler_t* mi_pprof_profiler_new(size_t initial_threshold,
                                                    const char* base_file_name,
                                                    size_t alloc_interval_size,
                                                    size_t inuse_interval_size,
                                                    size_t time_interval_secs) mi_attr_noexcept;
/* Deletes a profiler: does nothing. */
mi_decl_export void mi_pprof_profiler_delete(mi_profiler_t* profiler) mi_attr_noexcept;

/* Attaching a profiler gives true for NULL, which detaches, else false and ENOTSUP. */

/* Attaches a profiler to the main sub-process. */
mi_decl_export bool mi_profile(mi_profiler_t* profiler) mi_attr_noexcept;
/* Attaches a profiler to a sub-process. */
mi_decl_export bool mi_subproc_profile(mi_subproc_id_t subproc_id,
                                       mi_profiler_t* profiler) mi_attr_noexcept;
/* Attaches a profiler to one heap. */
mi_decl_export bool mi_heap_profile(mi_heap_t* heap, mi_profiler_t* profiler) mi_attr_noexcept;
/* Excludes a heap from profiles: does nothing. */
mi_decl_export void mi_heap_profile_disable(mi_heap_t* heap) mi_attr_noexcept;

/* Sampling gives false and ENOTSUP. */

/* Starts taking samples. */
mi_decl_export bool mi_profiler_start(mi_profiler_t* profiler) mi_attr_noexcept;
/* Stops taking samples. */
mi_decl_export bool mi_profiler_stop(mi_profiler_t* profiler) mi_attr_noexcept;
/* Writes what there is. */
mi_decl_export bool mi_profiler_snapshot(mi_profiler_t* profiler) mi_attr_noexcept;

#if defined(__cplusplus)
}
#endif
#endif /* MIMALLOC_PROFILE_H */
