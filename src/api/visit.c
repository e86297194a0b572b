// Visiting: each area of equally sized blocks, which is a page, and each live block in it.
//
// A visit is exact when no other thread allocates or frees in the heap meanwhile, which the caller
// sees to: every live block is seen once and no free one. It takes no lock, so the visitor may use
// other heaps; it must not allocate or free in the one that is visited, the block it sees included.
//
// A block is free if it is on a list of the page's own or on the one of blocks that came home from
// other threads, or if it has never been on a list; all others are live. Where the state of each
// block is known, that says it.
//
// Every page has a keeper, the theap that owned it last: a page that is full, parked in the heap's
// pool or one large block is nobody's, but still counts as its keeper's. A page whose keeper is no
// more was left by a thread that ended. Tests: test/api/heaps.c, theaps.c, v2.c.
#include "../alloc/alloc.h"
#include "../heap/tracked.h"
#include "../service/options.h"
#include "inspect.h"

// ---- free blocks of a page ----

enum { SET_WORDS = PAGE_BLOCKS_MAX / 64 };

typedef struct block_set {
  uint64_t words[SET_WORDS];  // only those up to the page's capacity are in use
  size_t count;
} block_set_t;

static bool set_has(const block_set_t* set, size_t index) {
  return (set->words[index / 64] >> (index % 64) & 1) != 0;
}

// False: it is no block of the page, or in the set already.
static bool set_add(block_set_t* set, const page_t* page, const block_t* block) {
  const size_t block_bytes = size_max(page->block_bytes, 1);  // guarded ones may have none
  const size_t index = (size_t)((const uint8_t*)block - page->start) / block_bytes;
  if (index >= page->capacity || set_has(set, index)) { return false; }
  set->words[index / 64] |= (uint64_t)1 << (index % 64);
  set->count++;
  return true;
}

// A list that leads out of the page or in a circle has been overwritten: it ends there.
RACY static void set_add_list(block_set_t* set, const page_t* page, const block_t* list) {
  while (list != NULL && set_add(set, page, list)) { list = block_next(page, list); }
}

RACY static void set_add_by_state(block_set_t* set, const page_t* page) {
  for (size_t i = 0; i < page->capacity; i++) {
    const uint8_t* block = page->start + i * page->block_bytes;
    if (load_relaxed(&page_checks(page)->links[i + 1]) != LINK_LIVE) {
      (void)set_add(set, page, (const block_t*)(const void*)block);
    }
  }
}

RACY static void set_add_loose_of(block_set_t* set, const page_t* page, heap_t* heap) {
  lock_acquire(&heap->lock);
  for (const theap_t* theap = heap->theaps; theap != NULL; theap = theap->heap_next) {
    const block_t* block = theap->loose[page->bin].first;
    for (; block != NULL; block = loose_next(block)) { (void)set_add(set, page, block); }
  }
  lock_release(&heap->lock);
}

// Blocks that threads set aside: their page does not know. In the page of a main heap they may be a
// deleted heap's.
RACY static void set_add_loose(block_set_t* set, const page_t* page, heap_t* heap) {
  set_add_loose_of(set, page, heap);
  if (!heap->is_main) { return; }
  for (heap_t* other = retired_lock(); other != NULL; other = other->next) {
    set_add_loose_of(set, page, other);
  }
  retired_unlock();
}

RACY static void find_free_blocks(block_set_t* set, page_t* page, heap_t* heap) {
  memset(set->words, 0, divide_up(page->capacity, 64) * sizeof(set->words[0]));
  set->count = 0;
  if (CHECK_STATE) {
    set_add_by_state(set, page);
    return;
  }
  set_add_loose(set, page, heap);
  if (page_is_single(page)) { return; }
  const uint32_t word = load_acquire(&page->remote);  // [R1] in: the links of what came home
  set_add_list(set, page, page_free_list(page));
  set_add_list(set, page, page_later(page));
  set_add_list(set, page, page_remote_list(page, word));
}

RACY static size_t count_list(const page_t* page, const block_t* block) {
  size_t count = 0;
  while (block != NULL && count < page->capacity && page_block_is_valid(page, block)) {
    count++;
    block = block_next(page, block);
  }
  return count;
}

// Of a page that another thread owns: its list may change while it is walked, but its memory stays.
RACY static size_t count_others_free(const page_t* page) {
  size_t count = 0;
  memory_lock();
  if (page->span_arena != NULL && page_of(page->start) == page) {
    count = count_list(page, page_free_list(page));
    count += count_list(page, page_later(page));
  }
  memory_unlock();
  return count;
}

// … that are not on its own list.
RACY static size_t page_used_by_any(const page_t* page) {
  if (!page->held) { return page->used; }
  if (load_relaxed(&page->owner) == port_thread_id()) { return page_used(page); }
  const size_t free_blocks = count_others_free(page), capacity = page->capacity;
  return free_blocks < capacity ? capacity - free_blocks : 0;
}

RACY static size_t page_blocks_live(const page_t* page) {
  size_t live = 0;
  for (size_t number = 1; number <= page->capacity; number++) {
    live += load_relaxed(&page_checks(page)->links[number]) == LINK_LIVE;
  }
  return live;
}

RACY PRIVATE size_t page_blocks_in_use(const page_t* page) {
  if (CHECK_STATE) { return page_blocks_live(page); }
  const uint32_t word = load_relaxed(&page->remote);
  track_quiet();
  const size_t used = page_used_by_any(page), came_home = remote_count(word);
  track_loud();
  if (remote_state(word) == REMOTE_FULL) { return page->reserved; }
  if (remote_state(word) == REMOTE_PARKED) { return size_min(came_home, page->reserved); }
  return used > came_home ? size_min(used - came_home, page->reserved) : 0;
}

