// The names of the C library and the C++ runtime in a WebAssembly program. wasi-libc and Emscripten
// have their malloc in one file with all that goes by these names, inner ones included: as all are
// here, the linker never takes that file.
#include "names.h"
#include "new.h"

#if defined(__wasm__) && defined(MI_MALLOC_OVERRIDE)

#ifndef __cplusplus
#pragma clang diagnostic ignored "-Wmissing-prototypes"
#endif

// ---- C ----

OVERRIDE void* malloc(size_t size) { return theap_malloc(theap_current(), size); }
OVERRIDE void free(void* p) { block_free(p); }

OVERRIDE void* calloc(size_t count, size_t size) {
  return theap_calloc(theap_current(), count, size);
}

OVERRIDE void* realloc(void* p, size_t size) { return name_realloc(p, size); }

OVERRIDE void* aligned_alloc(size_t alignment, size_t size) {
  return theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, 0, false});
}

OVERRIDE void* memalign(size_t alignment, size_t size) { return name_memalign(alignment, size); }

OVERRIDE int posix_memalign(void** p, size_t alignment, size_t size) {
  return name_posix_memalign(p, alignment, size);
}

OVERRIDE size_t malloc_usable_size(void* p) { return block_usable(p); }

// ---- the C libraries' inner names ----

OVERRIDE void* __libc_malloc(size_t size) { return theap_malloc(theap_current(), size); }
OVERRIDE void __libc_free(void* p) { block_free(p); }

OVERRIDE void* __libc_calloc(size_t count, size_t size) {
  return theap_calloc(theap_current(), count, size);
}

OVERRIDE void* __libc_realloc(void* p, size_t size) { return name_realloc(p, size); }
OVERRIDE void* __libc_memalign(size_t alignment, size_t size) {
  return name_memalign(alignment, size);
}

#ifdef __EMSCRIPTEN__

OVERRIDE void* emscripten_builtin_malloc(size_t size) {
  return theap_malloc(theap_current(), size);
}

OVERRIDE void emscripten_builtin_free(void* p) { block_free(p); }

OVERRIDE void* emscripten_builtin_memalign(size_t alignment, size_t size) {
  return name_memalign(alignment, size);
}

#endif

// ---- C++: size_t is unsigned long, `m` in their names ----

#define OPERATOR OVERRIDE WEAK

OPERATOR void* _Znwm(size_t size) { return new_block(size); }
OPERATOR void* _Znam(size_t size) { return _Znwm(size); }

OPERATOR void* _ZnwmRKSt9nothrow_t(size_t size, const void* nothrow) {
  (void)nothrow;
  return new_block_nothrow(size);
}

OPERATOR void* _ZnamRKSt9nothrow_t(size_t size, const void* nothrow) {
  return _ZnwmRKSt9nothrow_t(size, nothrow);
}

OPERATOR void* _ZnwmSt11align_val_t(size_t size, size_t alignment) {
  return new_aligned(size, alignment);
}

OPERATOR void* _ZnamSt11align_val_t(size_t size, size_t alignment) {
  return _ZnwmSt11align_val_t(size, alignment);
}

OPERATOR void* _ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment,
                                                  const void* nothrow) {
  (void)nothrow;
  return new_aligned_nothrow(size, alignment);
}

OPERATOR void* _ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment,
                                                  const void* nothrow) {
  return _ZnwmSt11align_val_tRKSt9nothrow_t(size, alignment, nothrow);
}

OPERATOR void _ZdlPv(void* p) { block_free(p); }
OPERATOR void _ZdaPv(void* p) { _ZdlPv(p); }

OPERATOR void _ZdlPvm(void* p, size_t size) {
  (void)size;
  _ZdlPv(p);
}

OPERATOR void _ZdaPvm(void* p, size_t size) {
  (void)size;
  _ZdaPv(p);
}

OPERATOR void _ZdlPvRKSt9nothrow_t(void* p, const void* nothrow) {
  (void)nothrow;
  _ZdlPv(p);
}

OPERATOR void _ZdaPvRKSt9nothrow_t(void* p, const void* nothrow) {
  (void)nothrow;
  _ZdaPv(p);
}

OPERATOR void _ZdlPvSt11align_val_t(void* p, size_t alignment) {
  (void)alignment;
  block_free(p);
}

OPERATOR void _ZdaPvSt11align_val_t(void* p, size_t alignment) {
  _ZdlPvSt11align_val_t(p, alignment);
}

OPERATOR void _ZdlPvmSt11align_val_t(void* p, size_t size, size_t alignment) {
  (void)size;
  _ZdlPvSt11align_val_t(p, alignment);
}

OPERATOR void _ZdaPvmSt11align_val_t(void* p, size_t size, size_t alignment) {
  (void)size;
  _ZdaPvSt11align_val_t(p, alignment);
}

OPERATOR void _ZdlPvSt11align_val_tRKSt9nothrow_t(void* p, size_t alignment, const void* nothrow) {
  (void)nothrow;
  _ZdlPvSt11align_val_t(p, alignment);
}

OPERATOR void _ZdaPvSt11align_val_tRKSt9nothrow_t(void* p, size_t alignment, const void* nothrow) {
  (void)nothrow;
  _ZdaPvSt11align_val_t(p, alignment);
}

#endif
