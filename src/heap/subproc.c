// Sub-processes: separate sets of heaps within one process. Memory that one frees never serves
// blocks of another, but through the OS-level arenas, which are shared.
#include "heap.h"

#include "../memory/meta.h"
#include "tracked.h"

PRIVATE subproc_t* subproc_new(void) {
  subproc_t* subproc = (subproc_t*)meta_alloc(sizeof(subproc_t));
  heap_t* heap = subproc == NULL ? NULL : (heap_t*)meta_alloc(sizeof(heap_t));
  if (heap == NULL) {
    if (subproc != NULL) { meta_free(subproc, sizeof(subproc_t)); }
    return NULL;
  }
  heap_main_setup(heap, subproc);
  registry_add_subproc(subproc);
  return subproc;
}

PRIVATE subproc_t* subproc_current(void) {
  thread_t* thread = thread_self_or_null();
  return thread == NULL ? &subproc_main_static : thread->subproc;
}

PRIVATE void subproc_enter(subproc_t* subproc) {
  thread_t* thread = thread_self_or_null();
  if (thread == NULL || thread->subproc == subproc) { return; }
  thread_leave();
  thread_enter_subproc(subproc);
}

// Also of heaps that were deleted, while nobody has moved their pages.
static bool page_drop_of(page_t* page, void* arg) {
  if (heap_of_page(page) == arg) { heap_destroy_page(page); }
  return true;
}

// The heap that comes after `last` (NULL: the first), which is let go, and held. Ids fall along the
// list, so if `last` has left it the search starts anew, at the first that is older.
static heap_t* next_heap(subproc_t* subproc, heap_t* last) {
  lock_acquire(&subproc->lock);
  heap_t* next = last == NULL || last->is_retired ? subproc->heaps : last->next;
  while (last != NULL && next != NULL && next->id > last->id) { next = next->next; }
  if (next != NULL) { heap_hold(next); }
  lock_release(&subproc->lock);
  if (last != NULL) { heap_let_go(last); }
  return next;
}

PRIVATE bool subproc_visit_heaps(subproc_t* subproc, mi_heap_visit_fun* visit, void* arg) {
  heap_t* heap = next_heap(subproc, NULL);
  while (heap != NULL && visit(heap, arg)) { heap = next_heap(subproc, heap); }
  if (heap == NULL) { return true; }
  heap_let_go(heap);
  return false;
}

PRIVATE void subproc_destroy_heaps(subproc_t* subproc) {
  for (heap_t* heap = NULL; (heap = next_heap(subproc, heap)) != NULL;) { heap_destroy(heap); }
}

static void subproc_leave(subproc_t* subproc) {
  store_relaxed(&subproc->has_ended, true);
  registry_remove_subproc(subproc);
}

// Its threads have ended, and nobody uses its blocks: all of them go.
PRIVATE void subproc_destroy(subproc_t* subproc) {
  if (subproc == &subproc_main_static || subproc->threads > 0) { return; }
  subproc_destroy_heaps(subproc);
  if (TRACKED) { tracked_flush(); }
  page_visit_all(page_drop_of, subproc->main);
  subproc_leave(subproc);
  stat_down(&memory_stats.heaps, 1);
  heap_free_record(subproc->main);
}

// Its threads have ended. Blocks stay valid, so the main heap's record stays.
PRIVATE void subproc_delete(subproc_t* subproc) {
  if (subproc == &subproc_main_static || subproc->threads > 0) { return; }
  for (heap_t* heap = NULL; (heap = next_heap(subproc, heap)) != NULL;) { heap_delete(heap); }
  heap_delete_main(subproc->main);
  subproc_leave(subproc);
}
