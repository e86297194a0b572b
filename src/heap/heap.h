// Heaps, their thread-local halves, threads and sub-processes.
//
//   sub-process --has--> heaps --each has, per thread that used it--> theaps
//                          |                                            `-> queues of pages, one
//                          |                                                for each size class
//                          `-> pool: abandoned pages, for any of its theaps
//
// A theap belongs to one thread and is used without locks; or to none, while its record waits to be
// recycled.
// A heap is shared; `lock` protects its lists, but for its pools, which have their own.
// H1 a page is in a queue of a theap (OWNED), in its heap's pool (ABANDONED), or in neither (FULL).
// H2 a heap that is not a main heap lists all its pages, so that it can be destroyed.
// H3 the record of a heap lives as long as it has pages or theaps, or is held; that of a
//    sub-process that was destroyed, as long as those of its heaps.
// H4 `walk` is held while a theap of another thread, or one's own that another thread may destroy,
//    is walked.
//
// As a heap is deleted its pages move to the main heap's pool. Those of the calling thread and the
// abandoned ones do so at once, full ones when a block in them is freed. Those of other threads do
// when these notice the new `epoch`.
#ifndef MI_HEAP_HEAP_H
#define MI_HEAP_HEAP_H

#include "../page/page.h"
#include "../port/lock.h"
#include "../port/slot.h"

enum { DIRECT_COUNT = SMALL_MAX / GRANULE + 1 };
enum { ACTIVE_LEAST = 33 };  // the first class above SMALL_MAX
_Static_assert((9 + (ACTIVE_LEAST - 1 - 17) % 8) << ((ACTIVE_LEAST - 1 - 17) / 8 + 5) == SMALL_MAX,
               "the class of SMALL_MAX");
// Classes above SMALL_MAX are multiples of it.
enum { MEDIUM_STEP = SMALL_MAX / 8 };

// Among several threads a theap keeps at most one SPARSE_SHARE-th of the pages in a queue, or so
// many slices, that are at least half empty. It abandons the others, so that what a blocked thread
// strands is in proportion to what it uses. But it also keeps as many as it has wanted, at most
// WANTED_BYTES: those that it has emptied itself, or had back from the pool, and further ones that
// it has used up. Of these one USED_UP_LOSS-th is lost, so that what it uses no more goes at last.
enum { SPARSE_SHARE = 8, SPARSE_SLICES = 2, WANTED_BYTES = 16 << 20, USED_UP_LOSS = 8 };
// A page in which a theap is the first to free a block may stay for one that the theap has filled.
// While its rows are open that holds only if it owned the page last, or has less than ADOPTED_OPEN
// pages of the class. Where the page may not stay the second one of the queue is abandoned if there
// are more than ADOPTED_PAGES: a thread that only frees leaves what others can use to them.
enum { ADOPTED_PAGES = 2, ADOPTED_OPEN = 6 };
// At most max(2, live threads) recycled records wait, and never more than RECYCLED_MOST; their
// pages have at most RECYCLED_SLICES, or one RECYCLED_SHARE-th of what the main heap has. This
// bounds what a process that begins no further threads can waste.
enum { RECYCLED_MOST = 16, RECYCLED_SLICES = 4 << 20 >> SLICE_SHIFT, RECYCLED_SHARE = 4 };

typedef struct mi_subproc_s subproc_t;
typedef struct thread thread_t;

typedef enum { HEAP_ALIVE, HEAP_DELETED, HEAP_DESTROYED } heap_state_t;

// Blocks of a class that the thread freed last. See row.h.
enum { ROW_COUNT = BIN_LARGE + 1 };
enum { ROW_FEW = 4, ROW_LARGE = 16 };  // slots of a row that is closed, and of large blocks
typedef struct row {
  block_t* none;      // NULL: to malloc an open row is a page with an empty list
  void **top, **end;  // the slot in use that was used last, or the base; the last slot
  size_t taken;       // blocks, that `taken` of the theap does not have; ROW_STOP: see ration.h
} row_t;
#define ROW_STOP SIZE_MAX

