// Invariants of pages and heaps: see verify.h, and page.h, heap.h, map.h for their numbers.
#include "verify.h"

#include "../base/track.h"
#include "guard.h"
#include "ration.h"
#include "row.h"

// ---- the lists of a page ----

static bool see_block(block_bits_t* seen, const page_t* page, const block_t* block) {
  const size_t offset = (size_t)((const uint8_t*)block - page->start);
  const size_t index = offset / page->block_bytes;
  const bool is_block = index < page->capacity && offset % page->block_bytes == 0;
  if (!invariant(is_block, "P3", page, "a list of free blocks leads to what is no block")) {
    return false;
  }
  const bool is_new = !bits_has(seen, index);
  bits_set(seen, index, true);
  return invariant(is_new, "P3", page, "a free block is listed twice");
}

// The length of a list; UINT32_MAX if it is broken.
static uint32_t see_list(block_bits_t* seen, const page_t* page, const block_t* list) {
  uint32_t count = 0;
  for (; list != NULL; list = block_next(page, list), count++) {
    if (!see_block(seen, page, list)) { return UINT32_MAX; }
  }
  return count;
}

// How many blocks holes touch; UINT32_MAX if one of them is on a list.
static uint32_t see_holes(block_bits_t* seen, const page_t* page) {
  uint64_t holes = page_holes(page);
  uint32_t count = 0, first = 0, end = 0;
  while (page_next_hole(page, &holes, &first, &end)) {
    for (uint32_t i = first; i < end; i++, count++) {
      const uint8_t* block = page->start + i * page->block_bytes;
      if (!see_block(seen, page, (const block_t*)(const void*)block)) { return UINT32_MAX; }
    }
  }
  return count;
}

typedef struct free_counts {
  uint32_t own, returned;
} free_counts_t;

static bool see_lists(const page_t* page, free_counts_t* counts) {
  block_bits_t seen;
  const uint32_t word = load_acquire(&page->remote);  // [R1] in
  bits_clear(&seen, page->capacity);
  track_quiet();
  const uint32_t next = see_list(&seen, page, page_free_list(page));
  const uint32_t later = see_list(&seen, page, page_later(page));
  const uint32_t in_holes = see_holes(&seen, page);
  counts->own = next + later + in_holes;
  counts->returned = see_list(&seen, page, page_remote_list(page, word));
  track_loud();
  return next != UINT32_MAX && later != UINT32_MAX && in_holes != UINT32_MAX &&
         counts->returned != UINT32_MAX;
}

// ---- the numbers of a page ----

// A page that is held does not count, one that nobody owns counts in its word too.
static bool verify_used(const page_t* page, const free_counts_t* counts) {
  const uint32_t word = load_relaxed(&page->remote);
  const uint32_t not_listed = page->capacity - counts->own;
  if (remote_state(word) != REMOTE_OWNED) {
    return invariant(page->used + remote_count(word) == not_listed - counts->returned, "P3", page,
                     "a page that nobody owns does not count its blocks in use");
  }
  const bool exact = page_is_held(page) || page_used(page) == not_listed;
  return invariant(exact, "P3", page, "`used` is not the number of blocks that are not listed") &&
         invariant(remote_count(word) <= not_listed, "P3", page,
                   "more blocks were returned than were in use");
}

static bool verify_capacity(const page_t* page) {
  const bool used_fits = page_is_held(page) || page_used(page) <= page->capacity;
  const size_t bytes = page->reserved * page->block_bytes;
  const bool reserved_fits = bytes <= page_bytes(page) - (size_t)(page->start - page_memory(page));
  return invariant(used_fits && page->capacity <= page->reserved, "P1", page,
                   "used <= capacity <= reserved does not hold") &&
         invariant(reserved_fits, "P1", page, "the blocks are longer than the page");
}

// Half of it is in use at least, and somebody will come to own it.
static bool verify_full(const page_t* page) {
  const uint32_t word = load_relaxed(&page->remote);
  const bool sound = remote_count(word) != 0 && page->used >= page_half(page);
  return invariant(remote_state(word) != REMOTE_FULL || sound, "H1", page,
                   "a page that says it is full is not");
}

PRIVATE bool verify_page(const page_t* page) {
  free_counts_t counts;
  if (!verify_capacity(page)) { return false; }
  if (page_is_single(page)) { return verify_full(page); }
  return see_lists(page, &counts) && verify_used(page, &counts) && verify_full(page);
}

// ---- the queues of a theap ----

static bool verify_queued(const theap_t* theap, const page_t* page, unsigned bin) {
  const bool owned = page->theap == theap && page_owner(page) == theap->thread->id;
  const bool held = page_is_held(page) == (theap->first[bin] == page);
  return invariant(owned, "P2", page, "a page in a queue has another owner") &&
         invariant(page->bin == bin, "H1", page, "a page is in the queue of another class") &&
         invariant(held, "H1", page, "not the first page of a queue is held, but another") &&
         invariant(remote_state(load_relaxed(&page->remote)) == REMOTE_OWNED, "H1", page,
                   "a page in a queue says that nobody owns it") &&
         verify_page(page);
}

