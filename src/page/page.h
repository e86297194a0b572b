// A page: a run of slices cut into blocks of one size, or one large block. Its record lies apart
// from the blocks.
//
//   | block | block | block | never used … |      start, start + block_bytes, …
//     capacity blocks have been on a list; reserved fit.
//
//   page_new --> ACTIVE <--theap_search--> PARTIAL      both OWNED, in the queue of a theap
//   ACTIVE --theap_page_to_full--> FULL --theap_adopt--> PARTIAL
//   PARTIAL --page_abandon--> ABANDONED --theap_reuse_abandoned--> ACTIVE
//   FULL --page_pass_on--> FULL until a few blocks are free, or ABANDONED
//   any, with no block in use --page_release--> gone
//
// P1 used <= capacity <= reserved.
// P2 owner != 0 iff the page is in a queue of that thread's, or one that a fork has lost had it.
// P3 page_used counts the blocks that are not on `free`, those on the remote list included; that
//    is what `used` says too where counting is COUNT_ALL. In a page that nobody owns `used` lacks
//    what its word counts.
// P4 the free blocks beyond capacity are untouched, and zero if fresh_zero.
// P5 a block up to capacity is in use, on a list, or in a hole, see holes.c.
//
// The first page of a queue is HELD: that its last block is returned has no consequence, since the
// next allocation wants it. Then nobody counts: malloc does not add, and free takes from PAGE_HELD
// and more, so that it never sees 0. page_used counts when it must; a page that is let go because
// it is exhausted, as nearly all are, has an empty list, and costs nothing to count. A page further
// back in a queue counts down to the moment when half of it is free: see theap_page_due. While
// memory shrinks free takes from the number of blocks in use instead, and sees 0 when it is to be
// looked whether the page is empty: see theap_set_trend.
//
// Who touches what: `start`, `block_bytes`, `bin`, `span…`, `reserved` are constant while any block
// lives; `remote` and `owner` are read by all threads; all else belongs to the owner, see remote.h.
#ifndef MI_PAGE_PAGE_H
#define MI_PAGE_PAGE_H

#include <string.h>

#include "../../include/mimalloc.h"
#include "../base/modes.h"
#include "../memory/arena.h"
#include "../port/port.h"
#include "../service/options.h"
#include "check.h"
#include "class.h"
#include "remote.h"

typedef mi_heap_t heap_t;
typedef mi_theap_t theap_t;

// What the owner of a page finds in `used`.
typedef enum {
  COUNT_ALL,      // the blocks that are not on `free`
  COUNT_TO_HALF,  // those less page_half: it falls to 0 when half of the page is free
  COUNT_TO_FEW,   // those less page_few: it falls to 0 when few are left
  COUNT_FALLING,  // the blocks that are not on `free`; the page is one of theap->falling
  COUNT_NONE,     // the page is held: what is left of PAGE_HELD
  COUNT_RETURNS,  // the page is held: what is left of the blocks that were in use then
} page_count_t;

typedef struct page {
  // The owner changes these, and nobody else looks at them while the page is owned.
  union {
    block_t* free;
    uintptr_t free_number;  // where links are apart
  };
  uint32_t used;
  uint16_t capacity;
  bool just_extended;  // the first block on `free` has never been used
  uint8_t counting;    // page_count_t
  union {
    theap_t* theap;       // of the owner
    struct guard* guard;  // of one block that nobody owns: its record if it has guards, or NULL
  };
  struct page *next, *prev;            // queue of a theap, or pool of a heap
  struct page *heap_next, *heap_prev;  // all pages of a heap that is not a main heap
  arena_t* span_arena;
  // From the next cache line on: others read these, and add to them.
  _Atomic(uintptr_t) owner;  // thread, or 0; with OWNER_ROW where the row of its class is open
  _Atomic(uintptr_t) mask;   // bits that are 0 in the address of each block; see page_is_veiled
  uint8_t* start;
  size_t block_bytes;
  _Atomic(heap_t*) heap;  // that the blocks belong to; NULL: this record is not in use
  union {
    uint8_t* span_start;
    uint64_t holes;  // with HOLES, of a page of several blocks, which start where its memory does
  };
  remote_t remote;
  _Atomic(uint32_t) last_owner;  // serial of the theap that owned it last
  uint32_t span_slices;
  uint16_t reserved;
  uint8_t bin;
  bool fresh_zero : 1;  // memory beyond capacity reads as zero
  bool kept : 1;        // empty, in its heap's pool: the program did not let it go
  uint8_t place : 5;    // of the record in its chunk
} page_t;

