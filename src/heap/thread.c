// Threads: their records, their end, and a theap for those that have none.
#include "heap.h"

#include "../base/list.h"
#include "../memory/meta.h"
#include "../service/options.h"
#include "count.h"
#include "guard.h"
#include "ration.h"
#include "row.h"
#include "tracked.h"

static struct {
  lock_t lock;
  thread_t* threads;
  lock_t orphan_lock;
  thread_t* orphans;  // one record for all threads that have none
  subproc_t* subprocs;
  thread_t* recycled;  // linked by `next`
  size_t recycled_count, recycled_slices;
} registry;

// Where a thread's end is told several times, we leave at the last. (The thread sanitizer has taken
// its own leave by then.)
enum { EXIT_ROUNDS = UNDER_TSAN ? 0 : PORT_EXIT_ROUNDS };

PRIVATE void registry_lock(void) {
  lock_acquire(&registry.orphan_lock);
  lock_acquire(&registry.lock);
}

PRIVATE void registry_unlock(void) {
  lock_release(&registry.lock);
  lock_release(&registry.orphan_lock);
}

// A thread that begins in the child may have the id of one that was lost, most often as it is given
// the same stack.
static bool page_lose_owner(page_t* page, void* self) {
  const uintptr_t owner = page_owner(page);
  if (owner > LOST_ID && owner != *(const uintptr_t*)self) { store_relaxed(&page->owner, LOST_ID); }
  return true;
}

// Only the forking thread lives on in the child. What the others owned is nobody's for ever: their
// lists may be half written. What is freed there goes to the remote lists, and stays in these.
PRIVATE void registry_reset_in_child(void) {
  thread_t* self = theap_current()->thread;
  registry.threads = self;
  for (subproc_t* subproc = registry.subprocs; subproc != NULL; subproc = subproc->next) {
    subproc->threads = 0;
  }
  if (self != NULL) {
    self->subproc->threads = 1;
    self->next = self->prev = NULL;
  }
  store_relaxed(&thread_count, self != NULL);
  uintptr_t id = port_thread_id();
  page_visit_all(page_lose_owner, &id);
  lock_reset(&registry.lock);
  lock_reset(&registry.orphan_lock);
}

PRIVATE void registry_rescue(void) {
  if (lock_is_left(&registry.orphan_lock)) { registry.orphans = NULL; }
  if (!lock_is_left(&registry.lock)) { return; }
  registry.threads = registry.recycled = NULL;
  registry.recycled_count = registry.recycled_slices = 0;
}

PRIVATE subproc_t* registry_subprocs(void) { return registry.subprocs; }
UNUSED PRIVATE subproc_t* const* registry_subprocs_at(void) { return &registry.subprocs; }

PRIVATE void registry_add_subproc(subproc_t* subproc) {
  lock_acquire(&registry.lock);
  subproc->next = registry.subprocs;
  registry.subprocs = subproc;
  lock_release(&registry.lock);
}

PRIVATE void registry_remove_subproc(subproc_t* subproc) {
  lock_acquire(&registry.lock);
  subproc_t** link = &registry.subprocs;
  while (*link != NULL && *link != subproc) { link = &(*link)->next; }
  if (*link != NULL) { *link = subproc->next; }
  lock_release(&registry.lock);
}

// ---- records ----

// The thread comes last: it is written before slots of the theap's rows, which share its OS page,
// are read. If they were read first the page would fault twice.
typedef struct thread_record {
  theap_record_t first;
  thread_t thread;
} thread_record_t;

static void registry_add(thread_t* thread) {
  lock_acquire(&registry.lock);
  LIST_ADD(registry.threads, thread, next, prev);
  thread->subproc->threads++;
  lock_release(&registry.lock);
  (void)add_relaxed(&thread_count, 1);
  stat_up(&memory_stats.threads, 1);
}

