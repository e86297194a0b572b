// Freeing: the slow half. Blocks of other threads' pages, of pages that nobody owns, and what is no
// block at all.
#include <errno.h>

#include "../heap/guard.h"
#include "../heap/row.h"
#include "../service/message.h"
#include "alloc.h"

PRIVATE COLD void report_foreign(const void* p, const char* what) {
  const page_t* page = page_large_around(p);
  if (page != page_none()) {
    report_bad_block(page, p, what);
  } else if (page_was_large(p)) {
    message_error(EAGAIN, "%s of large block %p",
                  *what == 'f' ? "double free" : "realloc after free", p);
  } else {
    message_error(EINVAL, "%s of %p, which is not a block of this allocator", what, p);
  }
}

// Returns true if it is a block of a page that is veiled: then it is free now.
static bool block_free_veiled(void* p, page_t* page) {
  if (!page_is_veiled(page) || !page_has_block(page, p)) { return false; }
  if (block_was_freed_last(page, p)) { return false; }
  block_perturb_freed(page, p);
  block_return_to_page(page, (block_t*)p);
  return true;
}

PRIVATE COLD void block_refuse(void* p, page_t* page) {
  if (!PERTURBS_BY_MASK || !block_free_veiled(p, page)) { report_bad_block(page, p, "free"); }
}

// No page, or one with guards around its one block.
static COLD void block_free_odd(void* p, page_t* page) {
  if (!SMALL && page != page_none()) {
    guard_free(p, page);
  } else if (p != NULL && !port_free_foreign(p)) {
    report_foreign(p, "free");
  }
}

// The page's theap has just closed its rows, or is another one of the thread's.
static void block_free_mine(void* p, page_t* page) {
  if (page_free_list(page) == p) {
    block_refuse(p, page);
  } else {
    block_return_to_page(page, (block_t*)p);
  }
}

// To its page, if it has one.
static NOINLINE void block_free_to_page(void* p, page_t* page) {
  if (unlikely(page == page_none() || page_is_guarded(page))) {
    block_free_odd(p, page);
  } else if (unlikely(
                 !page_block_is_valid(page, p) ||
                 (!LINKS_APART && remote_came_last(&page->remote, page->start, (block_t*)p)))) {
    block_refuse(p, page);
  } else if (OPEN_ROWS && unlikely(page_is_mine(page))) {
    block_free_mine(p, page);
  } else {
    block_send(page, (block_t*)p);
  }
}

// ---- checked builds ----

// The block has left the program's hands, from a page that is not the thread's, or to wait. It is
// filled only now: who frees it at the same time then sees that, not what fills it.
static void block_left(page_t* page, void* p) {
  if (COUNT_EACH) {
    const bool is_locked = heap_lock_record(page);
    heap_count_freed(page, p);
    heap_unlock_record(is_locked);
  }
  if (fills_freed()) { block_filled_freed(page, p); }
  if (QUARANTINE) {
    block_quarantine(page, block_number(page, (block_t*)p));
  } else if (!KEEP_ROWS || !row_put(page, (block_t*)p)) {
    block_send(page, (block_t*)p);
  }
}

static void block_leave(page_t* page, void* p) {
  if (likely(block_depart(page, (block_t*)p))) {
    block_left(page, p);
  } else {  // another thread was quicker
    block_refuse(p, page);
  }
}

PRIVATE void block_free_filled(void* p, page_t* page, uint32_t number) {
  if (COUNT_EACH) { heap_count_freed(page, p); }
  if (QUARANTINE) {
    store_relaxed(&page_checks(page)->links[number], LINK_AWAY);  // the owner has looked, see C2
    if (fills_freed()) { block_filled_freed(page, p); }
    block_quarantine(page, number);
    return;
  }
  block_filled_freed(page, p);
  page_push(page, (block_t*)p, number);
  if (page_count_return(page)) { theap_page_due(p, page); }
}

static void block_free_known(void* p, page_t* page) {
  if (unlikely(page == page_none() || page_is_guarded(page))) {
    block_free_odd(p, page);
  } else if (unlikely(!block_is_intact(page, p))) {
    block_refuse(p, page);
  } else {
    block_leave(page, p);
  }
}

// A block with guards is never put on a row, since it does not start where its memory does.
static NOINLINE void block_free_any(void* p, page_t* page) {
  if (CHECK_FREE) {
    block_free_known(p, page);
  } else if (!KEEP_ROWS || unlikely(!row_put(page, (block_t*)p))) {
    block_free_to_page(p, page);
  }
}

static NOINLINE void block_free_closed(void* p, page_t* page, theap_t* theap) {
  switch (row_put_few(theap, page, p)) {
    case ROW_DONE: return;
    case ROW_FULL: block_free_to_page(p, page); return;
    default: block_free_any(p, page);
  }
}

PRIVATE NOINLINE void block_free_shared(void* p, page_t* page) {
  if (!KEEP_ROWS || !OPEN_ROWS) {
    block_free_any(p, page);
    return;
  }
  theap_t* theap = theap_current();
  if (!row_put_in_front(theap, page, p)) { block_free_closed(p, page, theap); }
}

// ---- with what the block was asked for ----

// Returns false if `p` is no live block: free will tell.
static bool is_live(const void* p) {
  return page_of(p) != page_none() && block_is_intact(page_of(p), p);
}

// The label of a tracked block tells its size.
static bool tracked_size_is(const void* p, size_t size, size_t alignment) {
  const size_t asked = tracked_asked(p);
  return asked == SIZE_MAX || (size == asked && is_aligned(p, alignment));
}

PRIVATE bool size_is_exact(const void* p, size_t size, size_t alignment) {
  if (TRACKED) { return tracked_size_is(p, size, alignment); }
  if (!is_live(p)) { return true; }
  if (NOTE_BLOCKS) { return block_usable(p) == size && is_aligned(p, alignment); }
  return page_of(p)->block_bytes == block_bytes_for(size, alignment) && is_aligned(p, alignment);
}

// realloc leaves a block where it is until less than half of it is wanted.
static bool is_after_realloc(const page_t* page, size_t size) {
  return size >= page_room(page) / 2 || page->block_bytes <= 2 * GRANULE;
}

// Who gives a size only may have asked for an alignment too.
static bool is_with_alignment(const page_t* page, size_t size) {
  size_t alignment = 1;
  while (alignment <= 2 * SLICE_BYTES && block_bytes_for(size, alignment) != page->block_bytes) {
    alignment *= 2;
  }
  return alignment <= 2 * SLICE_BYTES;
}

PRIVATE bool size_is_possible(const void* p, size_t size, size_t alignment) {
  if (TRACKED) { return tracked_size_is(p, size, alignment); }
  if (!is_live(p)) { return true; }
  const page_t* page = page_of(p);
  if (size > block_usable(p) || !is_aligned(p, alignment)) { return false; }
  if (NOTE_BLOCKS) { return size == block_usable(p); }
  return is_after_realloc(page, size) || is_with_alignment(page, size);
}