_Static_assert(sizeof(void*) != 8 || sizeof(page_t) == 128, "a page record is two cache lines");
_Static_assert(sizeof(void*) != 8 || offsetof(page_t, owner) == 64, "of which the owner has one");

#define CACHE_LINE 64
enum { PAGE_MAX_SLICES = 16 };  // of a page with several blocks
enum { PAGE_BLOCKS_MAX = PAGE_MAX_SLICES * SLICE_BYTES / GRANULE };
_Static_assert((int)PAGE_BLOCKS_MAX <= (int)REMOTE_COUNT_MAX, "the remote word counts all blocks");
enum { PAGE_HELD = 1 << 30 };

enum { ROOM_MOST = 4 };  // slices of the pages of a class in demand: 64 KiB

// What page_new makes.
typedef struct page_request {
  unsigned bin;         // BIN_LARGE: one block of `bytes`
  unsigned room;        // slices at least, 1, 2 or ROOM_MOST: the more its class is in demand
  size_t bytes, align;  // of a large block
  size_t shift;         // it starts so far into its memory
  bool zeroed;
  bool direct;  // a mapping of its own
  bool or_run;  // or a run, where memory comes and goes
  bool at_end;  // of its memory, next to the guard, if it comes from an arena
  arena_t* arena;
  int numa_node;    // 0: any; else one more than the node
  uint32_t serial;  // of the theap that it is for
} page_request_t;

// Of all its slices, with what the guard takes of them.
FAST size_t page_bytes(const page_t* page) { return page->span_slices * SLICE_BYTES; }

FAST page_t* page_none(void) { return (page_t*)map_none(); }
FAST page_t* page_of(const void* p) { return (page_t*)map_lookup(p); }
// Where the row of its class is open the record does not name the owner as free expects it, so that
// free looks at the row. Ids of threads are even.
enum { OWNER_ROW = 1 };
FAST uintptr_t page_owner(const page_t* page) {
  const uintptr_t owner = load_relaxed(&page->owner);
  return OPEN_ROWS ? owner & ~(uintptr_t)OWNER_ROW : owner;
}
FAST bool page_is_mine(const page_t* page) { return page_owner(page) == port_thread_id(); }
FAST bool page_is_single(const page_t* page) { return page->bin == BIN_LARGE; }
FAST bool page_is_held(const page_t* page) { return page->counting >= COUNT_NONE; }
// What a page that is held begins with in `used`, beside the blocks that are in use then.
FAST uint32_t page_held_from(const page_t* page) {
  if (unlikely(page->counting == COUNT_RETURNS)) { return 0; }
  return PAGE_HELD;
}
// The owner, of a page that counts all: nobody counts what is taken from now on. To count what is
// returned tells when the page may be empty: see theap_set_trend.
FAST void page_hold(page_t* page, bool counts_returns) {
  if (unlikely(counts_returns) && page->used != 0) {
    page->counting = COUNT_RETURNS;
    return;
  }
  page->counting = COUNT_NONE;
  page->used += PAGE_HELD;
}
FAST uint32_t page_half(const page_t* page) { return page->reserved / 2u; }
FAST uint32_t page_few(const page_t* page) {
  return (uint32_t)size_min(divide_up(page->reserved, 32), page->span_slices);
}
// What `used` lacks of the blocks that are not on `free`; not of a page that is held.
FAST uint32_t page_uncounted(const page_t* page) {
  if (page->counting == COUNT_TO_HALF) { return page_half(page); }
  return page->counting == COUNT_TO_FEW ? page_few(page) : 0;
}
FAST uint8_t* page_memory(const page_t* page) {
  return HOLES && !page_is_single(page) ? page->start : page->span_start;
}
FAST uint64_t page_holes(const page_t* page) {
  return MAKES_HOLES && !page_is_single(page) ? page->holes : 0;
}
FAST span_t page_span(const page_t* page) {
  return (span_t){page->span_arena, page_memory(page), page->span_slices, false, false};
}
// Is `p`, an address in the page's slices, the start of a block?
FAST bool page_starts_at(const page_t* page, const void* p) {
  const uint32_t offset = (uint32_t)((uintptr_t)p - (uintptr_t)page->start);
  const uint32_t block_bytes = (uint32_t)page->block_bytes;
  return offset % block_bytes == 0 && offset / block_bytes < page->reserved;
}
// The map leads from `p` to the page: is it the start of a block? Any thread, while a block lives.
// Never in a page that is veiled.
FAST bool page_block_is_valid(const page_t* page, const void* p) {
  if (page_is_single(page)) { return p == page->start; }
  return !has_any_bit(&page->mask, (uintptr_t)p) && page_starts_at(page, p);
}

