// First-class heaps: creation, deletion, destruction. See heap.h.
#include "count.h"

#include "../base/list.h"
#include "../memory/meta.h"
#include "guard.h"
#include "tracked.h"

static _Atomic(size_t) heap_ids;

// ---- lists of heaps ----

// Heaps that are no more, but that a page or a theap still names: threads still take their locks,
// and may have blocks of theirs on rows.
static struct {
  lock_t lock;
  heap_t* first;
} retired;

static void subproc_link(heap_t* heap) {
  subproc_t* subproc = heap->subproc;
  lock_acquire(&subproc->lock);
  heap->id = add_relaxed(&heap_ids, 1) + 1;
  LIST_ADD(subproc->heaps, heap, next, prev);
  lock_release(&subproc->lock);
}

// From its sub-process to the retired ones; it is always in one of the lists, for fork.
static void heap_unlist(heap_t* heap) {
  subproc_t* subproc = heap->subproc;
  lock_acquire(&subproc->lock);
  lock_acquire(&retired.lock);
  LIST_REMOVE(subproc->heaps, heap, next, prev);
  heap->is_retired = true;
  LIST_ADD(retired.first, heap, next, prev);
  lock_release(&retired.lock);
  lock_release(&subproc->lock);
}

PRIVATE heap_t* retired_lock(void) {
  lock_acquire(&retired.lock);
  return retired.first;
}
PRIVATE heap_t* retired_heaps(void) { return retired.first; }
UNUSED PRIVATE heap_t* const* retired_heaps_at(void) { return &retired.first; }
PRIVATE void retired_unlock(void) { lock_release(&retired.lock); }
PRIVATE void retired_unlock_after_fork(bool child) { lock_after_fork(&retired.lock, child); }

PRIVATE void retired_rescue(void) {
  if (lock_is_left(&retired.lock)) { retired.first = NULL; }
}

PRIVATE void heap_rescue(heap_t* heap) {
  (void)lock_is_left(&heap->walk);
  pools_rescue(heap);
  if (!lock_is_left(&heap->lock)) { return; }
  heap->pages = NULL;
  heap->theaps = NULL;
}

// ---- records ----

PRIVATE void heap_stats_export(const heap_t* heap, mi_stats_t* out) {
  stats_export(&heap->stats, out);
  pools_count(heap, &out->pages_abandoned);
  stat_bins_export(&heap->bins, out);
}

PRIVATE void heap_stats_forget(heap_t* heap, const mi_stats_t* now) {
  stats_forget(&heap->stats, now);
  pools_forget(heap);
  stat_bins_forget(&heap->bins, now);
}

static void heap_count_record(subproc_t* subproc) {
  lock_acquire(&retired.lock);
  subproc->records++;
  lock_release(&retired.lock);
}

// Returns true if it was the last one. Who found the heap by a page, when that still named it, has
// looked at it when this returns.
static bool heap_uncount_record(subproc_t* subproc) {
  lock_acquire(&retired.lock);
  const bool is_last = --subproc->records == 0;
  lock_release(&retired.lock);
  return is_last;
}

// Fork does not take the lock of a sub-process that has ended, which is in no list. A thread of
// another sub-process may be the last to let go of a heap of one that was destroyed.
PRIVATE void heap_free_record(heap_t* heap) {
  subproc_t* subproc = heap->subproc;
  if (!SMALL && !load_relaxed(&subproc->has_ended)) {
    lock_acquire(&subproc->lock);
    heap_stats_export(heap, &subproc->scratch);
    stats_end(&subproc->scratch);
    stats_merge(&subproc->gone, &subproc->scratch);
    lock_release(&subproc->lock);
  }
  const bool is_last = heap_uncount_record(subproc);
  meta_free(heap, sizeof(heap_t));
  if (is_last) { meta_free(subproc, sizeof(subproc_t)); }
}

static bool heap_is_named(const heap_t* heap) {
  return heap->pages != NULL || heap->theaps != NULL || heap->holders != 0;
}

// The caller is the last holder. Who found the heap by a page, when that still named it, may hold
// it by now; afterwards nobody finds it any more. Returns false if it is to stay.
static bool heap_leave_retired(heap_t* heap) {
  lock_acquire(&retired.lock);
  lock_acquire(&heap->lock);
  heap->holders--;
  const bool is_named = heap_is_named(heap);
  if (!is_named) { LIST_REMOVE(retired.first, heap, next, prev); }
  lock_release(&heap->lock);
  lock_release(&retired.lock);
  return !is_named;
}

// For the holder of the lock, who has taken something away. When nothing names an ended heap any
// more, its record goes.
static void heap_unlock_or_free(heap_t* heap) {
  const bool ended = !heap->is_main && load_relaxed(&heap->state) != HEAP_ALIVE;
  const bool is_last = ended && !heap_is_named(heap);
  if (is_last) { heap->holders++; }
  lock_release(&heap->lock);
  if (is_last && heap_leave_retired(heap)) { heap_free_record(heap); }
}

