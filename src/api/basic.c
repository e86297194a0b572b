// The plain public names, and the same in a heap or a theap. All are a few lines over alloc/.
//
// A function that begins with the calling thread's theap is the whole of malloc and free: the fast
// paths of alloc/alloc.h are inlined here, and in entry/ once more.
#include "basic.h"

#include <errno.h>
#include <stdlib.h>

PRIVATE theap_t* theap_in(heap_t* heap) {
  theap_t* theap = heap_theap_or_null(heap);
  return likely(theap != NULL) ? theap : (theap_t*)refuse_memory(sizeof(theap_t));
}

// ---- allocate ----

API void* mi_malloc(size_t size) { return theap_malloc(theap_current(), size); }

API void* mi_malloc_small(size_t size) { return theap_malloc(theap_current(), size); }

API void* mi_wmalloc_small(size_t wsize) { return mi_mallocn(wsize, sizeof(void*)); }

API void* mi_wzalloc_small(size_t wsize) { return mi_calloc(wsize, sizeof(void*)); }

API void* mi_zalloc(size_t size) { return theap_zalloc(theap_current(), size); }

API void* mi_zalloc_small(size_t size) { return theap_zalloc(theap_current(), size); }

API void* mi_calloc(size_t count, size_t size) {
  return theap_calloc(theap_current(), count, size);
}

static void* mallocn_in(theap_t* theap, size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(theap == NULL)) { return NULL; }
  if (unlikely(size_mul_overflows(count, size, &total))) { return refuse_memory(SIZE_MAX); }
  return theap_malloc(theap, total);
}

API void* mi_mallocn(size_t count, size_t size) { return mallocn_in(theap_current(), count, size); }

API void* mi_heap_malloc(heap_t* heap, size_t size) {
  theap_t* theap = theap_in(heap);
  return likely(theap != NULL) ? theap_malloc(theap, size) : NULL;
}

API void* mi_heap_malloc_small(heap_t* heap, size_t size) { return mi_heap_malloc(heap, size); }

API void* mi_heap_zalloc(heap_t* heap, size_t size) {
  theap_t* theap = theap_in(heap);
  return likely(theap != NULL) ? theap_zalloc(theap, size) : NULL;
}

API void* mi_heap_zalloc_small(heap_t* heap, size_t size) { return mi_heap_zalloc(heap, size); }

API void* mi_heap_calloc(heap_t* heap, size_t count, size_t size) {
  theap_t* theap = theap_in(heap);
  return likely(theap != NULL) ? theap_calloc(theap, count, size) : NULL;
}

API void* mi_heap_mallocn(heap_t* heap, size_t count, size_t size) {
  return mallocn_in(theap_in(heap), count, size);
}

API void* mi_theap_malloc(theap_t* theap, size_t size) { return theap_malloc(theap, size); }

API void* mi_theap_malloc_small(theap_t* theap, size_t size) { return theap_malloc(theap, size); }

API void* mi_theap_zalloc(theap_t* theap, size_t size) { return theap_zalloc(theap, size); }

API void* mi_theap_zalloc_small(theap_t* theap, size_t size) { return theap_zalloc(theap, size); }

API void* mi_theap_wmalloc_small(theap_t* theap, size_t wsize) {
  return mallocn_in(theap, wsize, sizeof(void*));
}

API void* mi_theap_wzalloc_small(theap_t* theap, size_t wsize) {
  return theap_calloc(theap, wsize, sizeof(void*));
}

API void* mi_theap_calloc(theap_t* theap, size_t count, size_t size) {
  return theap_calloc(theap, count, size);
}

// ---- free, sizes ----

API void mi_free(void* p) { block_free(p); }

API void mi_free_small(void* p) { block_free(p); }
API void mi_free_small_nonnull(void* p) { block_free(p); }
API void mi_free_small_local(void* p) { block_free(p); }
API void mi_free_small_local_nonnull(void* p) { block_free(p); }

API size_t mi_usable_size(const void* p) { return block_usable(p); }

API size_t mi_good_size(size_t size) { return good_size(size); }

