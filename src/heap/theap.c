// Thread-local heaps: queues of pages by size class. See heap.h for the picture, page.h for the
// states.
#include "count.h"

#include "../service/options.h"
#include "guard.h"
#include "ration.h"
#include "row.h"

// ---- queues ----

static bool queue_is_empty(const theap_t* theap, unsigned bin) {
  return theap->first[bin] == page_none();
}

// What the fast path sees of a class: `direct` has an entry for each size, in granules.
FAST void fast_path_update(theap_t* theap, unsigned bin) {
  page_t* page = theap->first[bin];
  if (theap->rations != NULL) { page = &theap->rations->list[bin]; }
  if (theap->rows.open) { page = (page_t*)(void*)&theap->row[bin]; }
  if ((theap->special & (SPECIAL_NO_THREAD | SPECIAL_FILL)) != 0) { page = page_none(); }
  if (bin >= ACTIVE_LEAST) {
    theap->active[bin - ACTIVE_LEAST] = page;
    return;
  }
  const size_t last = bin_bytes(bin) / GRANULE;
  const size_t first = bin == 1 ? 0 : bin_bytes(bin - 1) / GRANULE + 1;
  for (size_t i = first; i <= last; i++) { theap->direct[i] = page; }
}

// So little memory in sparse pages is left alone.
static bool theap_looks_at_sparse(const theap_t* theap) {
  enum { SPARSE_LEAST = 4 << 20 };
  return MAKES_HOLES && unlikely(theap->sparse_slices > SPARSE_LEAST / SLICE_BYTES);
}

// The page counts all, and takes its place in the queue, but not as the first one.
static void queue_count(theap_t* theap, page_t* page) {
  if (page->used > page_half(page)) {
    page->used -= page_half(page);
    page->counting = COUNT_TO_HALF;
    return;
  }
  theap->sparse[page->bin]++;
  theap->sparse_slices += page->span_slices;
  if (theap_looks_at_sparse(theap) && page->used > page_few(page)) {
    page->used -= page_few(page);
    page->counting = COUNT_TO_FEW;
  }
}

static void page_stop_falling(theap_t* theap, const page_t* page) {
  for (unsigned i = 0; i < FALLING_PAGES; i++) {
    if (theap->falling[i] == page) { theap->falling[i] = NULL; }
  }
}

// The page leaves its place in the queue, and counts all.
static void queue_uncount(theap_t* theap, page_t* page) {
  if (page->counting == COUNT_FALLING) { page_stop_falling(theap, page); }
  if (page->counting != COUNT_TO_HALF) {
    theap->sparse[page->bin]--;
    theap->sparse_slices -= page->span_slices;
  }
  page_count_all(page);
}

static void page_let_go(theap_t* theap, unsigned bin, page_t* page) {
  const size_t before = theap->taken[bin];
  page->used = theap_count(theap, bin, page);
  if (OPEN_ROWS) { rows_learn(theap, page, theap->taken[bin] - before); }
  page->counting = COUNT_ALL;
}

// The first page is held: see page.h. The page counts all, as the former first one does afterwards.
static void queue_set_first(theap_t* theap, unsigned bin, page_t* page) {
  if (!queue_is_empty(theap, bin)) { page_let_go(theap, bin, theap->first[bin]); }
  if (page != page_none()) { page_hold(page, theap_lets_go(theap)); }
  theap->first[bin] = page;
  fast_path_update(theap, bin);
}

// The first page's `prev` is the last one.
static void queue_push_back(theap_t* theap, page_t* page) {
  const unsigned bin = page->bin;
  page->next = NULL;
  theap->count[bin]++;
  theap->slices += page->span_slices;
  if (queue_is_empty(theap, bin)) {
    page->prev = page;
    queue_set_first(theap, bin, page);
    return;
  }
  page_t* first = theap->first[bin];
  page->prev = first->prev;
  first->prev->next = page;
  first->prev = page;
  queue_count(theap, page);
}