// ---- which pages ----

typedef struct block_visit {
  heap_t* heap;        // NULL: all of `subproc`
  subproc_t* subproc;  // NULL: any
  uint32_t keeper;     // 0: any
  bool left_only;      // by threads that ended
  bool blocks_too;
  bool stopped;  // by the visitor
  mi_block_visit_fun* visitor;
  void* arg;
} block_visit_t;

static bool heap_has_theap(heap_t* heap, uint32_t serial) {
  lock_acquire(&heap->lock);
  const theap_t* theap = heap->theaps;
  while (theap != NULL && theap->serial != serial) { theap = theap->heap_next; }
  lock_release(&heap->lock);
  return theap != NULL;
}

static bool heap_wanted(const block_visit_t* visit, const page_t* page, heap_t* heap) {
  if (heap == NULL || (visit->heap != NULL && heap != visit->heap)) { return false; }
  if (visit->subproc != NULL && heap->subproc != visit->subproc) { return false; }
  if (visit->keeper != 0 && load_relaxed(&page->keeper) != visit->keeper) { return false; }
  return !visit->left_only || !heap_has_theap(heap, load_relaxed(&page->keeper));
}

// The page's heap if it is to be visited, else NULL.
static heap_t* wanted_heap(const block_visit_t* visit, const page_t* page) {
  (void)retired_lock();
  heap_t* heap = heap_of_page_locked(page);
  const bool wanted = heap_wanted(visit, page, heap);
  retired_unlock();
  return wanted ? heap : NULL;
}

// ---- the visit ----

RACY static mi_heap_area_t area_of(const page_t* page, size_t free_blocks) {
  const size_t bytes = page->reserved * page->block_bytes;
  return (mi_heap_area_t){
      .blocks = page->start,
      .reserved = bytes,
      .committed = bytes,
      .used = page->capacity - free_blocks,
      .block_size = page_room(page),
      .full_block_size = page->block_bytes,
  };
}

// False if the visitor wants no more.
static bool show(const block_visit_t* visit, heap_t* heap, const mi_heap_area_t* area,
                 void* block) {
  size_t bytes = area->block_size;
  if (TRACKED && block != NULL) {  // the program's part of it
    block = tracked_block_at(block);
    bytes = block_usable(block);
  }
  return visit->visitor(heap, area, block, bytes, visit->arg);
}

static bool show_blocks(const block_visit_t* visit, heap_t* heap, const mi_heap_area_t* area,
                        const block_set_t* free_blocks) {
  const size_t count = area->used + free_blocks->count;
  uint8_t* block = area->blocks;
  for (size_t i = 0; i < count; i++, block += area->full_block_size) {
    if (!set_has(free_blocks, i) && !show(visit, heap, area, block)) { return false; }
  }
  return true;
}

static bool visit_page(page_t* page, void* arg) {
  block_visit_t* visit = arg;
  heap_t* heap = wanted_heap(visit, page);
  if (heap == NULL) { return true; }
  block_set_t free_blocks;
  track_quiet();
  find_free_blocks(&free_blocks, page, heap);
  track_loud();
  const mi_heap_area_t area = area_of(page, free_blocks.count);
  bool more = show(visit, heap, &area, NULL);
  if (more && visit->blocks_too) { more = show_blocks(visit, heap, &area, &free_blocks); }
  visit->stopped = !more;
  return more;
}

static bool visit_pages(block_visit_t visit) {
  if (visit.visitor == NULL) { return false; }
  if (TRACKED) { tracked_flush(); }
  page_visit_all(visit_page, &visit);
  return !visit.stopped;
}

// ---- public ----

API bool mi_heap_visit_blocks(mi_heap_t* heap, bool visit_blocks, mi_block_visit_fun* visitor,
                              void* arg) {
  if (heap == NULL) { return false; }
  return visit_pages(
      (block_visit_t){.heap = heap, .blocks_too = visit_blocks, .visitor = visitor, .arg = arg});
}

API bool mi_heap_visit_abandoned_blocks(mi_heap_t* heap, bool visit_blocks,
                                        mi_block_visit_fun* visitor, void* arg) {
  if (heap == NULL) { return false; }
  return visit_pages((block_visit_t){
      .heap = heap, .left_only = true, .blocks_too = visit_blocks, .visitor = visitor, .arg = arg});
}

API bool mi_abandoned_visit_blocks(mi_subproc_id_t subproc_id, int heap_tag, bool visit_blocks,
                                   mi_block_visit_fun* visitor, void* arg) {
  (void)heap_tag;
  subproc_t* subproc = subproc_id._mi_subproc_id;
  if (subproc == NULL || !option_is_enabled(mi_option_visit_abandoned)) { return false; }
  return visit_pages((block_visit_t){.subproc = subproc,
                                     .left_only = true,
                                     .blocks_too = visit_blocks,
                                     .visitor = visitor,
                                     .arg = arg});
}

API bool mi_theap_visit_blocks(const mi_theap_t* theap, bool visit_blocks,
                               mi_block_visit_fun* visitor, void* arg) {
  if (theap == NULL) { return false; }
  if (theap->heap == NULL) { return visitor != NULL; }  // the theap of a thread that has none yet
  return visit_pages((block_visit_t){.heap = theap->heap,
                                     .keeper = theap->serial,
                                     .blocks_too = visit_blocks,
                                     .visitor = visitor,
                                     .arg = arg});
}