PRIVATE void heap_hold(heap_t* heap) {
  lock_acquire(&heap->lock);
  heap->holders++;
  lock_release(&heap->lock);
}

PRIVATE void heap_let_go(heap_t* heap) {
  lock_acquire(&heap->lock);
  heap->holders--;
  heap_unlock_or_free(heap);
}

static void heap_setup(heap_t* heap, subproc_t* subproc) {
  store_relaxed(&heap->state, HEAP_ALIVE);
  heap->subproc = subproc;
  heap->numa_node = -1;
  stat_up(&memory_stats.heaps, 1);
  heap_count_record(subproc);
  subproc_link(heap);
}

PRIVATE void heap_main_setup(heap_t* heap, subproc_t* subproc) {
  heap->is_main = true;
  subproc->main = heap;
  heap_setup(heap, subproc);
}

PRIVATE heap_t* heap_new(subproc_t* subproc, arena_t* arena) {
  heap_t* heap = (heap_t*)meta_alloc(sizeof(heap_t));
  if (heap == NULL) { return NULL; }
  heap->arena = arena;
  heap_setup(heap, subproc);
  return heap;
}

// ---- pages ----

static bool page_preserve_as_heap(page_t* page, void* arg) {
  const heap_t* heap = (const heap_t*)arg;
  if (load_relaxed(&page->heap) == heap) {
    page_preserve(page, load_relaxed(&heap->fill_preserve));
  }
  return true;
}

PRIVATE void heap_preserve(heap_t* heap, size_t bytes) {
  store_relaxed(&heap->fill_preserve, bytes);
  if (FILL_BLOCKS) { page_visit_all(page_preserve_as_heap, heap); }
}

PRIVATE void heap_add_page(heap_t* heap, page_t* page) {
  page_preserve(page, load_relaxed(&heap->fill_preserve));
  store_release(&page->heap, heap);  // [H1] out
  heap_count_came(heap, page);
  if (heap->is_main) { return; }
  lock_acquire(&heap->lock);
  LIST_ADD(heap->pages, page, heap_next, heap_prev);
  lock_release(&heap->lock);
}

// The page names `next`, or NULL, before it may have been the last to name this one.
static void heap_remove_page(heap_t* heap, page_t* page, heap_t* next) {
  store_release(&page->heap, next);  // [H1] out
  heap_count_went(heap, page);
  if (heap->is_main) { return; }
  lock_acquire(&heap->lock);
  LIST_REMOVE(heap->pages, page, heap_next, heap_prev);
  heap_unlock_or_free(heap);
}

static void release_page(page_t* page, bool freed) {
  heap_t* heap = load_relaxed(&page->heap);
  heap_remove_page(heap, page, NULL);
  if (page_is_guarded(page)) {
    guard_retire(page);
  } else {
    page_release(page, freed);
  }
}

// What has a mapping of its own is unmapped.
static bool is_to_fill(const page_t* page) {
  return PERTURBS_BY_MASK && page_is_single(page) && page->guard == NULL &&
         page->span_arena != NULL;
}

PRIVATE NOINLINE void heap_drop_page(page_t* page) {
  if (is_to_fill(page)) { block_perturb_freed(page, page->start); }
  release_page(page, true);
}

PRIVATE void heap_release_page(page_t* page) {
  if (page_may_go(page)) {
    heap_drop_page(page);
  } else {
    heap_keep_page(page);
  }
}

PRIVATE heap_t* heap_of_page_locked(const page_t* page) {
  heap_t* heap = load_acquire(&page->heap);  // [H1] in
  if (likely(heap == NULL || load_relaxed(&heap->state) != HEAP_DELETED)) { return heap; }
  return heap->subproc->main;
}

static bool may_go(const heap_t* heap) { return heap != NULL && heap != &heap_main_static; }

PRIVATE heap_t* heap_of_page(const page_t* page) {
  heap_t* heap = load_relaxed(&page->heap);
  if (!may_go(heap)) { return heap; }
  (void)retired_lock();
  heap = heap_of_page_locked(page);
  retired_unlock();
  return heap;
}

PRIVATE bool heap_lock_record(const page_t* page) {
  const bool wanted = may_go(load_relaxed(&page->heap));
  if (wanted) { (void)retired_lock(); }
  return wanted;
}

PRIVATE void heap_unlock_record(bool is_locked) {
  if (is_locked) { retired_unlock(); }
}

PRIVATE heap_t* heap_migrate(page_t* page) {
  heap_t* heap = load_relaxed(&page->heap);
  heap_t* home = heap_of_page_locked(page);  // the page keeps the record
  if (home == heap) { return heap; }
  heap_count_moved(page, heap, home);
  heap_remove_page(heap, page, home);
  heap_add_page(home, page);
  return home;
}

