// Visiting: each area of equally sized blocks, which is a page, and each live block in it.
//
// A visit is exact when no other thread allocates or frees in the heap meanwhile, which the caller
// sees to: every live block is seen once and no free one. Beside running threads it is a picture
// that was never quite true; but it reads nothing that is inaccessible. What it wants to know of a
// page it learns under the memory lock, while the map still leads to the page. Until the lock is
// free no memory of the page goes away, nor do the links that are apart from blocks. What it finds
// there may be half changed, or a program's: so each link is looked at before it is followed. The
// visitor is called without a lock and may use other heaps; it must not allocate or free in the one
// that is visited, the block it sees included.
//
// A block is free if it is on a list of the page's own or on the one of returned blocks from
// other threads, or if it has never been on a list; all others are live. Where the state of each
// block is known, that says it.
//
// Every page has a last owner, a theap: a page that is full, abandoned in the heap's pool or one
// large block is nobody's, but still counts as that one's. One that a thread left as it ended has a
// last owner that is no more.
// Tests: test/api/heaps.c, theaps.c, v2.c, tags.c; test/stress/visited.c.
#include "../alloc/alloc.h"
#include "../heap/guard.h"
#include "../heap/ration.h"
#include "../heap/row.h"
#include "../heap/tracked.h"
#include "../service/options.h"
#include "inspect.h"

// ---- what is looked at of a page ----

typedef struct page_view {
  uint8_t* start;
  size_t block_bytes, room;  // of a block, and what of it the program may use
  uint32_t capacity, reserved;
  const link_t* links;  // where they are apart
} page_view_t;

// Fits the page's memory, and its links.
RACY static bool view_is_sound(const page_view_t* view, const page_t* page) {
  const size_t before = (uintptr_t)view->start - (uintptr_t)page_memory(page);
  const size_t bytes = page_bytes(page);
  if (LINKS_APART && view->capacity > page_checks(page)->room) { return false; }
  return before <= bytes && view->room <= view->block_bytes && view->capacity <= view->reserved &&
         view->capacity <= (bytes - before) / view->block_bytes &&
         view->capacity <= PAGE_BLOCKS_MAX;
}

// For the holder of the memory lock. False: the page is about to change, or to go.
RACY static bool view_take(page_view_t* view, const page_t* page) {
  *view = (page_view_t){
      .start = page->start,
      .block_bytes = size_max(page->block_bytes, 1),  // guarded ones may have none
      .room = page_room(page),
      .capacity = page->capacity,
      .reserved = page->reserved,
      .links = LINKS_APART ? page_checks(page)->links : NULL,
  };
  return page_of(page_is_single(page) ? view->start : page_memory(page)) == page &&
         view_is_sound(view, page);
}

// The block with this number, from 1 on; NULL for any other number.
static const block_t* view_block(const page_view_t* view, uint32_t number) {
  if (number == 0 || number > view->capacity) { return NULL; }
  return (const block_t*)(const void*)(view->start + (number - 1) * view->block_bytes);
}

// 0 if it is no block of the page.
static uint32_t view_number(const page_view_t* view, const block_t* block) {
  const size_t offset = (uintptr_t)block - (uintptr_t)view->start;
  const size_t index = offset / view->block_bytes;
  return index < view->capacity && offset % view->block_bytes == 0 ? (uint32_t)index + 1 : 0;
}

// For the holder of the memory lock.
RACY static const block_t* view_next(const page_view_t* view, uint32_t number) {
  if (LINKS_APART) { return view_block(view, load_relaxed(&view->links[number])); }
  return view_block(view, number)->next;
}

// ---- free blocks of a page ----

typedef struct block_set {
  block_bits_t bits;
  size_t count;
} block_set_t;

// Returns false if it has no number, or is in the set already.
static bool set_add(block_set_t* set, uint32_t number) {
  if (number == 0 || bits_has(&set->bits, number - 1)) { return false; }
  bits_set(&set->bits, number - 1, true);
  set->count++;
  return true;
}

// A list that leads out of the page or in a circle has been overwritten: it ends there.
RACY static void set_add_list(block_set_t* set, const page_view_t* view, const block_t* list) {
  uint32_t number = view_number(view, list);
  while (set_add(set, number)) { number = view_number(view, view_next(view, number)); }
}