// All rows of a theap. A look is a request that finds no block, or a row that is full.
typedef struct rows {
  bool open;
  uint8_t any_bin;         // from this class on they take blocks of pages of any thread
  uint32_t looks;          // since they were judged
  uint32_t in_vain;        // looks, of rows that are closed, that served few requests
  size_t served;           // requests, of rows that are closed
  size_t moved;            // blocks that went from open rows to pages, or came from them
  size_t taken;            // from rows, when they were judged
  size_t others;           // blocks that other threads have returned, since they were judged
  uint32_t shared;         // times that these were many; halved each time that they were not
  size_t growth;           // bytes by which open rows have grown
  size_t large_bytes;      // of the blocks on the row of large ones
  bool missed[BIN_COUNT];  // a request has found the open row empty since that was full last
  uint32_t rest;           // times that they are not to be opened when they are judged
  uint32_t next_rest;
  void** slots;  // of open rows; NULL: they never were
} rows_t;

// Why a theap does not serve all requests alike.
typedef enum {
  SPECIAL_NO_THREAD = 1,  // it is an empty theap that any thread may start with
  SPECIAL_HEARTBEAT = 2,  // a function wants to be called now and then
  SPECIAL_SAMPLES = 4,    // one request in so many gets guards, see guard.h
  SPECIAL_BYTES = 8,      // one byte in so many makes its request a sample
  SPECIAL_FILL = 16,      // what is allocated is filled: mallopt(M_PERTURB)
} special_t;

// See ration.h.
typedef struct rations {
  page_t list[BIN_COUNT];    // what malloc takes for the first page of the class
  uint32_t left[BIN_COUNT];  // requests of the class that pass before one is looked at
  uint32_t at[BIN_COUNT];    // the byte of that block that makes it a sample
  uint32_t heartbeat;        // requests until the next one; UINT32_MAX: none is wanted
  uint32_t large_left;       // large requests until one is sampled
  size_t large_bytes;        // bytes of large requests until then
} rations_t;

typedef struct guard_setting {
  size_t rate, seed;   // one in so many; 0: none
  size_t bytes;        // one in so many bytes; 0: none
  size_t least, most;  // sizes
  uint64_t random;     // of a theap: the state
  uint32_t version;    // the larger one is newer
} guard_setting_t;

enum { FALLING_PAGES = 8 };

// Of so many blocks or bytes more than there are a theap has told its heap. It tells again when
// these have come, or when it is two steps ahead. See count.h.
typedef struct ahead {
  uint32_t now, step;
} ahead_t;

// What a theap has not told of the pages of a class, and how many of its blocks it is ahead.
typedef struct untold_class {
  int32_t pages, pages_most;
  uint32_t new_pages;
  ahead_t ahead;
} untold_class_t;

// The same of all classes and large blocks.
enum { UNTOLD_WORDS = BIN_LARGE / 64 + 1 };
typedef struct untold {
  uint32_t events;  // of which this is the sum
  intptr_t pages, new_pages, bytes, new_bytes;
  ahead_t large_bytes;
  uint64_t used[UNTOLD_WORDS];  // bits: which classes there may be something of
  untold_class_t classes[BIN_LARGE + 1];
} untold_t;

struct mi_theap_s {
  // What the fast path sees: the first page of the class, or page_none().
  page_t* direct[DIRECT_COUNT];                 // by size in granules
  page_t* active[BIN_COUNT - ACTIVE_LEAST];     // by class, for sizes above SMALL_MAX
  uint8_t place[MEDIUM_MAX / MEDIUM_STEP + 1];  // in `active`, by size / MEDIUM_STEP, up
  // The slow path reads these of an empty theap, and a small program touches no more of that one.
  uint8_t special;  // special_t; not 0: malloc's slow path does more
  heap_t* heap;
  thread_t* thread;  // NULL: an empty theap that any thread may start with
  // With these two before the rows gcc needs an instruction less to free: see test/codegen.
  rations_t* rations;  // NULL: nothing is counted
  theap_t* next;       // of the thread

