// The C runtime's functions that allocate, by this library: for a program that the library is
// linked into (windows_static.c), and for one whose runtime leads here (windows_redirect.c).
//
// They take blocks that are not from here too: the runtime's own, which came before, or from a
// runtime in a DLL that has functions such as _getcwd. Those go back to its heap.
#ifndef MI_ENTRY_WINDOWS_NAMES_H
#define MI_ENTRY_WINDOWS_NAMES_H

#include "../port/windows_head.h"

#include <errno.h>
#include <string.h>

#include "../api/basic.h"

// Whoever includes this defines these two for its runtime.
static HANDLE runtime_heap(void);
static void runtime_find(const char* name, void* pointer);  // the caller knows the type

static bool is_ours(const void* p) { return page_of(p) != page_none(); }

// ---- memory as the runtime wants it ----

// What lies behind the size that was asked for reads as zero: _recalloc clears from what _msize
// says, which is all of the block here, and a program may count on the rest.
static void* with_zeros_behind(void* p, size_t size) {
  if (p == NULL) { return NULL; }
  const size_t usable = block_usable(p);
  if (usable > size) { memset((uint8_t*)p + size, 0, usable - size); }
  return p;
}

static void* take(size_t size, bool zero) {
  theap_t* theap = theap_current();
  return with_zeros_behind(zero ? theap_zalloc(theap, size) : theap_malloc(theap, size), size);
}

static void* retake(void* p, size_t size, bool zero) {
  return with_zeros_behind(theap_realloc(theap_current(), p, size, zero), size);
}

// The runtime's own malloc would ask the new-handler in this case: _query_new_mode says whether,
// _callnewh is 0 if there is none.
static COLD bool asks_again(size_t size) {
  int (*mode)(void) = NULL;
  int (*handler)(size_t) = NULL;
  runtime_find("_query_new_mode", (void*)&mode);
  runtime_find("_callnewh", (void*)&handler);
  return mode != NULL && handler != NULL && mode() != 0 && handler(size) != 0;
}

// ---- the functions ----

static void* crt_malloc(size_t size) {
  void* p = take(size, false);
  while (unlikely(p == NULL) && asks_again(size)) { p = take(size, false); }
  return p;
}

static void* crt_calloc(size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(count, size, &total))) {
    port_errno_set(ENOMEM);
    return NULL;
  }
  void* p = take(total, true);
  while (unlikely(p == NULL) && asks_again(total)) { p = take(total, true); }
  return p;
}

static void crt_free(void* p) {
  if (likely(p == NULL || is_ours(p))) {
    block_free(p);
  } else {
    (void)HeapFree(runtime_heap(), 0, p);
  }
}

// A block of the runtime's own heap becomes one of ours, with its contents.
static void* bring_over(void* p, size_t size) {
  const size_t old = HeapSize(runtime_heap(), 0, p);
  void* q = crt_malloc(size);
  if (q == NULL) { return NULL; }
  memcpy(q, p, old < size ? old : size);
  (void)HeapFree(runtime_heap(), 0, p);
  return q;
}

static void* crt_realloc(void* p, size_t size) {
  if (p == NULL) { return crt_malloc(size); }
  if (size == 0) {
    crt_free(p);
    return NULL;
  }
  if (unlikely(!is_ours(p))) { return bring_over(p, size); }
  void* q = retake(p, size, false);
  while (unlikely(q == NULL) && asks_again(size)) { q = retake(p, size, false); }
  return q;
}

static size_t crt_msize(void* p) {
  return p == NULL || is_ours(p) ? block_usable(p) : HeapSize(runtime_heap(), 0, p);
}

static void* crt_expand(void* p, size_t size) { return size <= crt_msize(p) ? p : NULL; }

static void* crt_recalloc(void* p, size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(count, size, &total))) {
    port_errno_set(ENOMEM);
    return NULL;
  }
  const size_t old = p == NULL ? 0 : crt_msize(p);
  uint8_t* q = (uint8_t*)crt_realloc(p, total);
  if (q != NULL && total > old) { memset(q + old, 0, total - old); }
  return q;
}

#endif
