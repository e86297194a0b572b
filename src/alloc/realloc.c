// Reallocation: in place where the block's run can grow, by moving pages where the OS can, by
// copying else.
#include <errno.h>

#include "../heap/guard.h"
#include "../heap/row.h"
#include "alloc.h"

enum {
  MOVE_LEAST = 1 << 20
};  // from here on a block that grows gets a mapping of its own, so that it can be moved

static bool is_large(const page_t* page) {
  return page->bin == BIN_LARGE && !page_is_guarded(page);
}

static size_t span_room(const page_t* page) {
  const size_t before = (size_t)(page->start - page->span_start);
  return bytes_to_guard(page) - before;
}

static void page_set_span(page_t* page, const span_t* span) {
  heap_t* heap = load_relaxed(&page->heap);
  stat_up(&heap->stats.page_committed, span->slices * SLICE_BYTES);
  stat_down(&heap->stats.page_committed, page_bytes(page));
  page->span_slices = (uint32_t)span->slices;
}

// A live block is `size` bytes long from now on.
static void block_resize(page_t* page, void* p, size_t size) {
  const size_t old = COUNT_EACH ? block_size(page, p) : 0;
  block_set_size(page, p, size);
  if (COUNT_EACH) {
    const bool is_locked = heap_lock_record(page);
    heap_count_resized(page, old, size);
    heap_unlock_record(is_locked);
  }
}

// Debug builds: the padding of a block that will be longer.
static void zero_padding(page_t* page) {
  if (!NOTE_BLOCKS) { return; }
  const size_t size = block_size(page, page->start);
  memset(page->start + size, 0, page->block_bytes - size);
}

// What lies between the block and the end of its run is zero if fresh_zero; what was added may be
// or not.
static void zero_added(const page_t* page, size_t old_room, size_t bytes, bool added_is_zero) {
  const size_t within = size_min(old_room, bytes);
  if (!page->fresh_zero) { memset(page->start + page->block_bytes, 0, within - page->block_bytes); }
  if (!added_is_zero) { memset(page->start + within, 0, bytes - within); }
}

// A large block belongs to who holds it: no other thread touches its page until it is freed.
static bool large_grow_unguarded(page_t* page, size_t size, bool zero) {
  const size_t bytes = large_bytes(size);
  const size_t old_room = span_room(page);
  const size_t shift = (size_t)(page->start - page->span_start);
  span_t span = page_span(page);
  span.is_zero = page->fresh_zero;
  if (bytes > old_room && !memory_lengthen(&span, large_slices(bytes, shift))) { return false; }
  if (zero) {
    zero_padding(page);
    zero_added(page, old_room, bytes, span.is_zero);
  }
  page_set_span(page, &span);
  page->fresh_zero = span.is_zero;
  large_set_bytes(page, bytes);
  block_resize(page, page->start, size);
  return true;
}

static bool large_grow(page_t* page, size_t size, bool zero) {
  const bool moves_guard = GUARD_PAGES && large_bytes(size) > span_room(page);
  if (moves_guard && !page_unguard(page)) { return false; }
  const bool done = large_grow_unguarded(page, size, zero);
  if (moves_guard) { page_guard(page); }
  return done;
}

static void large_shrink(page_t* page, size_t size) {
  span_t span = page_span(page);
  const size_t shift = (size_t)(page->start - page->span_start);
  const size_t slices = large_slices(large_bytes(size), shift);
  const bool moves_guard = GUARD_PAGES && slices < span.slices;
  if (moves_guard && !page_unguard(page)) { return; }
  memory_shorten(&span, slices);
  page_set_span(page, &span);
  if (moves_guard) { page_guard(page); }
  page->fresh_zero = false;  // between the new end and the end of the run
  large_set_bytes(page, size_min(large_bytes(size), page->block_bytes));
  block_resize(page, page->start, size);
}

// A mapping of its own moves by exchanging page tables, within its heap.
static void* large_move(const theap_t* theap, page_t* page, size_t size, bool zero) {
  span_t span = page_span(page);
  const size_t bytes = large_bytes(size);
  if (page->span_arena != NULL || page->start != page->span_start) { return NULL; }
  if (heap_of_page(page) != theap->heap) { return NULL; }
  if ((zero && !page->fresh_zero) || !page_unguard(page)) { return NULL; }
  map_enter(page->start, 1, NULL);
  const bool moved = memory_remap_direct(&span, bytes + bytes / 4);
  page->start = page->span_start = span.start;
  page_set_span(page, &span);
  page_guard(page);
  map_enter(page->start, 1, page);
  if (!moved) { return NULL; }
  if (zero) { zero_padding(page); }
  large_set_bytes(page, bytes);
  block_resize(page, page->start, size);
  return page->start;
}

static bool block_fits(const page_t* page, size_t size) {
  const size_t bytes = page_room(page);
  return size <= bytes && (size >= bytes / 2 || page->block_bytes <= 2 * GRANULE);
}