PRIVATE page_t* heap_page_new(const heap_t* heap, page_request_t* request) {
  request->arena = heap->arena;
  request->numa_node = heap->numa_node + 1;
  request->direct =
      heap->arena == NULL && (request->direct || option_is_enabled(mi_option_disallow_arena_alloc));
  page_t* page = page_new(request);
  if (page != NULL || !request->direct) { return page; }
  request->direct = false;
  return page_new(request);
}

// ---- theaps ----

PRIVATE void heap_link_theap(heap_t* heap, theap_t* theap) {
  static _Atomic(uint32_t) serials;
  theap->serial = add_relaxed(&serials, 1) + 1;
  stat_up(&memory_stats.theaps, 1);
  lock_acquire(&heap->lock);
  LIST_ADD(heap->theaps, theap, heap_next, heap_prev);
  lock_release(&heap->lock);
}

PRIVATE void heap_unlink_theap(heap_t* heap, theap_t* theap) {
  stat_down(&memory_stats.theaps, 1);
  theap_tell(theap);
  lock_acquire(&heap->lock);
  LIST_REMOVE(heap->theaps, theap, heap_next, heap_prev);
  heap_unlock_or_free(heap);
}

static theap_t* theap_new(thread_t* thread, heap_t* heap) {
  theap_record_t* record = (theap_record_t*)meta_alloc(sizeof(theap_record_t));
  if (record == NULL) { return NULL; }
  theap_t* theap = &record->theap;
  theap_setup(record, heap, thread);
  heap_link_theap(heap, theap);
  guard_catch_up(theap);
  theap_catch_up_fill(theap);
  theap->next = thread->theaps->next;
  thread->theaps->next = theap;
  return theap;
}

PRIVATE theap_t* heap_theap_or_null(heap_t* heap) {
  theap_t* current = theap_current();
  if (likely(current->heap == heap && current->thread != NULL)) { return current; }
  thread_t* thread = thread_self_or_null();
  if (thread == NULL) { return NULL; }
  if (likely(thread->recent->heap == heap)) { return thread->recent; }
  if (heap_part_or_null(heap) != NULL) { return thread->theaps; }
  thread_catch_up(thread);
  theap_t* theap = thread_theap_of(thread, heap);
  if (theap == NULL) { theap = theap_new(thread, heap); }
  if (theap != NULL) { thread->recent = theap; }
  return theap;
}

// ---- deletion and destruction ----

// Abandoned pages go to the main heap's pools. One that a freeing thread has just claimed is that
// thread's to move. Since the pools have seen that the heap is retired none is added, and those
// that were are seen without a lock.
static void move_abandoned(heap_t* heap) {
  for (unsigned bin = 1; bin <= BIN_LARGE; bin++) {
    page_t* page = heap_claim_abandoned(heap, bin);
    for (; page != NULL; page = heap_claim_abandoned(heap, bin)) {
      heap_abandon(heap_migrate(page), page);
    }
  }
}

// The caller holds the heap, or it is a main heap: who sees the state does not let its record go.
static void heap_retire(heap_t* heap, heap_state_t state) {
  store_relaxed(&heap->state, state);
  pools_see_state(heap);
  (void)add_relaxed(&heap_epoch, 1);
  stat_down(&memory_stats.heaps, 1);
  move_abandoned(heap);
}

// Its threads have ended. The record stays: full pages name it, and those of a main heap are in no
// list.
PRIVATE void heap_delete_main(heap_t* heap) {
  heap_unlist(heap);
  heap->subproc->main = subproc_main_static.main;
  heap_retire(heap, HEAP_DELETED);
}

PRIVATE void heap_destroy_page(page_t* page) {
  if (TRACKED) { tracked_drop_page(page); }
  release_page(page, false);
}

// Every page goes, whoever owns it: the program has promised that nobody uses the blocks.
static void drop_pages(heap_t* heap) {
  for (page_t* page = heap->pages; page != NULL; page = heap->pages) { heap_destroy_page(page); }
}

static void empty_theaps(heap_t* heap) {
  lock_acquire(&heap->lock);
  for (theap_t* theap = heap->theaps; theap != NULL; theap = theap->heap_next) {
    if (!process_lost_threads()) { theap_gather(theap); }
    theap_tell(theap);
    theap_clear(theap);
  }
  lock_release(&heap->lock);
  pools_clear(heap);
}

static void heap_end(heap_t* heap, heap_state_t state) {
  if (heap->is_main) { return; }
  thread_t* thread = thread_self_or_null();
  heap_hold(heap);
  heap_unlist(heap);
  lock_acquire(&heap->walk);
  if (state == HEAP_DESTROYED) {
    empty_theaps(heap);
    drop_pages(heap);
  }
  heap_retire(heap, state);
  lock_release(&heap->walk);
  if (thread != NULL) { thread_catch_up(thread); }
  heap_let_go(heap);
}

PRIVATE void heap_delete(heap_t* heap) { heap_end(heap, HEAP_DELETED); }

PRIVATE void heap_destroy(heap_t* heap) {
  if (TRACKED) { tracked_flush(); }
  heap_end(heap, HEAP_DESTROYED);
}