API void* mi_expand(void* p, size_t newsize) { return block_expand(p, newsize); }

// ---- reallocate; a NULL theap gives NULL ----

static void* realloc_in(theap_t* theap, void* p, size_t size) {
  return likely(theap != NULL) ? theap_realloc(theap, p, size, false) : NULL;
}

static void* reallocn_in(theap_t* theap, void* p, size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(count, size, &total))) { return refuse_memory(SIZE_MAX); }
  return realloc_in(theap, p, total);
}

static void* reallocf_in(theap_t* theap, void* p, size_t size) {
  void* q = realloc_in(theap, p, size);
  if (unlikely(q == NULL)) { block_free(p); }
  return q;
}

static void* rezalloc_in(theap_t* theap, void* p, size_t size) {
  return likely(theap != NULL) ? theap_realloc(theap, p, size, true) : NULL;
}

static void* recalloc_in(theap_t* theap, void* p, size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(count, size, &total))) { return refuse_memory(SIZE_MAX); }
  return rezalloc_in(theap, p, total);
}

API void* mi_realloc(void* p, size_t newsize) {
  return theap_realloc(theap_current(), p, newsize, false);
}

API void* mi_reallocn(void* p, size_t count, size_t size) {
  return reallocn_in(theap_current(), p, count, size);
}

API void* mi_reallocf(void* p, size_t newsize) { return reallocf_in(theap_current(), p, newsize); }

API void* mi_rezalloc(void* p, size_t newsize) { return rezalloc_in(theap_current(), p, newsize); }

API void* mi_recalloc(void* p, size_t newcount, size_t size) {
  return recalloc_in(theap_current(), p, newcount, size);
}

API void* mi_heap_realloc(heap_t* heap, void* p, size_t newsize) {
  return realloc_in(theap_in(heap), p, newsize);
}

API void* mi_heap_reallocn(heap_t* heap, void* p, size_t count, size_t size) {
  return reallocn_in(theap_in(heap), p, count, size);
}

API void* mi_heap_reallocf(heap_t* heap, void* p, size_t newsize) {
  return reallocf_in(theap_in(heap), p, newsize);
}

API void* mi_heap_rezalloc(heap_t* heap, void* p, size_t newsize) {
  return rezalloc_in(theap_in(heap), p, newsize);
}

API void* mi_heap_recalloc(heap_t* heap, void* p, size_t newcount, size_t size) {
  return recalloc_in(theap_in(heap), p, newcount, size);
}

API void* mi_theap_realloc(theap_t* theap, void* p, size_t newsize) {
  return theap_realloc(theap, p, newsize, false);
}

API void* mi_theap_rezalloc(theap_t* theap, void* p, size_t newsize) {
  return rezalloc_in(theap, p, newsize);
}

// ---- aligned; a NULL theap gives NULL ----

FAST void* aligned_in(theap_t* theap, aligned_t request) {
  return likely(theap != NULL) ? theap_malloc_aligned(theap, request) : NULL;
}

FAST void* realigned_in(theap_t* theap, void* p, aligned_t request) {
  return likely(theap != NULL) ? theap_realloc_aligned(theap, p, &request) : NULL;
}

// `request.size` is of one of `count` items. The result is zeroed.
FAST void* aligned_array_in(theap_t* theap, size_t count, aligned_t request) {
  if (unlikely(size_mul_overflows(count, request.size, &request.size))) {
    return refuse_memory(SIZE_MAX);
  }
  return aligned_in(theap, request);
}

FAST void* realigned_array_in(theap_t* theap, void* p, size_t count, aligned_t request) {
  if (unlikely(size_mul_overflows(count, request.size, &request.size))) {
    return refuse_memory(SIZE_MAX);
  }
  return realigned_in(theap, p, request);
}

API void* mi_malloc_aligned(size_t size, size_t alignment) {
  return theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, 0, false});
}

API void* mi_malloc_aligned_at(size_t size, size_t alignment, size_t offset) {
  return theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, offset, false});
}

API void* mi_zalloc_aligned(size_t size, size_t alignment) {
  return theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, 0, true});
}