// What a zeroing realloc cuts off is zero when the block grows again. A large block is cut, so that
// there is little to clear.
static void block_cut_zeroed(page_t* page, void* p, size_t size) {
  if (is_large(page) && size > MEDIUM_REQUEST && large_bytes(size) < page->block_bytes) {
    large_shrink(page, size);
  }
  memset((uint8_t*)p + size, 0, page_room(page) - size);
}

// The block keeps its place; debug builds note its new size.
static void* keep_block(page_t* page, void* p, size_t size, bool zero) {
  if (NOTE_BLOCKS) {
    const size_t old = block_size(page, p);
    block_resize(page, p, size);
    if (zero && size > old) { memset((uint8_t*)p + old, 0, size - old); }
  } else if (zero) {
    block_cut_zeroed(page, p, size);
  }
  return p;
}

static void* move_to_new(theap_t* theap, void* p, size_t size, bool zero) {
  const page_t* page = page_of(p);
  const size_t old = block_size(page, p);
  void* q = NULL;
  if (is_large(page) && size > old && size > MEDIUM_REQUEST && size < PTRDIFF_MAX / 2 &&
      theap->thread != NULL) {
    const size_t room = size < MOVE_LEAST ? size / 8 : size / 4;
    const large_request_t request = {
        .size = size, .align = LARGE_ALIGN, .zero = zero, .room = room};
    q = malloc_large(theap_if_alive(theap), &request);
    if (unlikely(q == NULL)) { return refuse_request(size); }
    if (!zero) { block_perturb_taken(q, size); }
  } else {
    q = zero ? theap_zalloc(theap, size) : theap_malloc(theap, size);
  }
  if (likely(q != NULL)) {
    memcpy(q, p, size_min(old, size));
    block_free(p);
  }
  return q;
}

// False, with errno: it is no live block, which was reported.
static bool block_may_move(const page_t* page, const void* p) {
  const bool known = page != page_none() && page_block_is_valid(page, p);
  if (likely(known && block_is_intact(page, p))) { return true; }
  if (page_is_veiled(page) && page_has_block(page, p)) { return true; }
  if (page == page_none()) {
    report_foreign(p, "realloc");
  } else {
    report_bad_block(page, p, "realloc");
  }
  port_errno_set(EINVAL);
  return false;
}

PRIVATE void* theap_realloc(theap_t* theap, void* p, size_t size, bool zero) {
  if (TRACKED) {
    const aligned_t request = {size, 1, 0, zero};
    return tracked_realloc(theap, p, &request);
  }
  if (unlikely(p == NULL)) { return zero ? theap_zalloc(theap, size) : theap_malloc(theap, size); }
  page_t* page = page_of(p);
  void* moved = NULL;
  if (unlikely(page == page_none()) && port_realloc_foreign(p, size, &moved)) { return moved; }
  if (unlikely(!block_may_move(page, p))) { return NULL; }
  if (likely(block_fits(page, size))) { return keep_block(page, p, size, zero); }
  if (is_large(page) && unlikely(row_has(theap_current(), (const block_t*)p, BIN_LARGE))) {
    report_bad_block(page, p, "realloc");
    port_errno_set(EINVAL);
    return NULL;
  }
  if (is_large(page) && size > MEDIUM_REQUEST && size <= PTRDIFF_MAX) {
    if (size <= page_room(page)) {
      large_shrink(page, size);
      return keep_block(page, p, size, zero);
    }
    if (large_grow(page, size, zero)) { return p; }
    void* q = large_move(theap, page, size, zero);
    if (q != NULL) { return q; }
  }
  return move_to_new(theap, p, size, zero);
}

PRIVATE void* theap_realloc_aligned(theap_t* theap, void* p, const aligned_t* request) {
  if (p == NULL) { return theap_malloc_aligned(theap, *request); }
  if (!is_power_of_two(request->alignment)) {
    port_errno_set(EINVAL);
    return NULL;
  }
  if (TRACKED) { return tracked_realloc(theap, p, request); }
  page_t* page = page_of(p);
  if (unlikely(!block_may_move(page, p))) { return NULL; }
  const size_t old = block_usable(p), room = page_room(page);
  if (request->size <= room && request->size >= room / 2 &&
      is_aligned((uint8_t*)p + request->offset, request->alignment)) {
    return keep_block(page, p, request->size, request->zero);
  }
  void* q = theap_malloc_aligned(theap, *request);
  if (q != NULL) {
    memcpy(q, p, size_min(old, request->size));
    block_free(p);
  }
  return q;
}

PRIVATE void* block_expand(void* p, size_t size) {
  if (TRACKED) { return tracked_expand(p, size); }
  page_t* page = page_of(p);
  if (CHECK_FREE && p != NULL && unlikely(!block_may_move(page, p))) { return NULL; }
  if (size <= page_room(page)) { return p == NULL ? NULL : keep_block(page, p, size, false); }
  return is_large(page) && size <= PTRDIFF_MAX && large_grow(page, size, false) ? p : NULL;
}
