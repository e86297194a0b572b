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

static void tell_pages(theap_t* theap) {
  stats_t* stats = &theap->heap->stats;
  untold_t* untold = theap_untold(theap);
  if (untold->events == 0) { return; }
  count_told(&stats->pages, untold->pages, untold->new_pages);
  count_told(&stats->page_committed, untold->bytes, untold->new_bytes);
  untold->events = 0;
  untold->pages = untold->new_pages = untold->bytes = untold->new_bytes = 0;
}

// A theap's part of what its heap has had at most: to be so far off does little to a peak. One
// thread meets nobody. After a reset that may be less than nothing, in a heap to which others'
// blocks came back.
static uint32_t peak_part(const stat_count_t* count) {
  const intptr_t part = each_thread(load_relaxed(&count->peak)) / PEAK_PARTS;
  if (part < 0 || load_relaxed(&thread_count) < 2) { return 0; }
  return (uint32_t)size_min((size_t)part, PEAK_PART_MOST);
}

static void tell_class_pages(heap_t* heap, unsigned bin, untold_class_t* untold) {
  stat_count_t* count = &heap->bins.pages[bin];
  count_told(count, untold->pages, untold->new_pages);
  untold->pages = 0;
  untold->new_pages = 0;
  untold->pages_most = (int32_t)peak_part(count) + UNTOLD_PAGES;
}

// There is `more` now, or less, of what `count` counts. Returns what it is to be told: nothing if
// the theap stays ahead by no more than two steps; else it is ahead by one.
static intptr_t ahead_tell(ahead_t* ahead, intptr_t more, const stat_count_t* count,
                           uint32_t least) {
  const intptr_t left = (intptr_t)ahead->now - more;
  if (left >= 0 && left <= 2 * (intptr_t)ahead->step) {
    ahead->now = (uint32_t)left;
    return 0;
  }
  ahead->now = ahead->step = peak_part(count) + least;
  return (intptr_t)ahead->now - left;
}

static void shift_length(heap_t* heap, intptr_t more) {
  stat_shift(&heap->stats.malloc_huge, more);
  stat_shift(&heap->stats.allocated, more);
}

static void shift_large(heap_t* heap, intptr_t blocks, intptr_t bytes) {
  if (blocks != 0) { stat_shift(&heap->bins.blocks[BIN_LARGE], blocks); }
  if (bytes != 0) { shift_length(heap, bytes); }
}

static intptr_t ahead_end(ahead_t* ahead) {
  const intptr_t now = (intptr_t)ahead->now;
  *ahead = (ahead_t){0};
  return -now;
}

static void tell_class(theap_t* theap, unsigned bin) {
  heap_t* heap = theap->heap;
  untold_t* untold = theap_untold(theap);
  tell_class_pages(heap, bin, &untold->classes[bin]);
  const intptr_t blocks = ahead_end(&untold->classes[bin].ahead);
  if (bin < BIN_COUNT) {
    shift_class(heap, bin, blocks, blocks * (intptr_t)bin_bytes(bin), stat_move);
  } else {
    shift_large(heap, blocks, ahead_end(&untold->large_bytes));
  }
}

static void tell_classes(theap_t* theap) {
  uint64_t* used = theap_untold(theap)->used;
  for (unsigned word = 0; word < UNTOLD_WORDS; word++) {
    if (used[word] == 0) { continue; }
    for (uint64_t left = used[word]; left != 0; left &= left - 1) {
      tell_class(theap, word * 64 + low_bit(left));
    }
    used[word] = 0;
  }
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
  tell_pages(theap);
  tell_classes(theap);
}

// ---- pages ----

FAST void count_as(heap_t* heap, const page_t* page, intptr_t sign, stat_move_fun* move) {
  const intptr_t bytes = (intptr_t)page_bytes(page);
  move(&heap->stats.pages, sign, sign > 0);
  move(&heap->bins.pages[page->bin], sign, sign > 0);
  move(&heap->stats.page_committed, sign * bytes, sign > 0);
  if (!COUNT_EACH && page->capacity != 0) { shift_blocks(heap, page, sign * page->capacity, move); }
}

static untold_class_t* untold_class(theap_t* theap, unsigned bin) {
  untold_t* untold = theap_untold(theap);
  untold->used[bin / 64] |= (uint64_t)1 << bin % 64;
  return &untold->classes[bin];
}

static void untold_page(theap_t* theap, const page_t* page, intptr_t sign) {
  untold_t* untold = theap_untold(theap);
  untold_class_t* one = untold_class(theap, page->bin);
  const intptr_t bytes = (intptr_t)page_bytes(page);
  one->pages += (int32_t)sign;
  untold->pages += sign;
  untold->bytes += sign * bytes;
  if (sign > 0) {
    one->new_pages++;
    untold->new_pages++;
    untold->new_bytes += bytes;
  }
  if (one->pages > one->pages_most || one->pages < -one->pages_most ||
      one->new_pages == UNTOLD_NEW) {
    tell_class_pages(theap->heap, page->bin, one);
  }
  if (++untold->events == UNTOLD_EVENTS) { tell_pages(theap); }
}

static void count_blocks(theap_t* theap, unsigned bin, intptr_t blocks) {
  heap_t* heap = theap->heap;
  const intptr_t tell =
      ahead_tell(&untold_class(theap, bin)->ahead, blocks, &heap->bins.blocks[bin], 0);
  if (tell == 0) { return; }
  shift_class(heap, bin, tell, tell * (intptr_t)bin_bytes(bin), stat_move_shared);
}

static void count_large(theap_t* theap, intptr_t blocks, intptr_t bytes) {
  heap_t* heap = theap->heap;
  untold_t* untold = theap_untold(theap);
  ahead_t* ahead = &untold_class(theap, BIN_LARGE)->ahead;
  shift_large(heap, ahead_tell(ahead, blocks, &heap->bins.blocks[BIN_LARGE], AHEAD_BLOCKS),
              ahead_tell(&untold->large_bytes, bytes, &heap->stats.malloc_huge, AHEAD_BYTES));
}

// Returns false if the thread has no theap of the heap that could tell it later.
static bool count_later(heap_t* heap, const page_t* page, intptr_t sign) {
  theap_t* theap = theap_current();
  if (theap->heap != heap || theap->thread == NULL) { return false; }
  untold_page(theap, page, sign);
  if (COUNT_EACH || page->capacity == 0) { return true; }
  if (page_is_single(page)) {
    count_large(theap, sign, sign * (intptr_t)page->block_bytes);
  } else {
    count_blocks(theap, page->bin, sign * (intptr_t)page->capacity);
  }
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
    count_blocks(theap, page->bin, blocks);
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
