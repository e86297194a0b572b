// What checked builds know of each block, apart from the blocks: its place in the list of free
// ones, or that it is live; in debug builds also who took and freed it.
//
// A page record is followed by page_checks_t in builds with HAS_CHECKS. The blocks of a page have
// numbers from 1 on. `links` has an entry for each, in memory for records, where no overflow
// reaches; entry 0 is nobody's, and never LINK_LIVE:
//
//   0                 free, the last of its list, or never taken
//   1 … LINK_MOST     free; the number of the next of its list
//   LINK_AWAY         free, and on no list: on its way, or waiting
//   LINK_LIVE         in the program's hands
//
//   any --page_pop--> LIVE --block_depart--> AWAY
//   LIVE or AWAY --page_push, remote_free--> on a list
//
// C1 a block that is handed out was not LIVE, and is from then on: no block has two owners.
// C2 who frees a block finds it LIVE. The owner of the page looks and then writes; other threads
//    exchange, so that of two that free one block one is told. Where both are the same moment's, C1
//    catches it.
// C3 all blocks up to capacity end as they must, live or not: so the free of a neighbour, by any
//    thread, sees an overflow as well. Their ends were written before the first of them was handed
//    out, see page_extend.
//
// A number takes one multiplication, as exact division does (Granlund and Montgomery, Division by
// Invariant Integers using Multiplication, section 9). A block has d * 2^shift bytes with d odd;
// modulo 2^64 d has an inverse. offset -> rotate_right(offset * inverse, shift) is one to one, and
// takes i * d * 2^shift to i: so it yields less than `limit` for the starts of blocks, and for
// nothing else, be it beyond the page or before it. Tests: test/unit/check.c.
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
  size_t inverse;
  uint32_t limit;      // blocks that fit
  uint32_t room;       // entries in `links` and `notes`, less the first
  uint64_t key;        // of canaries
  uint64_t random;     // state of quick_next
  uint16_t later;      // the number of the block freed last, of those that wait, see page_push
  uint16_t later_end;  // the number of the one freed first; 0: whoever has no next one
  uint16_t seen;       // `later` when it was all that the page had, see page_take_ripe; or 0
  uint8_t shift;
  bool guarded : 1;  // the last OS page of the span is inaccessible
  bool zeroed : 1;   // the blocks beyond capacity were filled with zeros when they were freed
  link_t single[2];  // `links` of a large block
  _Atomic(uint32_t) preserved;  // bytes at the start of a block that debug builds do not fill
  note_t* notes;                // debug builds
} page_checks_t;

_Static_assert(sizeof(void*) != 8 || sizeof(page_checks_t) == 64, "one cache line");

// For blocks of so many bytes.
FAST void checks_set_size(page_checks_t* checks, size_t block_bytes) {
  checks->shift = (uint8_t)low_bit(block_bytes);
  const size_t odd = block_bytes >> checks->shift;
  size_t inverse = odd;  // right in the lowest three bits; each round doubles them
  for (unsigned bits = 3; bits < 8 * sizeof(size_t); bits *= 2) { inverse *= 2 - odd * inverse; }
  checks->inverse = inverse;
}

FAST size_t rotate_right(size_t x, unsigned by) {
  return x >> by | x << ((0 - by) % (8 * sizeof(size_t)));
}

// The number of the block that starts at the offset; 0: none does.
FAST uint32_t checks_number(const page_checks_t* checks, size_t offset) {
  const size_t index = rotate_right(offset * checks->inverse, checks->shift);
  return likely(index < checks->limit) ? (uint32_t)index + 1 : 0;
}

// The same where a block is known to start.
FAST uint32_t checks_number_known(const page_checks_t* checks, size_t offset) {
  return (uint32_t)(offset * checks->inverse >> checks->shift) + 1;
}

#endif
