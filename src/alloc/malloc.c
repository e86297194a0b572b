// Allocation: the slow half.
#include <errno.h>

#include "../heap/guard.h"
#include "../heap/ration.h"
#include "../heap/row.h"
#include "../heap/tracked.h"
#include "../heap/verify.h"
#include "../service/message.h"
#include "../service/options.h"
#include "alloc.h"

// ---- what is done now and then ----

static _Atomic(mi_deferred_free_fun*) deferred_free;
static _Atomic(void*) deferred_free_arg;

API void mi_register_deferred_free(mi_deferred_free_fun* fun, void* arg) {
  store_relaxed(&deferred_free_arg, arg);
  store_release(&deferred_free, fun);  // [D1] out: the argument
}

PRIVATE void deferred_free_call(thread_t* thread, bool force) {
  mi_deferred_free_fun* fun = load_acquire(&deferred_free);  // [D1] in
  if (thread->id == ORPHAN_ID) { return; }                   // under their lock
  thread->heartbeat++;
  if (unlikely(thread->has_heartbeat != (fun != NULL))) {
    thread_set_heartbeat(thread, fun != NULL);
  }
  if (likely(fun == NULL) || thread->in_deferred_free || port_is_ending()) { return; }
  thread->in_deferred_free = true;
  fun(force, thread->heartbeat, load_relaxed(&deferred_free_arg));
  thread->in_deferred_free = false;
  thread_return_rations(thread);  // the request that this is part of may look for a page now
}

// The theap that serves the request: another one where the thread's default was of a heap that is
// no more.
FAST theap_t* slow_tick(theap_t* theap) {
  thread_t* thread = theap->thread;
  const bool is_default = theap == theap_current();
  if (unlikely(thread->has_heartbeat || load_relaxed(&deferred_free) != NULL)) {
    deferred_free_call(thread, false);
  }
  if (unlikely(thread->epoch != load_relaxed(&heap_epoch))) { thread_catch_up(thread); }
  if (is_default) { theap = theap_current(); }
  if (CHECK_EVERYTHING) { verify_now_and_then(theap, theap->slow_calls); }
  const long every = option_get(mi_option_generic_collect);
  if (unlikely(++theap->slow_calls >= (size_t)every) && every > 0) {
    theap->slow_calls = 0;
    thread_collect(thread, COLLECT_GENTLY);
    page_release_unwanted();
    memory_collect(false);
    if (is_default) { theap = theap_current(); }  // another heap may be no more by now
  }
  return theap;
}

// ---- small and medium ----

// Only the link of a block that was never used is not zero.
static void* block_zero(page_t* page, block_t* block, size_t size, bool never_used) {
  if (never_used && page->fresh_zero && !FILL_BLOCKS) {
    if (!LINKS_APART) { block->next = NULL; }
    return block;
  }
  return block_zero_all(page, block, size);
}

// All that waits goes: what the thread holds may be all there is. Returns the theap that serves the
// request, as slow_tick does.
static theap_t* make_room(theap_t* theap) {
  const bool is_default = theap == theap_current();
  thread_collect(theap->thread, COLLECT_EMPTY);
  guard_flush();
  page_release_kept();
  memory_collect(true);
  return is_default ? theap_current() : theap;
}

static page_t* find_page(theap_t* theap, unsigned bin) {
  page_t* page = theap_find_page(theap, bin);
  if (likely(page != NULL)) { return page; }
  return theap_find_page(make_room(theap), bin);
}

static void* malloc_medium(theap_t* theap, size_t size, bool zero) {
  page_t* page = find_page(theap, bin_of(size + PAD_BYTES));
  if (unlikely(page == NULL)) { return NULL; }
  if (CHECK_INVARIANTS) { (void)verify_page(page); }
  const bool never_used = page->just_extended;
  page->just_extended = false;
  block_t* block = page_pop(page);
  block_taken(page, block, size);
  return zero && block != NULL ? block_zero(page, block, size, never_used) : block;
}

// ---- large ----