static void registry_remove(thread_t* thread) {
  lock_acquire(&registry.lock);
  LIST_REMOVE(registry.threads, thread, next, prev);
  thread->subproc->threads--;
  lock_release(&registry.lock);
  (void)sub_relaxed(&thread_count, 1);
  stat_down(&memory_stats.threads, 1);
}

static thread_t* thread_new(uintptr_t id, subproc_t* subproc) {
  thread_record_t* record = (thread_record_t*)meta_alloc(sizeof(thread_record_t));
  if (record == NULL) { return NULL; }
  thread_t* thread = &record->thread;
  thread->id = id;
  thread->subproc = subproc;
  thread->theaps = thread->recent = &record->first.theap;
  thread->epoch = load_relaxed(&heap_epoch);
  thread->collections = load_relaxed(&collect_requests);
  theap_setup(&record->first, subproc->main, thread);
  heap_link_theap(subproc->main, &record->first.theap);
  guard_catch_up(&record->first.theap);
  theap_catch_up_fill(&record->first.theap);
  return thread;
}

static void thread_free(thread_t* thread) {
  rows_free_slots(thread->theaps);
  if (thread->theaps->rations != NULL) { rations_free(thread->theaps); }
  meta_free(thread->theaps, sizeof(thread_record_t));
}

// The pages and the record of a thread that has ended.
static void thread_disband(thread_t* thread) {
  thread->id = port_thread_id();
  theap_abandon(thread->theaps);
  thread_free(thread);
}

PRIVATE bool process_is_threaded(void) {
  return PORT_HAS_THREADS && load_relaxed(&thread_count) > 1;
}

// ---- recycled records ----
//
// Where a thread ends another may begin soon: it takes over the record, with all pages. Until then
// these are nobody's, though in queues; blocks that are freed in them wait there, as in those of a
// thread that is blocked. So there are few, and when memory grows or is wanted back they go to the
// pool. See docs/decisions/020.

// Not where the thread asked for no memory: then it has others' pages only, by freeing in them.
static bool recycled_suits(const thread_t* thread) {
  return thread->subproc == &subproc_main_static && thread->theaps->slow_calls != 0;
}

static size_t recycled_slices_most(void) {
  const stats_t* stats = &heap_main_static.stats;
  const size_t bytes = (size_t)load_relaxed(&stats->page_committed.current);
  return size_max(RECYCLED_SLICES, (bytes >> SLICE_SHIFT) / RECYCLED_SHARE);
}

// Returns false if there are enough.
static bool recycled_put(thread_t* thread) {
  const size_t slices = thread->slices = thread->theaps->slices;
  const size_t most = size_min(RECYCLED_MOST, size_max(2, load_relaxed(&thread_count)));
  const size_t slices_most = recycled_slices_most();
  thread->id = 0;
  theap_own_all(thread->theaps);
  lock_acquire(&registry.lock);
  const bool has_room =
      registry.recycled_count < most && registry.recycled_slices + slices <= slices_most;
  if (has_room) {
    thread->next = registry.recycled;
    registry.recycled = thread;
    registry.recycled_count++;
    registry.recycled_slices += slices;
  }
  lock_release(&registry.lock);
  return has_room;
}

// The youngest; NULL if there is none.
static thread_t* recycled_pop(void) {
  if (!PORT_HAS_THREADS) { return NULL; }
  lock_acquire(&registry.lock);
  thread_t* thread = registry.recycled;
  if (thread != NULL) {
    registry.recycled = thread->next;
    registry.recycled_count--;
    registry.recycled_slices -= thread->slices;
  }
  lock_release(&registry.lock);
  return thread;
}

static thread_t* recycled_take(uintptr_t id, const subproc_t* subproc) {
  thread_t* thread = subproc == &subproc_main_static ? recycled_pop() : NULL;
  if (thread == NULL) { return NULL; }
  thread->id = id;
  thread->next = NULL;
  thread->exit_rounds = 0;
  thread->heartbeat = 0;
  thread->in_deferred_free = false;
  thread->collections = load_relaxed(&collect_requests);
  heap_link_theap(subproc->main, thread->theaps);
  theap_own_all(thread->theaps);
  thread_catch_up(thread);
  return thread;
}