// The pages behind the first one may be.
static bool counts_as_sparse(const theap_t* theap, const page_t* page) {
  return page != theap->first[page->bin] && page->counting != COUNT_TO_HALF;
}

static bool is_falling(const theap_t* theap, const page_t* page) {
  bool found = false;
  for (unsigned i = 0; i < FALLING_PAGES; i++) { found = found || theap->falling[i] == page; }
  return found;
}

static bool verify_queue(const theap_t* theap, unsigned bin) {
  const page_t* first = theap->first[bin] == page_none() ? NULL : theap->first[bin];
  const page_t* last = NULL;
  uint32_t count = 0, sparse = 0;
  for (const page_t* page = first; page != NULL; last = page, page = page->next) {
    const bool linked = page == first || page->prev == last;
    if (!invariant(linked && ++count <= theap->count[bin], "H1", page,
                   "the queue of a theap does not lead back, or in a circle") ||
        !verify_queued(theap, page, bin) ||
        !invariant(is_falling(theap, page) == (page->counting == COUNT_FALLING), "H1", page,
                   "a page with few blocks is not where it waits for holes")) {
      return false;
    }
    sparse += counts_as_sparse(theap, page);
  }
  if (!invariant(sparse == theap->sparse[bin], "H1", theap, "sparse pages are not counted")) {
    return false;
  }
  return invariant(count == theap->count[bin] && (first == NULL || first->prev == last), "H1",
                   theap, "a queue is not as long as its count says");
}

static bool verify_direct(const theap_t* theap) {
  for (size_t i = 0; i < DIRECT_COUNT; i++) {
    const page_t* page = theap->direct[i];
    const unsigned bin = bin_of(i * GRANULE);
    const bool is_row = theap->rows.open && (const void*)page == &theap->row[bin];
    const bool is_ration = theap->rations != NULL && page == &theap->rations->list[bin];
    const bool same = page == page_none() || page == theap->first[bin] || is_row || is_ration;
    if (!invariant(same, "H1", theap, "a small size leads to a page that is not first")) {
      return false;
    }
  }
  return true;
}

// Each block is of a page of the class, and on the row once.
static bool verify_row(const theap_t* theap, unsigned bin) {
  const row_view_t row = row_view(theap, bin);
  bool sound = *theap->base[bin] == NULL && theap->row[bin].top <= theap->row[bin].end;
  for (uint32_t i = 0; i < row.length; i++) {
    const page_t* page = page_of(row.blocks[i]);
    sound = sound && page->bin == bin && page_has_block(page, row.blocks[i]);
    for (uint32_t j = 0; j < i; j++) { sound = sound && row.blocks[i] != row.blocks[j]; }
  }
  return invariant(sound, "W1", theap, "a row has a block twice, or of another class");
}

static bool verify_rows(const theap_t* theap) {
  bool sound = true;
  for (unsigned bin = 1; bin < ROW_COUNT; bin++) { sound = sound && verify_row(theap, bin); }
  return sound;
}

// Its blocks are of the first page. Where a list of free blocks leads in a circle it is too long.
static bool verify_ration(const theap_t* theap, unsigned bin) {
  const page_t* page = theap->first[bin];
  const block_t* block = theap->rations->list[bin].free;
  uint32_t count = 0;
  while (block != NULL && page_of(block) == page && count <= page->capacity) {
    block = block_next(page, block);
    count++;
  }
  return invariant(block == NULL, "Q1", theap, "a ration has a block that is not the first page's");
}

static bool verify_rations(const theap_t* theap) {
  bool sound = true;
  for (unsigned bin = 1; RATION_LISTS && theap->rations != NULL && bin < BIN_COUNT; bin++) {
    sound = sound && verify_ration(theap, bin);
  }
  return sound;
}

static bool verify_slices(const theap_t* theap) {
  size_t slices = 0;
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    const page_t* page = theap->first[bin] == page_none() ? NULL : theap->first[bin];
    for (; page != NULL; page = page->next) { slices += page->span_slices; }
  }
  return invariant(slices == theap->slices, "H1", theap, "slices of pages are not counted");
}

PRIVATE bool verify_theap(const theap_t* theap) {
  if (theap->thread == NULL) { return true; }
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    if (!verify_queue(theap, bin)) { return false; }
  }
  return verify_slices(theap) && verify_direct(theap) && verify_rows(theap) &&
         verify_rations(theap);
}

// ---- one page in the world ----

static bool verify_pooled(const page_t* page, heap_t* heap) {
  const page_t* before = page->prev == NULL ? load_relaxed(pool_first(heap, page->bin)) : NULL;
  const bool listed = page->prev == NULL ? before == page : page->prev->next == page;
  const bool linked = page->next == NULL || page->next->prev == page;
  return invariant(listed && linked, "H1", page, "an abandoned page is not in its heap's pool");
}

static bool verify_owned(const page_t* page) {
  const theap_t* theap = page->theap;
  if (theap == NULL) {
    return invariant(page->used == 0, "P2", page, "a page that says it is owned has no owner");
  }
  const bool listed =
      theap->first[page->bin] == page || (page->prev != NULL && page->prev->next == page);
  return invariant(listed, "P2", page, "a page with an owner is not in its queue");
}

