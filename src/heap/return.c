// The return of a block to its page, whoever owns that. See page/remote.h.
#include "heap.h"

#include "../service/options.h"

PRIVATE theap_t* theap_for(const heap_t* heap) {
  theap_t* theap = theap_current();
  if (unlikely(theap->thread == NULL)) { theap = thread_enter(); }
  if (theap == NULL || theap->thread == NULL) { return NULL; }
  return likely(theap->heap == heap) ? theap : thread_theap_of(theap->thread, heap);
}

// May the theap take over a page of its heap that its thread has freed in? By the options; only its
// own one where blocks wait in a quarantine, from which any thread returns what others freed.
static bool theap_may_keep(const theap_t* theap, const page_t* page) {
  const bool own = load_relaxed(&page->last_owner) == theap->serial;
  const long policy = option_get(mi_option_page_reclaim_on_free);
  const long most = own ? option_get(mi_option_page_max_reclaim)
                        : option_get(mi_option_page_cross_thread_max_reclaim);
  if (policy < 0 || ((policy == 0 || TRACKED) && !own)) { return false; }
  return most < 0 || theap->count[page->bin] < (size_t)most;
}

// With a free block or two the page would be claimed for these, become full, and come back with the
// next free: it stays full until a few more are free. See docs/decisions/034.
static void page_pass_on(heap_t* heap, page_t* page) {
  enum { PASSED_BLOCKS = 4, PASSED_SHARE = 32 };
  const size_t wanted = size_max(PASSED_BLOCKS, page->reserved / PASSED_SHARE);
  const uint32_t used = page->reserved - (uint32_t)size_min(wanted, page_half(page));
  if (page->used > used && page_leave(page, REMOTE_FULL, page->used - used)) { return; }
  heap_abandon(heap, page);
}

static void page_keep(page_t* page) {
  heap_t* heap = load_relaxed(&page->heap);
  if (unlikely(load_relaxed(&heap->state) != HEAP_ALIVE)) { heap = heap_migrate(page); }
  theap_t* theap = theap_for(heap);
  if (theap == NULL || !theap_may_keep(theap, page)) {
    page_pass_on(heap, page);
    return;
  }
  theap->adopted++;
  theap_adopt(theap, page);
}

// A page without blocks that nobody owned goes.
static void page_drop(page_t* page) {
  theap_t* theap = theap_current();
  const bool same = theap->thread != NULL && theap->heap == load_relaxed(&page->heap);
  heap_drop_page(page);
  if (same) { theap_follow_trend(theap); }
}

// The last block of a page in the pool was returned.
static void page_leave_pool(page_t* page) {
  theap_t* theap = theap_current();
  heap_unpool(load_relaxed(&page->heap), page);
  theap_note_back(theap, page);
}

PRIVATE NOINLINE void page_claimed(page_t* page, chain_t chain, uint32_t word) {
  if (remote_state(word) == REMOTE_ABANDONED) { page_leave_pool(page); }
  page->used += remote_count(word) - chain.count;
  if (page->used == 0 && page_may_go(page)) {
    page_drop(page);
    return;
  }
  block_set_next(page, chain.last, page_remote_list(page, word));
  page_add_returned(page, chain.first);
  if (page->used == 0) {
    heap_keep_page(page);
  } else {
    page_keep(page);
  }
}

// The page is the calling thread's, or nobody's or another's by now.
PRIVATE void block_return_to_page(page_t* page, block_t* block) {
  if (!page_is_mine(page)) {
    block_send(page, block);
    return;
  }
  page_push(page, block, block_number(page, block));
  if (page_count_return(page)) { theap_page_due(block, page); }
}
