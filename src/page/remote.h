// The word of a page that all threads share: who may touch the page, and the blocks that other
// threads have returned.
//
//   | head: 15 bits | count: 15 bits | state: 2 bits |
//
// OWNED   a thread owns the page; others push onto the list. head: last block pushed, count: how
//         many.
// FULL    too few free blocks for anyone to look for, on no list, nobody's. Who frees the last of
//         `count` blocks owns the page from then on: mostly the first one.
// ABANDONED  in its heap's pool, nobody's. Who frees the last of `count` blocks, which are all that
//         are in use, owns it.
//
//   OWNED --remote_leave--> FULL or ABANDONED --remote_free (the last of `count`)--> OWNED
//                                   ABANDONED --remote_claim--> OWNED
//
// R-1 a block is in the program's hands, on the owner's list, or on this one.
// R-2 fields of a page other than this word and the constant ones are touched by its owner alone.
// R-3 who pushes may not touch the page after its compare-and-swap unless that made it the owner:
//     the page may be gone.
//
//   tag   writer                             reader                         what it carries
//   [R1]  remote_free: release               remote_take, _claim: acquire   links of pushed blocks
//   [R2]  remote_leave: release              remote_free, _claim: acquire   all fields of the page
//
// Heads are in granules from the page's start, plus one; where links are apart they are numbers of
// blocks, as in check.h. Model: test/model/remote.c.
#ifndef MI_PAGE_REMOTE_H
#define MI_PAGE_REMOTE_H

#include "../base/atomic.h"
#include "../base/attributes.h"
#include "../base/modes.h"
#include "class.h"

typedef struct block {
  struct block* next;
} block_t;

typedef _Atomic(uint32_t) remote_t;

enum {
  REMOTE_OWNED = 0,
  REMOTE_FULL = 1,
  REMOTE_ABANDONED = 2,
  REMOTE_STATE = 3,
  REMOTE_ONE = 1 << 2,
  REMOTE_HEAD = 1 << 17
};
enum { REMOTE_COUNT_MAX = (1 << 15) - 1 };

FAST uint32_t remote_state(uint32_t word) { return word & REMOTE_STATE; }
FAST uint32_t remote_count(uint32_t word) { return word / REMOTE_ONE & REMOTE_COUNT_MAX; }

FAST block_t* remote_head(uint32_t word, uint8_t* start) {
  const uint32_t head = word / REMOTE_HEAD;
  return head == 0 ? NULL : (block_t*)(void*)(start + (size_t)(head - 1) * GRANULE);
}

FAST uint32_t remote_granule(const block_t* head, const uint8_t* start) {
  return (uint32_t)((size_t)((const uint8_t*)head - start) / GRANULE) + 1;
}

// Without a list.
FAST uint32_t remote_word(uint32_t state, uint32_t count) { return count * REMOTE_ONE | state; }

// Was this block of the page the last to be returned? A block in use never was: who got it has seen
// the list taken since.
FAST bool remote_came_last(const remote_t* remote, const uint8_t* start, const block_t* block) {
  return load_relaxed(remote) / REMOTE_HEAD == remote_granule(block, start);
}

// A chain of `count` blocks of one page that the caller may free.
typedef struct chain {
  block_t *first, *last;
  uint32_t count;
  uint32_t head;            // the first one
  _Atomic(uint16_t)* link;  // where the last one's link is, if links are apart from the blocks
} chain_t;

// The returned blocks, by the word `old`, follow the chain.
FAST void chain_join(const chain_t* chain, uint32_t old, uint8_t* start) {
  if (LINKS_APART) {
    store_relaxed(chain->link, (uint16_t)(old / REMOTE_HEAD));
  } else {
    chain->last->next = remote_head(old, start);
  }
}

// Any thread. True: the caller owns the page now, the chain is not on its list, and *claimed is the
// word as it was.
FAST bool remote_free(remote_t* remote, uint8_t* start, chain_t chain, uint32_t* claimed) {
  uint32_t old = load_relaxed(remote);
  for (;;) {
    const bool owned = remote_state(old) == REMOTE_OWNED;
    const bool last = !owned && remote_count(old) <= chain.count;
    uint32_t wanted = REMOTE_OWNED;
    if (!last) {
      chain_join(&chain, old, start);
      const uint32_t more = owned ? chain.count : 0 - chain.count;
      wanted = old % REMOTE_HEAD + more * REMOTE_ONE + chain.head * REMOTE_HEAD;
    }
    if (cas_acq_rel(remote, &old, wanted)) {  // [R1] out, [R2] in
      *claimed = old;
      return last;
    }
  }
}

// The owner. Takes all that was returned; the word as it was.
FAST uint32_t remote_take(remote_t* remote) {
  return load_relaxed(remote) == REMOTE_OWNED ? REMOTE_OWNED
                                              : exchange_acquire(remote, REMOTE_OWNED);  // [R1] in
}

// The owner. False: a block was just returned, and the page stays owned.
FAST bool remote_leave(remote_t* remote, uint32_t state, uint32_t count) {
  uint32_t old = REMOTE_OWNED;
  while (!cas_release(remote, &old, remote_word(state, count))) {  // [R2] out
    if (old != REMOTE_OWNED) { return false; }  // else the swap failed for no reason
  }
  return true;
}

// Any thread that keeps the page from going away (it holds the pool's lock). True: the caller owns
// the page.
FAST bool remote_claim(remote_t* remote, uint32_t state, uint32_t* claimed) {
  uint32_t old = load_relaxed(remote);
  while (remote_state(old) == state) {
    if (cas_acquire(remote, &old, REMOTE_OWNED)) {  // [R2] in, [R1] in
      *claimed = old;
      return true;
    }
  }
  return false;
}

#endif
