// Large blocks that were freed wait for the next of about their size: builds with guard pages. A
// block that comes and goes then costs neither the calls that its guard takes nor page faults.
//
//   page_release --waiting_put--> waits --waiting_take--> page_new
//                                 waits --waiting_flush, or too many do--> its memory goes
//
//   NEAR    up to 1 MiB: accessible, as free small blocks are. FULL: zero, which is checked
//   AWAY    longer: inaccessible, so that its use faults; its memory is elsewhere, in the stash
//   EMPTY   … or gone
//
// W1 a block that waits is on no other list, and the map knows nothing of it.
// W2 its guard stays where it is: the next block ends there too, and may start later than this one
//    did.
// W3 the block that came last may not be taken yet, in FULL the last eight: nothing is reused soon.
#include <string.h>

#include "../port/lock.h"
#include "../port/port.h"
#include "page.h"

typedef enum { NEAR, AWAY, EMPTY, WAITING_STATES } waiting_state_t;

enum { NEAR_MOST = 1 << 20 };
enum { WAITING_BLOCKS = 64, FAR_BLOCKS = 2 };  // the latter inaccessible: up to four mappings each
// With memory, of one state. More is less than it seems in FULL, where the newest do not count.
enum { WAITING_SLICES = (QUARANTINE ? 16 : 8) << 20 >> SLICE_SHIFT };
enum { TOO_NEW = QUARANTINE ? 8 : REUSE_LATER };  // W3
// Exchanging page tables takes few of them where both places lie alike in huge pages.
enum { STASH_BYTES = 8 << 20, STASH_ALIGN = 2 << 20 };
enum { STASH_STRIDE = STASH_BYTES + STASH_ALIGN };

typedef struct waiting {
  page_t* page;
  int64_t stamp;
  waiting_state_t state;
  unsigned slot;  // AWAY: in the stash
} waiting_t;

static struct {
  lock_t lock;
  waiting_t list[WAITING_BLOCKS];  // the oldest first
  size_t count;
  size_t blocks[WAITING_STATES], slices[WAITING_STATES];
  uint8_t* stash;  // address space
  bool stash_slots[FAR_BLOCKS];
} waiting;

PRIVATE void waiting_lock_for_fork(void) { lock_acquire(&waiting.lock); }
PRIVATE void waiting_unlock_after_fork(bool child) { lock_after_fork(&waiting.lock, child); }

PRIVATE void waiting_rescue(void) {
  if (lock_is_left(&waiting.lock)) { memset(&waiting, 0, sizeof(waiting)); }
}

// ---- the list; under the lock ----

static void waiting_count(const waiting_t* one, bool more) {
  const size_t sign = more ? 1 : (size_t)-1;
  waiting.blocks[one->state] += sign;
  waiting.slices[one->state] += sign * one->page->span_slices;
}

static page_t* waiting_remove(size_t at) {
  const waiting_t one = waiting.list[at];
  waiting_count(&one, false);
  waiting.count--;
  memmove(&waiting.list[at], &waiting.list[at + 1], (waiting.count - at) * sizeof(one));
  return one.page;
}

static void waiting_add(const waiting_t* one) {
  waiting_count(one, true);
  waiting.list[waiting.count++] = *one;
}

// waiting.count if there is none.
static size_t waiting_oldest(waiting_state_t state) {
  size_t at = 0;
  while (at < waiting.count && waiting.list[at].state != state) { at++; }
  return at;
}

// ---- inaccessible, and back ----

// What is not writable does not count for the limit of data: room for it may be gone when it is
// wanted again. And where addresses are limited, the program may need them for other things.
static bool may_be(waiting_state_t state) {
  return state == NEAR || (!port_data_is_limited() && !addresses_are_limited());
}

static waiting_state_t state_of(const page_t* page) {
  const bool fills = option_get(mi_option_fill_freed) != 0;  // only its first part
  if (page->block_bytes <= NEAR_MOST) { return NEAR; }
  return PORT_CAN_MOVE && page_bytes(page) <= STASH_BYTES && !fills ? AWAY : EMPTY;
}

static uint8_t* stash_place(const waiting_t* one) {
  const size_t in_huge = (uintptr_t)one->page->span_start % STASH_ALIGN;
  return waiting.stash + one->slot * (size_t)STASH_STRIDE + in_huge;
}

// Returns false if there is no slot, or no stash.
static bool stash_find(waiting_t* one) {
  void* stash = NULL;
  if (waiting.stash == NULL && port_reserve(FAR_BLOCKS * STASH_STRIDE, STASH_ALIGN, &stash) == 0) {
    waiting.stash = (uint8_t*)stash;
  }
  for (one->slot = 0; one->slot < FAR_BLOCKS && waiting.stash_slots[one->slot];) { one->slot++; }
  return waiting.stash != NULL && one->slot < FAR_BLOCKS;
}

static bool go_away(waiting_t* one) {
  page_t* page = one->page;
  if (!stash_find(one)) { return false; }
  if (port_put_away(page->span_start, page_bytes(page), stash_place(one)) != 0) { return false; }
  waiting.stash_slots[one->slot] = true;
  return true;
}