  page_t* first[BIN_COUNT];  // queues
  row_t row[ROW_COUNT];
  void** base[ROW_COUNT];  // of each row the slot before the first: it is NULL
  uint32_t open_serial;    // `serial` while the rows are open, else ROWS_CLOSED
  rows_t rows;
  guard_setting_t guarding;
  uint32_t count[BIN_COUNT];
  uint32_t sparse[BIN_COUNT];      // of these, at least half empty; the first one is not counted
  page_t* falling[FALLING_PAGES];  // of which few blocks are left, the next ones to get holes
  uint32_t falling_next;
  memory_trend_t trend;        // as the theap has seen it
  uint32_t wanted;             // bytes of half-empty pages that it wanted, less those kept for it
  size_t slices;               // of all pages in its queues
  size_t sparse_slices;        // of the pages that are counted in `sparse`
  uint16_t filled[BIN_COUNT];  // pages that became full, less those that were adopted since
  void** few;                  // slots of rows that are closed
  theap_t *heap_next, *heap_prev;
  size_t taken[BIN_COUNT];                // blocks, that its heap does not know of: see count.h
  size_t large_taken, large_taken_bytes;  // the same of large ones
  size_t extended, retired, claimed, adopted;  // pages, of which its heap does not know either
  size_t slow_calls;
  struct quarantine* quarantine;  // NULL: none yet
  uint32_t serial;                // never 0
  uint32_t growths;               // of memory, that it has followed
  int64_t idle_ms;                // when it was last seen which empty pages are used
};

// A theap with all that belongs to it; the empty ones have no slots.
typedef struct theap_record {
  theap_t theap;
  void* few[BIN_LARGE * (ROW_FEW + 1) + ROW_LARGE + 1];
  untold_t untold;
} theap_record_t;
// The theap is a thread's: the empty ones have none.
FAST untold_t* theap_untold(theap_t* theap) { return &((theap_record_t*)(void*)theap)->untold; }

// Abandoned pages of some classes. Pools do not share cache lines, since many threads use them.
enum { POOLS = PORT_HAS_THREADS ? 16 : 1, POOL_CLASSES = (BIN_LARGE + POOLS) / POOLS };
typedef struct pool {
  ALIGNED(CACHE_LINE) lock_t lock;
  _Atomic(uint32_t) pages, peak;         // in it, now and at most: changed under the lock
  _Atomic(size_t) total;                 // ever put in
  _Atomic(page_t*) first[POOL_CLASSES];  // large blocks are there only if they are kept, see keep.c
} pool_t;

struct mi_heap_s {
  stats_t stats;
  stat_bins_t bins;
  lock_t lock, walk;
  _Atomic(int) state;              // heap_state_t
  size_t kept_before, kept_since;  // pages in it that the program kept: when last asked, and since
  page_t* pages;                   // H2
  theap_t* theaps;
  subproc_t* subproc;
  arena_t* arena;  // pages come only from here; NULL: from anywhere
  heap_t *next, *prev;
  size_t holders;
  size_t id;  // those of younger heaps are greater
  int numa_node;
  _Atomic(size_t) fill_preserve;  // see page_preserve
  int tag;                        // the program's
  bool never_destroy;             // destroying it deletes it
  bool is_main;
  bool is_retired;              // it has left its sub-process's list
  _Atomic(bool) threads_share;  // blocks, for long: see rows_note_others
  guard_setting_t guarding;
  pool_t pools[POOLS];
};

struct mi_subproc_s {
  mi_stats_t gone, scratch;  // statistics of heaps that are gone; long, and seldom touched
  lock_t lock;
  heap_t* heaps;
  heap_t* main;
  size_t threads;
  struct mi_subproc_s* next;
  size_t records;           // of heaps, which name it: under the lock of retired heaps
  _Atomic(bool) has_ended;  // nobody asks for its statistics any more
};

