// Labels and quarantine of tracked blocks. See tracked.h.
#include "tracked.h"

enum { WAITING_MOST = 4096, WAITING_BYTES = 16 << 20 };

static struct {
  lock_t lock;
  block_t* waiting[WAITING_MOST];  // a ring
  size_t first, count, bytes;
} quarantine;

// ---- labels ----

// Specific for the address, and different in each byte from state to state: a stale label that the
// program's data has overwritten in part does not count.
static uint32_t state_at(const label_t* label, label_state_t state) {
  const uint32_t place = (uint32_t)((uintptr_t)label / GRANULE) * 0x9e3779b1u;
  return place ^ (uint32_t)state * 0x85ebca6bu;
}

static bool label_is(const label_t* label, label_state_t state) {
  return label->state == state_at(label, state);
}

static void* label_block(label_t* label) { return (uint8_t*)label + label->lead; }

PRIVATE void* tracked_hand_out(label_t* label, size_t bytes, size_t lead) {
  label->bytes = bytes;
  label->lead = (uint32_t)lead;
  label->state = state_at(label, LABEL_LIVE);
  return label_block(label);
}

// The label of the block that p is in.
static label_t* label_around(const void* p) {
  const page_t* page = page_of(p);
  if (page == page_none()) { return NULL; }
  const size_t offset = (size_t)((const uint8_t*)p - page->start);
  const size_t index = page_is_single(page) ? 0 : offset / page->block_bytes;
  if (index >= page->reserved) { return NULL; }
  return (label_t*)(void*)(page->start + index * page->block_bytes);
}

PRIVATE label_t* tracked_label_of_any(const void* p) {
  label_t* label = label_around(p);
  if (label == NULL || label_block(label) != p) { return NULL; }
  return label_is(label, LABEL_LIVE) || label_is(label, LABEL_GIVEN) ? label : NULL;
}

PRIVATE label_t* tracked_label(const void* p) {
  label_t* label = tracked_label_of_any(p);
  return label != NULL && label_is(label, LABEL_LIVE) ? label : NULL;
}

PRIVATE bool tracked_is_live(const void* block) {
  track_quiet();
  const bool live = label_is((const label_t*)block, LABEL_LIVE);
  track_loud();
  return live;
}

PRIVATE void* tracked_block_at(void* block) {
  track_quiet();
  void* p = label_block((label_t*)block);
  track_loud();
  return p;
}

// ---- quarantine ----

static size_t waiting_bytes(const block_t* block) { return page_of(block)->block_bytes; }

// The one that has waited longest, or NULL; with the lock.
static block_t* quarantine_pop(void) {
  if (quarantine.count == 0) { return NULL; }
  block_t* block = quarantine.waiting[quarantine.first];
  quarantine.first = (quarantine.first + 1) % WAITING_MOST;
  quarantine.count--;
  quarantine.bytes -= waiting_bytes(block);
  return block;
}

static void quarantine_push(block_t* block) {
  quarantine.waiting[(quarantine.first + quarantine.count) % WAITING_MOST] = block;
  quarantine.count++;
  quarantine.bytes += waiting_bytes(block);
}

static void quarantine_give(block_t* block) {
  track_quiet();
  block_return_to_page(page_of(block), block);
  track_loud();
}

static block_t* quarantine_exchange(block_t* block) {
  lock_acquire(&quarantine.lock);
  const bool full = quarantine.count == WAITING_MOST || quarantine.bytes > WAITING_BYTES;
  block_t* old = full || block == NULL ? quarantine_pop() : NULL;
  if (block != NULL) { quarantine_push(block); }
  lock_release(&quarantine.lock);
  return old;
}

PRIVATE void tracked_take_back(label_t* label) {
  void* p = label_block(label);
  const size_t bytes = label->bytes;
  label->state = state_at(label, LABEL_GIVEN);
  track_given(p, bytes);
  block_t* old = TRACKED_WAITS ? quarantine_exchange((block_t*)label) : (block_t*)label;
  if (old != NULL) { quarantine_give(old); }
}

PRIVATE void tracked_flush(void) {
  for (block_t* old = quarantine_exchange(NULL); old != NULL; old = quarantine_exchange(NULL)) {
    quarantine_give(old);
  }
}

PRIVATE void tracked_lock_for_fork(void) { lock_acquire(&quarantine.lock); }

PRIVATE void tracked_rescue(void) {
  if (lock_is_left(&quarantine.lock)) {
    quarantine.first = quarantine.count = quarantine.bytes = 0;
  }
}

PRIVATE void tracked_unlock_after_fork(bool child) { lock_after_fork(&quarantine.lock, child); }

// ---- pages that go with live blocks ----

PRIVATE void tracked_drop_page(page_t* page) {
  track_quiet();
  for (uint32_t i = 0; i < page->capacity; i++) {
    label_t* label = (label_t*)(void*)(page->start + i * page->block_bytes);
    if (label_is(label, LABEL_LIVE)) {
      label->state = state_at(label, LABEL_GIVEN);
      track_given(label_block(label), label->bytes);
    }
  }
  track_loud();
}