enum { DIRECT_LEAST = 32 << 20 };
// Up to here zeroing memory that was used before pays, being resident (13 us for each MiB, where
// faults on fresh memory take 300); above, a block may well stay empty.
enum { ZERO_MOST = 1 << 20 };

// Worth a mapping of its own, as far as the budget of mappings goes.
static bool is_better_direct(size_t bytes, size_t align, bool grows) {
  const size_t least = size_min(DIRECT_LEAST, option_size(mi_option_arena_max_object_size));
  return grows || bytes >= least || align >= DIRECT_LEAST;
}

// Or a run, where memory comes and goes. One that grows only while it is short: it is copied, and
// leaves as much behind.
static bool may_have_run(const page_request_t* request, bool grows) {
  return request->bytes < option_size(mi_option_arena_max_object_size) &&
         request->align < DIRECT_LEAST && !option_is_enabled(mi_option_disallow_arena_alloc) &&
         (grows ? request->bytes < SHORT_DIRECT : !request->zeroed);
}

// The block is the program's from now on, for `size` bytes.
static void* large_hand_out(page_t* page, size_t size) {
  block_return(page, (block_t*)(void*)page->start);
  if (FILL_BLOCKS || CHECK_REUSE) { block_filled_taken(page, page->start, size); }
  return page->start;
}

static void* large_zero(const page_t* page, size_t size) {
  return memset(page->start, 0, NOTE_BLOCKS ? size : page->block_bytes);
}

// What was zero when the block was handed out, which may have filled it.
static void large_zero_again(const page_t* page, size_t size) {
  if (FILL_BLOCKS) { memset(page->start, 0, size_min(size, FILL_MOST)); }
}

PRIVATE void large_set_bytes(page_t* page, size_t bytes) {
  heap_count_length(page, bytes);
  page->block_bytes = bytes;
}

// A block of the row that happens to be aligned so.
static void* malloc_large_from_row(theap_t* theap, size_t size, size_t align, bool zero) {
  if (zero && size > ZERO_MOST) { return NULL; }
  // Without guards the length of such a block is 0, and no page's.
  if (GUARD_PAGES && size > PTRDIFF_MAX) { return NULL; }
  const size_t bytes = large_bytes(size);
  page_t* page = row_take_large(theap, large_slices(bytes, 0), align);
  if (page == NULL) { return NULL; }
  block_check_reuse(page, page->start);
  if (bytes != page->block_bytes) { heap_count_again(page, bytes); }
  page->block_bytes = bytes;
  if (GUARD_PAGES) { page_move_large(page, align); }
  page->fresh_zero = false;
  theap_count_large(theap, page);
  (void)large_hand_out(page, size);
  if (COUNT_EACH) { heap_count_taken(page, size); }
  return zero ? large_zero(page, size) : page->start;
}

// Neighbours may make room together. Where memory only grows, so may what lies between empty pages
// that are held for their class: now and then they go, as to look for them takes a while.
static void large_join(theap_t* theap) {
  enum { LOOK_EVERY = 16 };
  row_flush(theap, BIN_LARGE);
  if (!PORT_CAN_RELEASE && theap->slow_calls % LOOK_EVERY == 0) {
    theap_release_empty(theap, false);
  }
}

static page_t* large_page_new(const theap_t* theap, const large_request_t* request, size_t room) {
  enum { DIRECT_ROOM_LEAST = 1 << 20 };
  const size_t bytes = large_bytes(request->size + room);
  const bool grows = room >= DIRECT_ROOM_LEAST / 4;
  page_request_t page_request = {
      .bin = BIN_LARGE,
      .bytes = bytes,
      .align = request->align,
      .shift = request->shift,
      .zeroed = request->zero && bytes > ZERO_MOST,
      .direct = is_better_direct(bytes, request->align, grows),
      .at_end = room == 0 && request->shift == 0 && request->align <= GRANULE,
      .serial = theap->serial};
  page_request.or_run = page_request.direct && may_have_run(&page_request, grows);
  return heap_page_new(theap->heap, &page_request);
}

