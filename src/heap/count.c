// Counting blocks and bytes. See count.h.
#include "count.h"

// So many blocks of a class more, or fewer, may be the program's: N2.
FAST void shift_class(heap_t* heap, unsigned bin, intptr_t blocks, intptr_t bytes,
                      stat_move_fun* move) {
  move(&heap->bins.blocks[bin], blocks, false);
  move(&heap->stats.allocated, bytes, false);
}

FAST void shift_blocks(heap_t* heap, const page_t* page, intptr_t blocks, stat_move_fun* move) {
  const intptr_t bytes = blocks * (intptr_t)page->block_bytes;
  shift_class(heap, page->bin, blocks, bytes, move);
  if (page_is_single(page)) { move(&heap->stats.malloc_huge, bytes, false); }
}

// ---- theaps ----

PRIVATE void theap_gather(theap_t* theap) {
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    page_t* first = theap->first[bin];
    if (first != page_none()) { theap_count_held(theap, bin, first); }
  }
}

static void tell_number(stat_counter_t* counter, size_t* number) {
  if (*number == 0) { return; }
  stat_add(counter, *number);
  *number = 0;
}

static void tell_numbers(theap_t* theap) {
  stats_t* stats = &theap->heap->stats;
  tell_number(&stats->pages_extended, &theap->extended);
  tell_number(&stats->pages_retire, &theap->retired);
  tell_number(&stats->pages_reclaim_on_alloc, &theap->claimed);
  tell_number(&stats->pages_reclaim_on_free, &theap->adopted);
}

static void tell_large(theap_t* theap) {
  heap_t* heap = theap->heap;
  if (theap->large_taken == 0) { return; }
  (void)add_relaxed(&heap->bins.blocks[BIN_LARGE].total, (intptr_t)theap->large_taken);
  (void)add_relaxed(&heap->stats.malloc_huge.total, (intptr_t)theap->large_taken_bytes);
  theap->large_taken = theap->large_taken_bytes = 0;
}

static void count_told(stat_count_t* count, intptr_t more, intptr_t added) {
  if (added != 0) { stat_change(&count->total, added); }
  stat_shift(count, more);
}

static void tell_pages(heap_t* heap, untold_t* of_theap) {
  const untold_t untold = *of_theap;
  if (untold.bin == 0) { return; }
  *of_theap = (untold_t){0};
  count_told(&heap->stats.pages, untold.pages, untold.new_pages);
  count_told(&heap->bins.pages[untold.bin], untold.pages, untold.new_pages);
  count_told(&heap->stats.page_committed, untold.bytes, untold.new_bytes);
  if (untold.gone_blocks != 0) {
    const intptr_t bytes = untold.gone_blocks * (intptr_t)bin_bytes(untold.bin);
    shift_class(heap, untold.bin, -untold.gone_blocks, -bytes, stat_move);
  }
}

// The heap has been told of `*ahead` more than there is, and there is `more` now, or less. Returns
// what it is to be told: nothing if it stays ahead, and by no more than two steps; else it is ahead
// by one.
static intptr_t ahead_tell(size_t* ahead, intptr_t more, size_t step) {
  const intptr_t left = (intptr_t)*ahead - more;
  const bool suffices = left >= 0 && left <= 2 * (intptr_t)step;
  *ahead = suffices ? (size_t)left : step;
  return suffices ? 0 : (intptr_t)step - left;
}

static void shift_length(heap_t* heap, intptr_t more) {
  stat_shift(&heap->stats.malloc_huge, more);
  stat_shift(&heap->stats.allocated, more);
}

static void shift_large(heap_t* heap, intptr_t blocks, intptr_t bytes) {
  if (blocks != 0) { stat_shift(&heap->bins.blocks[BIN_LARGE], blocks); }
  if (bytes != 0) { shift_length(heap, bytes); }
}

static void tell_ahead(theap_t* theap) {
  const ahead_t ahead = theap->ahead;
  if (ahead.blocks + ahead.bytes == 0) { return; }
  theap->ahead = (ahead_t){0};
  shift_large(theap->heap, -(intptr_t)ahead.blocks, -(intptr_t)ahead.bytes);
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
  tell_numbers(theap);
  tell_pages(theap->heap, &theap->untold);
  tell_pages(theap->heap, &theap->untold_large);
  tell_ahead(theap);
}

// ---- pages ----

static untold_t* untold_of(theap_t* theap, unsigned bin) {
  untold_t* untold = bin == BIN_LARGE ? &theap->untold_large : &theap->untold;
  if (untold->bin != bin || untold->events == UNTOLD_EVENTS) { tell_pages(theap->heap, untold); }
  untold->bin = bin;
  untold->events++;
  return untold;
}