// Ids that no thread has, though they are even: of the record that all threads without one share,
// and in pages of threads that a fork has left behind.
enum { ORPHAN_ID = 2, LOST_ID = 4 };

struct thread {
  uintptr_t id;
  theap_t* theaps;  // the first is the main heap's
  theap_t* recent;  // the last one that was looked up
  subproc_t* subproc;
  thread_t *next, *prev;
  uint32_t epoch;
  size_t collections;  // requests that it has met
  size_t slices;       // of all its pages, while the record is recycled
  uint32_t guard_version;
  int exit_rounds;
  unsigned long long heartbeat;
  bool in_deferred_free, has_heartbeat;
};

SHARED_DATA(const theap_t, theap_empty);
SHARED_DATA(theap_t, theap_gone);  // of a thread that has ended, but goes on
SHARED_DATA(heap_t, heap_main_static);
SHARED_DATA(subproc_t, subproc_main_static);
SHARED_DATA(_Atomic(uint32_t), heap_epoch);      // grows with all that threads are to notice
SHARED_DATA(_Atomic(size_t), thread_count);      // alive, with pages of their own
SHARED_DATA(_Atomic(size_t), collect_requests);  // unused memory is wanted back from every thread

// So many of n has each thread.
FAST intptr_t each_thread(intptr_t n) {
  return n / (intptr_t)size_max(load_relaxed(&thread_count), 1);
}

// The theap that malloc uses. Starts as an empty one, which nobody writes to, so that the fast path
// needs no test. False: there is no room for the thread's slot.
#define THEAP_EMPTY ((theap_t*)(uintptr_t)&theap_empty)
SLOT(theap_t*, tls_theap);
FAST theap_t* theap_current(void) { return SLOT_GET(theap_t*, tls_theap, THEAP_EMPTY); }
FAST bool theap_set_current(theap_t* theap) { return SLOT_SET(tls_theap, THEAP_EMPTY, theap); }

// ---- theap.c ----
PRIVATE void theap_clear(theap_t* theap);  // of all pages
// The rows were opened or closed: so malloc and free see it.
PRIVATE void theap_follow_rows(theap_t* theap);
// All pages in its queues become its thread's; if the id of that is 0, nobody's.
PRIVATE void theap_own_all(theap_t* theap);
PRIVATE void theap_setup(theap_record_t* record, heap_t* heap, thread_t* thread);
// The owner. Samples are drawn anew.
PRIVATE void theap_set_special(theap_t* theap, special_t reason, bool wanted);
// What is allocated and freed is filled, or not: as M_PERTURB has it. By the owner.
FAST bool theap_fills(const theap_t* theap) { return (theap->special & SPECIAL_FILL) != 0; }
PRIVATE void theap_catch_up_fill(theap_t* theap);
// A page of the class with a free block, first in its queue; NULL if out of memory.
PRIVATE page_t* theap_find_page(theap_t* theap, unsigned bin);
// Pages go that are held for their class, though they are empty: all, or those that no request has
// used since this was asked last.
PRIVATE void theap_release_empty(theap_t* theap, bool idle_only);
// The calling thread owns the page, no queue has it; it has a free block.
PRIVATE void theap_adopt(theap_t* theap, page_t* page);
// The calling thread has a page of the pool, or has emptied it there: it is wanted if the theap has
// abandoned it.
PRIVATE void theap_note_back(theap_t* theap, const page_t* page);
// The owner; page_count_return was true: the last block of the page was returned, or some that wait
// may be used again. `last` is there so that free leaves its arguments where they are.
PRIVATE void theap_page_due(const void* last, page_t* page);
// The owner, when a page has gone or was had: does memory shrink, or grow again?
PRIVATE COLD void theap_set_trend(theap_t* theap, memory_trend_t trend);
FAST void theap_follow_trend(theap_t* theap) {
  const memory_trend_t trend = load_relaxed(&memory_trend);
  if (unlikely(theap->trend != trend)) { theap_set_trend(theap, trend); }
}
FAST bool theap_lets_go(const theap_t* theap) { return theap->trend == MEMORY_SHRINKS_HUGE; }
// What collecting takes from a thread: empty pages but one of each class; all of these, which is
// what another request can use; holes in its other pages too.
typedef enum collect { COLLECT_GENTLY, COLLECT_EMPTY, COLLECT_HOLES } collect_t;
PRIVATE void theap_collect(theap_t* theap, collect_t what);
PRIVATE void theap_abandon(theap_t* theap);  // all its pages become FULL, ABANDONED or go

