// How the library gets into a program in ELF: the C library's and the C++ runtime's own names, so
// that a program uses it without knowing. Each hot name is a copy of the fast path: malloc here
// calls nothing but the slow path.
#include <errno.h>
#include <stdlib.h>

#include "cxx.h"
#include "names.h"
#include "new.h"

#ifdef __ELF__

#ifdef MI_MALLOC_OVERRIDE

// What the C library's headers declare differs by version, so all is declared here once more.
#pragma GCC diagnostic push
#ifndef __cplusplus
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#endif

// ---- C ----

OVERRIDE void* malloc(size_t size) { return theap_malloc(theap_current(), size); }

OVERRIDE void* calloc(size_t count, size_t size) { return theap_calloc(theap_current(), count, size); }

OVERRIDE void free(void* p) { block_free(p); }

OVERRIDE void* realloc(void* p, size_t size) { return name_realloc(p, size); }

OVERRIDE void* aligned_alloc(size_t alignment, size_t size) {
  return theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, 0, false});
}

// C23
OVERRIDE void free_sized(void* p, size_t size) { block_free_checked(p, size, 1); }

OVERRIDE void free_aligned_sized(void* p, size_t alignment, size_t size) {
  block_free_checked(p, size, alignment);
}

// ---- POSIX and GNU ----

OVERRIDE int posix_memalign(void** p, size_t alignment, size_t size) {
  return name_posix_memalign(p, alignment, size);
}

OVERRIDE void* memalign(size_t alignment, size_t size) { return name_memalign(alignment, size); }

OVERRIDE void* valloc(size_t size) { return mi_valloc(size); }

OVERRIDE void* pvalloc(size_t size) { return mi_pvalloc(size); }

OVERRIDE size_t malloc_usable_size(void* p) { return block_usable(p); }

OVERRIDE void cfree(void* p) { block_free(p); }

#if !defined(MI_SHARED_LIB) && !defined(__GLIBC__)
// zig's C library, which programs are linked with statically, has one that calls its own realloc.
OVERRIDE void* reallocarray(void* p, size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(count, size, &total))) { return refuse_memory(SIZE_MAX); }
  return name_realloc(p, total);
}
#endif

// ---- BSD and macOS ----

OVERRIDE void* reallocf(void* p, size_t size) {
  return name_reallocf(p, size);
}

OVERRIDE int reallocarr(void* ptrp, size_t count, size_t size) {
  return mi_reallocarr(ptrp, count, size);
}

OVERRIDE size_t malloc_size(const void* p) { return block_usable(p); }

OVERRIDE size_t malloc_good_size(size_t size) { return good_size(size); }

OVERRIDE void vfree(void* p) { block_free(p); }

// ---- glibc's inner names ----

#ifdef __GLIBC__

OVERRIDE void* __libc_malloc(size_t size) { return theap_malloc(theap_current(), size); }

OVERRIDE void* __libc_calloc(size_t count, size_t size) {
  return theap_calloc(theap_current(), count, size);
}

OVERRIDE void* __libc_realloc(void* p, size_t size) { return name_realloc(p, size); }

OVERRIDE void __libc_free(void* p) { block_free(p); }

OVERRIDE void __libc_cfree(void* p) { block_free(p); }

OVERRIDE void* __libc_memalign(size_t alignment, size_t size) {
  return name_memalign(alignment, size);
}

OVERRIDE void* __libc_valloc(size_t size) { return mi_valloc(size); }

OVERRIDE void* __libc_pvalloc(size_t size) { return mi_pvalloc(size); }

OVERRIDE int __posix_memalign(void** p, size_t alignment, size_t size) {
  return name_posix_memalign(p, alignment, size);
}

#endif

// ---- C++: operator new and delete; size_t is `m` or `j` in their names ----

#if __SIZEOF_SIZE_T__ == __SIZEOF_LONG__ && __SIZEOF_LONG__ != __SIZEOF_INT__
#define WITH_SIZE(before, after) before##m##after
#else
#define WITH_SIZE(before, after) before##j##after
#endif

// A program may replace them: all, as mimalloc-new-delete.h does, or some. The others come to those,
// as C++ wants it: new[] to new, forms that do not throw to those that do, delete[], sized and
// nothrow delete to delete; the same with an alignment. Else a block might end where it was not
// taken. So these calls are to names, which the linker resolves, and cost one jump. OWN names what
// is here, by which a form sees whether the program has replaced what it would come to.
// Tests: test/posix/new_replaced*.cpp.
#define OPERATOR      OVERRIDE NO_PLT WEAK
#define OWN           EXTERN_C HIDDEN
#define AS(name)      ALIAS(TEXT(name))
#define TEXT(name)    TEXT_OF(name)
#define TEXT_OF(name) #name

#define NEW               WITH_SIZE(_Znw, )
#define NEW_ARRAY         WITH_SIZE(_Zna, )
#define NEW_ALIGNED       WITH_SIZE(_Znw, St11align_val_t)
#define NEW_ALIGNED_ARRAY WITH_SIZE(_Zna, St11align_val_t)
#define DELETE            _ZdlPv
#define DELETE_ARRAY      _ZdaPv
#define DELETE_ALIGNED    _ZdlPvSt11align_val_t
#define DELETE_ALIGNED_ARRAY _ZdaPvSt11align_val_t

// ---- those that all others come to ----

OPERATOR void* NEW(size_t size) { return new_block(size); }
OPERATOR void* NEW_ALIGNED(size_t size, size_t alignment) { return new_aligned(size, alignment); }
OPERATOR void DELETE(void* p) { block_free(p); }
OPERATOR void DELETE_ALIGNED(void* p, size_t alignment) { block_free_aligned(p, alignment); }

