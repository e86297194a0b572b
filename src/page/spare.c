// Spare pages: those without a block in use that wait as they are, for the next page of their
// length in any heap, in checked builds of their class. A page that comes and goes then costs
// no memory lock, and no system calls for its guard. Large blocks of up to 1 MiB wait too in builds
// without guards, each a page. There they wait apart for some threads each, so that threads do not
// meet: for the one that had the page last, as it will want it again. See docs/decisions/039. More
// may wait in the place of dirty memory that might stay: see docs/decisions/040.
//
//   page_release --spare_put--> spare --spare_take--> page_reuse
//                               spare --too many, spare_take_extra, spare_take_unwanted,
//                               spare_take_all--> its memory goes, or it is
//   decommitted   inaccessible and without memory, for its class: builds with KEEP_CLASS
//
// S1 a page that waits is on no other list, and the map knows nothing of it.
// S2 its guard stays where it is.
// S3 while one waits, spares_hold is true.
// Lists are linked by `next`; those of decommitted pages are under the lock of records.
#include <string.h>

#include "../base/bits.h"
#include "../port/lock.h"
#include "page.h"

enum { SPARE_MOST = (GUARD_PAGES ? 8 << 20 : 6 << 20) >> SLICE_SHIFT };
enum { SPARE_LEAST = GUARD_PAGES ? SPARE_MOST : 1 << 20 >> SLICE_SHIFT };
enum { SPARE_HUGE = GUARD_PAGES ? SPARE_MOST : 0 };
enum { SPARE_LONGEST = 1 << 20 >> SLICE_SHIFT };  // of a large block
enum { PLACES = SPARE_BY_CLASS ? BIN_COUNT : SPARE_LONGEST + 1 };
enum { SPARES = SPARE_LARGE && PORT_HAS_THREADS ? 16 : 1 };  // a power of two

// Those of some threads: they do not share cache lines, since each takes what it gave.
typedef struct spares {
  ALIGNED(CACHE_LINE) lock_t lock;
  _Atomic(bool) used;      // pages have come since memory was short
  _Atomic(size_t) slices;  // of all places
  size_t least;            // of these there were, since the last look
  int64_t looked_ms;       // when that was
  page_t* places[PLACES];
} spares_t;

static spares_t spares[SPARES];
static _Atomic(size_t) spares_used;  // so many
static _Atomic(bool) spares_hold;    // there may be pages in any
static page_list_t decommitted_pages[BIN_COUNT];

static spares_t* spares_of(uint32_t serial) { return &spares[serial & (SPARES - 1)]; }

// ---- they wait; under the lock ----

// Its share of so many slices.
static size_t spares_share(size_t slices) {
  return slices / size_max(load_relaxed(&spares_used), 1);
}

static unsigned spare_place(unsigned bin, size_t slices) {
  return SPARE_BY_CLASS ? bin : (unsigned)slices;
}

static void spares_count(spares_t* of, size_t more) {
  store_relaxed(&of->slices, load_relaxed(&of->slices) + more);
}

static size_t spares_after(const spares_t* of, const page_t* page) {
  return load_relaxed(&of->slices) + page->span_slices;
}

static void spare_push(spares_t* of, unsigned place, page_t* page) {
  store_relaxed(&page->owner, 0);
  page->next = of->places[place];
  of->places[place] = page;
  spares_count(of, page->span_slices);
}

static page_t* spare_pop_at(spares_t* of, page_t** at) {
  page_t* page = *at;
  if (page == NULL) { return NULL; }
  *at = page->next;
  spares_count(of, 0 - (size_t)page->span_slices);
  of->least = size_min(of->least, load_relaxed(&of->slices));
  return page;
}

static page_t* spare_pop(spares_t* of, unsigned place) {
  return spare_pop_at(of, &of->places[place]);
}

// The first of a few that happens to be aligned so, or NULL.
static page_t* spare_pop_aligned(spares_t* of, unsigned place, size_t align) {
  enum { LOOKS_MOST = 8 };
  page_t** at = &of->places[place];
  for (int i = 0; i < LOOKS_MOST && *at != NULL; i++, at = &(*at)->next) {
    if (is_aligned(page_memory(*at), align)) { return spare_pop_at(of, at); }
  }
  return NULL;
}