PRIVATE NOINLINE void recycled_disband(void) {
  thread_t* thread = NULL;
  while ((thread = recycled_pop()) != NULL) { thread_disband(thread); }
}

// ---- beginning ----

// That of a thread that has ended, but goes on.
static theap_t* theap_of_gone(void) {
  lock_acquire(&registry.lock);
  if (theap_gone.special == 0) { memcpy(&theap_gone, &theap_empty, sizeof(theap_gone)); }
  lock_release(&registry.lock);
  return &theap_gone;
}

// It has left, and goes on. Where the slot is the id's, the next thread that has it would be taken
// for gone: there this one begins once more, and the next one goes on with what it leaves.
static void thread_is_gone(void) {
  if (!PORT_SLOT_STAYS) { (void)theap_set_current(theap_of_gone()); }
}

// The caller leaves in its place. False: it has no slot for that.
static bool thread_leave_for(thread_t* thread) {
  thread->id = port_thread_id();
  for (theap_t* theap = thread->theaps; theap != NULL; theap = theap->next) {
    theap_own_all(theap);
  }
  if (!theap_set_current(thread->theaps)) { return false; }
  thread_leave();
  return true;
}

// A thread has the caller's id, so it has ended, and nobody told us.
static NOINLINE void thread_bury(uintptr_t id) {
  lock_acquire(&registry.lock);
  thread_t* thread = registry.threads;
  while (thread != NULL && thread->id != id) { thread = thread->next; }
  lock_release(&registry.lock);
  if (thread != NULL) { (void)thread_leave_for(thread); }
}

static theap_t* thread_begin(subproc_t* subproc) {
  const uintptr_t id = port_thread_id();
  if (!PORT_ENDS_ARE_TOLD) { thread_bury(id); }
  thread_t* thread = recycled_take(id, subproc);
  if (thread == NULL) { thread = thread_new(id, subproc); }
  if (thread == NULL) { return NULL; }
  if (!theap_set_current(thread->theaps)) {  // from here on a recursive call finds a heap
    heap_unlink_theap(subproc->main, thread->theaps);
    thread_disband(thread);
    return theap_of_gone();
  }
  registry_add(thread);
  if (port_thread_arm(thread) != 0 && process_is_threaded()) {
    thread_leave();  // nothing would tell us of its end
    thread_is_gone();
  }
  return theap_current();
}

PRIVATE theap_t* thread_enter(void) {
  if (theap_current() == &theap_gone) { return &theap_gone; }
  process_init();
  return thread_begin(&subproc_main_static);
}

PRIVATE void thread_enter_subproc(subproc_t* subproc) { (void)thread_begin(subproc); }

PRIVATE thread_t* thread_self_or_null(void) {
  theap_t* theap = theap_current();
  if (unlikely(theap->thread == NULL)) { theap = thread_enter(); }
  return theap == NULL ? NULL : theap->thread;
}

PRIVATE theap_t* thread_theap_of(thread_t* thread, const heap_t* heap) {
  theap_t* theap = thread->theaps;
  while (theap != NULL && theap->heap != heap) { theap = theap->next; }
  return theap;
}

// ---- walks ----

typedef void theap_fun(theap_t* theap);

static void theap_walk(theap_t* theap, theap_fun* fun) {
  if (theap->heap->is_main) {
    fun(theap);
    return;
  }
  lock_acquire(&theap->heap->walk);
  if (load_relaxed(&theap->heap->state) == HEAP_ALIVE) { fun(theap); }
  lock_release(&theap->heap->walk);
}

// ---- heaps that others deleted ----

