// Statistics by their public names: gathered when asked for.
//
// What each number means, and how exact it is:
//   reserved, committed, …_calls, purged, arena_count, threads, heaps, theaps, pages_extended
//                        of the process, whichever sub-process is asked: arenas serve them all
//   pages, page_bins, page_committed, pages_abandoned, malloc_huge, malloc_huge_count, …
//                        of the heaps; counted as it happens, exact
//   malloc_normal        `current` is found by walking the pages when asked: exact while no other
//                        thread runs, else near. `peak` and `total` are counted by the page,
//                        because malloc counts nothing: the bytes of the pages that held such
//                        blocks, so the peak is an upper bound
//   malloc_bins          `current` as malloc_normal. `peak` is the largest value that any reading
//                        has seen and `total` the sum of all increases between readings: lower
//                        bounds
//   malloc_normal_count  the sum of the totals of malloc_bins: a lower bound
//   malloc_requested     as malloc_normal and malloc_huge together: requests are not recorded
//   segments…, _segments_reserved, chunk_bins
//                        always 0
// Of every count total >= peak >= current >= 0. Tests: test/api/stats.c, test/unit/stats.c.
#include "../service/stats.h"

#include "../heap/tracked.h"
#include "../service/message.h"
#include "inspect.h"

_Static_assert((int)STAT_MALLOC_BINS == (int)BIN_LARGE + 1, "a bin for each class and the rest");

// ---- counts ----

// Numbers that were read while others wrote may not fit each other.
static void count_tidy(mi_stat_count_t* count) {
  count->current = int64_max(count->current, 0);
  count->peak = int64_max(count->peak, count->current);
  count->total = int64_max(count->total, count->peak);
}

// What is over: all but what is there now.
static void count_leave_past(mi_stat_count_t* count) {
  count->total -= count->current;
  count->peak -= count->current;
  count->current = 0;
}

// ---- what pages hold ----

typedef struct tally {
  heap_t* heap;            // of which pages are counted, or …
  const thread_t* thread;  // … the thread whose theaps keep them
  size_t pages, normal_bytes, huge_bytes, committed_bytes, blocks[STAT_MALLOC_BINS];
} tally_t;

RACY static void tally_add(tally_t* tally, const page_t* page) {
  const size_t blocks = page_blocks_in_use(page);
  const size_t bytes = blocks * page->block_bytes;
  const bool is_huge = page->bin == BIN_LARGE;
  tally->pages++;
  tally->blocks[size_min(page->bin, BIN_LARGE)] += blocks;
  *(is_huge ? &tally->huge_bytes : &tally->normal_bytes) += bytes;
  tally->committed_bytes += page->span_slices * SLICE_BYTES;
}

static bool tally_page_of_heap(page_t* page, void* arg) {
  tally_t* tally = arg;
  if (heap_of_page(page) == tally->heap) { tally_add(tally, page); }
  return true;
}

// Blocks that a thread set aside are in use for their pages only, unless each is known to be live.
RACY static void tally_less_loose(tally_t* tally, const theap_t* theap) {
  if (CHECK_STATE) { return; }
  for (unsigned bin = 0; bin <= BIN_LARGE; bin++) {
    const loose_t loose = theap->loose[bin];
    size_t* bytes = bin == BIN_LARGE ? &tally->huge_bytes : &tally->normal_bytes;
    tally->blocks[bin] -= size_min(tally->blocks[bin], loose.count);
    *bytes -= size_min(*bytes, loose_bytes(&loose, bin));
  }
}

static void tally_less_loose_of(tally_t* tally, const heap_t* heap) {
  for (const theap_t* theap = heap->theaps; theap != NULL; theap = theap->heap_next) {
    tally_less_loose(tally, theap);
  }
}

// What threads set aside in heaps that were deleted since.
static void tally_less_loose_of_retired(tally_t* tally) {
  for (heap_t* heap = retired_lock(); heap != NULL; heap = heap->next) {
    lock_acquire(&heap->lock);
    if (heap->subproc->main == tally->heap) { tally_less_loose_of(tally, heap); }
    lock_release(&heap->lock);
  }
  retired_unlock();
}