static bool go_empty(const waiting_t* one) {
  const span_t span = page_span(one->page);
  return memory_empty(&span, bytes_to_guard(one->page));
}

// Returns false if the OS did not want to.
static bool waiting_begin(waiting_t* one) {
  return one->state == NEAR || (one->state == AWAY ? go_away(one) : go_empty(one));
}

// Makes it accessible again. Returns false if the OS did not want to.
static bool waiting_end(const waiting_t* one) {
  const span_t span = page_span(one->page);
  if (one->state == NEAR) { block_check_zero(one->page, one->page->start); }
  if (one->state == AWAY) {
    if (port_bring_back(span.start, page_bytes(one->page), stash_place(one)) != 0) { return false; }
    waiting.stash_slots[one->slot] = false;
  }
  return one->state != EMPTY || memory_refill(&span, bytes_to_guard(one->page));
}

// ---- too many, and too old ----

// The one that has to go before this one may wait; waiting.count if none has.
static size_t waiting_excess(const waiting_t* one) {
  const size_t slices = waiting.slices[one->state] + one->page->span_slices;
  if (waiting.count == WAITING_BLOCKS) { return 0; }
  if (one->state == NEAR) { return slices > WAITING_SLICES ? waiting_oldest(NEAR) : waiting.count; }
  if (waiting.blocks[AWAY] + waiting.blocks[EMPTY] < FAR_BLOCKS) { return waiting.count; }
  return waiting.blocks[EMPTY] == 0 ? waiting_oldest(AWAY) : waiting_oldest(EMPTY);
}

// Takes one off the list, and puts it onto the other, which is linked by `next`.
static bool waiting_drop(size_t at, page_t** gone) {
  if (!waiting_end(&waiting.list[at])) { return false; }
  page_t* page = waiting_remove(at);
  page->next = *gone;
  *gone = page;
  return true;
}

static bool waiting_make_room(const waiting_t* one, page_t** gone) {
  for (size_t at = 0; (at = waiting_excess(one)) < waiting.count;) {
    if (!waiting_drop(at, gone)) { return false; }
  }
  return true;
}

PRIVATE void waiting_flush(int64_t before_ms) {
  page_t* gone = NULL;
  lock_acquire(&waiting.lock);
  while (waiting.count > 0 && waiting.list[0].stamp <= before_ms && waiting_drop(0, &gone)) {}
  lock_release(&waiting.lock);
  page_release_list(gone);
}

PRIVATE void waiting_flush_old(void) {
  if (purge_delay_ms() >= 0) { waiting_flush(port_clock_ms() - purge_delay_ms()); }
}

PRIVATE void waiting_flush_near(void) {
  page_t* gone = NULL;
  lock_acquire(&waiting.lock);
  while (waiting.blocks[NEAR] > 0 && waiting_drop(waiting_oldest(NEAR), &gone)) {}
  lock_release(&waiting.lock);
  page_release_list(gone);
}

// ---- a block comes, and goes ----

PRIVATE bool waiting_put(page_t* page) {
  waiting_t one = {page, port_clock_ms(), state_of(page), 0};
  page_t* gone = NULL;
  if (!page_may_wait(page) || !page_checks(page)->guarded) { return false; }
  if (option_get(mi_option_purge_delay) == 0 || !may_be(one.state)) { return false; }
  if (ZERO_FREED && one.state != EMPTY) { memset(page->span_start, 0, bytes_to_guard(page)); }
  store_relaxed(&page->owner, 0);
  lock_acquire(&waiting.lock);
  const bool ok = waiting_make_room(&one, &gone) && waiting_begin(&one);
  if (ok) { waiting_add(&one); }
  lock_release(&waiting.lock);
  page_release_list(gone);
  return ok;
}

static bool waiting_suits(const waiting_t* one, const page_request_t* request) {
  enum { MORE_SHARE = QUARANTINE ? 4 : 8 };
  const size_t least = large_slices(request->bytes, 0);
  const size_t most = one->state == EMPTY ? 2 * least : least + least / MORE_SHARE;
  const bool is_zero = one->state == EMPTY || ZERO_FREED;
  return one->page->span_slices >= least && one->page->span_slices <= most &&
         (is_zero || !request->zeroed);
}

static page_t* waiting_find(const page_request_t* request, span_t* span) {
  for (size_t at = 0; at + TOO_NEW < waiting.count; at++) {
    const waiting_t* one = &waiting.list[at];
    if (waiting_suits(one, request)) {
      *span = page_span(one->page);
      span->is_zero = one->state == EMPTY || ZERO_FREED;
      return waiting_end(one) ? waiting_remove(at) : NULL;
    }
  }
  return NULL;
}

PRIVATE page_t* waiting_take(const page_request_t* request, span_t* span) {
  if (!request->at_end || request->direct || request->arena != NULL || request->numa_node != 0) {
    return NULL;
  }
  lock_acquire(&waiting.lock);
  page_t* page = waiting_find(request, span);
  lock_release(&waiting.lock);
  return page;
}