RACY static void set_add_by_state(block_set_t* set, const page_view_t* view) {
  for (uint32_t number = 1; number <= view->capacity; number++) {
    if (load_relaxed(&view->links[number]) != LINK_LIVE) { (void)set_add(set, number); }
  }
}

RACY static void set_add_own_lists(block_set_t* set, const page_view_t* view, const page_t* page) {
  const uint32_t word = load_acquire(&page->remote);  // [R1] in: the links of what was returned
  set_add_list(set, view, page_free_list(page));
  set_add_list(set, view, ration_list(page));
  set_add_list(set, view, page_later(page));
  set_add_list(set, view, page_remote_list(page, word));
}

RACY static void set_add_holes(block_set_t* set, const page_view_t* view, const page_t* page) {
  uint64_t holes = page_holes(page);
  uint32_t first = 0, end = 0;
  while (page_next_hole(page, &holes, &first, &end)) {
    for (uint32_t i = first; i < size_min(end, view->capacity); i++) { (void)set_add(set, i + 1); }
  }
}

// Blocks that the program has freed and that wait before they return to their pages.
RACY static void set_add_waiting(block_set_t* set, const page_view_t* view) {
  for (uint32_t number = 1; number <= view->capacity; number++) {
    if (!tracked_is_live(view_block(view, number))) { (void)set_add(set, number); }
  }
}

// Takes the view, and what the page itself says. False: it is none to be visited.
RACY static bool find_free_blocks(block_set_t* set, page_view_t* view, const page_t* page) {
  memory_lock();
  const bool found = view_take(view, page);
  set->count = 0;
  if (found) { bits_clear(&set->bits, view->capacity); }
  if (found && CHECK_STATE) {
    set_add_by_state(set, view);
  } else if (found && !page_is_single(page)) {
    set_add_own_lists(set, view, page);
    set_add_holes(set, view, page);
  }
  if (found && !CHECK_STATE && page_is_single(page) && page_blocks_in_use(page) == 0) {
    (void)set_add(set, 1);  // the page is kept
  }
  if (found && TRACKED) { set_add_waiting(set, view); }
  memory_unlock();
  return found;
}

RACY static void set_add_rows_of(block_set_t* set, const page_view_t* view, unsigned bin,
                                 heap_t* heap) {
  lock_acquire(&heap->lock);
  for (const theap_t* theap = heap->theaps; theap != NULL; theap = theap->heap_next) {
    const row_view_t row = row_view(theap, bin);
    for (uint32_t i = 0; i < row.length; i++) {
      (void)set_add(set, view_number(view, (const block_t*)row.blocks[i]));
    }
  }
  lock_release(&heap->lock);
}

// Blocks on rows: their page does not know. In the page of a main heap they may be a deleted
// heap's.
RACY static void set_add_rows(block_set_t* set, const page_view_t* view, unsigned bin,
                              heap_t* heap) {
  if (!KEEP_ROWS || CHECK_STATE) { return; }
  set_add_rows_of(set, view, bin, heap);
  if (!heap->is_main) { return; }
  for (heap_t* other = retired_lock(); other != NULL; other = other->next) {
    set_add_rows_of(set, view, bin, other);
  }
  retired_unlock();
}

// ---- how many blocks are in use ----

RACY static size_t count_list(const page_t* page, const block_t* block) {
  size_t count = 0;
  while (block != NULL && count < page->capacity && page_has_block(page, block)) {
    count++;
    block = block_next(page, block);
  }
  return count;
}

// Another thread owns the page: its list may change while it is walked, but its memory stays.
RACY static size_t count_others_free(const page_t* page) {
  size_t count = 0;
  memory_lock();
  if (page->span_arena != NULL && page_of(page->start) == page) {
    count = count_list(page, page_free_list(page));
    count += count_list(page, ration_list(page));
    count += count_list(page, page_later(page));
    count += page_hole_blocks(page);
  }
  memory_unlock();
  return count;
}

