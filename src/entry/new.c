// C++ `new` in C, for programs with and without a C++ runtime.
//
//   first try --NULL--> new_retry: new-handler --returns--> try again
//                         |          `--throws--> to the caller, or for nothrow: NULL
//                         `-- no handler --> throw bad_alloc, or for nothrow: NULL
//
// Exceptions pass through frames of this file, which is therefore compiled with -fexceptions.
#include "new.h"

#include "../api/basic.h"
#include "cxx.h"

// ---- retry ----

static void* try_new(size_t size, size_t alignment) {
  if (alignment == 0) { return theap_malloc(theap_current(), size); }
  return theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, 0, false});
}

// Throws unless there is a handler, and that returns.
static void call_handler(size_t size) {
  new_handler_t* handler = new_handler();
  if (handler != NULL) {
    handler();
  } else {
    throw_bad_alloc(size);
  }
}

static bool alignment_is_wrong(size_t alignment) {
  return alignment != 0 && !is_power_of_two(alignment);  // no handler helps
}

PRIVATE COLD void* new_retry(size_t size, size_t alignment) {
  void* p = NULL;
  if (alignment_is_wrong(alignment)) { throw_bad_alloc(size); }
  while (p == NULL) {
    call_handler(size);
    p = try_new(size, alignment);
  }
  return p;
}

PRIVATE COLD void* new_retry_nothrow(size_t size, size_t alignment) {
  void* p = NULL;
  while (p == NULL && !alignment_is_wrong(alignment)) {
    new_handler_t* handler = new_handler();
    if (handler == NULL || !handler_returns(handler)) { break; }
    p = try_new(size, alignment);
  }
  return p;
}

// ---- public ----

API void* mi_new(size_t size) { return new_block(size); }

API void* mi_new_aligned(size_t size, size_t alignment) { return new_aligned(size, alignment); }

API void* mi_new_nothrow(size_t size) { return new_block_nothrow(size); }

API void* mi_new_aligned_nothrow(size_t size, size_t alignment) {
  return new_aligned_nothrow(size, alignment);
}

static size_t array_bytes(size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(count, size, &total))) { throw_bad_alloc(SIZE_MAX); }
  return total;
}

API void* mi_new_n(size_t count, size_t size) { return new_block(array_bytes(count, size)); }

API void* mi_new_realloc(void* p, size_t newsize) {
  for (;;) {
    void* q = theap_realloc(theap_current(), p, newsize, false);
    if (likely(q != NULL)) { return q; }
    call_handler(newsize);
  }
}

API void* mi_new_reallocn(void* p, size_t newcount, size_t size) {
  return mi_new_realloc(p, array_bytes(newcount, size));
}

API void* mi_heap_alloc_new(heap_t* heap, size_t size) {
  for (;;) {
    void* p = mi_heap_malloc(heap, size);
    if (likely(p != NULL)) { return p; }
    call_handler(size);
  }
}

API void* mi_heap_alloc_new_n(heap_t* heap, size_t count, size_t size) {
  return mi_heap_alloc_new(heap, array_bytes(count, size));
}

API void* mi_theap_alloc_new(theap_t* theap, size_t size) {
  for (;;) {
    void* p = theap_malloc(theap, size);
    if (likely(p != NULL)) { return p; }
    call_handler(size);
  }
}

API void* mi_theap_alloc_new_n(theap_t* theap, size_t count, size_t size) {
  return mi_theap_alloc_new(theap, array_bytes(count, size));
}

API void* mi_theap_alloc_new_nothrow(theap_t* theap, size_t size) {
  void* p = theap_malloc(theap, size);
  while (unlikely(p == NULL)) {
    new_handler_t* handler = new_handler();
    if (handler == NULL || !handler_returns(handler)) { break; }
    p = theap_malloc(theap, size);
  }
  return p;
}