// A process that gives memory back, as it shrinks, has too many empty pages too. Each of them would
// keep a huge page from going. Else pages may wait in the place of dirty memory.
static size_t spares_most(void) {
  static const uint32_t most[] = {[MEMORY_STAYS] = SPARE_MOST,
                                  [MEMORY_SHRINKS] = SPARE_LEAST,
                                  [MEMORY_SHRINKS_HUGE] = SPARE_HUGE};
  const memory_trend_t trend = load_relaxed(&memory_trend);
  const bool has_room = SPARE_LARGE && trend == MEMORY_STAYS;
  return spares_share(most[trend] + (has_room ? load_relaxed(&memory_spare_room) : 0));
}

static page_t* spare_pop_any(spares_t* of) {
  page_t* page = NULL;
  if (load_relaxed(&of->slices) == 0) { return NULL; }
  for (unsigned place = 0; page == NULL && place < PLACES; place++) { page = spare_pop(of, place); }
  return page;
}

static page_t* list_add(page_t* list, page_t* page) {
  page->next = list;
  return page;
}

// What goes so that the page can wait: a quarter of all at once, so that the locks of records and
// of memory are taken seldom, but no more than one call should have to wait for. Those of its own
// place, first.
static NOINLINE page_t* spare_put_full(spares_t* of, unsigned place, size_t limit, page_t* page) {
  enum { GONE_MOST = 128 };
  page_t* gone = NULL;
  limit -= limit / 4;
  for (int i = 0; i < GONE_MOST && spares_after(of, page) > limit; i++) {
    page_t* other = spare_pop(of, place);
    if (other == NULL) { other = spare_pop_any(of); }
    if (other == NULL) { return list_add(gone, page); }
    gone = list_add(gone, other);
  }
  spare_push(of, place, page);
  return gone;
}

static page_t* spare_put_locked(spares_t* of, page_t* page) {
  const unsigned place = spare_place(page->bin, page->span_slices);
  const size_t limit = spares_most();
  if (unlikely(spares_after(of, page) > limit)) { return spare_put_full(of, place, limit, page); }
  spare_push(of, place, page);
  return NULL;
}

static void spares_use(spares_t* of, bool used) {
  if (load_relaxed(&of->used) == used) { return; }
  if (used) { store_relaxed(&spares_hold, true); }
  store_relaxed(&of->used, used);
  (void)add_relaxed(&spares_used, used ? 1 : (size_t)-1);
}

// ---- any thread ----

PRIVATE page_t* spare_put(page_t* page) {
  spares_t* own = spares_of(load_relaxed(&page->last_owner));
  if (!page_may_wait(page) || page->span_slices > SPARE_LONGEST) { return list_add(NULL, page); }
  lock_acquire(&own->lock);
  spares_use(own, true);
  page_t* gone = spare_put_locked(own, page);
  lock_release(&own->lock);
  return gone;
}

PRIVATE bool spare_has_extra(void) { return load_relaxed(&spares_used) != 0; }

// All but `most` slices; under the lock.
static page_t* take_locked(spares_t* of, size_t most, page_t* taken) {
  page_t* page = NULL;
  while (load_relaxed(&of->slices) > most && (page = spare_pop_any(of)) != NULL) {
    taken = list_add(taken, page);
  }
  return taken;
}

static page_t* take_from(spares_t* of, size_t most, page_t* taken) {
  lock_acquire(&of->lock);
  taken = take_locked(of, most, taken);
  spares_use(of, false);
  lock_release(&of->lock);
  return taken;
}

// Without the lock: what another thread puts there at this moment may be overlooked.
static bool seems_empty(const spares_t* of) {
  return load_relaxed(&of->slices) == 0 && !load_relaxed(&of->used);
}

PRIVATE page_t* spare_take_extra(uint32_t serial) {
  page_t* taken = NULL;
  const spares_t* own = spares_of(serial);
  const size_t most = spares_share(SPARE_LEAST);
  for (spares_t* of = spares; of < spares + SPARES; of++) {
    if (!seems_empty(of)) { taken = take_from(of, of == own ? most : 0, taken); }
  }
  return taken;
}