static void theap_drop(thread_t* thread, theap_t** link) {
  theap_t* theap = *link;
  *link = theap->next;
  if (thread->recent == theap) { thread->recent = thread->theaps; }
  if (theap_current() == theap) { (void)theap_set_current(thread->theaps); }
  heap_unlink_theap(theap->heap, theap);
  quarantine_flush(theap);
  rows_free_slots(theap);
  if (theap->rations != NULL) { rations_free(theap); }
  meta_free(theap, sizeof(theap_record_t));
}

// Returns true if the theap's heap is no more; its pages have moved if it was deleted.
static bool theap_catch_up(theap_t* theap) {
  heap_t* heap = theap->heap;
  lock_acquire(&heap->walk);
  const int state = load_relaxed(&heap->state);
  if (state == HEAP_DELETED) { theap_abandon(theap); }  // to the main heap's pool
  lock_release(&heap->walk);
  return state != HEAP_ALIVE;
}

static void thread_take_fill(thread_t* thread) {
  for (theap_t* theap = thread->theaps; theap != NULL; theap = theap->next) {
    if (theap_fills(theap) != (perturb_now() != 0)) { theap_walk(theap, theap_catch_up_fill); }
  }
}

static void thread_take_settings(thread_t* thread) {
  thread_take_fill(thread);
  const uint32_t version = load_relaxed(&guard_versions);
  if (thread->guard_version == version) { return; }
  thread->guard_version = version;
  for (theap_t* theap = thread->theaps; theap != NULL; theap = theap->next) {
    theap_walk(theap, guard_catch_up);
  }
}

// NOLINTNEXTLINE(misc-no-recursion) the second time there is nothing to catch up with
PRIVATE COLD void thread_catch_up(thread_t* thread) {
  const uint32_t epoch = load_relaxed(&heap_epoch);
  if (thread->epoch == epoch) { return; }
  thread->epoch = epoch;
  const size_t requests = load_relaxed(&collect_requests);
  const bool collect = thread->collections != requests;
  thread->collections = requests;
  for (theap_t** link = &thread->theaps->next; *link != NULL;) {
    if (theap_catch_up(*link)) {
      theap_drop(thread, link);
    } else {
      link = &(*link)->next;
    }
  }
  thread_take_settings(thread);
  if (collect) { thread_collect(thread, COLLECT_HOLES); }
}

UNUSED PRIVATE bool perturb_set(int value) {
  thread_t* self = thread_self_or_null();
  if (!PERTURBS) { return value == 0; }
  store_relaxed(&perturb_value, value);
  (void)add_relaxed(&heap_epoch, 1);
  if (self != NULL) { thread_catch_up(self); }
  return true;
}

PRIVATE theap_t* theap_if_alive(theap_t* theap) {
  thread_t* thread = theap->thread;
  if (likely(thread->epoch == load_relaxed(&heap_epoch))) { return theap; }
  const bool is_default = theap == theap_current();
  thread_catch_up(thread);
  return is_default ? theap_current() : theap;
}

// ---- collecting ----

static void collect_gently(theap_t* theap) { theap_collect(theap, COLLECT_GENTLY); }
static void collect_empty(theap_t* theap) { theap_collect(theap, COLLECT_EMPTY); }
static void collect_holes(theap_t* theap) { theap_collect(theap, COLLECT_HOLES); }

PRIVATE void thread_collect_theap(theap_t* theap, collect_t what) {
  theap_fun* const all = what == COLLECT_HOLES ? collect_holes : collect_empty;
  theap_walk(theap, what == COLLECT_GENTLY ? collect_gently : all);
}

PRIVATE void thread_gather_theap(theap_t* theap) { theap_walk(theap, theap_gather); }

PRIVATE void thread_tell_theap(theap_t* theap) {
  thread_gather_theap(theap);
  theap_tell(theap);
}

// NOLINTNEXTLINE(misc-no-recursion) see thread_catch_up
PRIVATE void thread_collect(thread_t* thread, collect_t what) {
  if (TRACKED && what != COLLECT_GENTLY) { tracked_flush(); }
  thread_catch_up(thread);
  for (theap_t* theap = thread->theaps; theap != NULL; theap = theap->next) {
    thread_collect_theap(theap, what);
  }
}