// Any heap but a main heap lists its pages; to a main heap belong also those of deleted heaps.
static void tally_heap(tally_t* tally, heap_t* heap) {
  memset(tally, 0, sizeof(*tally));
  tally->heap = heap;
  if (heap->is_main) { page_visit_all(tally_page_of_heap, tally); }
  lock_acquire(&heap->lock);
  for (const page_t* page = heap->pages; page != NULL; page = page->heap_next) {
    tally_add(tally, page);
  }
  tally_less_loose_of(tally, heap);
  lock_release(&heap->lock);
  if (heap->is_main) { tally_less_loose_of_retired(tally); }
}

// ---- readings ----

// The exchange makes the changes of concurrent readings add up.
static void count_read(stat_count_t* count, size_t bytes) {
  const intptr_t now = (intptr_t)bytes;
  intptr_t before = load_relaxed(&count->current);
  while (!cas_relaxed(&count->current, &before, now)) {}
  if (now > before) { (void)add_relaxed(&count->total, now - before); }
  intptr_t peak = load_relaxed(&count->peak);
  while (now > peak && !cas_relaxed(&count->peak, &peak, now)) {}
}

// Brings those numbers of a heap up to date that nothing counts as it happens.
static tally_t heap_read(heap_t* heap) {
  tally_t tally;
  tally_heap(&tally, heap);
  for (int i = 0; i < STAT_MALLOC_BINS; i++) { count_read(&heap->bins.blocks[i], tally.blocks[i]); }
  return tally;
}

static void heap_export(heap_t* heap, mi_stats_t* out) {
  const tally_t tally = heap_read(heap);
  heap_stats_export(heap, out);
  out->malloc_normal.current = (int64_t)tally.normal_bytes;
  out->malloc_huge.current = (int64_t)tally.huge_bytes;
}

// What follows from the other numbers.
static void complete(mi_stats_t* stats) {
  stats_for_each(stats, count_tidy);
  stats->malloc_normal_count.total = 0;
  for (int bin = 0; bin < BIN_LARGE; bin++) {
    stats->malloc_normal_count.total += stats->malloc_bins[bin].total;
  }
  const mi_stat_count_t *normal = &stats->malloc_normal, *huge = &stats->malloc_huge;
  stats->malloc_requested = (mi_stat_count_t){
      .total = normal->total + huge->total,
      .peak = int64_max(normal->peak + huge->current, normal->current + huge->peak),
      .current = normal->current + huge->current,
  };
}

// ---- gathering ----

static void gather_gone(subproc_t* subproc, mi_stats_t* out) {
  stats_export(&memory_stats, out);
  stats_merge(out, &subproc->gone);
}

static void gather_heaps(subproc_t* subproc, mi_stats_t* out) {
  for (heap_t* heap = subproc->heaps; heap != NULL; heap = heap->next) {
    heap_export(heap, &subproc->scratch);
    stats_merge(out, &subproc->scratch);
  }
}

static void bins_leave(mi_stat_count_t* bins) {
  for (int i = 0; i < STAT_MALLOC_BINS; i++) { bins[i].current = 0; }
}

// Pages of deleted heaps, full ones and large blocks, are counted where they came from until a
// block in them is freed; their blocks were counted with the main heap's.
static void gather_retired(subproc_t* subproc, mi_stats_t* out) {
  mi_stats_t* one = &subproc->scratch;
  for (heap_t* heap = retired_lock(); heap != NULL; heap = heap->next) {
    if (heap->subproc != subproc) { continue; }
    heap_stats_export(heap, one);
    one->malloc_normal.current = one->malloc_huge.current = 0;
    bins_leave(one->malloc_bins);
    stats_merge(out, one);
  }
  retired_unlock();
}

// The lock keeps heaps from coming and going; none is taken inside but those of the heaps.
static void gather(subproc_t* subproc, mi_stats_t* out) {
  if (TRACKED) { tracked_flush(); }
  lock_acquire(&subproc->lock);
  gather_gone(subproc, out);
  gather_heaps(subproc, out);
  gather_retired(subproc, out);
  lock_release(&subproc->lock);
  complete(out);
}

