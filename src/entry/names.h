// The C library's names where they differ from the `mi_` ones, whatever a platform makes of them.
//
// They are as on glibc 2.36, measured: realloc to zero bytes frees, memalign rounds an odd
// alignment up, posix_memalign sets errno as well. What the C library makes of malloc and realloc,
// such as strdup, reallocarray, realpath and getline, stays its own where it is another library: in
// a program with a malloc of its own they must call that one.
#ifndef MI_ENTRY_NAMES_H
#define MI_ENTRY_NAMES_H

#include <errno.h>

#include "../api/basic.h"

UNUSED static void* name_realloc(void* p, size_t size) {
  if (unlikely(size == 0 && p != NULL)) {
    block_free(p);
    return NULL;
  }
  return theap_realloc(theap_current(), p, size, false);
}

// The largest power of two is as far as rounding goes.
UNUSED static void* name_memalign(size_t alignment, size_t size) {
  if (unlikely(!is_power_of_two(alignment))) {
    if (alignment > SIZE_MAX / 2 + 1) {
      port_errno_set(EINVAL);
      return NULL;
    }
    alignment = alignment == 0 ? 1 : (size_t)2 << high_bit(alignment);
  }
  return theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, 0, false});
}

UNUSED static int name_posix_memalign(void** p, size_t alignment, size_t size) {
  const int error = mi_posix_memalign(p, alignment, size);
  if (unlikely(error == ENOMEM)) { port_errno_set(ENOMEM); }
  return error;
}

UNUSED static void* name_reallocf(void* p, size_t size) {
  void* q = name_realloc(p, size);
  if (unlikely(q == NULL && size != 0)) { block_free(p); }
  return q;
}

#endif
