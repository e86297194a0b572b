// Blocks come home: what a thread does with a block that it frees in a page that is not its own.
//
// Unless it is small, it is first set aside as LOOSE: for its page it stays in use, and the
// thread's next request of the class takes it. That costs no atomic operation, and nobody else
// notices. Only a few are set aside, and each of these gives them back for good: a page of the
// class has fallen empty, memory is wanted from the arenas (large ones), the theap is collected or
// abandoned. All other blocks go to their page: see page/remote.h.
#include "heap.h"

#include "../service/options.h"

enum {
  LOOSE_BIN = 8,             // of 128 bytes
  LOOSE_ANY_BIN = 24,        // of 512 bytes: from here on blocks share no cache line
  LOOSE_BLOCKS = 4,          // of a class
  LOOSE_LARGE = 1024 << 10,  // bytes of large blocks; so many seem to be there where none may be
};
_Static_assert((9 + (LOOSE_ANY_BIN - 17) % 8) << ((LOOSE_ANY_BIN - 17) / 8 + 5) == 512,
               "the class of 512");

// ---- to the page ----

PRIVATE theap_t* theap_for(const heap_t* heap) {
  theap_t* theap = theap_current();
  if (unlikely(theap->thread == NULL)) { theap = thread_enter(); }
  if (theap == NULL || theap->thread == NULL) { return NULL; }
  return likely(theap->heap == heap) ? theap : thread_theap_of(theap->thread, heap);
}

// May the theap take over a page of its heap that its thread has freed in? By the options; only its
// own one where blocks wait in a quarantine, from which any thread sends home what others freed.
static bool theap_may_keep(const theap_t* theap, const page_t* page) {
  const bool own = load_relaxed(&page->keeper) == theap->serial;
  const long policy = option_get(mi_option_page_reclaim_on_free);
  const long most = own ? option_get(mi_option_page_max_reclaim)
                        : option_get(mi_option_page_cross_thread_max_reclaim);
  if (policy < 0 || ((policy == 0 || TRACKED) && !own)) { return false; }
  return most < 0 || theap->count[page->bin] < (size_t)most;
}

static void page_keep(page_t* page) {
  heap_t* heap = load_relaxed(&page->heap);
  if (unlikely(load_relaxed(&heap->state) != HEAP_ALIVE)) { heap = heap_rehome(page); }
  theap_t* theap = theap_for(heap);
  if (theap == NULL || !theap_may_keep(theap, page)) {
    heap_park(heap, page);
    return;
  }
  stat_add(&heap->stats.pages_reclaim_on_free, 1);
  theap_adopt(theap, page);
}

// No block is in use, but the page is kept: what came home before, while it was parked, and now
// joins its list.
static COLD void page_claimed_to_keep(page_t* page, chain_t chain, uint32_t word) {
  block_set_next(page, chain.last, NULL);
  page_add_home(page, chain.first);
  page_add_home(page, page_remote_list(page, word));
  heap_keep_page(page);
}

// The page was nobody's; by freeing into it the calling thread has become its owner.
static NOINLINE void page_claimed(page_t* page, chain_t chain, uint32_t word) {
  if (remote_state(word) == REMOTE_PARKED) {
    heap_unpark(load_relaxed(&page->heap), page);
    page->used = chain.count;
  }
  page->used -= chain.count;
  if (page->used == 0) {
    if (page_may_go(page)) {
      heap_drop_page(page);
    } else {
      page_claimed_to_keep(page, chain, word);
    }
    return;
  }
  block_set_next(page, chain.last, NULL);
  if (REUSE_LATER) {
    page_add_home(page, chain.first);
  } else {
    page_set_free_list(page, chain.first);
  }
  page_keep(page);
}

PRIVATE void block_send(page_t* page, block_t* block) {
  uint32_t word = 0;
  const chain_t chain = {block, block, 1, block_as_link(page, block), block_link(page, block)};
  if (remote_free(&page->remote, page->start, chain, &word)) { page_claimed(page, chain, word); }
}

// ---- loose blocks ----

static bool loose_has_room(const loose_t* loose, const page_t* page) {
  if (likely(page->bin != BIN_LARGE)) { return loose->count < LOOSE_BLOCKS; }
  const bool plain = GUARD_PAGES || page->start == page->span_start;
  return page->span_arena != NULL && plain && loose->bytes + page->block_bytes <= LOOSE_LARGE;
}