static void gather_one(heap_t* heap, mi_stats_t* out) {
  heap_export(heap, out);
  complete(out);
}

// ---- as a struct ----

static bool is_our_layout(const mi_stats_t* stats) {
  return stats != NULL && stats->size == sizeof(mi_stats_t) && stats->version == MI_STAT_VERSION;
}

API bool mi_subproc_stats_get(mi_subproc_id_t subproc_id, mi_stats_t* stats) {
  subproc_t* subproc = subproc_id._mi_subproc_id;
  if (subproc == NULL || !is_our_layout(stats)) { return false; }
  gather(subproc, stats);
  return true;
}

API bool mi_subproc_stats_get_exclusive(mi_subproc_id_t subproc_id, mi_stats_t* stats) {
  subproc_t* subproc = subproc_id._mi_subproc_id;
  if (subproc == NULL || !is_our_layout(stats)) { return false; }
  lock_acquire(&subproc->lock);
  gather_gone(subproc, stats);
  lock_release(&subproc->lock);
  complete(stats);
  return true;
}

API bool mi_stats_get(mi_stats_t* stats) {
  return mi_subproc_stats_get(mi_subproc_current(), stats);
}

API bool mi_heap_stats_get(mi_heap_t* heap, mi_stats_t* stats) {
  if (heap == NULL || !is_our_layout(stats)) { return false; }
  if (TRACKED) { tracked_flush(); }
  gather_one(heap, stats);
  return true;
}

// The last entry is for large blocks, which have no one size.
API size_t mi_stats_get_bin_size(size_t bin) {
  return bin < BIN_COUNT ? bin_bytes((unsigned)bin) : 0;
}

// ---- as JSON ----

API char* mi_stats_as_json(mi_stats_t* stats, size_t buf_size, char* buf) {
  return is_our_layout(stats) ? stats_to_json(stats, buf_size, buf, mi_malloc) : NULL;
}

API char* mi_subproc_stats_get_json(mi_subproc_id_t subproc_id, size_t buf_size, char* buf) {
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  if (!mi_subproc_stats_get(subproc_id, &stats)) { return NULL; }
  return mi_stats_as_json(&stats, buf_size, buf);
}

API char* mi_stats_get_json(size_t buf_size, char* buf) {
  return mi_subproc_stats_get_json(mi_subproc_current(), buf_size, buf);
}

API char* mi_heap_stats_get_json(mi_heap_t* heap, size_t buf_size, char* buf) {
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  if (!mi_heap_stats_get(heap, &stats)) { return NULL; }
  return mi_stats_as_json(&stats, buf_size, buf);
}

// ---- as text ----

// Builds that know each block tell of each size class too.
static void print_all(const mi_stats_t* stats, const out_t* out, const char* title) {
  stats_print(stats, out, title);
  for (unsigned bin = 1; (NOTE_BLOCKS || TRACKED) && bin < BIN_COUNT; bin++) {
    char name[32];
    format_text(name, sizeof(name), "blocks of %zu bytes", bin_bytes(bin));
    stats_print_row(out, name, &stats->malloc_bins[bin]);
  }
}

API void mi_subproc_stats_print_out(mi_subproc_id_t subproc_id, mi_output_fun* out, void* arg) {
  const out_t sink = message_sink(out, arg);
  if (subproc_id._mi_subproc_id == NULL) { return; }
  mi_stats_t stats;
  gather(subproc_id._mi_subproc_id, &stats);
  print_all(&stats, &sink, "statistics");
}

API void mi_stats_print_out(mi_output_fun* out, void* arg) {
  mi_subproc_stats_print_out(mi_subproc_current(), out, arg);
  mi_process_info_print_out(out, arg);
}

API void mi_stats_print(void* out) {
  (void)out;
  mi_stats_print_out(NULL, NULL);
}

static void print_heap(const out_t* out, size_t id, const mi_stats_t* stats) {
  char title[40];
  format_text(title, sizeof(title), "heap %zu", id);
  print_all(stats, out, title);
}

