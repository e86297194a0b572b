// The product's pages, heaps, threads and free, unchanged, on a small pool of slices: what the
// larger models share.
//
// Set-up: world_begin(), then model_act_as(i) and world_enter() for each thread that has a heap,
// and blocks for all to play with. Threads take() and give() them; world_check() counts
// every block at the end.
#ifndef TEST_MODEL_WORLD_H
#define TEST_MODEL_WORLD_H

// The release build's code, whatever is being built.
#undef MI_DEBUG
#undef MI_SECURE
#undef MI_GUARDED
#undef __SANITIZE_THREAD__
#undef MI_PORT_UNIX
#undef MI_PORT_STRICT
#define MI_DEBUG 0

#define MI_MODEL_ATOMICS        "../../test/model/atomics.h"
#define port_thread_id          port_thread_id_of_the_machine
#define port_is_single_threaded port_is_single_threaded_as_the_machine
#include "../../src/port/port.h"
#undef port_thread_id
#undef port_is_single_threaded

static uintptr_t port_thread_id(void);
static bool port_is_single_threaded(void) { return false; }

#include "../../src/service/options.h"
#include "../../src/service/stats.h"
#include "../../src/service/message.h"
#include "../../src/memory/arena.h"
#include "../../src/memory/meta.c"
#include "../../src/memory/map.c"
#include "../../src/service/format.c"
#include "../../src/service/random.c"
#include "../../src/page/record.c"
#include "../../src/page/page.c"
#include "../../src/page/blocks.c"
#include "../../src/page/spare.c"
#include "../../src/page/check.c"
#include "../../src/page/holes.c"

// Blocks on rows keep the protocols from being used: most models do without.
static bool world_keeps_rows;
#include "../../src/heap/row.h"
#define KEEP_ROWS world_keeps_rows
#include "../../src/alloc/free.c"
#undef KEEP_ROWS
#include "../../src/heap/quarantine.c"
#include "../../src/heap/keep.c"

#include "../../src/heap/state.c"
#include "../../src/heap/count.c"
#include "../../src/heap/return.c"
#include "../../src/heap/ration.c"
#include "../../src/heap/row.c"
#include "../../src/heap/pool.c"
#include "../../src/heap/theap.c"
#include "../../src/heap/heap.c"

// So do records that are left with their pages.
static size_t world_recycled_most;
#define RECYCLED_MOST world_recycled_most
#include "../../src/heap/thread.c"
#undef RECYCLED_MOST
#include "../../src/heap/subproc.c"
#include "../../src/heap/process.c"
#include "../../src/heap/tracked.c"
#include "../../src/alloc/malloc.c"
#include "../../src/alloc/aligned.c"
#include "../../src/alloc/tracked.c"

// ---- checks: the models have their own ----

static bool verify_page(const page_t* page) { return page != NULL; }
static void verify_now_and_then(const theap_t* theap, size_t calls) { (void)theap, (void)calls; }

// ---- port ----

static uintptr_t port_thread_id(void) { return 0x1000 + 2 * (uintptr_t)m.self; }
static int64_t port_clock_ms(void) { return 0; }
static uint16_t traces_keep(void) { return 0; }
static void traces_lock_for_fork(void) {}
static void traces_unlock_after_fork(bool child) { (void)child; }
static void traces_rescue(void) {}
static void traces_unload(void) {}
static void memory_rescue(void) {}
static void waiting_rescue(void) {}
static void guard_rescue(void) {}
static uint32_t port_thread_number(void) { return (uint32_t)m.self; }
static void port_forget_threads(void) {}
static int port_populate(void* start, size_t bytes) { return start == NULL || bytes == 0; }
static int port_guard(void* start, size_t bytes) { return start == NULL || bytes == 0; }
static int port_unguard(void* start, size_t bytes) { return start == NULL || bytes == 0; }
static int port_purge(void* start, size_t bytes) { return start == NULL || bytes == 0; }
static int port_map(size_t bytes, size_t align, void** out) {
  return bytes == 0 || align == 0 || out == NULL;
}
static int port_release(void* start, size_t bytes) { return start == NULL || bytes == 0; }
static size_t port_address_limit(void) { return SIZE_MAX; }
static int port_random(void* out, size_t bytes) { return out == NULL || bytes == 0; }
static uint64_t port_clock_ns(void) { return 0; }
static void port_wait(_Atomic(uint32_t)* word, uint32_t value) {
  model_wait(word, value, sizeof(value));
}
static void port_wake_one(_Atomic(uint32_t)* word) { model_wake_one(word, sizeof(uint32_t)); }
static size_t port_page_bytes(void) { return 4096; }
static size_t port_granularity(void) { return 4096; }
static int port_thread_exit_init(void (*on_exit)(void*)) { return on_exit == NULL; }
static int port_thread_arm(void* argument) { return argument == NULL ? 0 : 0; }
static int port_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  return prepare == NULL || parent == NULL || child == NULL;
}

