// Pages that the program keeps: a runtime that reads freed objects without a lock says when the
// memory of an empty page may serve other sizes. See mi_register_page_release.
//
//   no block in use --page_may_go--> yes: heap_drop_page
//                         |          no: heap_keep_page --> ABANDONED with no block in use, `kept`
//                         |                                    |            |
//                         `-------------- heap_ask_again ------'   theap_reuse_abandoned: not kept
//
// E1 a page says `kept` iff it is in the pool of its heap without a block in use; so only malloc
//    and heap_ask_again find it there, since nobody has a block of it to free.
// E2 large blocks that are kept are in the pool of BIN_LARGE, which malloc does not look at.
// Asked by the page's owner, under no lock but `walk` of its heap, and that of the orphans. Without
// a function all this is one load for each page that falls empty. Test: test/api/page_release.c.
#include "heap.h"

SHARED_DATA_DEF(_Atomic(mi_page_release_fun*), page_release_fun);
static _Atomic(void*) page_release_arg;
static _Atomic(bool) pages_were_kept;

PRIVATE void page_release_register(mi_page_release_fun* fun, void* arg) {
  store_relaxed(&page_release_arg, arg);
  store_release(&page_release_fun, fun);  // [D2] out: the argument
}

PRIVATE COLD bool page_may_go_by_program(page_t* page) {
  mi_page_release_fun* fun = load_acquire(&page_release_fun);  // [D2] in
  if (fun == NULL) { return true; }
  const size_t bytes = page->reserved * page->block_bytes;
  mi_heap_area_t area = {.blocks = page->start,
                         .reserved = bytes,
                         .committed = bytes,
                         .used = 0,
                         .block_size = page_room(page),
                         .full_block_size = page->block_bytes};
  area.heap_tag = load_relaxed(&page->heap)->tag;
  page_words_t* words = page_words(page);
  return fun(&area, words == NULL ? NULL : words->words, page->kept,
             load_relaxed(&page_release_arg));
}

// A few pages, and then as many as there were when last asked: so asking costs little in all.
static bool heap_keeps_too_many(heap_t* heap) {
  enum { KEPT_FEW = 64 };
  lock_acquire(&heap->lock);
  const bool too_many = ++heap->kept_since > KEPT_FEW + heap->kept_before;
  lock_release(&heap->lock);
  return too_many;
}

PRIVATE COLD void heap_keep_page(page_t* page) {
  heap_t* heap = heap_migrate(page);
  store_relaxed(&pages_were_kept, true);
  // While the page names the heap it stays.
  if (heap_keeps_too_many(heap)) { heap_ask_again(heap); }
  page->kept = true;
  heap_abandon(heap, page);
}

// Returns false if it may go: then it has gone.
static bool keeps_on(page_t* page) {
  const bool keeps = !page_may_go(page);
  if (keeps) {
    heap_abandon(load_relaxed(&page->heap), page);
  } else {
    heap_drop_page(page);
  }
  return keeps;
}

PRIVATE COLD void heap_ask_again(heap_t* heap) {
  size_t left = 0;
  if (!load_relaxed(&pages_were_kept)) { return; }
  page_t* page = heap_claim_kept(heap);
  while (page != NULL) {
    page_t* next = page->next;
    page->next = NULL;
    left += keeps_on(page);
    page = next;
  }
  lock_acquire(&heap->lock);
  heap->kept_before = left;
  heap->kept_since = 0;
  lock_release(&heap->lock);
}
