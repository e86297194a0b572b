// The pools of a heap: abandoned pages, by class, for any of its theaps. Each has its own lock, so
// that many threads that pass pages on do not meet: see docs/decisions/030.
#include "heap.h"

static void count_put(pool_t* pool) {
  const uint32_t pages = load_relaxed(&pool->pages) + 1;
  store_relaxed(&pool->pages, pages);
  store_relaxed(&pool->total, load_relaxed(&pool->total) + 1);
  if (pages > load_relaxed(&pool->peak)) { store_relaxed(&pool->peak, pages); }
}

static void unpool_locked(pool_t* pool, page_t* page) {
  if (page->prev != NULL) {
    page->prev->next = page->next;
  } else {
    store_relaxed(pool_list(pool, page->bin), page->next);
  }
  if (page->next != NULL) { page->next->prev = page->prev; }
  page->next = page->prev = NULL;
  store_relaxed(&pool->pages, load_relaxed(&pool->pages) - 1);
}

PRIVATE void heap_unpool(heap_t* heap, page_t* page) {
  pool_t* pool = pool_of(heap, page->bin);
  lock_acquire(&pool->lock);
  unpool_locked(pool, page);
  lock_release(&pool->lock);
}

typedef enum { ABANDON_DONE, ABANDON_RETRY, ABANDON_MOVED } abandon_result_t;

// The state changes under the lock, so that who claims the page finds it in the list, and a heap
// that is being deleted leaves none behind.
static abandon_result_t abandon_locked(const heap_t* heap, pool_t* pool, page_t* page) {
  if (load_relaxed(&heap->state) == HEAP_DELETED) { return ABANDON_MOVED; }
  if (!page_leave(page, REMOTE_ABANDONED, page->used)) { return ABANDON_RETRY; }
  _Atomic(page_t*)* list = pool_list(pool, page->bin);
  page_t* first = load_relaxed(list);
  page->prev = NULL;
  page->next = first;
  if (first != NULL) { first->prev = page; }
  store_relaxed(list, page);
  count_put(pool);
  return ABANDON_DONE;
}

PRIVATE void heap_abandon(heap_t* heap, page_t* page) {
  abandon_result_t result = ABANDON_RETRY;
  while (result != ABANDON_DONE) {
    if (result == ABANDON_MOVED) { heap = heap_migrate(page); }
    page_take_remote(page);
    if (page->used == 0 && !page->kept) {
      heap_release_page(page);
      return;
    }
    pool_t* pool = pool_of(heap, page->bin);
    lock_acquire(&pool->lock);
    result = abandon_locked(heap, pool, page);
    lock_release(&pool->lock);
  }
}

static NOINLINE page_t* claim_from(pool_t* pool, unsigned bin) {
  uint32_t claimed = 0;
  lock_acquire(&pool->lock);
  page_t* page = load_relaxed(pool_list(pool, bin));
  while (page != NULL && !remote_claim(&page->remote, REMOTE_ABANDONED, &claimed)) {
    page = page->next;
  }
  if (page != NULL) { unpool_locked(pool, page); }
  lock_release(&pool->lock);
  if (page != NULL) { page_restore(page, claimed); }
  return page;
}

PRIVATE page_t* heap_claim_abandoned(heap_t* heap, unsigned bin) {
  pool_t* pool = pool_of(heap, bin);
  return load_relaxed(pool_list(pool, bin)) == NULL ? NULL : claim_from(pool, bin);
}

PRIVATE void heap_make_holes(heap_t* heap) {
  if (page_release_is_asked()) { return; }  // the program may read what it has freed
  for (unsigned bin = 1; MAKES_HOLES && bin < BIN_COUNT; bin++) {
    page_t* pages = NULL;
    for (page_t* page = NULL; (page = heap_claim_abandoned(heap, bin)) != NULL; pages = page) {
      page->next = pages;
    }
    list_make_holes(pages);
    while (pages != NULL) {
      page_t* page = pages;
      pages = page->next;
      heap_abandon(heap, page);
    }
  }
}

// The kept ones of a class, before those in `list`.
static page_t* claim_kept_locked(pool_t* pool, unsigned bin, page_t* list) {
  uint32_t claimed = 0;
  page_t* page = load_relaxed(pool_list(pool, bin));
  while (page != NULL) {
    page_t* next = page->next;
    if (load_relaxed(&page->remote) == REMOTE_ABANDONED &&
        remote_claim(&page->remote, REMOTE_ABANDONED, &claimed)) {
      unpool_locked(pool, page);
      page->next = list;
      list = page;
    }
    page = next;
  }
  return list;
}

PRIVATE page_t* heap_claim_kept(heap_t* heap) {
  page_t* list = NULL;
  for (unsigned bin = 1; bin <= BIN_LARGE; bin++) {
    pool_t* pool = pool_of(heap, bin);
    lock_acquire(&pool->lock);
    list = claim_kept_locked(pool, bin, list);
    lock_release(&pool->lock);
  }
  return list;
}

// ---- all of them ----

PRIVATE void pools_lock(heap_t* heap) {
  for (unsigned i = 0; i < POOLS; i++) { lock_acquire(&heap->pools[i].lock); }
}

PRIVATE void pools_unlock_after_fork(heap_t* heap, bool child) {
  for (unsigned i = 0; i < POOLS; i++) { lock_after_fork(&heap->pools[i].lock, child); }
}

PRIVATE void pools_see_state(heap_t* heap) {
  for (unsigned i = 0; i < POOLS; i++) {
    lock_acquire(&heap->pools[i].lock);
    lock_release(&heap->pools[i].lock);
  }
}

static void pool_clear(pool_t* pool) {
  store_relaxed(&pool->pages, 0);
  for (unsigned i = 0; i < POOL_CLASSES; i++) { store_relaxed(&pool->first[i], NULL); }
}

static void pools_change(heap_t* heap, void (*change)(pool_t* pool)) {
  for (unsigned i = 0; i < POOLS; i++) {
    lock_acquire(&heap->pools[i].lock);
    change(&heap->pools[i]);
    lock_release(&heap->pools[i].lock);
  }
}

PRIVATE void pools_clear(heap_t* heap) { pools_change(heap, pool_clear); }

PRIVATE COLD void pools_count(const heap_t* heap, mi_stat_count_t* into) {
  for (unsigned i = 0; i < POOLS; i++) {
    const pool_t* pool = &heap->pools[i];
    const mi_stat_count_t count = {.total = (int64_t)load_relaxed(&pool->total),
                                   .peak = load_relaxed(&pool->peak),
                                   .current = load_relaxed(&pool->pages)};
    stat_count_merge(into, &count);
  }
}

static COLD void pool_forget(pool_t* pool) {
  store_relaxed(&pool->peak, load_relaxed(&pool->pages));
}

PRIVATE COLD void pools_forget(heap_t* heap) { pools_change(heap, pool_forget); }

PRIVATE void pools_rescue(heap_t* heap) {
  for (unsigned i = 0; i < POOLS; i++) {
    if (lock_is_left(&heap->pools[i].lock)) { pool_clear(&heap->pools[i]); }
  }
}