static void port_lock_streams_for_fork(void) {}
static void port_unlock_streams_after_fork(bool child) { (void)child; }

enum { META_BYTES = 512 << 10, MAP_BYTES = PART_BYTES + 2 * 4096, POOL_SLICES = 32, BLOCK = 2048 };

static _Alignas(4096) uint8_t meta_memory[META_BYTES];
static _Alignas(SLICE_BYTES) uint8_t pool_memory[POOL_SLICES][SLICE_BYTES];
static _Alignas(4096) uint8_t map_memory[2][MAP_BYTES];
static int map_parts;

static int port_reserve(size_t bytes, size_t align, void** out) {
  const bool is_part = bytes == MAP_BYTES;
  MODEL_CHECK(align <= 4096 && (is_part ? map_parts < 2 : bytes <= META_BYTES));
  *out = is_part ? map_memory[map_parts++] : meta_memory;
  return 0;
}
static int port_commit(void* start, size_t bytes) { return start == NULL || bytes == 0; }

// ---- guards: no request is sampled ----

#include "../../src/heap/guard.h"

static uint32_t guard_gap(theap_t* theap) { return theap == NULL; }
static size_t guard_gap_bytes(theap_t* theap) { return theap == NULL; }
static void guard_catch_up(theap_t* theap) { (void)theap; }
static bool guard_suits(const theap_t* theap, const guard_request_t* request) {
  return theap == NULL && request == NULL;
}
static bool guard_suits_class(const theap_t* theap, unsigned bin) {
  return theap != NULL && bin != 0;
}
static void* guard_take(theap_t* theap, const guard_request_t* request) {
  (void)theap, (void)request;
  return NULL;
}
static void guard_free(void* p, page_t* page) { (void)p, (void)page; }
static void guard_retire(page_t* page) { (void)page; }
static void guard_flush(void) {}
static bool waiting_put(page_t* page) { return page == NULL; }
static page_t* waiting_take(const page_request_t* request, span_t* out) {
  return request->bytes == 0 && out == NULL ? page_none() : NULL;
}
static void waiting_flush(int64_t before_ms) { (void)before_ms; }
static void waiting_flush_old(void) {}
static void waiting_flush_near(void) {}
static void waiting_lock_for_fork(void) {}
static void waiting_unlock_after_fork(bool child) { (void)child; }
static _Atomic(uint32_t) guard_versions;
static void guard_option_changed(mi_option_t option) { (void)option; }
static void options_watch(option_changed_fun* changed) { (void)changed; }
static void guard_lock_for_fork(void) {}
static void guard_unlock_after_fork(bool child) { (void)child; }

// ---- slices ----

static struct {
  lock_t lock;
  bool taken[POOL_SLICES];
} pool;

static size_t pool_run(size_t first, size_t most) {
  size_t n = 0;
  while (n < most && first + n < POOL_SLICES && !pool.taken[first + n]) { n++; }
  return n;
}

// Its pages belong to no arena, and are never spare.
static bool memory_take(span_request_t* request, span_t* out) {
  size_t first = 0;
  lock_acquire(&pool.lock);
  while (first < POOL_SLICES && pool_run(first, request->slices) < request->slices) { first++; }
  for (size_t i = 0; first < POOL_SLICES && i < request->slices; i++) {
    pool.taken[first + i] = true;
  }
  lock_release(&pool.lock);
  if (first == POOL_SLICES) { return false; }
  *out = (span_t){NULL, pool_memory[first], request->slices, false, false};
  return true;
}

static void memory_give(span_t span) {
  const size_t first = (size_t)(span.start - pool_memory[0]) / SLICE_BYTES;
  lock_acquire(&pool.lock);
  for (size_t i = 0; i < span.slices; i++) {
    MODEL_CHECK(pool.taken[first + i]);
    pool.taken[first + i] = false;
  }
  lock_release(&pool.lock);
}

static void memory_give_all(const span_t* spans, size_t count) {
  for (size_t i = 0; i < count; i++) { memory_give(spans[i]); }
}

static void memory_give_unreachable(span_t span) { memory_give(span); }

static bool memory_take_direct(const span_request_t* request, span_t* out) {
  return request->slices == 0 && out == NULL;
}
static bool memory_take_again(span_request_t* request, span_t* out) {
  return (void)request, (void)out, false;
}
static void memory_collect(bool force) { (void)force; }
static size_t memory_taken_bytes(void) { return 0; }
static void memory_unload(bool everything) { (void)everything; }
static bool memory_may_have_holes(arena_t* arena) { return (void)arena, false; }
static void memory_make_holes(const port_range_t* holes, size_t count) { (void)holes, (void)count; }
static void memory_fill_hole(size_t bytes) { (void)bytes; }
static bool memory_wants_holes(size_t sparse_slices) { return (void)sparse_slices, false; }
static void memory_refault_hole(void) {}
static void memory_lock(void) {}  // nobody visits pages in a model
static void memory_unlock(void) {}
static void memory_unlock_after_fork(bool child) { (void)child; }

