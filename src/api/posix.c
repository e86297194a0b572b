// The names of POSIX, the BSDs and Windows, with the meaning that mimalloc.h gives them. The same
// names without `mi_`, with the C library's meaning, are in entry/.
#include <errno.h>
#include <stdlib.h>
#include <wchar.h>

#include "../heap/tracked.h"
#include "../port/port.h"
#include "../service/message.h"
#include "basic.h"

// One that was freed still looks so, in a page that lives.
static bool is_our_block(const void* p) {
  if (p == NULL) { return false; }
  const page_t* page = page_of(p);
  if (!TRACKED) { return page != page_none() && page_has_block(page, p); }
  track_quiet();
  const bool is_ours = tracked_label_of_any(p) != NULL;
  track_loud();
  return is_ours;
}

API bool mi_cfree(void* p) {
  const bool is_ours = is_our_block(p);
  if (is_ours) { block_free(p); }
  return is_ours;
}

API void* mi__expand(void* p, size_t newsize) { return block_expand(p, newsize); }

API size_t mi_malloc_size(const void* p) { return block_usable(p); }

API size_t mi_malloc_good_size(size_t size) { return good_size(size); }

API size_t mi_malloc_usable_size(const void* p) { return block_usable(p); }

// ---- aligned ----

static void* memalign_current(size_t alignment, size_t size) {
  return theap_malloc_aligned(theap_current(), (aligned_t){size, alignment, 0, false});
}

API int mi_posix_memalign(void** p, size_t alignment, size_t size) {
  if (unlikely(p == NULL || alignment < sizeof(void*) || !is_power_of_two(alignment))) {
    return EINVAL;
  }
  const int saved = port_errno_get();
  void* block = memalign_current(alignment, size);
  port_errno_set(saved);
  if (unlikely(block == NULL)) { return ENOMEM; }
  *p = block;
  return 0;
}

API void* mi_memalign(size_t alignment, size_t size) { return memalign_current(alignment, size); }

API void* mi_aligned_alloc(size_t alignment, size_t size) {
  return memalign_current(alignment, size);
}

API void* mi_valloc(size_t size) { return memalign_current(port_page_bytes(), size); }

API void* mi_pvalloc(size_t size) {
  const size_t page = port_page_bytes();
  if (unlikely(size > PTRDIFF_MAX - page)) { return refuse_memory(SIZE_MAX); }
  return memalign_current(page, align_up(size, page));
}

// ---- arrays ----

API void* mi_reallocarray(void* p, size_t count, size_t size) {
  size_t total = 0;
  if (unlikely(size_mul_overflows(count, size, &total))) { return refuse_memory(SIZE_MAX); }
  return theap_realloc(theap_current(), p, total, false);
}

// `ptrp` is the address of a pointer of any type, so the pointer is read and written as bytes. As
// on NetBSD, an array of no bytes is no block.
API int mi_reallocarr(void* ptrp, size_t count, size_t size) {
  if (unlikely(ptrp == NULL)) { return EINVAL; }
  const int saved = port_errno_get();
  void* p = NULL;
  memcpy(&p, ptrp, sizeof(p));
  void* q = NULL;
  if (count == 0 || size == 0) {
    block_free(p);
  } else {
    q = mi_reallocarray(p, count, size);
    const int error = port_errno_get();
    port_errno_set(saved);
    if (unlikely(q == NULL)) { return error; }
  }
  memcpy(ptrp, &q, sizeof(q));
  return 0;
}

API void* mi_aligned_recalloc(void* p, size_t newcount, size_t size, size_t alignment) {
  return mi_recalloc_aligned(p, newcount, size, alignment);
}

API void* mi_aligned_offset_recalloc(void* p, size_t newcount, size_t size, size_t alignment,
                                     size_t offset) {
  return mi_recalloc_aligned_at(p, newcount, size, alignment, offset);
}

// ---- free with what was asked for ----

PRIVATE COLD void report_mismatch(const void* p, size_t size, size_t alignment) {
  message_error(EINVAL, "free of %p as %zu bytes aligned to %zu, but it is a block of %zu bytes", p,
                size, alignment, block_usable(p));
}

API void mi_free_size(void* p, size_t size) { block_free_checked(p, size, 1); }

API void mi_free_size_aligned(void* p, size_t size, size_t alignment) {
  block_free_checked(p, size, alignment);
}

API void mi_free_aligned(void* p, size_t alignment) { block_free_aligned(p, alignment); }

// ---- strings ----

API wchar_t* mi_wcsdup(const wchar_t* s) {
  if (s == NULL) { return NULL; }
  const size_t bytes = (wcslen(s) + 1) * sizeof(wchar_t);
  wchar_t* copy = (wchar_t*)theap_malloc(theap_current(), bytes);
  return copy == NULL ? NULL : (wchar_t*)memcpy(copy, s, bytes);
}

API unsigned char* mi_mbsdup(const unsigned char* s) {
  return (unsigned char*)mi_strdup((const char*)s);
}

// Another thread may change the variable between the two questions: then it is asked again.
API int mi_dupenv_s(char** buf, size_t* size, const char* name) {
  if (buf == NULL || name == NULL) { return EINVAL; }
  if (size != NULL) { *size = 0; }
  *buf = NULL;
  for (size_t length = port_variable(name, NULL, 0); length != 0;) {
    char* copy = (char*)theap_malloc(theap_current(), length);
    if (copy == NULL) { return ENOMEM; }
    const size_t now = port_variable(name, copy, length);
    if (now == length) {
      if (size != NULL) { *size = length; }
      *buf = copy;
      return 0;
    }
    block_free(copy);
    length = now;
  }
  return 0;
}

API int mi_wdupenv_s(wchar_t** buf, size_t* size, const wchar_t* name) {
  if (size != NULL) { *size = 0; }
  if (buf != NULL) { *buf = NULL; }
  if (!PORT_WIDE_VARIABLES || buf == NULL || name == NULL) { return EINVAL; }
  for (size_t length = port_variable_wide(name, NULL, 0); length != 0;) {
    wchar_t* copy = (wchar_t*)theap_malloc(theap_current(), length * sizeof(wchar_t));
    if (copy == NULL) { return ENOMEM; }
    const size_t now = port_variable_wide(name, copy, length);
    if (now == length) {
      if (size != NULL) { *size = length; }
      *buf = copy;
      return 0;
    }
    block_free(copy);
    length = now;
  }
  return 0;
}
