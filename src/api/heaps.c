// Heaps, thread-local heaps, sub-processes and collecting, by their public names; the work is done
// in src/heap. Tests: test/api/heaps.c, theaps.c, subprocs.c, process.c, v2.c.
#include <errno.h>

#include "../alloc/alloc.h"
#include "../heap/guard.h"
#include "inspect.h"

// ---- beginning and end ----

static heap_t* new_heap(arena_t* arena) {
  heap_t* heap = heap_new(subproc_current(), arena);
  if (heap == NULL) { port_errno_set(ENOMEM); }
  return heap;
}

static bool is_part(const heap_t* heap) { return heap_part_or_null(heap) != NULL; }

API mi_heap_t* mi_heap_new(void) { return new_heap(NULL); }

API mi_heap_t* mi_heap_new_in_arena(mi_arena_id_t arena_id) { return new_heap((arena_t*)arena_id); }

API mi_heap_t* mi_heap_new_ex(int heap_tag, bool allow_destroy, mi_arena_id_t arena_id) {
  heap_t* heap = (heap_t*)new_heap((arena_t*)arena_id);
  if (heap != NULL) { heap->tag = heap_tag, heap->never_destroy = !allow_destroy; }
  return heap;
}

API void mi_heap_delete(mi_heap_t* heap) {
  if (heap != NULL && !is_part(heap)) { heap_delete(heap); }
}

API void mi_heap_destroy(mi_heap_t* heap) {
  if (heap == NULL || is_part(heap)) { return; }
  if (heap->never_destroy) {
    heap_delete(heap);
  } else {
    heap_destroy(heap);
  }
}

API void mi_heap_set_numa_affinity(mi_heap_t* heap, int numa_node) {
  if (heap != NULL) { heap_whole(heap)->numa_node = numa_node < 0 ? -1 : numa_node; }
}

API void mi_heap_set_debug_fill_preserve(mi_heap_t* heap, size_t bytes) {
  if (heap != NULL) { heap_preserve(heap_whole(heap), bytes); }
}

// ---- the calling thread's default ----

API mi_theap_t* mi_heap_theap(mi_heap_t* heap) {
  return heap == NULL ? NULL : heap_theap_or_null(heap);
}

API mi_heap_t* mi_heap_main(void) { return heap_main(); }

// The whole of it for a thread that has ended, or none had memory for.
API mi_heap_t* mi_heap_get_backing(void) {
  thread_t* thread = thread_self_or_null();
  return thread == NULL ? heap_main() : heap_as_part(thread->theaps);
}

// Not one of a heap that another thread has deleted.
API mi_theap_t* mi_theap_get_default(void) {
  thread_t* thread = thread_self_or_null();
  if (thread != NULL) { thread_catch_up(thread); }
  return theap_current();
}

// A theap of another thread, or none, changes nothing.
API mi_theap_t* mi_theap_set_default(mi_theap_t* theap) {
  theap_t* former = mi_theap_get_default();
  if (theap != NULL && theap->thread != NULL && theap->thread == former->thread) {
    (void)theap_set_current(theap);
  }
  return former;
}

API mi_heap_t* mi_heap_get_default(void) {
  theap_t* theap = mi_theap_get_default();
  if (theap->thread == NULL || theap->heap->is_main) { return mi_heap_get_backing(); }
  return theap->heap;
}

API mi_heap_t* mi_heap_set_default(mi_heap_t* heap) {
  heap_t* former = mi_heap_get_default();
  if (heap != NULL) { (void)mi_theap_set_default(heap_theap_or_null(heap)); }
  return former;
}

// ---- the heap of a block ----

// The page of any address.
static page_t* page_of_address(const void* p) {
  page_t* page = page_of(p);
  return likely(page != page_none()) || p == NULL ? page : page_large_around(p);
}

API mi_heap_t* mi_heap_of(const void* p) { return heap_of_page(page_of_address(p)); }

API bool mi_any_heap_contains(const void* p) { return mi_heap_of(p) != NULL; }

API bool mi_is_in_heap_region(const void* p) { return mi_any_heap_contains(p); }

API bool mi_heap_contains(const mi_heap_t* heap, const void* p) {
  const theap_t* part = heap_part_or_null(heap);
  const page_t* page = page_of_address(p);
  if (part == NULL) { return heap != NULL && heap_of_page(page) == heap; }
  return heap_of_page(page) == part->heap && load_relaxed(&page->last_owner) == part->serial;
}

// Nobody's, if the map does not lead there.
API size_t mi_thread_id_of(const void* p) { return page_owner(page_of(p)); }

API bool mi_heap_contains_block(mi_heap_t* heap, const void* p) {
  return mi_heap_contains(heap, p);
}
API bool mi_heap_check_owned(mi_heap_t* heap, const void* p) { return mi_heap_contains(heap, p); }
API bool mi_check_owned(const void* p) {
  return mi_heap_contains(heap_whole(mi_heap_get_default()), p);
}

// Moving the block helps where its page is sparse and is not the one that new blocks come from.
RACY API bool mi_unsafe_heap_page_is_under_utilized(mi_heap_t* heap, void* p,
                                                    size_t perc_threshold) {
  const page_t* page = page_of(p);
  if (heap == NULL || heap_of_page(page) != heap_whole(heap) || page_is_single(page)) {
    return false;
  }
  if (page->theap != NULL && page->theap->first[page->bin] == page) { return false; }
  return page_blocks_in_use(page) * 100 < page->reserved * size_min(perc_threshold, 100);
}

// ---- collecting ----

API void mi_theap_collect(mi_theap_t* theap, bool force) {
  if (theap == NULL || theap->thread == NULL) { return; }
  thread_collect_theap(theap, force ? COLLECT_HOLES : COLLECT_GENTLY);
  memory_collect(force);
}