API void mi_heap_stats_print_out(mi_heap_t* heap, mi_output_fun* out, void* arg) {
  const out_t sink = message_sink(out, arg);
  if (heap == NULL) { return; }
  mi_stats_t stats;
  gather_one(heap, &stats);
  print_heap(&sink, heap->id, &stats);
}

// The heap with the largest number below `bound`; 0 if there is none. Heaps are numbered as they
// are made.
static size_t gather_below(subproc_t* subproc, size_t bound, mi_stats_t* stats) {
  heap_t* found = NULL;
  lock_acquire(&subproc->lock);
  for (heap_t* heap = subproc->heaps; heap != NULL; heap = heap->next) {
    if (heap->id < bound && (found == NULL || heap->id > found->id)) { found = heap; }
  }
  const size_t id = found == NULL ? 0 : found->id;
  if (found != NULL) { gather_one(found, stats); }
  lock_release(&subproc->lock);
  return id;
}

API void mi_subproc_heap_stats_print_out(mi_subproc_id_t subproc_id, mi_output_fun* out,
                                         void* arg) {
  const out_t sink = message_sink(out, arg);
  subproc_t* subproc = subproc_id._mi_subproc_id;
  if (subproc == NULL) { return; }
  mi_subproc_stats_print_out(subproc_id, out, arg);
  mi_stats_t stats;
  for (size_t id = gather_below(subproc, SIZE_MAX, &stats); id != 0;
       id = gather_below(subproc, id, &stats)) {
    print_heap(&sink, id, &stats);
  }
}

// ---- of one thread ----

RACY static bool tally_page_of_thread(page_t* page, void* arg) {
  tally_t* tally = arg;
  const theap_t* theap = tally->thread->theaps;
  while (theap != NULL && theap->serial != load_relaxed(&page->keeper)) { theap = theap->next; }
  if (theap != NULL) { tally_add(tally, page); }
  return true;
}

static mi_stat_count_t count_of(size_t n) {
  return (mi_stat_count_t){(int64_t)n, (int64_t)n, (int64_t)n};
}

// Only what it holds now: nothing is counted for a thread as it happens.
API void mi_thread_stats_print_out(mi_output_fun* out, void* arg) {
  const out_t sink = message_sink(out, arg);
  tally_t tally = {.thread = thread_self_or_null()};
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  const theap_t* theap;
  if (tally.thread != NULL) {
    page_visit_all(tally_page_of_thread, &tally);
    for (theap = tally.thread->theaps; theap != NULL; theap = theap->next) {
      tally_less_loose(&tally, theap);
    }
  }
  stats.pages = count_of(tally.pages);
  stats.page_committed = count_of(tally.committed_bytes);
  stats.malloc_normal = count_of(tally.normal_bytes);
  stats.malloc_huge = count_of(tally.huge_bytes);
  stats_print(&stats, &sink, "thread");
}

// ---- merging and starting anew ----

// Counters are shared, so there is nothing to merge; but this is a reading, see the top.
API void mi_stats_merge(void) {
  subproc_t* subproc = subproc_current();
  lock_acquire(&subproc->lock);
  for (heap_t* heap = subproc->heaps; heap != NULL; heap = heap->next) { (void)heap_read(heap); }
  lock_release(&subproc->lock);
}

// What is in use stays with the heap, which will count it down.
API void mi_heap_stats_merge_to_subproc(mi_heap_t* heap) {
  if (heap == NULL) { return; }
  subproc_t* subproc = heap->subproc;
  lock_acquire(&subproc->lock);
  (void)heap_read(heap);
  heap_stats_export(heap, &subproc->scratch);
  stats_for_each(&subproc->scratch, count_leave_past);
  stats_merge(&subproc->gone, &subproc->scratch);
  heap_stats_clear(heap);
  lock_release(&subproc->lock);
}

API void mi_stats_reset(void) {
  subproc_t* subproc = subproc_current();
  lock_acquire(&subproc->lock);
  stats_clear(&memory_stats);
  memset(&subproc->gone, 0, sizeof(subproc->gone));
  for (heap_t* heap = subproc->heaps; heap != NULL; heap = heap->next) {
    (void)heap_read(heap);
    heap_stats_clear(heap);
  }
  lock_release(&subproc->lock);
}