// Whoever puts a page there later finds, under the lock, that there were none in use, and says that
// spares_hold: so what is put there meanwhile is taken, or known.
PRIVATE page_t* spare_take_all(void) {
  page_t* taken = NULL;
  if (!exchange_relaxed(&spares_hold, false)) { return NULL; }
  for (spares_t* of = spares; of < spares + SPARES; of++) {
    if (!port_is_single_threaded() || !seems_empty(of)) { taken = take_from(of, 0, taken); }
  }
  return taken;
}

static page_t* take_unwanted(spares_t* of, int64_t now, page_t* taken) {
  enum { LOOK_MS = 1000 };
  lock_acquire(&of->lock);
  if (now - of->looked_ms >= LOOK_MS) {
    const size_t wanted = load_relaxed(&of->slices) - of->least;
    taken = take_locked(of, size_max(wanted, spares_share(SPARE_LEAST)), taken);
    of->least = load_relaxed(&of->slices);
    of->looked_ms = now;
  }
  lock_release(&of->lock);
  return taken;
}

PRIVATE page_t* spare_take_unwanted(void) {
  page_t* taken = NULL;
  const int64_t now = port_clock_ms();
  for (spares_t* of = spares; of < spares + SPARES; of++) {
    if (!seems_empty(of)) { taken = take_unwanted(of, now, taken); }
  }
  return taken;
}

// ---- decommitted ----

PRIVATE bool spare_decommit(page_t* page) {
  if (page_is_single(page) || !page_may_wait(page) || addresses_are_limited()) { return false; }
  if (port_guard(page_memory(page), page_bytes(page)) == 0) {
    record_push(&decommitted_pages[page->bin], page);
  } else {
    page_end(page, false);  // a part of it may be inaccessible
  }
  return true;
}

static page_t* decommitted_take(unsigned bin, span_t* span) {
  page_t* page = record_pop(&decommitted_pages[bin]);
  if (page == NULL) { return NULL; }
  *span = page_span(page);
  span->is_zero = true;
  page_checks(page)->guarded = false;
  if (port_unguard(page_memory(page), page_bytes(page)) == 0) { return page; }
  page_end(page, false);
  return NULL;
}

PRIVATE void spare_end_decommitted(void) {
  for (unsigned bin = 0; bin < BIN_COUNT; bin++) {
    for (page_t* page = NULL; (page = record_pop(&decommitted_pages[bin])) != NULL;) {
      page_end(page, false);
    }
  }
}

static page_t* spare_take_own(const page_request_t* request, unsigned place) {
  spares_t* own = spares_of(request->serial);
  const size_t align = size_max(request->align, SLICE_BYTES);
  if (!load_relaxed(&spares_hold) || load_relaxed(&own->slices) == 0) { return NULL; }
  lock_acquire(&own->lock);
  page_t* page = spare_pop_aligned(own, place, align);
  lock_release(&own->lock);
  return page;
}

PRIVATE page_t* spare_take(const page_request_t* request, size_t slices, span_t* span) {
  if (slices > SPARE_LONGEST) { return NULL; }
  page_t* page = spare_take_own(request, spare_place(request->bin, slices));
  if (page == NULL) { return KEEP_CLASS ? decommitted_take(request->bin, span) : NULL; }
  *span = page_span(page);
  return page;
}

// ---- fork, and threads that are gone ----

PRIVATE void spare_lock_for_fork(void) {
  for (spares_t* of = spares; of < spares + SPARES; of++) { lock_acquire(&of->lock); }
}

PRIVATE void spare_unlock_after_fork(bool child) {
  for (spares_t* of = spares; of < spares + SPARES; of++) { lock_after_fork(&of->lock, child); }
}

PRIVATE void spare_rescue(void) {
  for (spares_t* of = spares; of < spares + SPARES; of++) {
    if (!lock_is_left(&of->lock)) { continue; }
    memset(of->places, 0, sizeof(of->places));
    store_relaxed(&of->slices, 0);
    of->least = 0;
  }
}