static void queue_push_front(theap_t* theap, page_t* page) {
  const unsigned bin = page->bin;
  page_t* first = theap->first[bin];
  theap->count[bin]++;
  theap->slices += page->span_slices;
  if (queue_is_empty(theap, bin)) {
    page->next = NULL;
    page->prev = page;
  } else {
    page->next = first;
    page->prev = first->prev;
    first->prev = page;
  }
  queue_set_first(theap, bin, page);
  if (page->next != NULL) { queue_count(theap, page->next); }
}

static void queue_remove(theap_t* theap, page_t* page) {
  const unsigned bin = page->bin;
  theap->count[bin]--;
  theap->slices -= page->span_slices;
  if (theap->first[bin] == page) {
    if (page->next != NULL) {
      page->next->prev = page->prev;
      queue_uncount(theap, page->next);
    }
    queue_set_first(theap, bin, page->next == NULL ? page_none() : page->next);
  } else {
    queue_uncount(theap, page);
    page->prev->next = page->next;
    page_t* after = page->next == NULL ? theap->first[bin] : page->next;
    after->prev = page->prev;
  }
  page->next = page->prev = NULL;
}

static void page_name_owner(page_t* page, const theap_t* theap) {
  store_relaxed(&page->owner, theap->thread->id | (theap->rows.open ? OWNER_ROW : 0));
}

static void theap_own(theap_t* theap, page_t* page) {
  page->theap = theap;
  store_relaxed(&page->last_owner, theap->serial);
  page_name_owner(page, theap);
  if (PERTURBS_BY_MASK && unlikely(page_is_veiled(page) != theap_fills(theap))) {
    page_veil(page, theap_fills(theap));
  }
}

static void theap_disown(theap_t* theap, page_t* page) {
  queue_remove(theap, page);
  page->theap = NULL;
  store_relaxed(&page->owner, 0);
}

PRIVATE void theap_own_all(theap_t* theap) {
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    page_t* page = queue_is_empty(theap, bin) ? NULL : theap->first[bin];
    for (; page != NULL; page = page->next) { theap_own(theap, page); }
  }
}

PRIVATE void theap_follow_rows(theap_t* theap) {
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    page_t* page = queue_is_empty(theap, bin) ? NULL : theap->first[bin];
    for (; page != NULL; page = page->next) { page_name_owner(page, theap); }
    fast_path_update(theap, bin);
  }
}

PRIVATE void theap_clear(theap_t* theap) {
  for (unsigned i = 0; i < DIRECT_COUNT; i++) { theap->direct[i] = page_none(); }
  for (unsigned i = 0; i < BIN_COUNT; i++) { theap->first[i] = page_none(); }
  for (unsigned i = ACTIVE_LEAST; i < BIN_COUNT; i++) { fast_path_update(theap, i); }
  memset(theap->count, 0, sizeof(theap->count));
  memset(theap->sparse, 0, sizeof(theap->sparse));
  memset(theap->filled, 0, sizeof(theap->filled));
  memset(theap->falling, 0, sizeof(theap->falling));
  theap->slices = theap->sparse_slices = 0;
  theap->wanted = 0;
  theap->trend = MEMORY_STAYS;
  rows_forget(theap);
  quarantine_forget(theap);
}

static void places_fill(theap_t* theap) {
  size_t step = SMALL_MAX / MEDIUM_STEP;
  for (unsigned bin = ACTIVE_LEAST; bin < BIN_COUNT; bin++) {
    const size_t last = bin_bytes(bin) / MEDIUM_STEP;
    while (step < last) { theap->place[++step] = (uint8_t)(bin - ACTIVE_LEAST); }
  }
}

PRIVATE void theap_setup(theap_record_t* record, heap_t* heap, thread_t* thread) {
  theap_t* theap = &record->theap;
  theap->few = record->few;
  places_fill(theap);
  theap_clear(theap);
  theap->heap = heap;
  theap->thread = thread;
  theap->growths = load_relaxed(&memory_growths);
  theap_set_special(theap, SPECIAL_HEARTBEAT, thread->has_heartbeat);
}