// ---- the program's words, and its say when an empty page is to go: see heap/keep.c ----

typedef struct page_words {
  void* words[2];
} page_words_t;

// NULL if out of memory. Any thread, while the page lives.
PRIVATE page_words_t* page_words(const page_t* page);

typedef bool page_visit_fun(page_t* page, void* arg);

// ---- mallopt(M_PERTURB): what is allocated and freed is filled ----
//
// malloc takes its slow path, as the theap is special (SPECIAL_FILL). free has no instruction for
// it: a page that is VEILED has a mask with all bits set, so that none of its blocks looks like
// one, and free ends where it reports what is no block. There the page is looked at with its true
// mask. Large blocks are filled when their page goes, and are not put on rows. Checked builds look
// at the value where they look whether the option `fill_freed` is set.
SHARED_DATA(_Atomic(int), perturb_value);  // 0: off
FAST int perturb_now(void) { return PERTURBS ? load_relaxed(&perturb_value) : 0; }
// The mask of a page with several blocks, veiled or not. Only the owner may change it.
PRIVATE void page_veil(page_t* page, bool veiled);
FAST bool page_is_veiled(const page_t* page) {
  return PERTURBS_BY_MASK && load_relaxed(&page->mask) == UINTPTR_MAX;
}
// As page_block_is_valid, and also for a page that is veiled.
PRIVATE bool page_has_block(const page_t* page, const void* p);
// The block was taken for `size` bytes, or freed.
PRIVATE void block_perturb_taken(void* p, size_t size);
PRIVATE void block_perturb_freed(const page_t* page, void* p);

