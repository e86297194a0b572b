// Rations: what malloc may hand out before something else is due: a sample with guards (guard.h),
// or a heartbeat (mi_register_deferred_free).
//
// Neither malloc nor free counts. For each class a theap that wants samples draws how many requests
// pass before the next one that is sampled; and its fast path sees rations instead of pages: to
// malloc a ration is a page that has so many blocks. It is cut from the list of the first page when
// the one before is used up; frees go to that page, as they always do. So the fast paths do not
// change, and what they served is known from what they were given. Each class is counted by itself:
// where each request has the same chance whatever came before, that makes no difference.
//
//   first page of the class --ration_take--> ration --malloc--> program
//             ^                                |
//             `--------rations_return----------'
//
// Where rows are open (row.h) a ration is a number, at which `taken` of the row stops. A large
// request is looked at by itself; so is each one in builds whose blocks have their links apart.
//
// Q1 the blocks of a ration are of the first page of the class, which holds them for in use.
//    Another page is looked for only when none is left. They return before rows are opened or
//    flushed, and after a heartbeat, which may allocate in the middle of another request.
// Q2 only the theap's thread changes it. Others may read it as they read the list of the page.
// Tests: test/api/guarded*.c, test/unit/rations.c, test/codegen.
#ifndef MI_HEAP_RATION_H
#define MI_HEAP_RATION_H

#include "heap.h"

// Begins with full rations, or ends, as the theap's `special` says. Without memory there are none,
// and `special` says that. The rations there were have returned.
PRIVATE void rations_follow(theap_t* theap);
PRIVATE COLD void rations_free(theap_t* theap);  // there are some
PRIVATE void ration_beat(theap_t* theap);        // a heartbeat was due: counts to the next one
// Draws the next sample of the class: from its next request on.
PRIVATE void ration_draw(theap_t* theap, unsigned bin);
// Is a request of the class to be sampled?
PRIVATE bool ration_is_due(const theap_t* theap, unsigned bin, size_t size);
// It is not: it is counted. One that is due, but can't be sampled: the next one is due.
PRIVATE void ration_pass(theap_t* theap, unsigned bin, size_t size);
// It is not: it gets a block of the ration. If there is none it is counted, and the class gets its
// next ration, and the request a block before that; NULL if the first page has none: malloc must
// look further.
PRIVATE block_t* ration_take(theap_t* theap, unsigned bin, size_t size);
PRIVATE block_t* ration_cut(theap_t* theap, unsigned bin, block_t* block);  // the block
// The most that happens: nothing is due, and the first page has a block, for the request. With the
// rest of its list the class gets its next ration.
FAST bool ration_is_next(const theap_t* theap, unsigned bin) {
  const rations_t* rations = theap->rations;
  return rations != NULL && rations->left[bin] != 0 && rations->heartbeat != 0 &&
         !theap->rows.open && !theap_fills(theap) && theap->first[bin]->free != NULL;
}
FAST block_t* ration_next(theap_t* theap, unsigned bin) {
  page_t* page = theap->first[bin];
  block_t* block = page_pop(page);
  theap->rations->left[bin]--;
  theap->rations->heartbeat--;
  return page->free == NULL ? block : ration_cut(theap, bin, block);
}
PRIVATE void rations_return(theap_t* theap);  // what is left of them goes back
PRIVATE void rations_forget(theap_t* theap);  // without touching the blocks

// A ration, by any thread: blocks that the page, the first of its class, holds for in use.
RACY FAST const block_t* ration_list(const page_t* page) {
  if (!RATION_LISTS || page_is_single(page) || !page_is_held(page)) { return NULL; }
  const theap_t* theap = page->theap;
  const rations_t* rations = theap == NULL ? NULL : theap->rations;
  return rations == NULL ? NULL : rations->list[page->bin].free;
}

#endif