API void* mi_zalloc_aligned_at(size_t size, size_t alignment, size_t offset) {
  return theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, offset, true});
}

API void* mi_calloc_aligned(size_t count, size_t size, size_t alignment) {
  return aligned_array_in(theap_current(), count, (aligned_t){size, alignment, 0, true});
}

API void* mi_calloc_aligned_at(size_t count, size_t size, size_t alignment, size_t offset) {
  return aligned_array_in(theap_current(), count, (aligned_t){size, alignment, offset, true});
}

API void* mi_realloc_aligned(void* p, size_t newsize, size_t alignment) {
  return realigned_in(theap_current(), p, (aligned_t){newsize, alignment, 0, false});
}

API void* mi_realloc_aligned_at(void* p, size_t newsize, size_t alignment, size_t offset) {
  return realigned_in(theap_current(), p, (aligned_t){newsize, alignment, offset, false});
}

API void* mi_rezalloc_aligned(void* p, size_t newsize, size_t alignment) {
  return realigned_in(theap_current(), p, (aligned_t){newsize, alignment, 0, true});
}

API void* mi_rezalloc_aligned_at(void* p, size_t newsize, size_t alignment, size_t offset) {
  return realigned_in(theap_current(), p, (aligned_t){newsize, alignment, offset, true});
}

API void* mi_recalloc_aligned(void* p, size_t newcount, size_t size, size_t alignment) {
  return realigned_array_in(theap_current(), p, newcount, (aligned_t){size, alignment, 0, true});
}

API void* mi_recalloc_aligned_at(void* p, size_t newcount, size_t size, size_t alignment,
                                 size_t offset) {
  const aligned_t request = {size, alignment, offset, true};
  return realigned_array_in(theap_current(), p, newcount, request);
}

API void* mi_heap_malloc_aligned(heap_t* heap, size_t size, size_t alignment) {
  return aligned_in(theap_in(heap), (aligned_t){size, alignment, 0, false});
}

API void* mi_heap_malloc_aligned_at(heap_t* heap, size_t size, size_t alignment, size_t offset) {
  return aligned_in(theap_in(heap), (aligned_t){size, alignment, offset, false});
}

API void* mi_heap_zalloc_aligned(heap_t* heap, size_t size, size_t alignment) {
  return aligned_in(theap_in(heap), (aligned_t){size, alignment, 0, true});
}

API void* mi_heap_zalloc_aligned_at(heap_t* heap, size_t size, size_t alignment, size_t offset) {
  return aligned_in(theap_in(heap), (aligned_t){size, alignment, offset, true});
}

API void* mi_heap_calloc_aligned(heap_t* heap, size_t count, size_t size, size_t alignment) {
  return aligned_array_in(theap_in(heap), count, (aligned_t){size, alignment, 0, true});
}

API void* mi_heap_calloc_aligned_at(heap_t* heap, size_t count, size_t size, size_t alignment,
                                    size_t offset) {
  return aligned_array_in(theap_in(heap), count, (aligned_t){size, alignment, offset, true});
}

API void* mi_heap_realloc_aligned(heap_t* heap, void* p, size_t newsize, size_t alignment) {
  return realigned_in(theap_in(heap), p, (aligned_t){newsize, alignment, 0, false});
}

API void* mi_heap_realloc_aligned_at(heap_t* heap, void* p, size_t newsize, size_t alignment,
                                     size_t offset) {
  return realigned_in(theap_in(heap), p, (aligned_t){newsize, alignment, offset, false});
}

API void* mi_heap_rezalloc_aligned(heap_t* heap, void* p, size_t newsize, size_t alignment) {
  return realigned_in(theap_in(heap), p, (aligned_t){newsize, alignment, 0, true});
}

API void* mi_heap_rezalloc_aligned_at(heap_t* heap, void* p, size_t newsize, size_t alignment,
                                      size_t offset) {
  return realigned_in(theap_in(heap), p, (aligned_t){newsize, alignment, offset, true});
}

