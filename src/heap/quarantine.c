// Quarantine: freed blocks wait in a table of the thread. A block takes the place of a random one,
// which returns to its page: so nobody can tell when a block will be used again, and rarely soon.
//
// They wait with the thread that freed them, in its theap of their heap, and go with that heap; a
// thread that does not use the heap keeps none of its blocks. Large blocks do not wait here: their
// memory is inaccessible as soon as they are freed. The option quarantine_size bounds the bytes.
#include "../memory/meta.h"
#include "../service/options.h"
#include "../service/random.h"
#include "heap.h"

enum { QUARANTINE_SLOTS = 512 };

// A block, by its page and number, so that neither is looked up again: addresses have 48 bits.
// 0: none.
typedef uint64_t slot_t;
enum { SLOT_NUMBER_BITS = 16 };

static slot_t slot_of(const page_t* page, uint32_t number) {
  return (uint64_t)(uintptr_t)page << SLOT_NUMBER_BITS | number;
}
static page_t* slot_page(slot_t slot) { return (page_t*)(uintptr_t)(slot >> SLOT_NUMBER_BITS); }
static uint32_t slot_number(slot_t slot) { return (uint16_t)slot; }
static block_t* slot_block(slot_t slot) { return link_block(slot_page(slot), slot_number(slot)); }

typedef struct quarantine {
  size_t bytes;
  uint64_t random;
  slot_t slots[QUARANTINE_SLOTS];
} quarantine_t;

static quarantine_t* quarantine_of(theap_t* theap) {
  if (unlikely(theap->quarantine == NULL)) {
    theap->quarantine = (quarantine_t*)meta_alloc(sizeof(quarantine_t));
  }
  return theap->quarantine;
}

// Returns the block to its page, whoever owns that.
static void slot_return(slot_t slot) {
  page_t* page = slot_page(slot);
  if (unlikely(load_relaxed(&page->owner) != port_thread_id())) {
    block_send(page, slot_block(slot));
    return;
  }
  page_push(page, NULL, slot_number(slot));
  if (page_count_return(page)) { theap_page_due(NULL, page); }
}

static void slot_empty(quarantine_t* q, uint32_t at) {
  const slot_t slot = q->slots[at];
  if (slot == 0) { return; }
  q->slots[at] = 0;
  q->bytes -= slot_page(slot)->block_bytes;
  if (NOTE_BLOCKS) { block_check_freed(slot_page(slot), slot_block(slot)); }
  slot_return(slot);
}

// The way round from a random place: the oldest and the newest leave alike.
static void quarantine_shrink(quarantine_t* q, size_t limit) {
  for (uint32_t slot = quick_below(&q->random, QUARANTINE_SLOTS); q->bytes > limit;
       slot = (slot + 1) % QUARANTINE_SLOTS) {
    slot_empty(q, slot);
  }
}

static void quarantine_put(quarantine_t* q, page_t* page, uint32_t number) {
  q->random += page_checks(page)->key;  // of the OS's making
  const uint32_t at = quick_below(&q->random, QUARANTINE_SLOTS);
  slot_empty(q, at);
  q->slots[at] = slot_of(page, number);
  q->bytes += page->block_bytes;
}

PRIVATE void block_quarantine(page_t* page, uint32_t number) {
  theap_t* theap = page_is_single(page) ? NULL : theap_for(load_relaxed(&page->heap));
  quarantine_t* q = theap == NULL ? NULL : quarantine_of(theap);
  const size_t limit = option_size(mi_option_quarantine_size), bytes = page->block_bytes;
  if (q != NULL && unlikely(q->bytes + bytes > limit)) {  // others go, not the one that comes
    quarantine_shrink(q, limit - size_min(limit, bytes));
  }
  if (q == NULL || bytes > limit) {
    slot_return(slot_of(page, number));
  } else {
    quarantine_put(q, page, number);
  }
}

PRIVATE void quarantine_flush(theap_t* theap) {
  quarantine_t* q = theap->quarantine;
  if (!QUARANTINE || q == NULL) { return; }
  theap->quarantine = NULL;
  quarantine_shrink(q, 0);
  meta_free(q, sizeof(quarantine_t));
}

PRIVATE void quarantine_check(const theap_t* theap) {
  const quarantine_t* q = theap->quarantine;
  if (!QUARANTINE || q == NULL) { return; }
  for (int at = 0; at < QUARANTINE_SLOTS; at++) {
    const slot_t slot = q->slots[at];
    if (slot != 0) { block_check_freed(slot_page(slot), slot_block(slot)); }
  }
}

PRIVATE void quarantine_forget(theap_t* theap) {
  quarantine_t* q = theap->quarantine;
  if (!QUARANTINE || q == NULL) { return; }
  memset(q->slots, 0, sizeof(q->slots));
  q->bytes = 0;
}
