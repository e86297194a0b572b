/* test: timeout=400 cflags="-fsanitize=thread" */
// Heaps that are deleted or destroyed while other threads free, collect or leave (H1 to H4 in
// src/heap/heap.h).
#include "world.h"

enum { OTHER_TAG = 7 };
static heap_t *heap, *other_heap;
static page_t* seen;
static subproc_t* other_subproc;

static void take_in_heap_of(int slot, size_t size) {
  void* p = theap_malloc(heap_theap_or_null(heap), size);
  MODEL_CHECK(p != NULL && slots[slot] == NULL);
  slots[slot] = p;
}

static void take_in_heap(int slot) { take_in_heap_of(slot, BLOCK); }

// The walks over all classes and pools: only those that the model uses are worth a step.
static void quiet_pools(heap_t* h) {
  const unsigned half = bin_of(BLOCK / 2), bin = bin_of(BLOCK);
  for (unsigned i = 0; i < POOLS; i++) {
    pool_t* pool = &h->pools[i];
    if (i != half % POOLS && i != bin % POOLS) { model_quiet(&pool->lock, sizeof(pool->lock)); }
    model_quiet(&pool->pages, sizeof(pool->pages));
    model_quiet(&pool->peak, sizeof(pool->peak));
    model_quiet(&pool->total, sizeof(pool->total));
    for (unsigned k = 0; k < POOL_CLASSES; k++) {
      const bool is_used =
          &pool->first[k] == pool_first(h, half) || &pool->first[k] == pool_first(h, bin);
      if (!is_used) { model_quiet(&pool->first[k], sizeof(pool->first[k])); }
    }
  }
}

// Threads 0 and 1 have two blocks each in the heap: slots 0, 1 and 2, 3.
static void begin(void) {
  world_begin();
  for (int i = 2; i >= 0; i--) { model_act_as(i), world_enter(); }
  heap = heap_new(&subproc_main_static, NULL);
  model_quiet(&heap->stats, sizeof(heap->stats));
  quiet_pools(heap);
  quiet_pools(&heap_main_static);
  for (int i = 0; i < 2; i++) { model_act_as(0), take_in_heap(i); }
  for (int i = 2; i < 4; i++) { model_act_as(1), take_in_heap(i); }
}

static void two_owners(void) {
  begin();
  world_ready();
}

// As two_owners; they put on rows what they free in each other's pages.
static void two_owners_keeping(void) {
  begin();
  world_keeps_rows = true;
  world_ready();
}

static void one_left(void) {
  begin();
  model_act_as(1), thread_leave(), world_enter();
  world_ready();
}

// Only thread 1's page is there, and no thread has a part of the heap.
static void nobody_left(void) {
  begin();
  give(2), give(3);
  model_act_as(0), take_in_heap(2), take_in_heap(3), give(0), give(1);
  for (int i = 0; i < 2; i++) { model_act_as(i), thread_leave(), world_enter(); }
  seen = page_of(slots[2]);
  world_ready();
}

// As one_left, and that page is full.
static void full_left(void) {
  begin();
  model_act_as(1);
  for (int i = 4; i < 10; i++) { take_in_heap(i); }
  thread_leave(), world_enter();
  world_ready();
}

static void owner_0_only(void) {
  begin();
  give(2), give(3);
  model_act_as(1), thread_leave(), world_enter();
  world_ready();
}

// A page in the main heap of another sub-process, which nobody is in any more.
static void other_main_left(void) {
  world_begin();
  for (int i = 2; i >= 0; i--) { model_act_as(i), world_enter(); }
  other_subproc = subproc_new();
  model_quiet(&other_subproc->main->stats, sizeof(other_subproc->main->stats));
  quiet_pools(other_subproc->main);
  model_act_as(1), subproc_enter(other_subproc);
  seen = page_of(theap_malloc(theap_current(), BLOCK));
  thread_leave(), world_enter();
  world_ready();
}

