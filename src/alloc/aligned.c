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

static void* malloc_run(theap_t* theap, const aligned_t* request) {
  const size_t shift = (0 - request->offset) & (request->alignment - 1);
  if (unlikely(theap->rations != NULL)) { ration_pass(theap, BIN_LARGE, request->size); }
  const large_request_t large = {.size = size_max(request->size, 1),
                                 .align = request->alignment,
                                 .shift = shift,
                                 .zero = request->zero};
  void* p = malloc_large(theap_if_alive(theap), &large);
  if (unlikely(p == NULL)) { return refuse_request(request->size); }
  block_set_asked(p, large.size, request->size);
  return p;
}

// The bytes that a block in a page with others has to have. Above MEDIUM_MAX there is no such page
// for the request.
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
static void* aligned_plain(theap_t* theap, size_t size, size_t alignment, bool zero) {
  if (likely(alignment <= SLICE_BYTES && size <= MEDIUM_REQUEST)) {
    const size_t block = medium_bytes(size, alignment);
    if (likely(block <= MEDIUM_MAX)) {
      return malloc_rounded(theap, block - PAD_BYTES, size, zero);
    }
  }
  if (alignment <= (size_t)LARGE_ALIGN) {
    return malloc_rounded(theap, size_max(size, MEDIUM_REQUEST + 1), size, zero);
  }
  const aligned_t request = {size, alignment, 0, zero};
  return malloc_run(theap, &request);
}

static void* aligned_any(theap_t* theap, const aligned_t* request) {
  const bool at_start = (request->offset & (request->alignment - 1)) == 0;
  if (!at_start) { return malloc_run(theap, request); }
  return aligned_plain(theap, request->size, request->alignment, request->zero);
}

static NOINLINE void* aligned_special(theap_t* theap, const aligned_t* request) {
  void* p = NULL;
  const bool fills = theap_fills(theap);
  if (!malloc_due(&theap, request, &p)) { p = aligned_any(theap, request); }
  if (fills && p != NULL && !request->zero) { block_perturb_taken(p, request->size); }
  return p;
}

PRIVATE void* theap_malloc_at_offset(theap_t* theap, const aligned_t* request) {
  if (unlikely(!is_power_of_two(request->alignment))) {
    port_errno_set(EINVAL);
    return NULL;
  }
  if (TRACKED) { return tracked_malloc(theap, *request); }
  if (unlikely(theap->special != 0)) { return aligned_special(theap, request); }
  return aligned_any(theap, request);
}

PRIVATE void* theap_malloc_at_start(theap_t* theap, size_t size, size_t alignment, bool zero) {
  if (TRACKED || unlikely(theap->special != 0 || !is_power_of_two(alignment))) {
    const aligned_t request = {size, alignment, 0, zero};
    return theap_malloc_at_offset(theap, &request);
  }
  return aligned_plain(theap, size, alignment, zero);
}
