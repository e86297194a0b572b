// C++ `new`: the fast paths, which the operators inline once more.
#ifndef MI_ENTRY_NEW_H
#define MI_ENTRY_NEW_H

#include "../alloc/alloc.h"

// What to do when the first try gave NULL; alignment 0 is that of malloc.
PRIVATE COLD void* new_retry(size_t size, size_t alignment);          // may throw
PRIVATE COLD void* new_retry_nothrow(size_t size, size_t alignment);  // may return NULL

FAST void* new_block(size_t size) {
  void* p = theap_malloc(theap_current(), size);
  return likely(p != NULL) ? p : new_retry(size, 0);
}

FAST void* new_block_nothrow(size_t size) {
  void* p = theap_malloc(theap_current(), size);
  return likely(p != NULL) ? p : new_retry_nothrow(size, 0);
}

FAST void* new_aligned(size_t size, size_t alignment) {
  void* p = theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, 0, false});
  return likely(p != NULL) ? p : new_retry(size, alignment);
}

FAST void* new_aligned_nothrow(size_t size, size_t alignment) {
  void* p = theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, 0, false});
  return likely(p != NULL) ? p : new_retry_nothrow(size, alignment);
}

#endif