static COLD NOINLINE void theap_become(theap_t* theap, special_t reason, bool wanted) {
  rows_flush(theap);
  theap->special = (uint8_t)(wanted ? theap->special | reason : theap->special & ~reason);
  rations_follow(theap);
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) { fast_path_update(theap, bin); }
}

PRIVATE void theap_set_special(theap_t* theap, special_t reason, bool wanted) {
  if (wanted || (theap->special & reason) != 0) { theap_become(theap, reason, wanted); }
}

PRIVATE COLD void theap_catch_up_fill(theap_t* theap) {
  const bool fills = perturb_now() != 0;
  if (theap_fills(theap) == fills) { return; }
  theap_set_special(theap, SPECIAL_FILL, fills);
  theap_own_all(theap);
  row_flush(theap, BIN_LARGE);
}

// ---- sparse pages ----

// Half of its blocks are free, so that their order matters. The page counts all, or is only just
// held.
static bool page_is_sparse(const page_t* page) {
  return (page->capacity - page->used % PAGE_HELD) * 2 >= page->capacity;
}

// `page` is one of the sparse ones. Are there more than the theap keeps in any case?
static bool queue_is_sparse(const theap_t* theap, const page_t* page) {
  const uint32_t sparse = theap->sparse[page->bin];
  return (size_t)sparse * page->span_slices > SPARSE_SLICES &&
         sparse > theap->count[page->bin] / SPARSE_SHARE && process_is_threaded();
}

static void theap_note_wanted(theap_t* theap, size_t bytes) {
  theap->wanted = (uint32_t)size_min(theap->wanted + bytes, WANTED_BYTES);
}

PRIVATE void theap_note_back(theap_t* theap, const page_t* page) {
  if (load_relaxed(&page->last_owner) != theap->serial) { return; }
  theap_note_wanted(theap, page_bytes(page));
}

// ---- finding a page, in the pool ----

// The owner: it takes what others returned, and blocks that were on no list yet.
FAST bool theap_page_has_room(theap_t* theap, page_t* page) {
  const uint32_t before = page->capacity;
  const bool has_room = page_has_room(page);
  if (unlikely(page->capacity != before)) { theap_count_extended(theap, page, before); }
  return has_room;
}

static page_t* theap_reuse_abandoned(theap_t* theap, unsigned bin) {
  enum { YOUNG_CALLS = 64 };  // a thread that has just begun may need a few blocks only: no sorting
  page_t* page = heap_claim_abandoned(theap->heap, bin);
  if (page == NULL) { return NULL; }
  page->kept = false;
  theap_note_back(theap, page);
  if (page_is_sparse(page) && theap->slow_calls >= YOUNG_CALLS) { page_sort_free(page); }
  theap_own(theap, page);
  queue_push_front(theap, page);
  theap->claimed++;
  return theap_page_has_room(theap, page) ? page : NULL;
}

// ---- finding a page, in the queue ----

// Returns false if a block was returned meanwhile, and the page is back at the front.
static bool theap_page_to_full(theap_t* theap, page_t* page) {
  const unsigned bin = page->bin;  // once it is full it may be gone
  if (load_relaxed(&page->owner) != 0) { theap_disown(theap, page); }
  if (page_leave(page, REMOTE_FULL, 1)) {
    if (theap->filled[bin] != UINT16_MAX) { theap->filled[bin]++; }
    return true;
  }
  theap_own(theap, page);
  queue_push_front(theap, page);
  page_take_remote(page);
  return false;
}

// Another page of the queue becomes the active one. Its free list is as the program freed: where
// there is more than caches hold, order pays, see docs/decisions/007.
static void theap_advance(theap_t* theap, page_t* page) {
  enum { CACHED_SLICES = 16 };
  if (page == page_none() || !page_is_sparse(page)) { return; }
  if (queue_is_sparse(theap, page)) {
    theap_note_wanted(theap, page_bytes(page) - page_bytes(page) / USED_UP_LOSS);
  }
  if (theap->count[page->bin] * page->span_slices >= CACHED_SLICES) { page_sort_free(page); }
}