OPERATOR void* NEW_ARRAY(size_t size) { return NEW(size); }
OPERATOR void* NEW_ALIGNED_ARRAY(size_t size, size_t alignment) {
  return NEW_ALIGNED(size, alignment);
}
OPERATOR void DELETE_ARRAY(void* p) { DELETE(p); }
OPERATOR void DELETE_ALIGNED_ARRAY(void* p, size_t alignment) { DELETE_ALIGNED(p, alignment); }

OWN void* _mi_own_new(size_t) AS(NEW);
OWN void* _mi_own_new_array(size_t) AS(NEW_ARRAY);
OWN void* _mi_own_new_aligned(size_t, size_t) AS(NEW_ALIGNED);
OWN void* _mi_own_new_aligned_array(size_t, size_t) AS(NEW_ALIGNED_ARRAY);
OWN void _mi_own_delete(void*) AS(DELETE);
OWN void _mi_own_delete_array(void*) AS(DELETE_ARRAY);
OWN void _mi_own_delete_aligned(void*, size_t) AS(DELETE_ALIGNED);
OWN void _mi_own_delete_aligned_array(void*, size_t) AS(DELETE_ALIGNED_ARRAY);

#define IS_OWN_NEW         (likely(NEW == _mi_own_new))
#define IS_OWN_NEW_ALIGNED (likely(NEW_ALIGNED == _mi_own_new_aligned))

// ---- new that does not throw ----

OPERATOR void* WITH_SIZE(_Znw, RKSt9nothrow_t)(size_t size, const void* nothrow) {
  (void)nothrow;
  return IS_OWN_NEW ? new_block_nothrow(size) : new_nothrow_by(NEW, size);
}

OPERATOR void* WITH_SIZE(_Zna, RKSt9nothrow_t)(size_t size, const void* nothrow) {
  (void)nothrow;
  const bool own = IS_OWN_NEW && NEW_ARRAY == _mi_own_new_array;
  return own ? new_block_nothrow(size) : new_nothrow_by(NEW_ARRAY, size);
}

OPERATOR void* WITH_SIZE(_Znw, St11align_val_tRKSt9nothrow_t)(size_t size, size_t alignment,
                                                              const void* nothrow) {
  (void)nothrow;
  return IS_OWN_NEW_ALIGNED ? new_aligned_nothrow(size, alignment)
                            : new_aligned_nothrow_by(NEW_ALIGNED, size, alignment);
}

OPERATOR void* WITH_SIZE(_Zna, St11align_val_tRKSt9nothrow_t)(size_t size, size_t alignment,
                                                              const void* nothrow) {
  (void)nothrow;
  const bool own = IS_OWN_NEW_ALIGNED && NEW_ALIGNED_ARRAY == _mi_own_new_aligned_array;
  return own ? new_aligned_nothrow(size, alignment)
             : new_aligned_nothrow_by(NEW_ALIGNED_ARRAY, size, alignment);
}

// ---- delete with a size, which is checked where the block is ours, and after new that threw ----

OPERATOR void WITH_SIZE(_ZdlPv, )(void* p, size_t size) {
  if (CHECK_SIZE && DELETE == _mi_own_delete && !delete_suits(p, size, 1)) { return; }
  DELETE(p);
}

OPERATOR void WITH_SIZE(_ZdaPv, )(void* p, size_t size) {
  const bool own = DELETE == _mi_own_delete && DELETE_ARRAY == _mi_own_delete_array;
  if (CHECK_SIZE && own && !delete_suits(p, size, 1)) { return; }
  DELETE_ARRAY(p);
}

OPERATOR void WITH_SIZE(_ZdlPv, St11align_val_t)(void* p, size_t size, size_t alignment) {
  const bool own = DELETE_ALIGNED == _mi_own_delete_aligned;
  if (CHECK_SIZE && own && !delete_suits(p, size, alignment)) { return; }
  DELETE_ALIGNED(p, alignment);
}

OPERATOR void WITH_SIZE(_ZdaPv, St11align_val_t)(void* p, size_t size, size_t alignment) {
  const bool own = DELETE_ALIGNED == _mi_own_delete_aligned &&
                   DELETE_ALIGNED_ARRAY == _mi_own_delete_aligned_array;
  if (CHECK_SIZE && own && !delete_suits(p, size, alignment)) { return; }
  DELETE_ALIGNED_ARRAY(p, alignment);
}

OPERATOR void _ZdlPvRKSt9nothrow_t(void* p, const void* nothrow) {
  (void)nothrow;
  DELETE(p);
}

OPERATOR void _ZdaPvRKSt9nothrow_t(void* p, const void* nothrow) {
  (void)nothrow;
  DELETE_ARRAY(p);
}

OPERATOR void _ZdlPvSt11align_val_tRKSt9nothrow_t(void* p, size_t alignment, const void* nothrow) {
  (void)nothrow;
  DELETE_ALIGNED(p, alignment);
}

OPERATOR void _ZdaPvSt11align_val_tRKSt9nothrow_t(void* p, size_t alignment, const void* nothrow) {
  (void)nothrow;
  DELETE_ALIGNED_ARRAY(p, alignment);
}

#undef NEW
#undef NEW_ARRAY
#undef NEW_ALIGNED
#undef NEW_ALIGNED_ARRAY
#undef DELETE
#undef DELETE_ARRAY
#undef DELETE_ALIGNED
#undef DELETE_ALIGNED_ARRAY
#undef IS_OWN_NEW
#undef IS_OWN_NEW_ALIGNED
#undef AS
#undef TEXT
#undef TEXT_OF
#undef WITH_SIZE
#pragma GCC diagnostic pop
#endif

#endif