static bool verify_place(const page_t* page, heap_t* heap) {
  const uint32_t state = remote_state(load_relaxed(&page->remote));
  if (state == REMOTE_OWNED) { return verify_owned(page); }
  if (!invariant(load_relaxed(&page->owner) == 0, "P2", page,
                 "a page that nobody owns names an owner")) {
    return false;
  }
  return state == REMOTE_ABANDONED ? verify_pooled(page, heap)
                                   : invariant(page->next == NULL && page->prev == NULL, "H1", page,
                                               "a full page is in a list");
}

static bool verify_listed(const page_t* page, const heap_t* heap) {
  if (heap->is_main) { return true; }
  const page_t* before = page->heap_prev;
  const bool listed = before == NULL ? heap->pages == page : before->heap_next == page;
  return invariant(listed, "H2", page, "a page is not in the list of its heap");
}

// Reading does not make it resident. A guarded block has guards around it.
static bool verify_untouched(const page_t* page) {
  if (page_is_guarded(page)) { return true; }
  const uint8_t* from = page->start + page->capacity * page->block_bytes;
  const size_t guard = GUARD_PAGES && page_checks(page)->guarded ? port_page_bytes() : 0;
  const uint8_t* end = page_memory(page) + page_bytes(page) - guard;
  if (!page->fresh_zero || from >= end) { return true; }
  size_t different = 0;
  track_quiet();
  for (const uint8_t* p = from; p < end; p++) { different += *p != 0; }
  track_loud();
  return invariant(different == 0, "P4", page, "memory that was never used is not zero");
}

static bool verify_mapped(const page_t* page) {
  const bool single = page_is_single(page);
  const size_t slices = single ? 1 : page->span_slices;
  const uint8_t* first = single ? page->start : page_memory(page);
  for (size_t i = 0; i < slices; i++) {
    if (!invariant(page_of(first + i * SLICE_BYTES) == page, "M1", page,
                   "the map does not lead to the page")) {
      return false;
    }
  }
  return true;
}

static bool verify_page_in_world(page_t* page, void* arg) {
  bool* holds = (bool*)arg;
  heap_t* heap = load_relaxed(&page->heap);
  *holds = verify_mapped(page) && verify_page(page) && verify_place(page, heap) &&
           verify_listed(page, heap) && verify_untouched(page);
  return *holds;
}

// ---- heaps ----

static bool verify_heap(heap_t* heap) {
  for (const page_t* page = heap->pages; page != NULL; page = page->heap_next) {
    if (!invariant(load_relaxed(&page->heap) == heap, "H2", page,
                   "a heap lists a page of another heap")) {
      return false;
    }
  }
  for (const theap_t* theap = heap->theaps; theap != NULL; theap = theap->heap_next) {
    if (!invariant(theap->heap == heap, "H3", theap, "a heap lists a theap of another heap") ||
        !verify_theap(theap)) {
      return false;
    }
  }
  return invariant(load_relaxed(&heap->walk.state) == LOCK_FREE, "H4", heap,
                   "the lock for walks is held, and nobody walks");
}

static bool verify_heaps(void) {
  for (subproc_t* subproc = registry_subprocs(); subproc != NULL; subproc = subproc->next) {
    for (heap_t* heap = subproc->heaps; heap != NULL; heap = heap->next) {
      if (!verify_heap(heap)) { return false; }
    }
  }
  return true;
}

// ---- the map ----

static bool verify_slice(const arena_t* arena, uint32_t index, bool is_free) {
  const uint8_t* p = arena->start + (size_t)index * SLICE_BYTES;
  const page_t* page = page_of(p);
  if (page == page_none()) { return true; }
  const size_t offset = (size_t)(p - page_memory(page));
  return invariant(!is_free && offset < page_bytes(page), "M1", p,
                   "the map leads from a slice to a page that does not have it");
}

// The arena's own invariants hold.
static bool verify_map_of(arena_t* arena, void* arg) {
  bool* holds = (bool*)arg;
  for (uint32_t first = 0; *holds && first < arena->frontier;) {
    const uint32_t length = run_length(arena, first);
    for (uint32_t i = first; *holds && i < first + length; i++) {
      *holds = verify_slice(arena, i, run_state(arena, first) != RUN_TAKEN);
    }
    first += length;
  }
  return *holds;
}

// ---- all ----

PRIVATE bool verify_all(void) {
  bool holds = verify_arenas();
  if (holds) { page_visit_all(verify_page_in_world, &holds); }
  if (holds) { memory_visit_arenas(verify_map_of, &holds); }
  return holds && verify_heaps();
}

PRIVATE void verify_now_and_then(const theap_t* theap, size_t calls) {
  enum { CALLS = 256 };
  if (!CHECK_EVERYTHING || calls % CALLS != 0) { return; }
  // A thread that was started, and has not asked for memory yet, may do so meanwhile.
  if (port_is_single_threaded() && !process_lost_threads()) {
    (void)verify_all();
  } else {
    (void)(verify_arenas() && verify_theap(theap));
  }
}
