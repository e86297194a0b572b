// Allocation and free in a build for a memory tool: every block exactly as long as it was asked
// for, out of bounds before and behind, see heap/tracked.h. These stand in for the fast paths.
#include "../heap/tracked.h"

#include <errno.h>

#include "../service/message.h"
#include "alloc.h"

// ---- allocate ----

// The least lead that leaves room for a label and aligns what follows, at an offset if there is
// one.
static size_t lead_for(const aligned_t* request) {
  return GRANULE + ((0 - request->offset - GRANULE) & (request->alignment - 1));
}

static label_t* take_plain(theap_t* theap, size_t bytes) {
  page_t* page = theap_page_for(theap, bytes);
  block_t* block = page_pop(page);
  return (label_t*)(block != NULL ? block : malloc_slow(bytes, theap, false));
}

// The label comes right before the block: it is the run that is shifted.
static label_t* take_shifted(theap_t* theap, const aligned_t* request) {
  const size_t shift = (0 - request->offset - GRANULE) & (request->alignment - 1);
  const large_request_t large = {
      .size = size_max(request->size, 1) + GRANULE, .align = request->alignment, .shift = shift};
  void* label = malloc_large(theap, &large);
  return (label_t*)(label != NULL ? label : refuse_request(request->size));
}

static void* tracked_take(theap_t* theap, const aligned_t* request) {
  enum { LEAD_MOST = 4 << 10 };
  if (request->size > PTRDIFF_MAX - 2 * LEAD_MOST) { return refuse_request(request->size); }
  const bool shifted = request->alignment > LEAD_MOST;
  const size_t lead = shifted ? GRANULE : lead_for(request);
  const size_t bytes =
      align_up(lead + size_max(request->size, 1), size_min(request->alignment, LEAD_MOST));
  label_t* label = shifted ? take_shifted(theap, request) : take_plain(theap, bytes);
  return label == NULL ? NULL : tracked_hand_out(label, request->size, lead);
}

PRIVATE NOINLINE void* tracked_malloc(theap_t* theap, aligned_t request) {
  if (theap->thread == NULL) { theap = thread_enter(); }
  if (theap == NULL) { return refuse_memory(request.size); }
  if (theap->thread == NULL) { return orphan_malloc(request); }
  track_quiet();
  void* p = tracked_take(theap, &request);
  track_loud();
  if (p == NULL) { return NULL; }
  track_taken(p, request.size);
  return request.zero ? memset(p, 0, request.size) : p;
}

// ---- free ----

// memcheck says what the block is, or was.
static void report_refused(void* p, const char* what) {
  track_quiet();
  const bool was_ours = tracked_label_of_any(p) != NULL;
  track_loud();
  track_refused(p);
  if (was_ours) {
    message_error(EAGAIN, "%s of block %p", *what == 'f' ? "double free" : "realloc after free", p);
  } else {
    report_foreign(p, what);
  }
}

PRIVATE NOINLINE void tracked_free(void* p) {
  if (p == NULL) { return; }
  track_quiet();
  label_t* label = tracked_label(p);
  if (label != NULL) { tracked_take_back(label); }
  track_loud();
  if (label == NULL) { report_refused(p, "free"); }
}

// ---- sizes and reallocation ----

PRIVATE size_t tracked_asked(const void* p) {
  track_quiet();
  const label_t* label = tracked_label(p);
  const size_t bytes = label == NULL ? SIZE_MAX : label->bytes;
  track_loud();
  return bytes;
}

PRIVATE NOINLINE size_t tracked_usable(const void* p) {
  const size_t bytes = p == NULL ? 0 : tracked_asked(p);
  return bytes == SIZE_MAX ? 0 : bytes;
}

// Returns false if it does not fit, or wastes more than half.
static bool resize_in_place(void* p, size_t size, bool may_waste) {
  track_quiet();
  label_t* label = tracked_label(p);
  const size_t old = label->bytes, room = page_of(label)->block_bytes - label->lead;
  const bool fits = size <= room && (may_waste || size >= room / 2);
  if (fits) { label->bytes = size; }
  track_loud();
  if (fits) { track_resized(p, old, size); }
  return fits;
}

PRIVATE NOINLINE void* tracked_expand(void* p, size_t size) {
  const size_t old = p == NULL ? SIZE_MAX : tracked_asked(p);
  if (old == SIZE_MAX) { return NULL; }
  return size <= old || resize_in_place(p, size, true) ? p : NULL;
}

static void* move_tracked(theap_t* theap, void* p, aligned_t request) {
  const size_t old = tracked_usable(p);
  void* q = tracked_malloc(theap, request);
  if (q == NULL) { return NULL; }
  memcpy(q, p, size_min(old, request.size));
  tracked_free(p);
  return q;
}

PRIVATE NOINLINE void* tracked_realloc(theap_t* theap, void* p, const aligned_t* request) {
  if (p == NULL) { return tracked_malloc(theap, *request); }
  const size_t old = tracked_asked(p);
  if (old == SIZE_MAX) {
    report_refused(p, "realloc");
    port_errno_set(EINVAL);
    return NULL;
  }
  const bool aligned = is_aligned((uint8_t*)p + request->offset, request->alignment);
  if (aligned && resize_in_place(p, request->size, false)) {
    if (request->zero && request->size > old) { memset((uint8_t*)p + old, 0, request->size - old); }
    return p;
  }
  return move_tracked(theap, p, *request);
}