static void queue_rotate(theap_t* theap, page_t* page) {
  queue_remove(theap, page);
  queue_push_back(theap, page);
}

FAST page_t* theap_search(theap_t* theap, unsigned bin) {
  const page_t* passed = NULL;  // the first one that has nothing but the block that was freed last
  while (!queue_is_empty(theap, bin) && theap->first[bin] != passed) {
    page_t* page = theap->first[bin];
    const uint32_t used = page->used;
    if (theap_page_has_room(theap, page)) {
      if (OPEN_ROWS && unlikely(used != page->used)) {
        rows_learn_others(theap, used - page->used);
      }
      return page;
    }
    if (page_waits(page)) {
      if (passed == NULL) { passed = page; }
      queue_rotate(theap, page);
    } else if (!theap_page_to_full(theap, page)) {
      return page;
    }
    theap_advance(theap, theap->first[bin]);
  }
  return NULL;
}

// The slices of a page of the class, at least: a class in demand gets longer ones. Among several
// threads that is one of which each has a few, on average: for what lies in full pages they need
// atomic operations. See docs/decisions/021.
static unsigned class_room(theap_t* theap, unsigned bin) {
  enum { PAGES_ROOMY = 8 };
  const intptr_t pages =
      load_relaxed(&theap->heap->bins.pages[bin].current) + theap_untold(theap)->classes[bin].pages;
  if (!process_is_threaded()) { return pages < PAGES_ROOMY ? 1 : ROOM_MOST; }
  const intptr_t each = each_thread(pages);
  if (each >= ROOM_MOST) { return ROOM_MOST; }
  return each < 2 ? 1 : 2;
}

// ---- finding a page, the last resort ----

// The caller has found that no block is in use.
static void theap_release_page(theap_t* theap, page_t* page) {
  theap_disown(theap, page);
  theap->retired++;
  heap_release_page(page);
}

// ---- while memory shrinks ----

// While memory on huge pages shrinks, a page that is held for its class and falls empty goes, and
// rows that are closed keep no blocks: each would keep a huge page from being unused as a whole.
// See docs/decisions/038.
PRIVATE COLD NOINLINE void theap_set_trend(theap_t* theap, memory_trend_t trend) {
  const bool let_go = theap_lets_go(theap);
  theap->trend = trend;
  if (theap_lets_go(theap) == let_go) { return; }
  rows_shut(theap, !let_go);
  for (unsigned bin = 1; !let_go && bin < BIN_COUNT; bin++) {
    page_t* page = theap->first[bin];
    if (page != page_none() && theap_hold_again(theap, bin, page, true) == 0) {
      theap_release_page(theap, page);
    }
  }
}

// As many blocks of a page that is held were returned as were in use when that began, or a thousand
// million. So it is empty unless some were taken since. Returns whether it is to go.
static bool page_held_falls(theap_t* theap, page_t* page) {
  enum { FEW_SHARE = 8 };  // for fewer it would be counted too often
  const uint32_t used = page->used = theap_count(theap, page->bin, page);
  page_hold(page, theap_lets_go(theap) && used >= page->capacity / FEW_SHARE);
  return theap_lets_go(theap) && used == 0;
}

// A page is held with the same count until one of its blocks is returned.
static bool page_was_idle(theap_t* theap, unsigned bin, page_t* page) {
  if (page->used == page_held_from(page)) { return true; }
  theap_count_held(theap, bin, page);
  return false;
}

PRIVATE void theap_release_empty(theap_t* theap, bool idle_only) {
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    page_t* page = theap->first[bin];
    if (page == page_none() || page_used(page) != 0) { continue; }
    if (!idle_only || page_was_idle(theap, bin, page)) { theap_release_page(theap, page); }
  }
}