// ---- pool.c ----
FAST pool_t* pool_of(heap_t* heap, unsigned bin) { return &heap->pools[bin % POOLS]; }
// The list of the abandoned pages of a class begins with the one that was abandoned last.
FAST _Atomic(page_t*)* pool_list(pool_t* pool, unsigned bin) { return &pool->first[bin / POOLS]; }
FAST _Atomic(page_t*)* pool_first(heap_t* heap, unsigned bin) {
  return pool_list(pool_of(heap, bin), bin);
}
PRIVATE void heap_abandon(heap_t* heap, page_t* page);  // owned by the caller, in no queue
// An abandoned page of the class that is the caller's from now on; NULL if there is none.
PRIVATE page_t* heap_claim_abandoned(heap_t* heap, unsigned bin);
// All that are kept, linked by `next`.
PRIVATE page_t* heap_claim_kept(heap_t* heap);
PRIVATE void heap_unpool(heap_t* heap, page_t* page);  // claimed by the caller
PRIVATE void heap_make_holes(heap_t* heap);            // in its abandoned pages
PRIVATE void pools_lock(heap_t* heap);
PRIVATE void pools_unlock_after_fork(heap_t* heap, bool child);
// Who abandons a page from now on sees the state of the heap, and what was abandoned is seen.
PRIVATE void pools_see_state(heap_t* heap);
PRIVATE COLD void pools_count(const heap_t* heap, mi_stat_count_t* into);
PRIVATE COLD void pools_forget(heap_t* heap);  // as heap_stats_forget
PRIVATE void pools_clear(heap_t* heap);        // nothing is in them any more
PRIVATE void pools_rescue(heap_t* heap);       // those that a thread was about to change

// ---- quarantine.c: freed blocks that wait for a random time; builds with QUARANTINE ----
// The block has left the program's hands, and no list has it.
PRIVATE void block_quarantine(page_t* page, uint32_t number);
PRIVATE void quarantine_flush(theap_t* theap);
PRIVATE void quarantine_check(const theap_t* theap);  // that nobody wrote to what waits
PRIVATE void quarantine_forget(theap_t* theap);       // without touching the blocks

// ---- return.c ----
// The calling thread's theap of the heap; NULL if it does not use the heap, or has ended.
PRIVATE theap_t* theap_for(const heap_t* heap);
// The page was nobody's; by freeing into it the calling thread has become its owner.
PRIVATE void page_claimed(page_t* page, chain_t chain, uint32_t word);
// A free by the calling thread in a page that is not its own.
FAST void chain_send(page_t* page, chain_t chain) {
  uint32_t word = 0;
  if (unlikely(remote_free(&page->remote, page->start, chain, &word))) {
    page_claimed(page, chain, word);
  }
}
FAST void block_send(page_t* page, block_t* block) {
  chain_send(page, (chain_t){block, block, 1, block_as_link(page, block), block_link(page, block)});
}
// To its page, whoever owns that.
PRIVATE void block_return_to_page(page_t* page, block_t* block);