PRIVATE void* malloc_large(theap_t* theap, const large_request_t* request) {
  enum { LARGE_MARGIN = 8 << 10 };
  const size_t size = request->size;
  const bool plain = request->shift == 0 && request->room == 0;
  void* last = plain ? malloc_large_from_row(theap, size, request->align, request->zero) : NULL;
  if (last != NULL) { return last; }
  large_join(theap);
  if (unlikely(size > PTRDIFF_MAX - request->room - request->shift - LARGE_MARGIN)) { return NULL; }
  page_t* page = large_page_new(theap, request, request->room);
  if (unlikely(page == NULL)) {
    theap = make_room(theap);
    page = large_page_new(theap, request, 0);
    if (page == NULL) { return NULL; }
  }
  heap_t* heap = theap->heap;
  page->block_bytes = large_bytes(size);
  store_relaxed(&page->last_owner, theap->serial);
  void* block = large_hand_out(page, size);
  if (request->zero && page->fresh_zero) {
    large_zero_again(page, size);
  } else if (request->zero) {
    (void)large_zero(page, size);
  }
  heap_add_page(heap, page);
  theap_count_large(theap, page);
  if (COUNT_EACH) { heap_count_taken(page, size); }
  theap_follow_trend(theap);
  return block;
}

// ---- entry ----

PRIVATE COLD void* refuse_memory(size_t size) {
  if (ENDS_WITHOUT_MEMORY) { message_fatal("out of memory: no block of %zu bytes", size); }
  if (size > PTRDIFF_MAX) {
    message_error(EOVERFLOW, "a size that is too large");
  } else {
    message_error(ENOMEM, "out of memory: no block of %zu bytes", size);
  }
  port_errno_set(ENOMEM);
  return NULL;
}

PRIVATE COLD void* refuse_request(size_t size) {
  return theap_current()->thread == NULL ? NULL : refuse_memory(size);
}

static void* malloc_of(theap_t* theap, size_t size, bool zero) {
  theap = slow_tick(theap);
  if (size <= MEDIUM_REQUEST) { return malloc_medium(theap, size, zero); }
  const large_request_t request = {.size = size, .align = LARGE_ALIGN, .zero = zero};
  return malloc_large(theap, &request);
}

PRIVATE void* orphan_malloc(aligned_t request) {
  theap_t* theap = orphan_lock();
  if (theap == NULL) { return refuse_memory(request.size); }
  void* p = theap_malloc_aligned(theap, request);
  orphan_unlock();
  return p == NULL ? refuse_memory(request.size) : p;
}

static NOINLINE void* malloc_slower(size_t size, theap_t* theap, bool zero) {
  void* p = malloc_of(theap, size, zero);
  return likely(p != NULL) ? p : refuse_request(size);
}

static void* row_hand_out(block_t* block, size_t size, bool zero) {
  page_t* page = page_of(block);
  block_return(page, block);
  block_taken(page, block, size);
  return zero ? block_zero_all(page, block, size) : block;
}

// A large request that a row can serve does without what is done now and then, but for one in so
// many.
static void* malloc_large_again(size_t size, theap_t* theap, bool zero) {
  enum { TICK_EVERY = 16 };
  row_t* row = &theap->row[BIN_LARGE];
  if (*row->top == NULL || ++row->taken % TICK_EVERY == 0) { return NULL; }
  return malloc_large_from_row(theap, size, LARGE_ALIGN, zero);
}

FAST void* malloc_from_row(size_t size, theap_t* theap, bool zero) {
  if (KEEP_ROWS && size > MEDIUM_REQUEST) {
    void* p = malloc_large_again(size, theap, zero);
    if (p != NULL) { return p; }
  } else if (KEEP_ROWS) {
    block_t* block = (block_t*)row_serve(theap, bin_of(size + PAD_BYTES));
    if (block != NULL) { return row_hand_out(block, size, zero); }
  }
  return malloc_slower(size, theap, zero);
}

// ---- special theaps ----

// The first request of a thread, or one of a thread that has ended.
static void* malloc_enter(const aligned_t* request) {
  theap_t* theap = thread_enter();
  if (theap == NULL) { return refuse_memory(request->size); }
  return theap->thread == NULL ? orphan_malloc(*request) : theap_malloc_aligned(theap, *request);
}