// NULL if out of memory. The page is OWNED with no owner named, or FULL with its block taken if it
// is one block.
PRIVATE page_t* page_new(const page_request_t* request);
// The same of a page that has waited, see spare.c; NULL if none suits. It may have free blocks.
PRIVATE page_t* page_reuse(const page_request_t* request);
// The page is in no list, and nobody uses its blocks. `freed`: each has been given back.
PRIVATE void page_release(page_t* page, bool freed);
// Bytes at the end of a page's memory that are inaccessible, as far as the OS can do that.
PRIVATE size_t page_guard_bytes(void);
FAST size_t bytes_to_guard(const page_t* page) { return page_bytes(page) - page_guard_bytes(); }
// The length of the large block that a request gets.
FAST size_t large_bytes(size_t size) {
  enum { LARGE_UNIT = 4 << 10 };
  return align_up(size + LARGE_PAD_BYTES, LARGE_UNIT);
}
// Slices of a large block; `before` bytes lie before it.
FAST size_t large_slices(size_t bytes, size_t before) {
  return divide_up(bytes + before + (GUARD_PAGES ? page_guard_bytes() : 0), SLICE_BYTES);
}
// Around a change of the span of a large block: its guard goes, and a new one comes. False: the
// guard stays, so the span may not change.
PRIVATE bool page_unguard(page_t* page);
PRIVATE void page_guard(page_t* page);
// A large block that nobody uses starts anew in its span: at the end, if the alignment allows,
// where the guard is next to it.
PRIVATE void page_move_large(page_t* page, size_t align);
// When all else is used up: memory that was kept for one class may serve any.
PRIVATE void page_release_kept(void);
// Of pages without blocks that wait as they are the memory goes; of those that nobody has wanted
// for a second or more, and of large blocks that have waited for too long.
PRIVATE void page_release_spare(void);
PRIVATE void page_release_unwanted(void);
// Its memory goes: after page_release, or when it has waited.
PRIVATE void page_release_memory(page_t* page);
// The same of a page of which the OS would not make all memory accessible again.
PRIVATE void page_release_unreachable(page_t* page);
PRIVATE void page_release_list(page_t* list);  // the same of pages that are linked by `next`
// Did a large block start here that was freed a moment ago? For messages.
PRIVATE bool page_was_large(const void* p);
// The length of a new page of the class.
PRIVATE size_t page_slices(unsigned bin, unsigned room);
// Puts more never-used blocks, of which there are some, in front of `free`.
PRIVATE void page_extend(page_t* page);
// Owner: what was returned joins `free`, and what waited.
PRIVATE void page_take_remote(page_t* page);
// Owner: of the blocks that wait all but the last one join `free`.
PRIVATE void page_take_waiting(page_t* page);
// The owner: from now on nobody owns the page, FULL or ABANDONED, until `count` blocks have been
// freed or somebody claims it. False: one was just returned, and the page stays the caller's.
FAST bool page_leave(page_t* page, uint32_t state, uint32_t count) {
  page->used -= count;
  const bool left = remote_leave(&page->remote, state, count);
  if (!left) { page->used += count; }
  return left;
}
// The owner, after a claim of an abandoned page: restores `used` and `free`.
PRIVATE void page_restore(page_t* page, uint32_t claimed);
// The owner: a list of returned blocks joins `free`, or those that wait.
PRIVATE void page_add_returned(page_t* page, block_t* list);
// Owner: takes at most `most` blocks off `free`, in their order; *count is their number.
PRIVATE block_t* page_cut_list(page_t* page, uint32_t most, uint32_t* count);
// Puts such a list back in front of `free`. Returns its length.
PRIVATE size_t page_add_list(page_t* page, block_t* list);
// A free block can be had, after taking what was returned and extending; then `free` is not empty.
// Not the block that was freed last: page_waits tells that it is there.
PRIVATE bool page_has_room(page_t* page);
// The owner: blocks that are neither on `free` nor in holes; a held page's list is walked.
PRIVATE uint32_t page_used(const page_t* page);
// The owner. From now on `used` counts all blocks.
PRIVATE void page_count_all(page_t* page);
// The owner. Puts `free` in order of addresses: blocks that are allocated one after the other then
// lie one after the other, which is what a processor's prefetching expects. Apart from its callers,
// since it needs 2 KiB of stack, which is all that some threads have.
PRIVATE NOINLINE void page_sort_free(page_t* page);
// The free blocks that are on the owner's list, by index; and the other way about.
typedef struct block_bits {
  uint64_t words[PAGE_BLOCKS_MAX / 64];  // only those up to the capacity are in use
} block_bits_t;
PRIVATE void page_free_bits(const page_t* page, block_bits_t* bits);
PRIVATE void page_list_bits(page_t* page, const block_bits_t* bits);
// Puts `count` blocks from an index on, in order of addresses, in front of `free`.
PRIVATE void page_link_blocks(page_t* page, uint32_t first, uint32_t count);
FAST void bits_clear(block_bits_t* bits, uint32_t capacity) {
  memset(bits->words, 0, divide_up(capacity, 64) * sizeof(bits->words[0]));
}
FAST bool bits_has(const block_bits_t* bits, size_t index) {
  return (bits->words[index / 64] >> (index % 64) & 1) != 0;
}
FAST void bits_set(block_bits_t* bits, size_t index, bool on) {
  const uint64_t bit = (uint64_t)1 << (index % 64), word = bits->words[index / 64];
  bits->words[index / 64] = on ? word | bit : word & ~bit;
}
PRIVATE void page_visit_all(page_visit_fun* visit, void* arg);
// The page of the large block that an address is in, else page_none(). The map knows all other
// addresses of blocks; for the inner ones of large blocks this looks at every page.
PRIVATE page_t* page_large_around(const void* p);
// For who reads the memory of another process: where the list of chunks begins, the link first in
// each; how far into a chunk its records are, how far apart, and how many.
typedef struct page_records {
  const void* chunks;
  size_t before, bytes, count;
} page_records_t;
UNUSED PRIVATE page_records_t page_records(void);
PRIVATE void page_lock_for_fork(void);
PRIVATE void page_unlock_after_fork(bool child);
PRIVATE void page_rescue(void);
// The library goes, see process_unload: what is known of blocks, and with `everything` mappings
// that are one page's own.
UNUSED PRIVATE void pages_unload(bool everything);

