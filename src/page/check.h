// What checked builds know of each block, apart from the blocks: its place in the list of free
// ones, or that it is live; in debug builds also who took and freed it.
//
// A page record is followed by page_checks_t in builds with HAS_CHECKS. `links` has an entry for
// each block, in memory for records, where no overflow reaches:
//
//   0                 free, the last of its list, or never taken
//   1 … LINK_MOST     free; the next of its list starts (link - 1) granules from the page's start
//   LINK_AWAY         free, and on no list: on its way, or waiting
//   LINK_LIVE         in the program's hands
//
//   any --page_pop--> LIVE --block_depart--> AWAY
//   LIVE or AWAY --page_push, remote_free--> on a list
//
//   [C3] a block is LIVE: page_pop, release; block_before_is_intact, acquire: the end of the block.
//
// C1 a block that is handed out was not LIVE, and is from then on: no block has two owners.
// C2 who frees a block finds it LIVE. The owner of the page looks and then writes; other threads
//    exchange, so that of two that free one block one is told. Where both are the same moment's, C1
//    catches it.
// C3 while a block is LIVE it ends as it must: so the free of its neighbour, by any thread, sees an
//    overflow as well.
//
// An index is a product: offset / size = offset * reciprocal / 2^32 in granules, exactly, and the
// low half of the product tells whether there is a rest. For granules g < 2^14, d <= 2^11 to a
// block and c = ceil(2^32 / d), g = q * d + r: g * c = q * 2^32 + q * e + r * c with e = d * c -
// 2^32 < d. The low half is q * e + r * c, which is below c if r = 0 (q * e < g < c) and from c to
// 2^32 else (r * c <= 2^32 + e - c, and e + q * e < c). Offsets that are no granules turn into
// numbers too large for any index. Tests: test/unit/check.c.
#ifndef MI_PAGE_CHECK_H
#define MI_PAGE_CHECK_H

#include "../base/atomic.h"
#include "../base/bits.h"
#include "../base/modes.h"
#include "class.h"

enum { HAS_CHECKS = CHECK_FREE || LINKS_APART || CANARY || GUARD_PAGES };
enum { LINK_LIVE = 0xFFFF, LINK_AWAY = 0xFFFE, LINK_MOST = 1 << 14 };

typedef _Atomic(uint16_t) link_t;

typedef struct block block_t;

// Debug builds: of one block.
typedef struct note {
  uint64_t size : 48;           // asked for; the block is this long to the program
  uint64_t taken_at : 16;       // the stack, if it is kept: traces_get
  uint32_t taken_by, freed_by;  // threads, as the OS numbers them; 0: nobody
} note_t;
#define NOTE_SIZE_MOST (((uint64_t)1 << 48) - 1)

typedef struct page_checks {
  link_t* links;
  uint64_t reciprocal;
  uint32_t limit;   // granules of the blocks that fit, from the first one's start
  uint32_t room;    // entries in `links` and `notes`
  uint64_t key;     // of canaries
  uint64_t random;  // state of quick_next
  uint32_t later;   // blocks that were freed and wait until page->free is used up: a link
  note_t* notes;    // debug builds
  link_t single;    // `links` of a large block
  bool guarded;     // the last OS page of the span is out of reach
} page_checks_t;

_Static_assert(sizeof(void*) != 8 || sizeof(page_checks_t) == 64, "one cache line");

FAST uint64_t reciprocal_of(size_t block_bytes) {
  const uint64_t granules = block_bytes / GRANULE;
  return (((uint64_t)1 << 32) + granules - 1) / granules;
}
enum { RECIPROCAL_SINGLE = 1 };  // only offset 0 is a start, index 0

FAST size_t offset_turned(size_t offset) {
  return offset >> 4 | offset << (8 * sizeof(size_t) - 4);
}

// False: no block starts at the offset.
FAST bool checks_find(const page_checks_t* checks, size_t offset, uint32_t* index) {
  const size_t turned = offset_turned(offset);
  const uint64_t product = turned * checks->reciprocal;
  *index = (uint32_t)(product >> 32);
  return turned < checks->limit && (uint32_t)product < checks->reciprocal;
}

// Of the start of a block.
FAST uint32_t checks_index(const page_checks_t* checks, size_t offset) {
  return (uint32_t)(offset_turned(offset) * checks->reciprocal >> 32);
}

_Static_assert((int)GRANULE == 16, "checks_find turns by so many bits");

#endif