// The theap that serves the request.
static COLD NOINLINE theap_t* heartbeat(theap_t* theap) {
  theap = slow_tick(theap);
  if (theap->rations != NULL) { ration_beat(theap); }
  return theap;
}

static unsigned class_for(const aligned_t* request) {
  if (request->size > MEDIUM_REQUEST) { return BIN_LARGE; }
  const size_t bytes = request->alignment == 1 ? request->size + PAD_BYTES
                                               : block_bytes_for(request->size, request->alignment);
  return bytes <= MEDIUM_MAX ? bin_of(bytes) : BIN_LARGE;
}

// NULL: the request is not one that can have guards. Then the next one of the class may, or if none
// can, the class is left alone for a while.
static COLD void* malloc_sampled(theap_t* theap, const aligned_t* request, unsigned bin) {
  const guard_request_t guard_request = {request->size, request->alignment, request->offset,
                                         request->zero};
  const bool suits = guard_suits(theap, &guard_request);
  if (suits || !guard_suits_class(theap, bin)) { ration_draw(theap, bin); }
  if (!suits) { return NULL; }
  return guard_take(theap, &guard_request);
}

PRIVATE bool malloc_due(theap_t** theap, const aligned_t* request, void** block) {
  if ((*theap)->thread == NULL) {
    *block = malloc_enter(request);
    return true;
  }
  rations_t* rations = (*theap)->rations;
  if (rations != NULL && unlikely(rations->heartbeat == 0)) { *theap = heartbeat(*theap); }
  if (SMALL || (*theap)->rations == NULL) { return false; }
  const unsigned bin = class_for(request);
  if (likely(!ration_is_due(*theap, bin, request->size))) { return false; }
  *block = malloc_sampled(*theap, request, bin);
  return *block != NULL;
}

PRIVATE void* malloc_undue(size_t size, theap_t* theap, bool zero) {
  const bool rationed = theap->rations != NULL;
  if (size > MEDIUM_REQUEST) {
    if (rationed) { ration_pass(theap, BIN_LARGE, size); }
    return malloc_from_row(size, theap, zero);
  }
  const unsigned bin = bin_of(size + PAD_BYTES);
  page_t* page = theap->first[bin];
  block_t* block = rationed ? ration_take(theap, bin, size) : page_pop(page);
  if (unlikely(block == NULL)) { return malloc_from_row(size, theap, zero); }
  block_taken(page, block, size);
  return zero ? block_zero_all(page, block, size) : block;
}

static NOINLINE void* malloc_perhaps_due(size_t size, theap_t* theap, bool zero) {
  const aligned_t request = {size, 1, 0, zero};
  const bool fills = theap_fills(theap);
  void* p = NULL;
  if (!malloc_due(&theap, &request, &p)) { p = malloc_undue(size, theap, zero); }
  if (unlikely(fills) && p != NULL && !zero) { block_perturb_taken(p, size); }
  return p;
}

static NOINLINE void* malloc_special(size_t size, theap_t* theap, bool zero) {
  if (RATION_LISTS && likely(size <= MEDIUM_REQUEST) && !zero) {
    const unsigned bin = bin_of(size + PAD_BYTES);
    if (likely(ration_is_next(theap, bin))) { return ration_next(theap, bin); }
  }
  return malloc_perhaps_due(size, theap, zero);
}

PRIVATE NOINLINE void* malloc_slow(size_t size, theap_t* theap, bool zero) {
  if (unlikely(theap->special != 0)) { return malloc_special(size, theap, zero); }
  return malloc_from_row(size, theap, zero);
}

PRIVATE size_t good_size(size_t size) {
  if (TRACKED || NOTE_BLOCKS) { return size; }
  if (size <= MEDIUM_REQUEST) { return bin_bytes(bin_of(size + PAD_BYTES)) - PAD_BYTES; }
  return size > PTRDIFF_MAX ? size : large_bytes(size);
}