// Shorter blocks only from pages that were the thread's own before they were full: a line that two
// threads share is then not our doing.
static bool loose_suits(const theap_t* theap, const page_t* page) {
  return theap->heap == load_relaxed(&page->heap) &&
         (page->bin >= LOOSE_ANY_BIN || load_relaxed(&page->keeper) == theap->serial);
}

// Can the block be linked to the first one that is set aside?
static bool loose_can_link(const loose_t* loose, const page_t* page) {
  return !LINKS_APART || page_is_single(page) || loose->first == NULL ||
         page_of(loose->first) == page;
}

static void loose_set_next(page_t* page, block_t* block, block_t* next) {
  if (!LINKS_APART) {
    block->next = next;
  } else if (page_is_single(page)) {
    page->next = next == NULL ? NULL : page_of(next);
  } else {
    block_set_next(page, block, next);
  }
}

// False: there are enough, or it is of a kind that is not kept.
static bool loose_push(theap_t* theap, page_t* page, block_t* block) {
  loose_t* loose = &theap->loose[page->bin];
  if (unlikely(loose->first == block)) {
    report_bad_block(page, block, "free");
    return true;
  }
  if (!loose_has_room(loose, page) || !loose_can_link(loose, page)) { return false; }
  if (page->bin == BIN_LARGE) { loose->bytes += (uint32_t)page->block_bytes; }
  loose->count++;
  loose_set_next(page, block, loose->first);
  loose->first = block;
  return true;
}

PRIVATE page_t* theap_take_loose_large(theap_t* theap, size_t slices) {
  loose_t* loose = &theap->loose[BIN_LARGE];
  block_t* before = NULL;
  for (block_t* block = loose->first; block != NULL; before = block, block = loose_next(block)) {
    page_t* page = page_of(block);
    if (page->span_slices == slices) {
      if (before == NULL) {
        loose->first = loose_next(block);
      } else {
        loose_set_next(page_of(before), before, loose_next(block));
      }
      loose->count--;
      loose->bytes -= (uint32_t)page->block_bytes;
      return page;
    }
  }
  return NULL;
}

PRIVATE bool block_is_set_aside(const theap_t* theap, const block_t* block, unsigned bin) {
  const block_t* loose = KEEP_LOOSE ? theap->loose[bin].first : NULL;
  while (loose != NULL && loose != block) { loose = loose_next(loose); }
  return loose != NULL;
}

// Of the calling thread, or nobody's or another's by now.
PRIVATE void block_come_home(page_t* page, block_t* block) {
  if (load_relaxed(&page->owner) != port_thread_id()) {
    block_send(page, block);
    return;
  }
  page_push(page, block, block_number(page, block));
  if (page_count_home(page)) { theap_page_due(block, page); }
}

// None of a theap that fills what is freed: a large block is filled when its page goes.
static bool loose_is_closed(const theap_t* theap, unsigned bin) {
  return PERTURBS_BY_MASK && bin == BIN_LARGE && unlikely(theap_fills(theap));
}

PRIVATE void theap_flush_loose(theap_t* theap, unsigned bin) {
  block_t* block = theap->loose[bin].first;
  theap->loose[bin] = (loose_t){.bytes = loose_is_closed(theap, bin) ? (uint32_t)LOOSE_LARGE : 0u};
  while (block != NULL) {
    block_t* next = loose_next(block);
    block_come_home(page_of(block), block);
    block = next;
  }
}

PRIVATE void theap_flush_all_loose(theap_t* theap) {
  quarantine_flush(theap);
  for (unsigned bin = 0; bin <= BIN_LARGE; bin++) {
    if (theap->loose[bin].first != NULL) { theap_flush_loose(theap, bin); }
  }
}

// Secure builds: the block that was set aside last is not in the list of its class, so that it is
// not used next. It is the only one of bin 0, which no class has, until another one is set aside.
static bool loose_hold(theap_t* theap, page_t* page, block_t* block) {
  loose_t* newest = &theap->loose[0];
  block_t* older = newest->first;
  if (!HOLD_NEWEST) { return loose_push(theap, page, block); }
  if (!loose_has_room(newest, page)) { return false; }
  loose_set_next(page, block, NULL);
  newest->first = block;
  if (older != NULL && !loose_push(theap, page_of(older), older)) {
    block_come_home(page_of(older), older);
  }
  return true;
}

PRIVATE bool block_set_aside(page_t* page, block_t* block) {
  theap_t* theap = theap_current();
  return page->bin >= LOOSE_BIN && loose_suits(theap, page) &&
         (CHECK_FREE || page_block_is_valid(page, block)) && loose_hold(theap, page, block);
}