// The blocks of a page that are on none of its lists, whoever owns it.
RACY static size_t page_used_by_any(const page_t* page) {
  if (!page_is_held(page)) { return page->used + page_uncounted(page); }
  if (page_is_mine(page)) { return page_used(page) - count_list(page, ration_list(page)); }
  const size_t free_blocks = count_others_free(page), capacity = page->capacity;
  return free_blocks < capacity ? capacity - free_blocks : 0;
}

// Its record may become another page's meanwhile, with more blocks: under the lock `links` stays.
RACY static size_t page_blocks_live(const page_t* page) {
  const page_checks_t* checks = page_checks(page);
  size_t live = 0;
  memory_lock();
  const size_t last = size_min(page->capacity, checks->room);
  for (size_t number = 1; number <= last; number++) {
    live += load_relaxed(&checks->links[number]) == LINK_LIVE;
  }
  memory_unlock();
  return live;
}

RACY PRIVATE size_t page_blocks_in_use(const page_t* page) {
  if (CHECK_STATE) { return page_blocks_live(page); }
  const uint32_t word = load_relaxed(&page->remote);
  track_quiet();
  const size_t used = page_used_by_any(page), returned = remote_count(word);
  track_loud();
  if (remote_state(word) != REMOTE_OWNED) { return size_min(used + returned, page->reserved); }
  return used > returned ? size_min(used - returned, page->reserved) : 0;
}

RACY PRIVATE size_t page_blocks_taken(const page_t* page) {
  if (!page_is_held(page) || page_is_single(page)) { return 0; }
  track_quiet();
  const uint32_t used = (uint32_t)page_used_by_any(page);
  const int64_t taken = (int32_t)(used + page_held_from(page) - page->used);
  track_loud();
  const int64_t capacity = page->capacity;
  return taken >= -capacity && taken <= PAGE_HELD + capacity ? (size_t)taken : 0;
}

// ---- which pages ----

typedef struct block_visit {
  heap_t* heap;         // NULL: all of `subproc`
  heap_t* shown;        // to the visitor; NULL: the page's own
  subproc_t* subproc;   // NULL: any
  uint32_t last_owner;  // 0: any
  int tag;              // of the heap; negative: any
  bool left_only;       // by threads that ended
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
  if (visit->tag >= 0 && heap->tag != visit->tag) { return false; }
  if (visit->last_owner != 0 && load_relaxed(&page->last_owner) != visit->last_owner) {
    return false;
  }
  return !visit->left_only || !heap_has_theap(heap, load_relaxed(&page->last_owner));
}

// The page's heap, held, if it is to be visited, else NULL.
static heap_t* hold_wanted_heap(const block_visit_t* visit, const page_t* page) {
  (void)retired_lock();
  heap_t* heap = heap_of_page_locked(page);
  const bool wanted = heap_wanted(visit, page, heap);
  if (wanted) { heap_hold(heap); }
  retired_unlock();
  return wanted ? heap : NULL;
}

// ---- the visit ----

static mi_heap_area_t area_of(const page_view_t* view, size_t free_blocks) {
  const size_t bytes = view->reserved * view->block_bytes;
  return (mi_heap_area_t){
      .blocks = view->start,
      .reserved = bytes,
      .committed = bytes,
      .used = view->capacity - free_blocks,
      .block_size = view->room,
      .full_block_size = view->block_bytes,
  };
}

// The program's part of a block of the page. False: it has been freed since it was found in use.
RACY static bool tracked_part(const page_t* page, void** block, size_t* bytes) {
  memory_lock();
  const bool live = page_of(*block) == page && tracked_is_live(*block);
  if (live) {
    *block = tracked_block_at(*block);
    *bytes = block_usable(*block);
  }
  memory_unlock();
  return live;
}

// What was asked for, in builds that know it. The page may have gone since, and the block with it.
RACY static size_t noted_part(const page_t* page, const void* block, size_t room) {
  memory_lock();
  const bool known = page_of(block) == page && !page_is_guarded(page);
  const size_t bytes = known ? block_size(page, block) : room;
  memory_unlock();
  return size_min(bytes, room);
}