// ---- service ----

static _Atomic(long) option_values[OPTION_COUNT];
static void options_init(void) {}
static size_t option_size(mi_option_t option) { return (void)option, SIZE_MAX; }
static void stats_export(const stats_t* stats, mi_stats_t* out) { (void)stats, (void)out; }
static void stats_forget(stats_t* stats, const mi_stats_t* now) { (void)stats, (void)now; }
static void stats_end(mi_stats_t* stats) { (void)stats; }
static void stat_bins_forget(stat_bins_t* bins, const mi_stats_t* now) { (void)bins, (void)now; }
static void stat_bins_export(const stat_bins_t* bins, mi_stats_t* out) { (void)bins, (void)out; }
static void stat_count_merge(mi_stat_count_t* into, const mi_stat_count_t* from) {
  (void)into, (void)from;
}
static void stats_merge(mi_stats_t* into, const mi_stats_t* from) { (void)into, (void)from; }
static void message_forget_threads(void) {}
static void message_verbose(const char* fmt, ...) { (void)fmt; }
static void message_warning(const char* fmt, ...) { (void)fmt; }
static void message_fatal(const char* fmt, ...) {
  model_failed(fmt, (site_t){"message_fatal", "world.h", 0});
  for (;;) {}
}
static void message_error(int err, const char* fmt, ...) {
  (void)err;
  model_failed(fmt, (site_t){"message_error", "world.h", 0});
}

// ---- set-up ----

enum { SLOTS = 32 };

static void* slots[SLOTS];  // blocks in the program's hands

#define STATE(object) model_state(&(object), sizeof(object))
#define QUIET(object) model_quiet(&(object), sizeof(object))
#define CLEAR(object) memset((void*)&(object), 0, sizeof(object))

static void world_begin(void) {
  CLEAR(meta), CLEAR(pool), CLEAR(records), CLEAR(first_chunk), CLEAR(registry), CLEAR(process),
      CLEAR(heap_main_static), CLEAR(memory_stats), CLEAR(memory_untouched);
  CLEAR(subproc_main_static), CLEAR(heap_epoch), CLEAR(heap_ids), CLEAR(thread_count), CLEAR(slots),
      CLEAR(retired), CLEAR(option_values);
  CLEAR(deferred_free), CLEAR(deferred_free_arg), CLEAR(theap_gone);
  memset(meta_memory, 0, sizeof(meta_memory));
  CLEAR(map), CLEAR(map_memory), CLEAR(parts_added), CLEAR(map_parts);  // a part may be a record
  model_quiet(map.root, sizeof(map.root));
  QUIET(heap_main_static.stats), QUIET(heap_main_static.bins), QUIET(memory_stats),
      QUIET(memory_untouched);
  QUIET(option_values);
  MODEL_CHECK(map_cover(pool_memory, sizeof(pool_memory)) == 0);
  map_enter(pool_memory, POOL_SLICES, NULL);
  world_keeps_rows = false;
  world_recycled_most = 0;
  tls_theap = THEAP_EMPTY;
  model_tls(&tls_theap, sizeof(tls_theap));
  process_init();
}

static void world_enter(void) { MODEL_CHECK(thread_enter() != NULL); }

// The last thing a set-up does: what it has made is where each execution starts.
static void world_ready(void) {
  enum { META_ROOM = 48 << 10 };  // what an execution may add
  STATE(meta), STATE(pool), STATE(records), STATE(first_chunk), STATE(registry),
      STATE(heap_main_static), STATE(heap_epoch), STATE(heap_ids), STATE(retired);
  STATE(subproc_main_static), STATE(thread_count), STATE(slots), STATE(deferred_free),
      STATE(deferred_free_arg);
  model_state(meta_memory, (meta.next == NULL ? 0 : (size_t)(meta.next - meta_memory)) + META_ROOM);
  for (int i = 0; i < POOL_SLICES; i++) {
    const uintptr_t address = (uintptr_t)pool_memory[i];
    model_state((void*)&part_of(address)[map_index_in_part(address)], sizeof(map_entry_t));
    for (size_t j = 0; j < SLICE_BYTES / BLOCK; j++) {
      model_state(&pool_memory[i][j * BLOCK], 64);
    }
  }
}

// ---- what threads do ----

static void take(int slot, size_t size) {
  void* p = theap_malloc(theap_current(), size);
  MODEL_CHECK(p != NULL && slots[slot] == NULL);
  *(volatile char*)p = 1;  // the program's own use: a race if two threads have the block
  slots[slot] = p;
}