// A hook is registered that thread 1 has not seen yet.
static void not_interested(bool force, unsigned long long heartbeat, void* arg) {
  (void)force, (void)heartbeat, (void)arg;
}

static void two_owners_and_hook(void) {
  begin();
  mi_register_deferred_free(not_interested, NULL);
  QUIET(deferred_free), QUIET(deferred_free_arg);
  world_ready();
}

static void delete(void) { heap_delete(heap); }
static void give_0(void) { give(0); }
static void give_2(void) { give(2); }
static void give_3(void) { give(3); }
static void give_2_and_3(void) {
  give(2);
  give(3);
}
static void give_0_and_2(void) {
  give(0);
  give(2);
}
static void give_2_and_take(void) {
  give(2);
  take(9, BLOCK / 2);
}
static void take_9_and_back(void) {
  take(9, BLOCK / 2);
  give(9);
}
static void leave(void) { thread_leave(); }
static void collect(void) { thread_collect(thread_self_or_null(), COLLECT_HOLES); }
static void catch_up(void) { thread_catch_up(thread_self_or_null()); }

static void take_new_in_heap(void) { take_in_heap_of(10 + m.self, BLOCK / 2); }

static void destroy(void) { heap_destroy(heap); }

// As statistics and visits do, whoever owns the page.
static void look_in(const subproc_t* subproc) {
  (void)heap_of_page(seen);
  (void)retired_lock();
  const heap_t* found = heap_of_page_locked(seen);
  MODEL_CHECK(found == NULL || found->subproc == subproc);
  MODEL_CHECK(found == NULL || found->tag == 0 || found->tag == OTHER_TAG);
  retired_unlock();
}
static void look(void) { look_in(&subproc_main_static); }
static void look_at_other(void) { look_in(other_subproc); }
// As a visit does that goes on without the lock.
static void look_and_hold(void) {
  (void)retired_lock();
  heap_t* found = heap_of_page_locked(seen);
  if (found != NULL) { heap_hold(found); }
  retired_unlock();
  if (found == NULL) { return; }
  MODEL_CHECK(found->subproc == &subproc_main_static);
  heap_let_go(found);
}

static void reuse_record(void) { meta_free(meta_alloc(sizeof(heap_t)), sizeof(heap_t)); }
// The next one that has the record locks it, and nobody else does anything to it.
static void lock_next_record(void) {
  heap_t* record = (heap_t*)meta_alloc(sizeof(heap_t));
  lock_acquire(&record->walk);
  MODEL_CHECK(load_relaxed(&record->walk.state) != LOCK_FREE);
  lock_release(&record->walk);
  meta_free(record, sizeof(heap_t));
}
static void destroy_other(void) { subproc_destroy(other_subproc); }
static void destroy_and_reuse_record(void) {
  destroy();
  reuse_record();
}
static void give_and_reuse_record(void) {
  give_2_and_3();
  reuse_record();
}
// As mi_heap_new_ex does it.
static void new_other_heap(void) {
  other_heap = heap_new(&subproc_main_static, NULL);
  other_heap->tag = OTHER_TAG;
}

// The page's record, and perhaps the heap's, become those of another.
static void give_and_take_in_new(void) {
  give_2_and_3();
  new_other_heap();
  slots[9] = theap_malloc(heap_theap_or_null(other_heap), BLOCK);
  MODEL_CHECK(slots[9] != NULL);
}

// The page moves, as those of a deleted heap do, to a heap whose record others know through the
// page only: such is the main heap of another sub-process to who walks all pages.
static void move_to_new(void) {
  new_other_heap();
  heap_remove_page(heap, seen, other_heap);
  heap_add_page(other_heap, seen);
}

static void everybody_catches_up(void) {
  for (int i = 0; i < 3; i++) {
    model_act_as(i);
    thread_catch_up(thread_self_or_null());
    for (const theap_t* theap = thread_self_or_null()->theaps; theap != NULL; theap = theap->next) {
      MODEL_CHECK(load_relaxed(&theap->heap->state) == HEAP_ALIVE);
    }
  }
}