// ---- holes.c: OS pages that only free blocks touch; the owner, or nobody ----

// Gives back their memory, of several pages together. Where blocks are followed by canaries or are
// filled there are none. A place without a page is NULL. The second: of pages linked by `next`.
PRIVATE void pages_make_holes(page_t* const* pages, size_t count);
PRIVATE void list_make_holes(page_t* list);
// The blocks of the first hole, or some of them, become `free`, which is empty. It may have none,
// but free memory behind the last block.
PRIVATE COLD void page_take_hole(page_t* page);
// No block of the page is in use any more, or will be. It has them until its memory is used again.
PRIVATE COLD void page_drop_holes(page_t* page);
PRIVATE COLD uint32_t page_hole_blocks(const page_t* page);
// Takes the first one out of a copy of the page's holes: which blocks it touches, from an index to
// another. False: there is none. Any thread.
PRIVATE bool page_next_hole(const page_t* page, uint64_t* holes, uint32_t* first, uint32_t* end);

// ---- record.c ----

// NULL if out of memory. Any thread.
PRIVATE page_t* record_take(void);
PRIVATE void record_give(page_t* page);
PRIVATE void records_give(page_t* first, page_t* last);  // linked by `next`
// A page ends: record and memory go. `reached`: all of its memory is accessible.
PRIVATE void page_end(page_t* page, bool reached);
// A list of pages that nobody owns, linked by `next`. Any thread.
typedef _Atomic(page_t*) page_list_t;
PRIVATE void record_push(page_list_t* list, page_t* page);
PRIVATE page_t* record_pop(page_list_t* list);  // NULL if there is none
PRIVATE void page_clear_words(const page_t* page);
// As page_visit_all, and those that are not in use too.
UNUSED PRIVATE void record_visit_all(page_visit_fun* visit, void* arg);

// A page without a block in use may wait for the next request: its memory is of an arena that all
// heaps share, and can be made inaccessible where guards are wanted.
FAST bool page_may_wait(const page_t* page) {
  const arena_t* arena = page->span_arena;
  return arena != NULL && !arena->exclusive && (!GUARD_PAGES || arena_can_protect(arena));
}

// ---- spare.c: pages without a block in use that wait; any thread ----

enum { SPARE_BY_CLASS = CHECKED_BUILD || KEEP_CLASS };
enum { SPARE_LARGE = !SPARE_BY_CLASS && !GUARD_PAGES };  // large blocks wait too
// The page is in no list. Returns those that are to go instead, linked by `next`: it may be one.
PRIVATE page_t* spare_put(page_t* page);
// One of so many slices; NULL if none suits.
PRIVATE page_t* spare_take(const page_request_t* request, size_t slices, span_t* span);
// All that wait for others than this theap, and those above its share of SPARE_LEAST, linked by
// `next`; and may there be any?
PRIVATE page_t* spare_take_extra(uint32_t serial);
PRIVATE bool spare_has_extra(void);
PRIVATE page_t* spare_take_all(void);  // linked by `next`
// Those that have waited all the time since the last look, which was a second ago or more, but for
// SPARE_LEAST; linked by `next`.
PRIVATE page_t* spare_take_unwanted(void);
// The page becomes inaccessible, and waits for its class, or ends where the OS did not want that.
// False: it is not of that kind, or address space is limited, and the program may need it for other
// things.
PRIVATE bool spare_decommit(page_t* page);
PRIVATE void spare_end_decommitted(void);  // such pages end
PRIVATE void spare_lock_for_fork(void);
PRIVATE void spare_unlock_after_fork(bool child);
PRIVATE void spare_rescue(void);

