// Counting blocks and bytes. See count.h.
#include "count.h"

// ---- theaps ----

PRIVATE void theap_gather(theap_t* theap) {
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    page_t* first = theap->first[bin];
    if (first != page_none()) { theap_count_held(theap, bin, first); }
  }
}

static void tell_large(theap_t* theap) {
  heap_t* heap = theap->heap;
  if (theap->large_taken == 0) { return; }
  (void)add_relaxed(&heap->bins.blocks[BIN_LARGE].total, (intptr_t)theap->large_taken);
  (void)add_relaxed(&heap->stats.malloc_huge.total, (intptr_t)theap->large_taken_bytes);
  theap->large_taken = theap->large_taken_bytes = 0;
}

// When there is nothing to tell it writes nothing: the thread and who destroys the heap may do so
// at a time.
PRIVATE void theap_tell(theap_t* theap) {
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    const size_t taken = theap->taken[bin] + theap->row[bin].taken;
    if (taken == 0) { continue; }
    (void)add_relaxed(&theap->heap->bins.blocks[bin].total, (intptr_t)taken);
    theap->taken[bin] = 0 - theap->row[bin].taken;
  }
  tell_large(theap);
}

// ---- large blocks ----

static void shift_length(const page_t* page, intptr_t more) {
  heap_t* heap = load_relaxed(&page->heap);
  stat_shift(&heap->stats.malloc_huge, more);
  stat_shift(&heap->stats.allocated, more);
}

PRIVATE void heap_count_length(const page_t* page, size_t bytes) {
  heap_t* heap = load_relaxed(&page->heap);
  const intptr_t more = (intptr_t)bytes - (intptr_t)page->block_bytes;
  if (more > 0) { (void)add_relaxed(&heap->stats.malloc_huge.total, more); }
  shift_length(page, more);
}

PRIVATE NOINLINE void heap_count_again(const page_t* page, size_t bytes) {
  if (!COUNT_EACH) { shift_length(page, (intptr_t)bytes - (intptr_t)page->block_bytes); }
}

// ---- pages that move ----

typedef struct holding {
  intptr_t blocks, asked;  // bytes as they were asked for
} holding_t;

static holding_t page_holding(const page_t* page) {
  holding_t sum = {COUNT_EACH ? 0 : (intptr_t)page->used, 0};
  for (uint32_t i = 0; COUNT_EACH && i < page->capacity; i++) {
    if (load_relaxed(&page_checks(page)->links[i + 1]) == LINK_LIVE) {
      sum.blocks++;
      sum.asked += (intptr_t)block_size(page, page->start + i * page->block_bytes);
    }
  }
  return sum;
}

static void heap_move(heap_t* heap, const page_t* page, holding_t holding) {
  (void)add_relaxed(&heap->bins.blocks[page->bin].total, holding.blocks);
  (void)add_relaxed(&heap->stats.requested.total, holding.asked);
  stat_shift(&heap->stats.requested, holding.asked);
  if (COUNT_EACH) { heap_shift(heap, page, holding.blocks); }
}

PRIVATE void heap_count_moved(const page_t* page, heap_t* from, heap_t* to) {
  const holding_t holding = page_holding(page);
  heap_move(from, page, (holding_t){-holding.blocks, -holding.asked});
  heap_move(to, page, holding);
}

// ---- each block ----

PRIVATE void heap_count_taken(const page_t* page, size_t size) {
  heap_t* heap = load_relaxed(&page->heap);
  heap_shift(heap, page, 1);
  stat_up(&heap->stats.requested, size);
}

PRIVATE void heap_count_freed(const page_t* page, const void* p) {
  heap_t* heap = load_relaxed(&page->heap);
  heap_shift(heap, page, -1);
  stat_down(&heap->stats.requested, block_size(page, p));
}

PRIVATE void heap_count_asked(const page_t* page, size_t before, size_t asked) {
  heap_t* heap = load_relaxed(&page->heap);
  const intptr_t less = (intptr_t)before - (intptr_t)asked;
  (void)sub_relaxed(&heap->stats.requested.total, less);
  stat_shift(&heap->stats.requested, -less);
}

PRIVATE void heap_count_resized(const page_t* page, size_t old, size_t size) {
  heap_t* heap = load_relaxed(&page->heap);
  if (heap == NULL) { return; }  // a block with guards that was freed: its next use will tell
  if (size > old) {
    stat_up(&heap->stats.requested, size - old);
  } else {
    stat_down(&heap->stats.requested, old - size);
  }
}
