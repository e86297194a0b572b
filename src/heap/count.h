// What the program was given, and gave back: counted in slow paths.
//
// Neither malloc nor free counts. A block leaves the list of a page only while the page is the
// first of a queue: then it is held, and its `used` falls with each free from PAGE_HELD and the
// number of its blocks in use. That number, as its lists tell it, and `used` tell how many were
// taken since: page_let_go asks when the page leaves that place, and readings ask the pages that
// have it now. What was given back is what was taken less what is in use, for which readings walk
// the pages.
//
//   page --page_let_go--> theap: taken[bin] --theap_tell--> heap: bins.blocks[bin].total
//
// N1 blocks taken of a class: `total` of the heap, `taken` of its theaps and their rows, and
//    page_blocks_taken of its pages. Exact for threads that rest. What is taken from a row is
//    counted there; large blocks are counted by theap_count_large.
// N2 `current` of the heap is how many blocks its pages have had on a list: the program never has
//    more. It is there for the peak, which is exact to what a thread keeps in pages that it could
//    use before it took fresh memory: one page of the class, most often.
// N3 blocks in a page of a deleted heap count as the main heap's from heap_migrate on.
// N4 pages come and go in all threads, and would have them meet at the heap's counts. So among
//    several a theap tells its heap of some at a time (`untold`): of pages of a class when they are
//    off by its part of their peak, of pages of all classes each UNTOLD_EVENTS. Of blocks, so that
//    N2 holds, it tells as many more than there are (`ahead`), and again once these have come, or
//    fewer once it is twice as far ahead. Its part is one in PEAK_PARTS of what the heap has had at
//    most, shared among the threads; and of large blocks a few. Readings add what theaps have not
//    told; a peak of pages is off by that much, one of blocks too high by what theaps are ahead.
// N5 in builds that note what each block was asked for (COUNT_EACH) malloc and free say `current`
//    themselves, so that peaks are exact, and count the bytes as they were asked for.
//
// `taken` is the owner's; readings look at it as they look at the lists of pages. The heap's counts
// are relaxed. Tests: test/api/stats_exact.c, test/stress/shadow_counts.c.
#ifndef MI_HEAP_COUNT_H
#define MI_HEAP_COUNT_H

#include "heap.h"

// The owner, of a page that is held: counts what was taken from it. How many blocks are in use.
// What was counted as taken while it was in a ration, and has gone back since, is taken off again.
FAST uint32_t theap_count(theap_t* theap, unsigned bin, const page_t* page) {
  const uint32_t used = page_used(page);
  theap->taken[bin] += (size_t)(intptr_t)(int32_t)(used + page_held_from(page) - page->used);
  return used;
}

// The same, of a page that stays held: it has counted nothing since.
FAST uint32_t theap_hold_again(theap_t* theap, unsigned bin, page_t* page, bool counts_returns) {
  const uint32_t used = page->used = theap_count(theap, bin, page);
  page_hold(page, counts_returns);
  return used;
}
FAST void theap_count_held(theap_t* theap, unsigned bin, page_t* page) {
  (void)theap_hold_again(theap, bin, page, page->counting == COUNT_RETURNS);
}

// Its pages tell the theap what they have counted. For its owner, or who destroys the heap.
PRIVATE void theap_gather(theap_t* theap);
// The theap tells its heap.
PRIVATE void theap_tell(theap_t* theap);

// The page's one block becomes the program's.
FAST void theap_count_large(theap_t* theap, const page_t* page) {
  theap->large_taken++;
  theap->large_taken_bytes += page->block_bytes;
}
// It is `bytes` long from now on: as the program asks, or as it takes it again.
PRIVATE void heap_count_length(const page_t* page, size_t bytes);
PRIVATE void heap_count_again(const page_t* page, size_t bytes);
// The caller owns the page, which moves.
PRIVATE void heap_count_moved(const page_t* page, heap_t* from, heap_t* to);

// ---- pages ----

enum {
  UNTOLD_PAGES = 1,
  UNTOLD_EVENTS = 32,
  UNTOLD_NEW = 1 << 20,
  AHEAD_BLOCKS = 4,
  AHEAD_BYTES = 512 << 10
};
enum { PEAK_PARTS = 8, PEAK_PART_MOST = 1 << 28 };

// A page has come to the heap, or leaves it.
PRIVATE void heap_count_came(heap_t* heap, const page_t* page);
PRIVATE void heap_count_went(heap_t* heap, const page_t* page);
// The owner. Its page had `before` blocks that were on a list ever, and has more.
PRIVATE void theap_count_extended(theap_t* theap, const page_t* page, uint32_t before);

// ---- builds with COUNT_EACH ----
// Who does not own the page of what is freed or resized holds the record, see heap_lock_record.
PRIVATE void heap_count_taken(const page_t* page, size_t size);
PRIVATE void heap_count_freed(const page_t* page, const void* p);
// The block was asked for with `asked` bytes, though it was counted with `before`.
PRIVATE void heap_count_asked(const page_t* page, size_t before, size_t asked);
// The block is no more `old`, but `size` bytes long.
PRIVATE void heap_count_resized(const page_t* page, size_t old, size_t size);

#endif