// False if the visitor wants no more.
static bool show(const block_visit_t* visit, heap_t* heap, const mi_heap_area_t* area,
                 const page_t* page, void* block) {
  size_t bytes = area->block_size;
  if (TRACKED && block != NULL && !tracked_part(page, &block, &bytes)) { return true; }
  if (NOTE_BLOCKS && block != NULL) { bytes = noted_part(page, block, bytes); }
  return visit->visitor(visit->shown != NULL ? visit->shown : heap, area, block, bytes, visit->arg);
}

static bool show_blocks(const block_visit_t* visit, heap_t* heap, const mi_heap_area_t* area,
                        const page_t* page, const block_set_t* free_blocks) {
  const size_t count = area->used + free_blocks->count;
  uint8_t* block = (uint8_t*)area->blocks;
  for (size_t i = 0; i < count; i++, block += area->full_block_size) {
    if (!bits_has(&free_blocks->bits, i) && !show(visit, heap, area, page, block)) { return false; }
  }
  return true;
}

// False if the visitor wants no more.
RACY static bool show_page(const block_visit_t* visit, heap_t* heap, const page_t* page) {
  block_set_t free_blocks;
  page_view_t view;
  track_quiet();
  const bool found = find_free_blocks(&free_blocks, &view, page);
  if (found) { set_add_rows(&free_blocks, &view, page->bin, heap); }
  track_loud();
  if (!found) { return true; }
  mi_heap_area_t area = area_of(&view, free_blocks.count);
  area.heap_tag = heap->tag;
  return show(visit, heap, &area, page, NULL) &&
         (!visit->blocks_too || show_blocks(visit, heap, &area, page, &free_blocks));
}

static bool visit_page(page_t* page, void* arg) {
  block_visit_t* visit = (block_visit_t*)arg;
  heap_t* heap = hold_wanted_heap(visit, page);
  if (heap == NULL) { return true; }
  visit->stopped = !show_page(visit, heap, page);
  heap_let_go(heap);
  return !visit->stopped;
}

static bool visit_pages(block_visit_t visit) {
  if (visit.visitor == NULL) { return false; }
  page_visit_all(visit_page, &visit);
  return !visit.stopped;
}

// ---- public ----

API bool mi_heap_visit_blocks(mi_heap_t* heap, bool visit_blocks, mi_block_visit_fun* visitor,
                              void* arg) {
  if (heap == NULL) { return false; }
  const theap_t* part = heap_part_or_null(heap);
  return visit_pages((block_visit_t){.heap = heap_whole(heap),
                                     .shown = heap,
                                     .last_owner = part == NULL ? 0 : part->serial,
                                     .tag = -1,
                                     .blocks_too = visit_blocks,
                                     .visitor = visitor,
                                     .arg = arg});
}

API bool mi_heap_visit_abandoned_blocks(mi_heap_t* heap, bool visit_blocks,
                                        mi_block_visit_fun* visitor, void* arg) {
  if (heap == NULL) { return false; }
  return visit_pages((block_visit_t){.heap = heap_whole(heap),
                                     .shown = heap,
                                     .tag = -1,
                                     .left_only = true,
                                     .blocks_too = visit_blocks,
                                     .visitor = visitor,
                                     .arg = arg});
}

API bool mi_abandoned_visit_blocks(mi_subproc_id_t subproc_id, int heap_tag, bool visit_blocks,
                                   mi_block_visit_fun* visitor, void* arg) {
  subproc_t* subproc = (subproc_t*)subproc_id._mi_subproc_id;
  if (subproc == NULL || !option_is_enabled(mi_option_visit_abandoned)) { return false; }
  return visit_pages((block_visit_t){.subproc = subproc,
                                     .tag = heap_tag,
                                     .left_only = true,
                                     .blocks_too = visit_blocks,
                                     .visitor = visitor,
                                     .arg = arg});
}

API bool mi_theap_visit_blocks(const mi_theap_t* theap, bool visit_blocks,
                               mi_block_visit_fun* visitor, void* arg) {
  if (theap == NULL) { return false; }
  if (theap->thread == NULL) { return visitor != NULL; }  // of a thread that has none yet
  return visit_pages((block_visit_t){.heap = theap->heap,
                                     .last_owner = theap->serial,
                                     .tag = -1,
                                     .blocks_too = visit_blocks,
                                     .visitor = visitor,
                                     .arg = arg});
}
