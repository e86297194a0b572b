// What the files with public names share: array sizes, heaps and strings.
#ifndef MI_API_BASIC_H
#define MI_API_BASIC_H

#include "../alloc/alloc.h"

// Of POSIX: headers hide them from strict C11.
size_t strnlen(const char* s, size_t most);
char* realpath(const char* name, char* resolved);

// The calling thread's theap of the heap; NULL, with errno, if out of memory.
PRIVATE theap_t* theap_in(heap_t* heap);
// A copy of `length` characters and a zero; a NULL theap gives NULL.
PRIVATE char* theap_copy_text(theap_t* theap, const char* text, size_t length);
PRIVATE COLD void report_mismatch(const void* p, size_t size, size_t alignment);

FAST void* theap_calloc(theap_t* theap, size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(count, size, &total))) { return refuse_memory(SIZE_MAX); }
  return theap_zalloc(theap, total);
}

// With what the block was asked for: at least so many bytes, aligned so.
FAST void block_free_checked(void* p, size_t size, size_t alignment) {
  if (CHECK_FREE && p != NULL && (size > block_usable(p) || !is_aligned(p, alignment))) {
    report_mismatch(p, size, alignment);
  }
  block_free(p);
}

#endif
