// Quarantine: freed blocks wait in a table of the thread. A block takes the place of a random one,
// which goes home to its page: so nobody can tell when a block will be used again, and rarely soon.
//
// They wait with the thread that freed them, in its theap of their heap, and go with that heap; a
// thread that does not use the heap keeps none of its blocks. Large blocks do not wait here: their
// memory is out of reach as soon as they are freed. The option quarantine_size bounds the bytes.
#include "../memory/meta.h"
#include "../service/options.h"
#include "../service/random.h"
#include "heap.h"

enum { QUARANTINE_SLOTS = 512 };

typedef struct quarantine {
  size_t bytes;
  uint64_t random;
  block_t* slots[QUARANTINE_SLOTS];
} quarantine_t;

static quarantine_t* quarantine_of(theap_t* theap) {
  if (unlikely(theap->quarantine == NULL)) { theap->quarantine = meta_alloc(sizeof(quarantine_t)); }
  return theap->quarantine;
}

static void slot_empty(quarantine_t* q, uint32_t slot) {
  block_t* block = q->slots[slot];
  if (block == NULL) { return; }
  page_t* page = page_of(block);
  q->slots[slot] = NULL;
  q->bytes -= page->block_bytes;
  if (NOTE_BLOCKS) { block_check_freed(page, block); }
  block_come_home(page, block);
}

// The way round from a random place: the oldest and the newest leave alike.
static void quarantine_shrink(quarantine_t* q, size_t limit) {
  for (uint32_t slot = quick_below(&q->random, QUARANTINE_SLOTS); q->bytes > limit;
       slot = (slot + 1) % QUARANTINE_SLOTS) {
    slot_empty(q, slot);
  }
}

static void quarantine_put(quarantine_t* q, page_t* page, block_t* block) {
  q->random += page_checks(page)->key;  // of the OS's making
  const uint32_t slot = quick_below(&q->random, QUARANTINE_SLOTS);
  slot_empty(q, slot);
  q->slots[slot] = block;
  q->bytes += page->block_bytes;
  const size_t limit = option_size(mi_option_quarantine_size);
  if (unlikely(q->bytes > limit)) { quarantine_shrink(q, limit); }
}

PRIVATE void block_quarantine(page_t* page, block_t* block) {
  theap_t* theap = page_is_single(page) ? NULL : theap_for(load_relaxed(&page->heap));
  quarantine_t* q = theap == NULL ? NULL : quarantine_of(theap);
  if (q == NULL) {
    block_come_home(page, block);
  } else {
    quarantine_put(q, page, block);
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
  for (int slot = 0; slot < QUARANTINE_SLOTS; slot++) {
    const block_t* block = q->slots[slot];
    if (block != NULL) { block_check_freed(page_of(block), block); }
  }
}

PRIVATE void quarantine_forget(theap_t* theap) {
  quarantine_t* q = theap->quarantine;
  if (!QUARANTINE || q == NULL) { return; }
  memset(q->slots, 0, sizeof(q->slots));
  q->bytes = 0;
}