FAST void count_as(heap_t* heap, const page_t* page, intptr_t sign, stat_move_fun* move) {
  const intptr_t bytes = (intptr_t)(page->span_slices * SLICE_BYTES);
  move(&heap->stats.pages, sign, sign > 0);
  move(&heap->bins.pages[page->bin], sign, sign > 0);
  move(&heap->stats.page_committed, sign * bytes, sign > 0);
  if (!COUNT_EACH && page->capacity != 0) { shift_blocks(heap, page, sign * page->capacity, move); }
}

static void count_blocks(theap_t* theap, const page_t* page, untold_t* untold, intptr_t sign) {
  if (page_is_single(page)) {
    ahead_t* ahead = &theap->ahead;
    const intptr_t blocks = ahead_tell(&ahead->blocks, sign, AHEAD_BLOCKS);
    const intptr_t bytes =
        ahead_tell(&ahead->bytes, sign * (intptr_t)page->block_bytes, AHEAD_BYTES);
    shift_large(theap->heap, blocks, bytes);
  } else if (sign < 0) {
    untold->gone_blocks += page->capacity;
  } else if (page->capacity != 0) {
    shift_blocks(theap->heap, page, page->capacity, stat_move);
  }
}

// Returns false if the thread has no theap of the heap that could tell it later.
static bool count_later(heap_t* heap, const page_t* page, intptr_t sign) {
  theap_t* theap = theap_current();
  if (theap->heap != heap || theap->thread == NULL) { return false; }
  const intptr_t bytes = (intptr_t)(page->span_slices * SLICE_BYTES);
  untold_t* untold = untold_of(theap, page->bin);
  untold->pages += sign;
  untold->bytes += sign * bytes;
  if (sign > 0) {
    untold->new_pages++;
    untold->new_bytes += bytes;
  }
  if (!COUNT_EACH) { count_blocks(theap, page, untold, sign); }
  return true;
}

FAST void count_page(heap_t* heap, const page_t* page, intptr_t sign) {
  if (port_is_single_threaded()) {
    count_as(heap, page, sign, stat_move_alone);
  } else if (!count_later(heap, page, sign)) {
    count_as(heap, page, sign, stat_move_shared);
  }
}

PRIVATE void heap_count_came(heap_t* heap, const page_t* page) { count_page(heap, page, 1); }
PRIVATE void heap_count_went(heap_t* heap, const page_t* page) { count_page(heap, page, -1); }

PRIVATE NOINLINE void theap_count_extended(theap_t* theap, const page_t* page, uint32_t before) {
  const intptr_t blocks = (intptr_t)page->capacity - (intptr_t)before;
  const intptr_t bytes = blocks * (intptr_t)page->block_bytes;
  theap->extended++;
  if (COUNT_EACH) { return; }
  if (port_is_single_threaded()) {
    shift_class(theap->heap, page->bin, blocks, bytes, stat_move_alone);
  } else {
    shift_class(theap->heap, page->bin, blocks, bytes, stat_move_shared);
  }
}

// ---- large blocks ----

PRIVATE void heap_count_length(const page_t* page, size_t bytes) {
  heap_t* heap = load_relaxed(&page->heap);
  const intptr_t more = (intptr_t)bytes - (intptr_t)page->block_bytes;
  if (more > 0) { (void)add_relaxed(&heap->stats.malloc_huge.total, more); }
  shift_length(heap, more);
}

PRIVATE NOINLINE void heap_count_again(const page_t* page, size_t bytes) {
  heap_t* heap = load_relaxed(&page->heap);
  if (!COUNT_EACH) { shift_length(heap, (intptr_t)bytes - (intptr_t)page->block_bytes); }
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
  if (COUNT_EACH) { shift_blocks(heap, page, holding.blocks, stat_move); }
}

PRIVATE void heap_count_moved(const page_t* page, heap_t* from, heap_t* to) {
  const holding_t holding = page_holding(page);
  heap_move(from, page, (holding_t){-holding.blocks, -holding.asked});
  heap_move(to, page, holding);
}

// ---- each block ----

PRIVATE void heap_count_taken(const page_t* page, size_t size) {
  heap_t* heap = load_relaxed(&page->heap);
  shift_blocks(heap, page, 1, stat_move);
  stat_up(&heap->stats.requested, size);
}

PRIVATE void heap_count_freed(const page_t* page, const void* p) {
  heap_t* heap = load_relaxed(&page->heap);
  shift_blocks(heap, page, -1, stat_move);
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
