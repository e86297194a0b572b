// Freeing: the slow half. Blocks of other threads' pages, of pages that nobody owns, and what is no
// block at all.
#include <errno.h>

#include "../service/message.h"
#include "../service/options.h"
#include "alloc.h"

PRIVATE COLD void report_foreign(const void* p, const char* what) {
  message_error(EINVAL, "%s of %p, which is not a block of this allocator", what, p);
}

// Where a page goes that the calling thread has just come to own: its theap of the page's heap, if
// it has one.
static theap_t* theap_for(const heap_t* heap) {
  theap_t* theap = theap_current();
  if (unlikely(theap->thread == NULL)) { theap = thread_enter(); }
  if (theap == NULL || theap->thread == NULL) { return NULL; }
  return likely(theap->heap == heap) ? theap : thread_theap_of(theap->thread, heap);
}

static void page_keep(page_t* page) {
  heap_t* heap = load_relaxed(&page->heap);
  if (unlikely(load_relaxed(&heap->state) != HEAP_ALIVE)) { heap = heap_rehome(page); }
  theap_t* theap = option_get(mi_option_page_reclaim_on_free) < 0 ? NULL : theap_for(heap);
  if (theap == NULL) {
    heap_park(heap, page);
    return;
  }
  stat_add(&heap->stats.pages_reclaim_on_free, 1);
  theap_adopt(theap, page);
}

// The page was nobody's; by freeing into it the calling thread has become its owner.
static void page_claimed(page_t* page, chain_t chain, uint32_t word) {
  if (remote_state(word) == REMOTE_PARKED) {
    heap_unpark(load_relaxed(&page->heap), page);
    page->used = chain.count;
  }
  page->used -= chain.count;
  if (page->used == 0) {
    heap_release_page(page);
    return;
  }
  chain.last->next = NULL;
  page->free = chain.first;
  page_keep(page);
}

PRIVATE NOINLINE void block_free_shared(page_t* page, void* p) {
  if (unlikely(page == page_none() || (page_is_single(page) && p != page->start))) {
    if (p != NULL) { report_foreign(p, "free"); }
    return;
  }
  if (!hook_giving(page, p)) { return; }
  uint32_t word = 0;
  const chain_t chain = {p, p, 1};
  if (remote_free(&page->remote, page->start, chain, &word)) { page_claimed(page, chain, word); }
}