// ---- heap.c ----
PRIVATE heap_t* heap_new(subproc_t* subproc, arena_t* arena);
PRIVATE void heap_delete(heap_t* heap);
PRIVATE void heap_delete_main(heap_t* heap);  // of a sub-process that ends
// The record goes, and that of its sub-process with the last one of those. Nothing names the heap.
PRIVATE void heap_free_record(heap_t* heap);
PRIVATE void heap_destroy(heap_t* heap);
PRIVATE void heap_destroy_page(page_t* page);  // with the blocks that are in use
// The record stays until it is let go, whatever happens to the heap. For who holds its list.
PRIVATE void heap_hold(heap_t* heap);
PRIVATE void heap_let_go(heap_t* heap);
PRIVATE void heap_preserve(heap_t* heap, size_t bytes);  // see page_preserve
PRIVATE void heap_add_page(heap_t* heap, page_t* page);
// No block of the page, which is owned by the caller and in no queue, is in use. It goes, and its
// record in the heap, unless the program keeps it: then it is abandoned.
PRIVATE void heap_release_page(page_t* page);
// The heap of a page, after deletions; NULL if it has none, or none any more. The second form is
// for the holder of retired_lock(), without which the record may go.
PRIVATE heap_t* heap_of_page(const page_t* page);
PRIVATE heap_t* heap_of_page_locked(const page_t* page);
// For who counts in the heap of a page that another thread may own, and move out of a deleted heap:
// the record does not go meanwhile. Returns what heap_unlock_record is to be told.
PRIVATE bool heap_lock_record(const page_t* page);
PRIVATE void heap_unlock_record(bool is_locked);
// Moves a page that the caller owns out of a deleted heap; the page's heap.
PRIVATE heap_t* heap_migrate(page_t* page);
// A page of fresh memory for the heap, by itself if that is wanted and can be had; NULL: none. The
// request gets what the heap wants of arenas.
PRIVATE page_t* heap_page_new(const heap_t* heap, page_request_t* request);
PRIVATE void heap_link_theap(heap_t* heap, theap_t* theap);
PRIVATE void heap_unlink_theap(heap_t* heap, theap_t* theap);
PRIVATE theap_t* heap_theap_or_null(heap_t* heap);
PRIVATE void heap_main_setup(heap_t* heap, subproc_t* subproc);
PRIVATE void heap_stats_export(const heap_t* heap, mi_stats_t* out);
// Peaks and totals start again from what there is; `now` is what a reading has found.
PRIVATE void heap_stats_forget(heap_t* heap, const mi_stats_t* now);
// Deleted and destroyed heaps that something still names, linked by `next`: the first one, or NULL.
// The second form is for the holder of the lock.
PRIVATE heap_t* retired_lock(void);
PRIVATE heap_t* retired_heaps(void);
UNUSED PRIVATE heap_t* const* retired_heaps_at(void);
PRIVATE void retired_unlock(void);
PRIVATE void retired_unlock_after_fork(bool child);
PRIVATE void retired_rescue(void);
PRIVATE void heap_rescue(heap_t* heap);

// The value of M_PERTURB, 0 for none: at once for the calling thread, from their next slow path on
// for others. False: this build fills in its own way.
PRIVATE bool perturb_set(int value);

// ---- keep.c: may an empty page go? ----
SHARED_DATA(_Atomic(mi_page_release_fun*), page_release_fun);
PRIVATE void page_release_register(mi_page_release_fun* fun, void* arg);
FAST bool page_release_is_asked(void) { return load_relaxed(&page_release_fun) != NULL; }
// The owner of a page without a block in use.
PRIVATE COLD bool page_may_go_by_program(page_t* page);
FAST bool page_may_go(page_t* page) {
  return likely(!page_release_is_asked()) || page_may_go_by_program(page);
}
PRIVATE void heap_drop_page(page_t* page);       // one that may go goes
PRIVATE COLD void heap_keep_page(page_t* page);  // one that may not joins the pool
// Asks again for the pages of the heap that are kept.
PRIVATE COLD void heap_ask_again(heap_t* heap);