// After all have noticed, nothing names the heap but full pages, and each block is where it
// belongs.
static void deleted(void) {
  everybody_catches_up();
  world_end(0);
  MODEL_CHECK(subproc_main_static.heaps == &heap_main_static && heap->theaps == NULL);
}

static void then_deleted(void) {
  model_act_as(0);
  heap_delete(heap);
  deleted();
}

static void moved_back(void) {
  model_act_as(0);
  heap_remove_page(other_heap, seen, heap);
  heap_add_page(heap, seen);
  heap_delete(other_heap);
  then_deleted();
}

static void other_deleted(void) {
  model_act_as(1);
  heap_delete(other_heap);
  deleted();
}

static void other_destroyed(void) { world_end(0); }

static void destroyed(void) {
  for (int i = 0; i < 4; i++) { slots[i] = NULL; }
  deleted();
}

MODEL_MAIN(
    {"reuse_and_look",
     nobody_left,
     {delete, give_and_take_in_new, look},
     other_deleted,
     1,
     1,
     1000},
    {"move_and_look", nobody_left, {move_to_new, look}, moved_back, 2, 1, 1000},
    {"delete_and_free", two_owners, {delete, give_2, give_0}, deleted, 2, 0, 1000},
    {"delete_and_keep", two_owners_keeping, {delete, give_0, give_2}, deleted, 2, 0, 1000},
    {"keep_and_leave", two_owners_keeping, {give_2, leave, give_0}, then_deleted, 2, 0, 1000},
    {"keep_and_collect", two_owners_keeping, {give_2_and_3, delete, collect}, deleted, 2, 0, 1000},
    {"destroy_and_keep",
     two_owners_keeping,
     {destroy, take_9_and_back, collect},
     destroyed,
     2,
     0,
     1000},
    {"delete_and_own", two_owners, {delete, give_2_and_take, catch_up}, deleted, 2, 0, 1000},
    {"delete_and_leave", two_owners, {delete, leave, give_2_and_3}, deleted, 2, 0, 1000},
    {"delete_and_collect", two_owners, {delete, collect, give_2}, deleted, 2, 0, 1000},
    {"delete_abandoned", one_left, {delete, give_2, give_3}, deleted, 2, 0, 1000},
    {"delete_last_blocks", one_left, {delete, give_0_and_2, give_3}, deleted, 2, 0, 1000},
    {"delete_full", full_left, {delete, give_2, give_3}, deleted, 2, 0, 1000},
    {"delete_by_stranger", nobody_left, {delete, give_2, give_3}, deleted, 2, 0, 1000},
    {"pages_listed",
     two_owners,
     {take_new_in_heap, take_new_in_heap, give_0_and_2},
     then_deleted,
     2,
     0,
     1000},
    {"delete_and_look", nobody_left, {delete, give_and_reuse_record, look}, deleted, 2, 0, 1000},
    {"destroy_and_look", nobody_left, {destroy, reuse_record, look}, destroyed, 2, 0, 1000},
    {"destroy_other_and_look",
     other_main_left,
     {destroy_other, look_at_other, reuse_record},
     other_destroyed,
     2,
     0,
     1000},
    {"delete_and_lock", nobody_left, {delete, lock_next_record}, deleted, 3, 0, 1000},
    {"delete_and_hold",
     nobody_left,
     {delete, give_and_reuse_record, look_and_hold},
     deleted,
     2,
     0,
     1000},
    {"destroy_and_hold",
     nobody_left,
     {destroy_and_reuse_record, look_and_hold},
     destroyed,
     3,
     0,
     1000},
    {"destroy_and_leave", two_owners, {destroy, leave, collect}, destroyed, 2, 0, 1000},
    {"destroy_and_collect", owner_0_only, {destroy, collect, catch_up}, destroyed, 2, 0, 1000},
    {"destroy_and_heartbeat",
     two_owners_and_hook,
     {destroy, take_9_and_back, collect},
     destroyed,
     2,
     0,
     1000})