static void give(int slot) {
  void* p = slots[slot];
  if (p == NULL) { return; }
  *(volatile char*)p = 2;
  slots[slot] = NULL;
  block_free(p);
}

// ---- the end ----

static bool is_listed(const page_t* list, const page_t* page) {
  for (int i = 0; list != NULL && i < 100; i++, list = list->next) {
    if (list == page) { return true; }
  }
  return false;
}

static bool is_queued_by(const thread_t* threads, const page_t* page) {
  for (const thread_t* thread = threads; thread != NULL; thread = thread->next) {
    for (const theap_t* theap = thread->theaps; theap != NULL; theap = theap->next) {
      if (is_listed(theap->first[page->bin], page)) {
        MODEL_CHECK(page->theap == theap && page_owner(page) == thread->id);
        MODEL_CHECK(theap->heap == load_relaxed(&page->heap));
        return true;
      }
    }
  }
  return false;
}

static bool is_queued(const page_t* page) {
  return is_queued_by(registry.threads, page) || is_queued_by(registry.recycled, page);
}

// How often each block is found: on the lists, or in the program's hands.
static void mark(const page_t* page, const void* p, int* found) {
  const size_t offset = (size_t)((const uint8_t*)p - page->start);
  MODEL_CHECK(offset % page->block_bytes == 0 && offset / page->block_bytes < page->capacity);
  MODEL_CHECK(found[offset / page->block_bytes]++ == 0);
}

static uint32_t live_blocks(const page_t* page, int* found) {
  uint32_t count = 0;
  for (int i = 0; i < SLOTS; i++) {
    if (slots[i] != NULL && page_of(slots[i]) == page) { mark(page, slots[i], found), count++; }
  }
  return count;
}

static uint32_t listed_blocks(const page_t* page, const block_t* list, int* found) {
  uint32_t count = 0;
  for (; list != NULL; list = block_next(page, list)) { mark(page, list, found), count++; }
  return count;
}

static uint32_t blocks_on_rows(const page_t* page, int* found) {
  uint32_t count = 0;
  for (const thread_t* thread = registry.threads; thread != NULL; thread = thread->next) {
    for (const theap_t* theap = thread->theaps; theap != NULL; theap = theap->next) {
      const row_view_t row = row_view(theap, page->bin);
      for (uint32_t i = 0; i < row.length; i++) {
        if (page_of(row.blocks[i]) == page) { mark(page, row.blocks[i], found), count++; }
      }
    }
  }
  return count;
}

static int pages_seen;

static bool check_page(page_t* page, void* arg) {
  int found[64] = {0};
  heap_t* heap = load_relaxed(&page->heap);
  const uint32_t word = load_relaxed(&page->remote), state = remote_state(word);
  const bool is_abandoned = is_listed(load_relaxed(pool_first(heap, page->bin)), page);
  const bool queued = page->bin != BIN_LARGE && is_queued(page);
  const uint32_t given = listed_blocks(page, ration_list(page), found);
  const uint32_t live = live_blocks(page, found) + blocks_on_rows(page, found) + given;
  const uint32_t ours = listed_blocks(page, page_free_list(page), found);
  const uint32_t remote = listed_blocks(page, page_remote_list(page, word), found);
  (void)arg;
  pages_seen++;
  MODEL_CHECK(live + ours + remote == page->capacity);
  MODEL_CHECK(queued == (state == REMOTE_OWNED) && is_abandoned == (state == REMOTE_ABANDONED));
  MODEL_CHECK(state != REMOTE_OWNED ||
              (page_used(page) == live + remote && remote_count(word) == remote));
  MODEL_CHECK(state == REMOTE_OWNED || (page->used + remote_count(word) == live && live > 0));
  MODEL_CHECK(state != REMOTE_ABANDONED || page->used == 0);
  MODEL_CHECK(state != REMOTE_ABANDONED || load_relaxed(&heap->state) == HEAP_ALIVE);
  MODEL_CHECK(state != REMOTE_FULL || (page->used >= page_half(page) && remote_count(word) > 0));
  return true;
}

static void world_check(void) {
  pages_seen = 0;
  page_visit_all(check_page, NULL);
  for (int i = 0; i < SLOTS; i++) {
    MODEL_CHECK(slots[i] == NULL || page_of(slots[i]) != page_none());
  }
}

// Once `giver` has given all blocks back and everybody has left, no page is.
static void world_end(int giver) {
  world_check();
  model_act_as(giver);
  for (int i = 0; i < SLOTS; i++) { give(i); }
  for (int i = 0; i < 3; i++) { model_act_as(i), thread_leave(); }
  world_check();
  recycled_disband();
  world_check();
  MODEL_CHECK(pages_seen == 0);
}

#endif