// ---- waiting.c: freed large blocks that wait, with their guards; builds with WAITING_LARGE ----

// The page is in no list. False: it is not of a kind that waits, or the OS did not want to.
PRIVATE bool waiting_put(page_t* page);
PRIVATE page_t* waiting_take(const page_request_t* request, span_t* span);  // NULL if none suits
PRIVATE void waiting_flush(int64_t before_ms);  // what waits since then or before
PRIVATE void waiting_flush_old(void);           // what waits for too long
PRIVATE void waiting_flush_near(void);          // what is accessible
PRIVATE void waiting_lock_for_fork(void);
PRIVATE void waiting_unlock_after_fork(bool child);
PRIVATE void waiting_rescue(void);

// ---- links: where a free block's next one is kept, in the block or apart from it, see check.h
// ----

FAST page_checks_t* page_checks(const page_t* page) {
  return (page_checks_t*)((uintptr_t)page + sizeof(page_t));
}

FAST size_t page_offset(const page_t* page, const void* p) {
  return (uintptr_t)p - (uintptr_t)page->start;
}

// 0 where links are in the blocks.
FAST uint32_t block_number(const page_t* page, const block_t* block) {
  return LINKS_APART ? checks_number_known(page_checks(page), page_offset(page, block)) : 0;
}

// NULL where links are in the blocks.
FAST link_t* block_link(const page_t* page, const block_t* block) {
  return LINKS_APART ? &page_checks(page)->links[block_number(page, block)] : NULL;
}

FAST block_t* link_block(const page_t* page, uint32_t link) {
  const size_t unit = LINKS_APART ? page->block_bytes : GRANULE;
  return link == 0 ? NULL : (block_t*)(void*)(page->start + (size_t)(link - 1) * unit);
}

FAST uint32_t block_as_link(const page_t* page, const block_t* block) {
  return LINKS_APART ? block_number(page, block) : remote_granule(block, page->start);
}

// As link_block has it: of the first block of a list, if that has any.
FAST uint32_t list_as_link(const page_t* page, const block_t* first) {
  return first == NULL ? 0 : block_as_link(page, first);
}

// Freed blocks that wait, see page_push.
FAST block_t* page_later(const page_t* page) {
  return REUSE_LATER ? link_block(page, page_checks(page)->later) : NULL;
}

FAST bool page_waits(const page_t* page) { return REUSE_LATER && page_checks(page)->later != 0; }

// The list that malloc takes from.
FAST block_t* page_free_list(const page_t* page) {
  return LINKS_APART ? link_block(page, (uint32_t)page->free_number) : page->free;
}

FAST bool page_has_free(const page_t* page) {
  return LINKS_APART ? page->free_number != 0 : page->free != NULL;
}

// Are there free blocks that the owner need not wait for?
FAST bool page_has_unused(const page_t* page) {
  return page_has_free(page) || page->capacity < page->reserved || page_holes(page) != 0;
}

FAST void page_set_free_list(page_t* page, block_t* first) {
  if (LINKS_APART) {
    page->free_number = list_as_link(page, first);
  } else {
    page->free = first;
  }
}

// What was returned, of a word of `remote`.
FAST block_t* page_remote_list(const page_t* page, uint32_t word) {
  return link_block(page, word / REMOTE_HEAD);
}

FAST block_t* block_next(const page_t* page, const block_t* block) {
  return LINKS_APART ? link_block(page, load_relaxed(block_link(page, block))) : block->next;
}

FAST void block_set_next(const page_t* page, block_t* block, block_t* next) {
  if (LINKS_APART) {
    store_relaxed(block_link(page, block), (uint16_t)list_as_link(page, next));
  } else {
    block->next = next;
  }
}

// The block leaves the program's hands, for no list yet. Returns false if it was not in them.
FAST bool block_depart(const page_t* page, const block_t* block) {
  return !CHECK_STATE || exchange_relaxed(block_link(page, block), LINK_AWAY) == LINK_LIVE;
}

