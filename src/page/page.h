// A page: a run of slices cut into blocks of one size, or one large block. Its record lies apart
// from the blocks.
//
//   | block | block | block | never used … |      start, start + block_bytes, …
//     capacity blocks have been on a list; reserved fit.
//
//   page_new --> ACTIVE <--theap_search--> PARTIAL      both OWNED, in the queue of a theap
//   ACTIVE --theap_page_to_full--> FULL --theap_adopt--> PARTIAL --theap_park--> PARKED
//   --theap_reuse_parked--> ACTIVE any, with no block in use --page_release--> gone
//
// P1 used <= capacity <= reserved.   P2 owner != 0 iff the page is in a queue of that thread's. P3
// used counts the blocks that are not on `free`, those on the remote list included, unless the page
// is held. P4 the free blocks beyond capacity are untouched, and zero if fresh_zero.
//
// The first page of a queue is HELD: its last block may come home without consequence, for the next
// allocation wants it. Then nobody counts: malloc does not add, and free takes from PAGE_HELD and
// more, so that it never sees 0. page_used counts when it must; a page that is let go because it is
// exhausted, as nearly all are, has an empty list, and costs nothing to count.
//
// Who touches what: `start`, `block_bytes`, `bin`, `span…`, `reserved` are constant while any block
// lives; `remote` and `owner` are read by all threads; all else belongs to the owner, see remote.h.
#ifndef MI_PAGE_PAGE_H
#define MI_PAGE_PAGE_H

#include <string.h>

#include "../../include/mimalloc.h"
#include "../base/modes.h"
#include "../memory/arena.h"
#include "class.h"
#include "remote.h"

typedef mi_heap_t heap_t;
typedef mi_theap_t theap_t;

typedef struct page {
  block_t* free;
  _Atomic(uintptr_t) owner;  // thread, or 0
  uintptr_t mask;            // bits that are 0 in the address of each block
  uint32_t used;
  uint16_t capacity, reserved;
  uint8_t bin;
  bool fresh_zero;     // memory beyond capacity reads as zero
  bool just_extended;  // the first block on `free` has never been used
  bool held;           // the first of its queue
  uint32_t span_slices;
  uint8_t* start;
  size_t block_bytes;
  remote_t remote;
  _Atomic(uint32_t) keeper;            // serial of the theap that owned it last
  theap_t* theap;                      // of the owner
  _Atomic(heap_t*) heap;               // that the blocks belong to; NULL: this record is not in use
  struct page *next, *prev;            // queue of a theap, or pool of a heap
  struct page *heap_next, *heap_prev;  // all pages of a heap that is not a main heap
  arena_t* span_arena;
  uint8_t* span_start;
} page_t;

_Static_assert(sizeof(void*) != 8 || sizeof(page_t) == 128, "a page record is two cache lines");

enum { PAGE_MAX_SLICES = 16 };  // of a page with several blocks
enum { PAGE_BLOCKS_MAX = PAGE_MAX_SLICES * SLICE_BYTES / GRANULE };
_Static_assert((int)PAGE_BLOCKS_MAX <= (int)REMOTE_COUNT_MAX, "the remote word counts all blocks");
enum { PAGE_HELD = 1 << 30 };

// What page_new makes.
typedef struct page_want {
  unsigned bin;         // BIN_LARGE: one block of `bytes`
  bool roomy;           // the class is in demand
  size_t bytes, align;  // of a large block
  size_t shift;         // it starts so far into its memory
  bool zeroed, direct;
  arena_t* arena;
  int numa_node;  // 0: any; else one more than the node
} page_want_t;

FAST page_t* page_none(void) { return map_none(); }
FAST page_t* page_of(const void* p) { return map_lookup(p); }
FAST bool page_is_single(const page_t* page) { return page->bin == BIN_LARGE; }
FAST span_t page_span(const page_t* page) {
  return (span_t){page->span_arena, page->span_start, page->span_slices, false, false};
}
// The map leads from `p` to the page: is it the start of a block? Any thread, while a block lives.
FAST bool page_block_is_valid(const page_t* page, const void* p) {
  if (page_is_single(page)) { return p == page->start; }
  const uint32_t offset = (uint32_t)((uintptr_t)p - (uintptr_t)page->start);
  const uint32_t block_bytes = (uint32_t)page->block_bytes;
  return !has_any_bit(&page->mask, (uintptr_t)p) && offset % block_bytes == 0 &&
         offset / block_bytes < page->reserved;
}

typedef bool page_visit_fun(page_t* page, void* arg);

// NULL if out of memory. The page is OWNED with no owner named, or FULL with its block taken if it
// is one block.
PRIVATE page_t* page_new(page_want_t want);
// The page has no block in use and is in no list.
PRIVATE void page_release(page_t* page);
// … and serves another class from now on.
PRIVATE void page_recut(page_t* page, unsigned bin);
// Of a new page of the class.
PRIVATE size_t page_slices(unsigned bin, bool roomy);
// Links more never-used blocks; there are some, and `free` is empty.
PRIVATE void page_extend(page_t* page);
// Owner: what came home joins `free`.
PRIVATE void page_take_remote(page_t* page);
// Owner, after a claim of a parked page: restores `used` and `free`.
PRIVATE void page_restore(page_t* page, uint32_t claimed);
// A free block can be had, after taking what came home and extending; then `free` is not empty.
PRIVATE bool page_has_room(page_t* page);
// The owner: blocks that are not on `free`; a held page's list is walked.
PRIVATE uint32_t page_used(const page_t* page);
// The owner. Puts `free` in order of addresses: blocks that are allocated one after the other then
// lie one after the other, which is what a processor's prefetching expects.
PRIVATE void page_sort_free(page_t* page);
PRIVATE void page_visit_all(page_visit_fun* visit, void* arg);
// Blocks to link at once at most, for a heartbeat; SIZE_MAX normally.
SHARED_DATA(_Atomic(uint32_t), page_extend_limit);
PRIVATE void page_lock_for_fork(void);
PRIVATE void page_unlock_after_fork(bool child);

// ---- hooks: all that secure, debug and padded builds add when a block is taken and before it is
// given back ----

FAST void hook_taken(const page_t* page, block_t* block) {
  enum { FILL_MOST = 1 << 20, FILL_NEW = 0xD0 };
  if (FILL_BLOCKS) { memset(block, FILL_NEW, size_min(page->block_bytes, FILL_MOST)); }
}

// Any thread; else it is reported.
PRIVATE bool block_may_be_freed(const page_t* page, const void* p);
// Of a pointer that is not the start of a block of the page, or of a block that is free already.
PRIVATE COLD void report_bad_free(const page_t* page, const void* p);
PRIVATE COLD void report_inside(const page_t* page, const void* p, const char* what);

FAST bool hook_giving(const page_t* page, void* p) {
  enum { FILL_MOST = 1 << 20, FILL_FREED = 0xDF };
  if (CHECK_FREE && unlikely(!block_may_be_freed(page, p))) { return false; }
  if (FILL_BLOCKS) { memset(p, FILL_FREED, size_min(page->block_bytes, FILL_MOST)); }
  return true;
}

// The owner, of a held page, which does not count.
FAST block_t* page_pop(page_t* page) {
  block_t* block = page->free;
  if (likely(block != NULL)) { page->free = block->next; }
  return block;
}

FAST void page_push(page_t* page, block_t* block) {
  block->next = page->free;
  page->free = block;
}

#endif
