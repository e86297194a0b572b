// The process: its beginning, fork, and its end.
#include "heap.h"

#include "../memory/meta.h"
#include "../service/message.h"
#include "../service/options.h"
#include "../service/trace.h"
#include "guard.h"
#include "tracked.h"

static struct {
  lock_t lock;
  _Atomic(bool) ready;
} process;

static void process_rescue(void);

// Legal at any time, from any thread; allocates nothing.
PRIVATE void process_init(void) {
  if (likely(load_acquire(&process.ready))) { return; }  // [I1] in: options and main heap
  lock_acquire(&process.lock);
  if (!load_relaxed(&process.ready)) {
    options_init();
    port_tag_memory(option_get(mi_option_os_tag));
    if (!SMALL) { options_watch(guard_option_changed); }
    heap_main_setup(&heap_main_static, &subproc_main_static);
    registry_add_subproc(&subproc_main_static);
    (void)port_thread_exit_init(thread_on_exit);
    port_end_init(process_rescue);
    store_release(&process.ready, true);  // [I1] out
  }
  lock_release(&process.lock);
}

// ---- fork: all locks are held while the process is copied, in their order ----

typedef void heap_fun(heap_t* heap);

static void for_each_heap(heap_fun* fun) {
  for (subproc_t* subproc = registry_subprocs(); subproc != NULL; subproc = subproc->next) {
    for (heap_t* heap = subproc->heaps; heap != NULL; heap = heap->next) { fun(heap); }
  }
  for (heap_t* heap = retired_heaps(); heap != NULL; heap = heap->next) { fun(heap); }
}

// Two rounds: who walks a deleted heap takes the locks of another to move its pages there.
static void heap_lock_walk(heap_t* heap) { lock_acquire(&heap->walk); }
static void heap_lock(heap_t* heap) {
  lock_acquire(&heap->lock);
  pools_lock(heap);
}

static void heap_unlock_after_fork(heap_t* heap, bool child) {
  pools_unlock_after_fork(heap, child);
  lock_after_fork(&heap->lock, child);
  lock_after_fork(&heap->walk, child);
}

static void heap_unlock(heap_t* heap) { heap_unlock_after_fork(heap, false); }
static void heap_reset(heap_t* heap) { heap_unlock_after_fork(heap, true); }

// A single thread may fork in a signal handler that interrupted malloc: then the locks are its own,
// and stay so.
static bool fork_is_locked;

static bool lost_threads;

PRIVATE bool process_lost_threads(void) { return lost_threads; }

static void fork_prepare(void) {
  fork_is_locked = !port_is_single_threaded();
  if (!fork_is_locked) { return; }
  port_lock_streams_for_fork();
  lock_acquire(&process.lock);
  registry_lock();
  for (subproc_t* subproc = registry_subprocs(); subproc != NULL; subproc = subproc->next) {
    lock_acquire(&subproc->lock);
  }
  if (TRACKED) { tracked_lock_for_fork(); }
  (void)retired_lock();
  for_each_heap(heap_lock_walk);
  for_each_heap(heap_lock);
  guard_lock_for_fork();
  waiting_lock_for_fork();
  spare_lock_for_fork();
  memory_lock();
  page_lock_for_fork();
  meta_lock_for_fork();
  if (NOTE_BLOCKS) { traces_lock_for_fork(); }
}

static void fork_done(bool child) {
  if (!fork_is_locked) { return; }
  if (NOTE_BLOCKS) { traces_unlock_after_fork(child); }
  meta_unlock_after_fork(child);
  page_unlock_after_fork(child);
  memory_unlock_after_fork(child);
  spare_unlock_after_fork(child);
  waiting_unlock_after_fork(child);
  guard_unlock_after_fork(child);
  for_each_heap(child ? heap_reset : heap_unlock);
  retired_unlock_after_fork(child);
  if (TRACKED) { tracked_unlock_after_fork(child); }
  for (subproc_t* subproc = registry_subprocs(); subproc != NULL; subproc = subproc->next) {
    lock_after_fork(&subproc->lock, child);
  }
  if (child) {
    lost_threads = true;
    message_forget_threads();
    registry_reset_in_child();
    port_forget_threads();
  } else {
    registry_unlock();
  }
  lock_after_fork(&process.lock, child);
  port_unlock_streams_after_fork(child);
}

static void fork_parent(void) { fork_done(false); }
static void fork_child(void) { fork_done(true); }

PRIVATE void process_watch_fork(void) { (void)port_at_fork(fork_prepare, fork_parent, fork_child); }

// ---- the end, where other threads are no more ----

static void subproc_rescue(subproc_t* subproc) {
  subproc->heaps = subproc->main;
  subproc->main->next = subproc->main->prev = NULL;
}

// What one of them was about to change is left alone, and begun anew.
static void process_rescue(void) {
  (void)lock_is_left(&process.lock);
  registry_rescue();
  retired_rescue();
  for (subproc_t* subproc = registry_subprocs(); subproc != NULL; subproc = subproc->next) {
    if (lock_is_left(&subproc->lock)) { subproc_rescue(subproc); }
  }
  for_each_heap(heap_rescue);
  if (TRACKED) { tracked_rescue(); }
  guard_rescue();
  waiting_rescue();
  spare_rescue();
  memory_rescue();
  page_rescue();
  meta_rescue();
  if (NOTE_BLOCKS) { traces_rescue(); }
}

// ---- the library goes, and the process stays ----

static void heap_settle(heap_t* heap) {
  heap_ask_again(heap);
  heap_make_holes(heap);
}

// What has no block in use becomes free, whoever had it, and goes.
static void process_settle(void) {
  page_release_register(NULL, NULL);
  threads_unload();
  for_each_heap(heap_settle);
  guard_flush();
  page_release_kept();
  memory_collect(true);
}

UNUSED PRIVATE void process_unload(void) {
  const bool everything = option_is_enabled(mi_option_destroy_on_exit);
  process_settle();
  const size_t bytes = memory_taken_bytes();
  if (bytes != 0) {
    message_warning("the library is unloaded while blocks are in use: %zu KiB with them %s",
                    bytes / KiB, everything ? "go" : "stay");
  }
  pages_unload(everything);
  memory_unload(everything);
  if (NOTE_BLOCKS) { traces_unload(); }
  map_unload();
  meta_unload();
}
