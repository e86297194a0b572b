// Aligned allocation, without pointers into the middle of a block: a size that is a multiple of the
// alignment has a class that is a multiple too, and pages start on slices (see page/class.h).
// Alignments above a slice, and those that hold at an offset into the block, get a run of their
// own.
#include <errno.h>

#include "alloc.h"

static void* malloc_plain(theap_t* theap, size_t size, bool zero) {
  return zero ? theap_zalloc(theap, size) : theap_malloc(theap, size);
}

static void* malloc_run(theap_t* theap, const aligned_t* want) {
  if (theap->thread == NULL) { theap = thread_enter(); }
  if (theap == NULL || theap->thread == NULL) {
    return theap == NULL ? NULL : orphan_malloc(*want);
  }
  const size_t shift = (0 - want->offset) & (want->alignment - 1);
  return malloc_large(theap, (large_want_t){.size = size_max(want->size, 1),
                                            .align = want->alignment,
                                            .shift = shift,
                                            .zero = want->zero});
}

PRIVATE void* theap_malloc_aligned(theap_t* theap, aligned_t want) {
  if (unlikely(!is_power_of_two(want.alignment))) {
    errno = EINVAL;
    return NULL;
  }
  if (TRACKED) { return tracked_malloc(theap, want); }
  const bool at_start = (want.offset & (want.alignment - 1)) == 0;
  if (likely(at_start && want.alignment <= SLICE_BYTES && want.size <= MEDIUM_MAX)) {
    const size_t size = align_up(want.size + (want.size == 0), want.alignment);
    if (likely(size <= MEDIUM_MAX)) { return malloc_plain(theap, size, want.zero); }
  }
  if (at_start && want.alignment <= SLICE_BYTES) {
    return malloc_plain(theap, size_max(want.size, MEDIUM_MAX + 1), want.zero);
  }
  void* p = malloc_run(theap, &want);
  if (unlikely(p == NULL)) { errno = ENOMEM; }
  return p;
}