// What programs of 2.x have as their default heap, and as the one behind it, is a thread's part of
// the main heap: its theap, with a bit that no heap's address has.
FAST heap_t* heap_as_part(theap_t* theap) { return (heap_t*)((uintptr_t)theap | 1); }
// NULL for the whole of a heap.
FAST theap_t* heap_part_or_null(const heap_t* heap) {
  return ((uintptr_t)heap & 1) == 0 ? NULL : (theap_t*)((uintptr_t)heap - 1);
}
FAST heap_t* heap_whole(heap_t* heap) {
  const theap_t* part = heap_part_or_null(heap);
  return likely(part == NULL) ? heap : part->heap;
}

// ---- thread.c ----
// A theap for a thread that has an empty one as its default; theap_gone if it must do without, NULL
// if out of memory.
PRIVATE theap_t* thread_enter(void);
PRIVATE void thread_enter_subproc(subproc_t* subproc);
PRIVATE void thread_leave(void);  // the calling thread gives up its pages
PRIVATE void thread_on_exit(void* argument);
PRIVATE thread_t* thread_self_or_null(void);
PRIVATE theap_t* thread_theap_of(thread_t* thread, const heap_t* heap);  // NULL if it has none
PRIVATE void thread_catch_up(thread_t* thread);  // with heaps deleted by others
// `theap`, or the thread's new default if it was the old one and its heap is no more.
PRIVATE theap_t* theap_if_alive(theap_t* theap);
PRIVATE void thread_set_heartbeat(thread_t* thread, bool wanted);
PRIVATE COLD void thread_return_rations(thread_t* thread);  // see ration.h
PRIVATE void thread_collect(thread_t* thread, collect_t what);
PRIVATE void thread_collect_theap(theap_t* theap, collect_t what);  // one of the calling thread
// Its pages become its heap's, for any thread; the record stays, or goes with them. By its thread;
// the first also by another, while that one stays outside of the library.
PRIVATE void thread_abandon_theap(theap_t* theap);
PRIVATE void thread_delete_theap(theap_t* theap);
PRIVATE void thread_gather_theap(theap_t* theap);  // its pages tell it what they have counted
PRIVATE void thread_tell_theap(theap_t* theap);    // it tells its heap
PRIVATE theap_t* orphan_lock(void);  // a theap for threads without one; NULL if out of memory
PRIVATE void orphan_unlock(void);
PRIVATE void orphans_collect(void);
// All threads leave, as the library does: see process_unload.
UNUSED PRIVATE void threads_unload(void);
PRIVATE void recycled_disband(void);  // what threads that ended left for others goes to the pool
PRIVATE bool process_is_threaded(void);

// ---- subproc.c ----
PRIVATE subproc_t* subproc_new(void);
PRIVATE void subproc_destroy(subproc_t* subproc);
PRIVATE void subproc_delete(subproc_t* subproc);
PRIVATE subproc_t* subproc_current(void);
PRIVATE void subproc_enter(subproc_t* subproc);
// Until the visitor says false. It may delete the heap it is given, and other threads any.
PRIVATE bool subproc_visit_heaps(subproc_t* subproc, mi_heap_visit_fun* visit, void* arg);
PRIVATE void subproc_destroy_heaps(subproc_t* subproc);  // all but the main one
FAST heap_t* heap_main(void) { return subproc_current()->main; }

// ---- process.c ----
PRIVATE void process_init(void);        // idempotent
PRIVATE void process_watch_fork(void);  // once
// The library goes, and the process stays: all memory goes but that of blocks in use, and with the
// option destroy_on_exit that too. Nobody else is in the library, or calls it from now on.
UNUSED PRIVATE void process_unload(void);
PRIVATE bool process_lost_threads(void);  // by fork: what they were changing may be half written
PRIVATE void registry_lock(void);
PRIVATE void registry_unlock(void);
PRIVATE void registry_reset_in_child(void);
PRIVATE void registry_rescue(void);
PRIVATE subproc_t* registry_subprocs(void);
UNUSED PRIVATE subproc_t* const* registry_subprocs_at(void);  // where the list begins
PRIVATE void registry_add_subproc(subproc_t* subproc);
PRIVATE void registry_remove_subproc(subproc_t* subproc);

#endif