API void mi_theap_quiescent_abandon(mi_theap_t* theap) {
  if (theap != NULL && theap->thread != NULL) { thread_abandon_theap(theap); }
}

API void mi_theap_delete(mi_theap_t* theap) {
  if (theap != NULL && theap->thread != NULL && theap->thread == thread_self_or_null()) {
    thread_delete_theap(theap);
  }
}

API void mi_heap_collect(mi_heap_t* heap, bool force) {
  thread_t* thread = thread_self_or_null();
  if (heap == NULL || thread == NULL) { return; }
  mi_theap_collect(is_part(heap) ? thread->theaps : thread_theap_of(thread, heap), force);
}

// Only its owner may touch a page: other threads collect the next time they look for one.
static void ask_others_to_collect(void) {
  if (!process_is_threaded()) { return; }
  (void)add_relaxed(&collect_requests, 1);
  (void)add_relaxed(&heap_epoch, 1);
}

static bool make_holes(heap_t* heap, void* unused) {
  (void)unused;
  heap_make_holes(heap);
  return true;
}

API void mi_collect(bool force) {
  thread_t* thread = thread_self_or_null();
  if (thread != NULL) {
    deferred_free_call(thread, force);
    thread_collect(thread, force ? COLLECT_HOLES : COLLECT_GENTLY);
  }
  if (force) {
    recycled_disband();
    orphans_collect();
    if (thread != NULL) { (void)subproc_visit_heaps(thread->subproc, make_holes, NULL); }
    ask_others_to_collect();
    page_release_spare();
    if (WAITING_LARGE) { waiting_flush(INT64_MAX); }
  } else {
    page_release_unwanted();
  }
  memory_collect(force);
}

typedef struct owned_pages {
  uintptr_t owner;
  size_t bytes;
} owned_pages_t;

RACY static bool add_owned_page(page_t* page, void* arg) {
  owned_pages_t* owned = (owned_pages_t*)arg;
  if (page_owner(page) == owned->owner) { owned->bytes += page_bytes(page); }
  return true;
}

API void mi_collect_reduce(size_t target_thread_owned) {
  owned_pages_t owned = {port_thread_id(), 0};
  page_visit_all(add_owned_page, &owned);
  if (owned.bytes <= target_thread_owned) { return; }
  thread_t* thread = thread_self_or_null();
  if (thread != NULL) { thread_collect(thread, COLLECT_HOLES); }
  memory_collect(true);
}

// ---- pages that the program keeps ----

API void mi_register_page_release(mi_page_release_fun* fun, void* arg) {
  page_release_register(fun, arg);
}

API void** mi_page_user_data(const void* p) {
  const page_t* page = page_of(p);
  page_words_t* words = page == page_none() ? NULL : page_words(page);
  return words == NULL ? NULL : words->words;
}

// ---- threads ----

API void mi_thread_init(void) { (void)thread_self_or_null(); }

API void mi_thread_done(void) { thread_leave(); }

// A hint that changes nothing here: pages of threads that end are for all.
API void mi_thread_set_in_threadpool(void) {}

// ---- sub-processes ----

static mi_subproc_id_t subproc_id(subproc_t* subproc) { return (mi_subproc_id_t){subproc}; }

API mi_subproc_id_t mi_subproc_main(void) {
  process_init();
  return subproc_id(&subproc_main_static);
}

API mi_subproc_id_t mi_subproc_current(void) { return subproc_id(subproc_current()); }

API mi_subproc_id_t mi_subproc_new(void) {
  process_init();
  return subproc_id(subproc_new());
}

API void mi_subproc_destroy(mi_subproc_id_t subproc) {
  if (subproc._mi_subproc_id != NULL) { subproc_destroy((subproc_t*)subproc._mi_subproc_id); }
}

API void mi_subproc_delete(mi_subproc_id_t subproc) {
  if (subproc._mi_subproc_id != NULL) { subproc_delete((subproc_t*)subproc._mi_subproc_id); }
}

API void mi_subproc_add_current_thread(mi_subproc_id_t subproc) {
  if (subproc._mi_subproc_id != NULL) { subproc_enter((subproc_t*)subproc._mi_subproc_id); }
}

API bool mi_subproc_visit_heaps(mi_subproc_id_t subproc, mi_heap_visit_fun* visitor, void* arg) {
  if (subproc._mi_subproc_id == NULL || visitor == NULL) { return false; }
  return subproc_visit_heaps((subproc_t*)subproc._mi_subproc_id, visitor, arg);
}

// ---- sampled guards ----

API void mi_theap_guarded_set_sample_rate(mi_theap_t* theap, size_t sample_rate, size_t seed) {
  if (theap != NULL && theap->thread != NULL) { guard_set_rate_of_theap(theap, sample_rate, seed); }
}

API void mi_theap_guarded_set_size_bound(mi_theap_t* theap, size_t min, size_t max) {
  if (theap != NULL && theap->thread != NULL) { guard_set_sizes_of_theap(theap, min, max); }
}

// The calling thread's part of the heap begins at once.
static void take_over(mi_heap_t* heap) {
  theap_t* theap = mi_heap_theap(heap);
  if (theap != NULL && theap->thread != NULL) { guard_catch_up(theap); }
}

API void mi_heap_guarded_set_sample_rate(mi_heap_t* heap, size_t sample_rate, size_t seed) {
  if (heap == NULL) { return; }
  guard_set_rate_of_heap(heap_whole(heap), sample_rate, seed);
  take_over(heap);
}

API void mi_heap_guarded_set_size_bound(mi_heap_t* heap, size_t min, size_t max) {
  if (heap == NULL) { return; }
  guard_set_sizes_of_heap(heap_whole(heap), min, max);
  take_over(heap);
}