// At first growth is how several threads begin: see docs/decisions/013.
static bool growth_matters(void) {
  enum { BEGINNING = 8 << 20 };
  return !process_is_threaded() || load_relaxed(&memory_stats.reserved.current) > BEGINNING;
}

static COLD NOINLINE void theap_release_idle(theap_t* theap) {
  enum { IDLE_MS = 1000 };
  const int64_t now = port_clock_ms();
  if (now - theap->idle_ms < IDLE_MS) { return; }
  theap->idle_ms = now;
  theap_release_empty(theap, true);
}

// Memory that had to grow might not have to again if no thread that has ended kept empty pages, and
// this one none. Among several threads, which all see it grow, each keeps those that it has used in
// the last second: see docs/decisions/013.
static void theap_follow_growth(theap_t* theap) {
  const uint32_t growths = load_relaxed(&memory_growths);
  if (theap->growths == growths || !growth_matters()) { return; }
  theap->growths = growths;
  recycled_disband();
  if (process_is_threaded()) {
    theap_release_idle(theap);
  } else {
    theap_release_empty(theap, false);
  }
  if (page_release_is_asked()) { heap_ask_again(theap->heap); }
  page_release_spare();
}

static page_t* page_from_memory(theap_t* theap, page_request_t* request) {
  theap_follow_growth(theap);
  page_t* page = heap_page_new(theap->heap, request);
  theap_follow_trend(theap);
  return page;
}

// A large block that is on the row is no more if another thread freed it too: its memory is not
// used again before.
static page_t* theap_fresh(theap_t* theap, unsigned bin) {
  heap_t* heap = theap->heap;
  row_flush(theap, BIN_LARGE);
  page_request_t request = {.bin = bin,
                            .room = class_room(theap, bin),
                            .arena = heap->arena,
                            .numa_node = heap->numa_node + 1,
                            .serial = theap->serial};
  page_t* page = page_reuse(&request);
  if (page == NULL) {
    page = page_from_memory(theap, &request);
  } else if (OPEN_ROWS) {
    rows_learn_reused(theap);
  }
  if (page == NULL) { return NULL; }
  heap_add_page(heap, page);
  theap_own(theap, page);
  queue_push_front(theap, page);
  if (!page_has_free(page)) {
    const uint32_t before = page->capacity;
    page_extend(page);
    theap_count_extended(theap, page, before);
  }
  return page;
}

PRIVATE page_t* theap_find_page(theap_t* theap, unsigned bin) {
  page_t* page = theap_search(theap, bin);
  if (page == NULL) { page = theap_reuse_abandoned(theap, bin); }
  return page != NULL ? page : theap_fresh(theap, bin);
}

// ---- blocks are returned ----

static NOINLINE void page_abandon(theap_t* theap, page_t* page) {
  theap_disown(theap, page);
  page_take_remote(page);
  if (page->used == 0) {
    theap->retired++;
    heap_release_page(page);
  } else if (page_has_unused(page)) {
    heap_abandon(theap->heap, page);
  } else {
    (void)theap_page_to_full(theap, page);  // if not, it is the first of its queue
  }
}

// So many pages have fallen: those that are not empty by now get holes, all together.
static NOINLINE void fallen_make_holes(theap_t* theap) {
  if (!page_release_is_asked() && memory_wants_holes(theap->sparse_slices)) {
    pages_make_holes(theap->falling, FALLING_PAGES);
  }
  for (unsigned i = 0; i < FALLING_PAGES; i++) {
    if (theap->falling[i] != NULL) { theap->falling[i]->counting = COUNT_ALL; }
    theap->falling[i] = NULL;
  }
}

// Few blocks of the page are in use, and it counts all.
static NOINLINE void page_falls(theap_t* theap, page_t* page) {
  const uint32_t place = theap->falling_next++ % FALLING_PAGES;
  if (place == 0) { fallen_make_holes(theap); }
  theap->falling[place] = page;
  page->counting = COUNT_FALLING;
}