// The block comes back to the program from elsewhere than page_pop.
FAST void block_return(const page_t* page, const block_t* block) {
  if (LINKS_APART) { store_relaxed(block_link(page, block), LINK_LIVE); }
}

// ---- hooks: all that secure, debug and padded builds add when a block is taken and before it is
// given back ----

enum { FILL_MOST = 1 << 20 };  // bytes of a block that are filled, so that a huge one costs no more

// Debug builds leave at least so many bytes at the start of each block alone. A block that was
// freed before may have been filled from fewer on; never from more.
FAST void page_preserve(const page_t* page, size_t bytes) {
  _Atomic(uint32_t)* preserved = &page_checks(page)->preserved;
  if (FILL_BLOCKS && bytes > load_relaxed(preserved)) {
    store_relaxed(preserved, (uint32_t)size_min(bytes, UINT32_MAX));
  }
}

// Bytes of a block that the program may use.
FAST size_t page_room(const page_t* page) {
  if (!page_is_single(page)) { return page->block_bytes - PAD_BYTES; }
  return page->block_bytes - (page->guard == NULL ? LARGE_PAD_BYTES : 0);
}

typedef _Atomic(uint64_t) canary_t;

FAST canary_t* canary_of(const page_t* page, const void* p) {
  return (canary_t*)((uintptr_t)p + page->block_bytes) - 1;
}

// What ends a block is the same from page_extend on, be it live or not. Debug builds fill all that
// is behind the end of a block, at least these eight bytes.
enum { HAS_CANARIES = CANARY || FILL_BLOCKS };

FAST uint64_t canary_value(const page_t* page, const canary_t* canary) {
  return FILL_BLOCKS ? 0xDEDEDEDEDEDEDEDEu : page_checks(page)->key ^ (uintptr_t)canary;
}

FAST void canary_set(const page_t* page, canary_t* canary) {
  if (HAS_CANARIES) { store_relaxed(canary, canary_value(page, canary)); }
}

// 0 if nobody wrote to it.
FAST uint64_t canary_damage(const page_t* page, const canary_t* canary) {
  return load_relaxed(canary) ^ canary_value(page, canary);
}

// Ends the process if a block that was freed, and became zero then, is not zero any more.
PRIVATE void block_check_zero(const page_t* page, const void* p);
// Ends the process if the block was written to since it was freed. Called while it waits.
PRIVATE void block_check_freed(const page_t* page, const void* p);
// The same when it is taken again.
PRIVATE void block_check_reuse(const page_t* page, const void* p);
PRIVATE void block_filled_taken(page_t* page, void* p, size_t size);
PRIVATE void block_filled_freed(page_t* page, void* p);
PRIVATE bool block_padding_is_intact(const page_t* page, const void* p);
// Debug builds: the block is `size` bytes long from now on.
PRIVATE void block_set_size(page_t* page, void* p, size_t size);
// The stack of who allocated a live block, for traces_get; 0 if it is not known.
PRIVATE uint16_t block_taken_at(const page_t* page, const void* p);
// Bytes of a live block that the program may use; 0 if it is none.
PRIVATE size_t block_size(const page_t* page, const void* p);
// Tells what is wrong with a pointer that was given back or, `what`, to realloc.
PRIVATE COLD void report_bad_block(const page_t* page, const void* p, const char* what);
_Noreturn PRIVATE COLD void report_bad_list(const page_t* page, const void* p);
_Noreturn PRIVATE COLD void report_endless_list(const page_t* page);
_Noreturn PRIVATE COLD void report_bad_link(const page_t* page, const void* link);

// A block of a page with several was asked for with `size` bytes.
FAST void hook_taken(page_t* page, block_t* block, size_t size) {
  if (FILL_BLOCKS || CHECK_REUSE) { block_filled_taken(page, block, size); }
}

// The same for the block before the one with this number. The first one has none before it: its own
// stands for that.
FAST uint64_t canary_before_damage(const page_t* page, const void* p, uint32_t number) {
  return canary_damage(page, number == 1 ? canary_of(page, p) : (const canary_t*)p - 1);
}

