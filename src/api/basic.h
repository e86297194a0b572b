// What the files with public names share: array sizes, heaps and strings.
#ifndef MI_API_BASIC_H
#define MI_API_BASIC_H

#include "../alloc/alloc.h"

// The calling thread's theap of the heap; NULL, with errno, if out of memory.
PRIVATE theap_t* theap_in(heap_t* heap);
PRIVATE COLD void report_mismatch(const void* p, size_t size, size_t alignment);

FAST void* theap_calloc(theap_t* theap, size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(count, size, &total))) { return refuse_memory(SIZE_MAX); }
  return theap_zalloc(theap, total);
}

// With what the block was asked for. One that cannot have been asked for so is reported, and stays.
FAST void block_free_checked(void* p, size_t size, size_t alignment) {
  if (CHECK_SIZE && p != NULL && unlikely(!size_is_possible(p, size, alignment))) {
    report_mismatch(p, size, alignment);
    return;
  }
  block_free(p);
}

// The usual case, in a few instructions.
FAST bool size_is_plainly_exact(const void* p, size_t size, size_t alignment) {
  return !NOTE_BLOCKS && !TRACKED && alignment == 1 && size <= MEDIUM_REQUEST &&
         page_of(p)->bin == bin_of(size + PAD_BYTES);
}

// The same for what `new` made, which no realloc has touched. False: it was reported, and stays.
FAST bool delete_suits(void* p, size_t size, size_t alignment) {
  if (p == NULL || likely(size_is_plainly_exact(p, size, alignment)) ||
      size_is_exact(p, size, alignment)) {
    return true;
  }
  report_mismatch(p, size, alignment);
  return false;
}

// With its alignment only.
FAST void block_free_aligned(void* p, size_t alignment) {
  if (CHECK_SIZE && unlikely(!is_aligned(p, alignment))) {
    report_mismatch(p, block_usable(p), alignment);
    return;
  }
  block_free(p);
}

#endif