API void* mi_heap_recalloc_aligned(heap_t* heap, void* p, size_t newcount, size_t size,
                                   size_t alignment) {
  return realigned_array_in(theap_in(heap), p, newcount, (aligned_t){size, alignment, 0, true});
}

API void* mi_heap_recalloc_aligned_at(heap_t* heap, void* p, size_t newcount, size_t size,
                                      size_t alignment, size_t offset) {
  const aligned_t request = {size, alignment, offset, true};
  return realigned_array_in(theap_in(heap), p, newcount, request);
}

API void* mi_theap_malloc_aligned(theap_t* theap, size_t size, size_t alignment) {
  return theap_malloc_aligned(theap, (aligned_t){size, alignment, 0, false});
}

API void* mi_theap_zalloc_aligned(theap_t* theap, size_t size, size_t alignment) {
  return theap_malloc_aligned(theap, (aligned_t){size, alignment, 0, true});
}

// ---- block size reported ----

static void* report_usable(void* p, size_t* out) {
  if (out != NULL) { *out = block_usable(p); }
  return p;
}

API void* mi_umalloc(size_t size, size_t* block_size) {
  return report_usable(mi_malloc(size), block_size);
}

API void* mi_umalloc_small(size_t size, size_t* block_size) {
  return report_usable(mi_malloc(size), block_size);
}

API void* mi_uzalloc_small(size_t size, size_t* block_size) {
  return report_usable(mi_zalloc(size), block_size);
}

API void* mi_ucalloc(size_t count, size_t size, size_t* block_size) {
  return report_usable(mi_calloc(count, size), block_size);
}

API void* mi_umalloc_aligned(size_t size, size_t alignment, size_t* block_size) {
  return report_usable(mi_malloc_aligned(size, alignment), block_size);
}

API void* mi_uzalloc_aligned(size_t size, size_t alignment, size_t* block_size) {
  return report_usable(mi_zalloc_aligned(size, alignment), block_size);
}

API void* mi_urealloc(void* p, size_t newsize, size_t* block_size_pre, size_t* block_size_post) {
  (void)report_usable(p, block_size_pre);
  return report_usable(mi_realloc(p, newsize), block_size_post);
}

API void mi_ufree(void* p, size_t* block_size) { block_free(report_usable(p, block_size)); }

// ---- strings ----

// A copy of `length` characters and a zero; a NULL theap gives NULL.
static char* theap_copy_text(theap_t* theap, const char* text, size_t length) {
  char* copy = likely(theap != NULL) ? (char*)theap_malloc(theap, length + 1) : NULL;
  if (unlikely(copy == NULL)) { return NULL; }
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

static char* strdup_in(theap_t* theap, const char* s) {
  return s == NULL ? NULL : theap_copy_text(theap, s, strlen(s));
}

static size_t length_within(const char* s, size_t most) {
  size_t length = 0;
  while (length < most && s[length] != 0) { length++; }
  return length;
}

static char* strndup_in(theap_t* theap, const char* s, size_t n) {
  return s == NULL ? NULL : theap_copy_text(theap, s, length_within(s, n));
}

static char* realpath_in(theap_t* theap, const char* name) {
  enum { PATH_BYTES = 4096 };  // as port_realpath wants it
  char path[PATH_BYTES];
  return strdup_in(theap, port_realpath(name, path));
}

API char* mi_strdup(const char* s) { return strdup_in(theap_current(), s); }

API char* mi_strndup(const char* s, size_t n) { return strndup_in(theap_current(), s, n); }

API char* mi_realpath(const char* fname, char* resolved_name) {
  if (resolved_name != NULL) { return port_realpath(fname, resolved_name); }
  return realpath_in(theap_current(), fname);
}

API char* mi_heap_strdup(heap_t* heap, const char* s) { return strdup_in(theap_in(heap), s); }

API char* mi_heap_strndup(heap_t* heap, const char* s, size_t n) {
  return strndup_in(theap_in(heap), s, n);
}

API char* mi_heap_realpath(heap_t* heap, const char* fname, char* resolved_name) {
  if (resolved_name != NULL) { return port_realpath(fname, resolved_name); }
  return realpath_in(theap_in(heap), fname);
}