// ---- giving up pages ----

PRIVATE void thread_abandon_theap(theap_t* theap) {
  if (TRACKED) { tracked_flush(); }
  theap_walk(theap, theap_abandon);
}

PRIVATE void thread_delete_theap(theap_t* theap) {
  thread_t* thread = theap->thread;
  thread_abandon_theap(theap);
  theap_t** link = &thread->theaps->next;  // the first is part of the thread's record
  while (*link != NULL && *link != theap) { link = &(*link)->next; }
  if (*link == NULL) { return; }
  (void)theap_catch_up(theap);
  theap_drop(thread, link);
}

// ---- heartbeat ----

static void theap_take_heartbeat(theap_t* theap) {
  theap_set_special(theap, SPECIAL_HEARTBEAT, theap->thread->has_heartbeat);
}

PRIVATE void thread_set_heartbeat(thread_t* thread, bool wanted) {
  thread->has_heartbeat = wanted;
  for (theap_t* theap = thread->theaps; theap != NULL; theap = theap->next) {
    theap_walk(theap, theap_take_heartbeat);
  }
}

PRIVATE COLD void thread_return_rations(thread_t* thread) {
  for (theap_t* theap = thread->theaps; theap != NULL; theap = theap->next) {
    if (theap->rations != NULL) { theap_walk(theap, rations_return); }
  }
}

// ---- end ----

PRIVATE COLD void thread_leave(void) {
  theap_t* theap = theap_current();
  if (theap->thread == NULL) { return; }
  if (TRACKED) { tracked_flush(); }
  thread_t* thread = theap->thread;
  thread->epoch = load_relaxed(&heap_epoch) - 1;
  thread_catch_up(thread);
  while (thread->theaps->next != NULL) { thread_delete_theap(thread->theaps->next); }
  rows_flush(thread->theaps);  // while their pages have a theap to go to
  (void)theap_set_current(THEAP_EMPTY);
  const bool stays = recycled_suits(thread);
  if (!stays) { theap_abandon(thread->theaps); }  // before the sub-process may go
  registry_remove(thread);
  (void)port_thread_arm(NULL);
  heap_unlink_theap(thread->theaps->heap, thread->theaps);
  if (!stays || !recycled_put(thread)) { thread_disband(thread); }
}

// Destructors of other keys may still allocate and free: so we leave in the last round, and serve
// what comes after it from the orphans' heap.
PRIVATE void thread_on_exit(void* argument) {
  thread_t* thread = (thread_t*)argument;
  if (theap_current()->thread != thread) { return; }
  if (thread->exit_rounds++ < EXIT_ROUNDS && port_thread_arm(thread) == 0) { return; }
  thread_leave();
  thread_is_gone();
}

// ---- orphans ----

PRIVATE theap_t* orphan_lock(void) {
  process_init();
  lock_acquire(&registry.orphan_lock);
  if (registry.orphans == NULL) { registry.orphans = thread_new(ORPHAN_ID, &subproc_main_static); }
  if (registry.orphans != NULL) { return registry.orphans->theaps; }
  lock_release(&registry.orphan_lock);
  return NULL;
}

PRIVATE void orphan_unlock(void) { lock_release(&registry.orphan_lock); }

// Where no thread has needed their heap yet, there is nothing to collect.
PRIVATE void orphans_collect(void) {
  lock_acquire(&registry.orphan_lock);
  if (registry.orphans != NULL) { theap_collect(registry.orphans->theaps, COLLECT_HOLES); }
  lock_release(&registry.orphan_lock);
}

// ---- the library goes ----

// Those that live on, too. What the orphans have freed may make the caller one of them.
UNUSED PRIVATE void threads_unload(void) {
  orphans_collect();
  while (registry.threads != NULL && thread_leave_for(registry.threads)) {}
  recycled_disband();
}