// Without a state of each block: is it the one that its page's owner returned last, or others did?
FAST bool block_was_freed_last(const page_t* page, const void* p) {
  return !LINKS_APART && ((page_is_mine(page) && page_free_list(page) == p) ||
                          remote_came_last(&page->remote, page->start, (const block_t*)p));
}

// Is the block with this number none of the program's, as far as the build knows?
FAST bool block_is_free(const page_t* page, const void* p, uint32_t number) {
  return CHECK_STATE ? load_relaxed(&page_checks(page)->links[number]) != LINK_LIVE
                     : block_was_freed_last(page, p);
}

// The number of a live block; 0 if it is none.
FAST uint32_t block_live_number(const page_t* page, const void* p) {
  const uint32_t number = checks_number(page_checks(page), page_offset(page, p));
  if (unlikely(number == 0)) { return 0; }
  return likely(!block_is_free(page, p, number)) ? number : 0;
}

// The same; 0 also if somebody wrote behind the block, or behind the one before it. `single`: the
// page has one block.
FAST uint32_t block_intact_number(const page_t* page, const void* p, bool single) {
  const uint32_t number = block_live_number(page, p);
  if (unlikely(number == 0)) { return 0; }
  if (FILL_BLOCKS && !block_padding_is_intact(page, p)) { return 0; }
  if (!HAS_CANARIES || single) { return number; }
  const uint64_t damage =
      canary_damage(page, canary_of(page, p)) | canary_before_damage(page, p, number);
  return likely(damage == 0) ? number : 0;
}

// Any thread.
FAST bool block_is_intact(const page_t* page, const void* p) {
  return !CHECK_FREE || block_intact_number(page, p, page_is_single(page)) != 0;
}

// What is freed is filled: always, or because an option wants it.
FAST bool fills_freed(void) {
  return FILL_BLOCKS || ZERO_FREED ||
         (SECURE_LEVEL > 0 && unlikely(option_get(mi_option_fill_freed) != 0)) ||
         (CHECK_FREE && unlikely(perturb_now() != 0));
}

// Takes the block with this number, the first of the list, where links are apart.
FAST block_t* page_pop_number(page_t* page, uint32_t number) {
  link_t* link = &page_checks(page)->links[number];
  const uint32_t next = load_relaxed(link);
  block_t* block = (block_t*)(void*)(page->start + (size_t)(number - 1) * page->block_bytes);
  if (CHECK_STATE && unlikely(next >= LINK_AWAY)) { report_bad_list(page, block); }
  page->free_number = next;
  store_relaxed(link, LINK_LIVE);
  return block;
}

// The first block of the list is the program's from now on. The owner, of a held page, which does
// not count.
FAST block_t* page_pop(page_t* page) {
  if (LINKS_APART) {
    const uint32_t number = (uint32_t)page->free_number;
    return likely(number != 0) ? page_pop_number(page, number) : NULL;
  }
  block_t* block = page->free;
  if (likely(block != NULL)) { page->free = block->next; }
  return block;
}

// Freed blocks are first put by: a few at a time they join the list that malloc takes from, but for
// the one freed last. So none is reused at once, and those in use stay few, and in the caches. The
// last one joins when nothing else was left at two looks, see page_take_ripe.
enum { LATER_BLOCKS = 8 };

// The owner. `number`: of the block, where links are apart.
FAST void page_push(page_t* page, block_t* block, uint32_t number) {
  page_checks_t* checks = page_checks(page);
  if (!LINKS_APART) {
    block->next = page->free;
    page->free = block;
  } else if (REUSE_LATER) {
    store_relaxed(&checks->links[number], checks->later);
    checks->later = (uint16_t)number;
  } else {
    store_relaxed(&checks->links[number], (uint16_t)page->free_number);
    page->free_number = number;
  }
}

// The owner. A block was returned. True: the page is due for theap_page_due.
FAST bool page_count_return(page_t* page) {
  const uint32_t used = --page->used;
  return (REUSE_LATER ? used % LATER_BLOCKS : used) == 0;
}

#endif