// May the page stay in place of one that the thread has filled? While rows are open the thread
// looks at its pages seldom, and what others return to them would pile up: then only if the thread
// has few of the class, or owned this one last.
static bool adopts_for_filled(const theap_t* theap, const page_t* page) {
  return theap->filled[page->bin] != 0 &&
         (!theap->rows.open || theap->count[page->bin] < ADOPTED_OPEN ||
          load_relaxed(&page->last_owner) == theap->serial);
}

PRIVATE void theap_adopt(theap_t* theap, page_t* page) {
  const unsigned bin = page->bin;
  const bool for_filled = adopts_for_filled(theap, page);
  theap_own(theap, page);
  queue_push_back(theap, page);
  if (theap_looks_at_sparse(theap) && page->counting == COUNT_ALL && page->used <= page_few(page)) {
    page_falls(theap, page);
  }
  if (for_filled) {
    theap->filled[bin]--;
  } else if (theap->count[bin] > ADOPTED_PAGES) {
    page_abandon(theap, theap->first[bin]->next);
  }
}

// May the theap keep the page, which is half empty, since it has wanted as many?
static bool theap_will_want(theap_t* theap, const page_t* page) {
  if (theap->wanted < page_bytes(page)) { return false; }
  theap->wanted -= (uint32_t)page_bytes(page);
  return true;
}

static NOINLINE void page_half_empty(theap_t* theap, page_t* page) {
  page->used = page_half(page);  // it has counted down to 0
  page->counting = COUNT_ALL;
  queue_count(theap, page);
  if (queue_is_sparse(theap, page) && !theap_will_want(theap, page)) { page_abandon(theap, page); }
}

PRIVATE NOINLINE void theap_page_due(const void* last, page_t* page) {
  (void)last;
  if (REUSE_LATER && page->used != 0) {
    page_take_waiting(page);
    return;
  }
  theap_t* theap = page->theap;
  if (page->counting == COUNT_TO_HALF) {
    page_half_empty(theap, page);
    return;
  }
  if (unlikely(page_is_held(page)) && !page_held_falls(theap, page)) { return; }
  if (MAKES_HOLES && page->counting == COUNT_TO_FEW) {
    page_count_all(page);
    page_falls(theap, page);
    return;
  }
  const unsigned bin = page->bin;
  theap_note_wanted(theap, page_bytes(page));
  theap_release_page(theap, page);
  row_flush(theap, bin);
  theap_follow_trend(theap);
}

// ---- collecting ----

static void queue_take_remote(theap_t* theap, page_t* page) {
  const bool counts = !page_is_held(page);
  if (counts) { queue_uncount(theap, page); }
  page_take_remote(page);
  if (counts) { queue_count(theap, page); }
}

static void queue_collect(theap_t* theap, unsigned bin, collect_t what) {
  page_t* page = queue_is_empty(theap, bin) ? NULL : theap->first[bin];
  while (page != NULL) {
    page_t* next = page->next;
    queue_take_remote(theap, page);
    if ((what != COLLECT_GENTLY || !page_is_held(page)) && page_used(page) == 0) {
      theap_release_page(theap, page);
    }
    page = next;
  }
}

PRIVATE void theap_collect(theap_t* theap, collect_t what) {
  rows_flush(theap);
  heap_ask_again(theap->heap);
  const bool has_holes = what == COLLECT_HOLES && !page_release_is_asked();
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    queue_collect(theap, bin, what);
    if (has_holes && !queue_is_empty(theap, bin)) { list_make_holes(theap->first[bin]); }
  }
}

// From the last page on, so that only one is ever held.
PRIVATE void theap_abandon(theap_t* theap) {
  rows_flush(theap);
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    while (!queue_is_empty(theap, bin)) { page_abandon(theap, theap->first[bin]->prev); }
  }
  theap_tell(theap);
}
