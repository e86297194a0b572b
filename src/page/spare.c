// Spare pages: those without a block in use that wait as they are, for the next page of their
// length in any heap, in checked builds of their class. A page that comes and goes then costs
// no memory lock, and no system calls for its guard.
//
//   page_release --spare_put--> spare --spare_take--> page_reuse
//                               spare --too many, spare_take_extra, spare_take_all--> its memory
//                               goes, or it is
//   decommitted   inaccessible and without memory, for its class: builds with KEEP_CLASS
//
// S1 a page that waits is on no other list, and the map knows nothing of it.
// S2 its guard stays where it is.
// All lists are under the lock of records, and linked by `next`.
#include "page.h"

enum { SPARE_MOST = (GUARD_PAGES ? 8 << 20 : 4 << 20) >> SLICE_SHIFT };
enum { SPARE_LEAST = GUARD_PAGES ? SPARE_MOST : SPARE_MOST / 4 };
enum { SPARE_HUGE = GUARD_PAGES ? SPARE_MOST : 0 };
enum { PLACES = SPARE_BY_CLASS ? BIN_COUNT : PAGE_MAX_SLICES + 1 };

static page_list_t places[PLACES];
static _Atomic(size_t) spare_slices;  // of all places
static page_list_t decommitted_pages[BIN_COUNT];

// ---- they wait ----

static unsigned spare_place(unsigned bin, size_t slices) {
  return SPARE_BY_CLASS ? bin : (unsigned)slices;
}

static page_t* spare_pop(unsigned place) {
  page_t* page = record_pop(&places[place]);
  if (page != NULL) { (void)sub_relaxed(&spare_slices, page->span_slices); }
  return page;
}

// A process that gives memory back, as it shrinks, has too many empty pages too. Each of them would
// keep a huge page from going.
static bool spare_is_full(size_t more) {
  static const uint32_t most[] = {[MEMORY_STAYS] = SPARE_MOST,
                                  [MEMORY_SHRINKS] = SPARE_LEAST,
                                  [MEMORY_SHRINKS_HUGE] = SPARE_HUGE};
  return load_relaxed(&spare_slices) + more > most[load_relaxed(&memory_trend)];
}

static page_t* spare_pop_any(void) {
  page_t* page = NULL;
  for (unsigned place = 0; page == NULL && place < PLACES; place++) { page = spare_pop(place); }
  return page;
}

// One that goes so that a page can wait: of another place if there is none in its own, or of its
// own if there are too many as it is. NULL: none.
static page_t* spare_displace(unsigned place) {
  if (load_relaxed(&places[place]) == NULL) { return spare_pop_any(); }
  return spare_is_full(0) ? spare_pop(place) : NULL;
}

static page_t* list_add(page_t* list, page_t* page) {
  page->next = list;
  return page;
}

PRIVATE page_t* spare_put(page_t* page) {
  page_t* gone = NULL;
  const unsigned place = spare_place(page->bin, page->span_slices);
  if (!page_may_wait(page)) { return list_add(gone, page); }
  while (spare_is_full(page->span_slices)) {
    page_t* other = spare_displace(place);
    if (other == NULL) { return list_add(gone, page); }
    gone = list_add(gone, other);
  }
  (void)add_relaxed(&spare_slices, page->span_slices);
  record_push(&places[place], page);
  return gone;
}

PRIVATE bool spare_has_extra(void) { return load_relaxed(&spare_slices) > SPARE_LEAST; }

// Pages, until no more than `most` slices wait.
static page_t* take_down_to(size_t most) {
  page_t *taken = NULL, *page = NULL;
  while (load_relaxed(&spare_slices) > most && (page = spare_pop_any()) != NULL) {
    taken = list_add(taken, page);
  }
  return taken;
}

PRIVATE page_t* spare_take_extra(void) { return take_down_to(SPARE_LEAST); }
PRIVATE page_t* spare_take_all(void) { return take_down_to(0); }

// ---- decommitted ----

PRIVATE bool spare_decommit(page_t* page) {
  if (page_is_single(page) || !page_may_wait(page) || addresses_are_limited()) { return false; }
  if (port_guard(page_memory(page), page->span_slices * SLICE_BYTES) == 0) {
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
  if (port_unguard(page_memory(page), page->span_slices * SLICE_BYTES) == 0) { return page; }
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

PRIVATE page_t* spare_take(const page_request_t* request, size_t slices, span_t* span) {
  if (request->arena != NULL || request->numa_node != 0) { return NULL; }
  page_t* page = spare_pop(spare_place(request->bin, slices));
  if (page == NULL) { return KEEP_CLASS ? decommitted_take(request->bin, span) : NULL; }
  *span = page_span(page);
  return page;
}
