// Aligned allocation, without pointers into the middle of a block: a size that is a multiple of the
// alignment has a class that is a multiple too, and pages start on slices (see page/class.h).
// Alignments above a slice, and those that hold at an offset into the block, get a run of their
// own.
#include <errno.h>

#include "../heap/ration.h"
#include "alloc.h"

// A block that was taken for `size` bytes was asked for with `wanted`.
static void block_set_asked(void* p, size_t size, size_t wanted) {
  if (COUNT_EACH) { heap_count_asked(page_of(p), size, wanted); }
  if (NOTE_BLOCKS) { block_set_size(page_of(p), p, wanted); }
}

// The block of `size` bytes was asked for with `wanted`.
static void* malloc_rounded(theap_t* theap, size_t size, size_t wanted, bool zero) {
  void* p = NULL;
  if (unlikely(theap->special != 0)) {
    p = malloc_undue(size, theap, zero);
  } else {
    p = zero ? theap_zalloc(theap, size) : theap_malloc(theap, size);
  }
  if (p != NULL) { block_set_asked(p, size, wanted); }
  return p;
}

static void* malloc_run(theap_t* theap, const aligned_t* want) {
  const size_t shift = (0 - want->offset) & (want->alignment - 1);
  if (unlikely(theap->rations != NULL)) { ration_pass(theap, BIN_LARGE, want->size); }
  return malloc_large(theap_if_alive(theap), (large_want_t){.size = size_max(want->size, 1),
                                                            .align = want->alignment,
                                                            .shift = shift,
                                                            .zero = want->zero});
}

// Of a block in a page with others; above MEDIUM_MAX there is none for the request.
static size_t medium_bytes(size_t size, size_t alignment) {
  return align_up(size_max(size, PAD_BYTES == 0) + PAD_BYTES, alignment);
}

PRIVATE size_t block_bytes_for(size_t size, size_t alignment) {
  if (size <= MEDIUM_REQUEST && alignment <= SLICE_BYTES) {
    const size_t bytes = medium_bytes(size, alignment);
    if (bytes <= MEDIUM_MAX) { return bin_bytes(bin_of(bytes)); }
  }
  if (size > PTRDIFF_MAX) { return size; }
  const size_t least = alignment <= (size_t)LARGE_ALIGN ? MEDIUM_REQUEST + 1 : 1;
  return large_bytes(size_max(size, least));
}

// The alignment is a power of two.
static void* aligned_plain(theap_t* theap, aligned_t want) {
  const bool at_start = (want.offset & (want.alignment - 1)) == 0;
  if (likely(at_start && want.alignment <= SLICE_BYTES && want.size <= MEDIUM_REQUEST)) {
    const size_t block = medium_bytes(want.size, want.alignment);
    if (likely(block <= MEDIUM_MAX)) {
      return malloc_rounded(theap, block - PAD_BYTES, want.size, want.zero);
    }
  }
  if (at_start && want.alignment <= (size_t)LARGE_ALIGN) {
    return malloc_rounded(theap, size_max(want.size, MEDIUM_REQUEST + 1), want.size, want.zero);
  }
  void* p = malloc_run(theap, &want);
  if (unlikely(p == NULL)) { port_errno_set(ENOMEM); }
  if (p != NULL) { block_set_asked(p, size_max(want.size, 1), want.size); }
  return p;
}

static NOINLINE void* aligned_special(theap_t* theap, const aligned_t* want) {
  void* p = NULL;
  const bool fills = theap_fills(theap);
  if (!malloc_due(&theap, want, &p)) { p = aligned_plain(theap, *want); }
  if (fills && p != NULL && !want->zero) { block_perturb_taken(p, want->size); }
  return p;
}

PRIVATE void* theap_malloc_aligned(theap_t* theap, aligned_t want) {
  if (unlikely(!is_power_of_two(want.alignment))) {
    port_errno_set(EINVAL);
    return NULL;
  }
  if (TRACKED) { return tracked_malloc(theap, want); }
  if (unlikely(theap->special != 0)) { return aligned_special(theap, &want); }
  return aligned_plain(theap, want);
}
