// Statistics by their public names: gathered when asked for.
//
// What each number means, and how exact it is:
//   reserved, committed, …_calls, purged, arena_count, threads, heaps, theaps
//                        of the process, whichever sub-process is asked: arenas serve them all
//   pages, page_bins, page_committed, pages_abandoned, …
//                        of the heaps; exact, but peaks of several threads: see heap/count.h
//   malloc_count, free_count, allocated, freed, malloc_bins, malloc_normal, malloc_huge, …_count
//                        totals and what there is: exact while no other thread runs, else near.
//                        Peaks of a heap are exact in debug builds. In others they are upper
//                        bounds: see heap/count.h
//   requested, malloc_requested
//                        exact in debug builds; in others `allocated` stands for them
//   segments…, _segments_reserved, pages_os_…, pages_stat_…, chunk_bins
//                        always 0
// Of every count total >= peak >= current >= 0. Tests: test/api/stats.c,
// test/api/stats_exact.c, test/unit/stats.c.
#include "../service/stats.h"

#include "../heap/count.h"
#include "../heap/row.h"
#include "../heap/tracked.h"
#include "../service/message.h"
#include "inspect.h"

_Static_assert((int)STAT_MALLOC_BINS == (int)BIN_LARGE + 1, "a bin for each class and the rest");

// ---- counts ----

// Numbers that were read while others wrote may not fit each other.
static void count_tidy(mi_stat_count_t* count) {
  count->current = int64_max(count->current, 0);
  count->total = int64_max(count->total, count->current);
  count->peak = int64_max(count->peak, count->current);
  if (count->peak > count->total) { count->peak = count->total; }
}

// What is over: all but what is there now.
static void count_leave_past(mi_stat_count_t* count) {
  count->total -= count->current;
  count->peak -= count->current;
  count->current = 0;
}

// ---- what pages hold ----

typedef struct tally {
  heap_t* heap;            // that has the pages, or
  const thread_t* thread;  // the thread that has the theaps which keep them
  size_t pages, normal_bytes, huge_bytes, committed_bytes;
  size_t blocks[STAT_MALLOC_BINS];
  size_t taken[STAT_MALLOC_BINS];  // that the heap does not know of; negative: it knows of too many
  size_t huge_taken_bytes;         // the same
} tally_t;

RACY static void tally_add(tally_t* tally, const page_t* page) {
  const size_t blocks = page_blocks_in_use(page);
  const size_t bytes = blocks * page->block_bytes;
  const bool is_huge = page->bin == BIN_LARGE;
  tally->pages++;
  tally->blocks[size_min(page->bin, BIN_LARGE)] += blocks;
  *(is_huge ? &tally->huge_bytes : &tally->normal_bytes) += bytes;
  tally->taken[size_min(page->bin, BIN_LARGE)] += page_blocks_taken(page);
  tally->committed_bytes += page_bytes(page);
}

static bool tally_page_of_heap(page_t* page, void* arg) {
  tally_t* tally = (tally_t*)arg;
  if (load_relaxed(&page->heap) == tally->heap) { tally_add(tally, page); }
  return true;
}

// Blocks on a row are in use for their pages only, unless each is known to be live.
static void tally_less_rows(tally_t* tally, const theap_t* theap) {
  if (CHECK_STATE) { return; }
  for (unsigned bin = 1; bin < ROW_COUNT; bin++) {
    const row_view_t row = row_view(theap, bin);
    size_t* bytes = bin == BIN_LARGE ? &tally->huge_bytes : &tally->normal_bytes;
    tally->blocks[bin] -= size_min(tally->blocks[bin], row.length);
    *bytes -= size_min(*bytes, row_bytes(row, bin));
  }
}

static void count_untold(mi_stat_count_t* count, intptr_t more, intptr_t added) {
  count->current += more;
  count->total += added;
}

// What the theap has not told its heap.
RACY static void add_untold(mi_stats_t* out, theap_t* theap) {
  const untold_t* untold = theap_untold(theap);
  count_untold(&out->pages, untold->pages, untold->new_pages);
  count_untold(&out->page_committed, untold->bytes, untold->new_bytes);
  for (unsigned bin = 1; bin <= BIN_LARGE; bin++) {
    const untold_class_t* one = &untold->classes[bin];
    count_untold(&out->page_bins[bin], one->pages, one->new_pages);
  }
  out->pages_extended.total += (int64_t)theap->extended;
  out->pages_retire.total += (int64_t)theap->retired;
  out->pages_reclaim_on_alloc.total += (int64_t)theap->claimed;
  out->pages_reclaim_on_free.total += (int64_t)theap->adopted;
}

RACY static void tally_theap(tally_t* tally, const theap_t* theap) {
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    tally->taken[bin] += theap->taken[bin] + theap->row[bin].taken;
  }
  tally->taken[BIN_LARGE] += theap->large_taken;
  tally->huge_taken_bytes += theap->large_taken_bytes;
  tally_less_rows(tally, theap);
}

// Any heap but a main heap lists its pages.
static void tally_heap(tally_t* tally, heap_t* heap, mi_stats_t* out) {
  memset(tally, 0, sizeof(*tally));
  tally->heap = heap;
  if (heap->is_main) { page_visit_all(tally_page_of_heap, tally); }
  lock_acquire(&heap->lock);
  for (const page_t* page = heap->pages; page != NULL; page = page->heap_next) {
    tally_add(tally, page);
  }
  for (theap_t* theap = heap->theaps; theap != NULL; theap = theap->heap_next) {
    tally_theap(tally, theap);
    add_untold(out, theap);
  }
  lock_release(&heap->lock);
}

// ---- readings ----

static void heap_export(heap_t* heap, mi_stats_t* out) {
  tally_t tally;
  heap_stats_export(heap, out);
  tally_heap(&tally, heap, out);
  for (int bin = 0; bin < STAT_MALLOC_BINS; bin++) {
    out->malloc_bins[bin].total += (intptr_t)tally.taken[bin];
    out->malloc_bins[bin].current = (int64_t)tally.blocks[bin];
  }
  out->malloc_normal.current = (int64_t)tally.normal_bytes;
  out->malloc_huge.current = (int64_t)tally.huge_bytes;
  out->malloc_huge.total += (int64_t)tally.huge_taken_bytes;
  out->allocated.current = (int64_t)(tally.normal_bytes + tally.huge_bytes);
}

// Blocks of each class have one size.
static void complete_totals(mi_stats_t* stats) {
  stats->malloc_normal.total = stats->malloc_normal_count.total = 0;
  stats->malloc_huge_count.total = stats->malloc_bins[BIN_LARGE].total;
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    stats->malloc_normal_count.total += stats->malloc_bins[bin].total;
    stats->malloc_normal.total += stats->malloc_bins[bin].total * (int64_t)bin_bytes(bin);
  }
  stats->malloc_count.total = stats->malloc_normal_count.total + stats->malloc_huge_count.total;
  stats->allocated.total = stats->malloc_normal.total + stats->malloc_huge.total;
  stats->malloc_normal.peak = stats->allocated.peak;
}

static void complete_frees(mi_stats_t* stats) {
  stats->free_count.total = stats->malloc_count.total;
  for (int bin = 0; bin < STAT_MALLOC_BINS; bin++) {
    stats->free_count.total -= stats->malloc_bins[bin].current;
  }
  stats->freed.total = stats->allocated.total - stats->allocated.current;
}

// What follows from the other numbers.
static void complete(mi_stats_t* stats) {
  for (int bin = 0; bin < STAT_MALLOC_BINS; bin++) { count_tidy(&stats->malloc_bins[bin]); }
  complete_totals(stats);
  if (!COUNT_EACH) { stats->requested = stats->allocated; }
  stats_for_each(stats, count_tidy);
  complete_frees(stats);
  stats->malloc_requested.total = stats->requested.total;
  stats->requested_is_exact.total = COUNT_EACH;
  stats->peaks_are_exact.total = COUNT_EACH;
}

// A struct of version 5 has no sums of small and large blocks. The peak of both is at most the sum
// of theirs.
static void complete_5(mi_stats_t* stats) {
  const mi_stat_count_t normal = stats->malloc_normal, requested = stats->requested;
  stats->allocated.current = normal.current + stats->malloc_huge.current;
  stats->allocated.peak = normal.peak + stats->malloc_huge.peak;
  complete(stats);
  stats->malloc_normal = normal;
  stats->requested = requested;
  stats->malloc_requested.total = requested.total;
  stats->peaks_are_exact.total = 0;
}

// ---- gathering ----

static void gather_gone(subproc_t* subproc, mi_stats_t* out) {
  stats_export(&memory_stats, out);
  stats_merge(out, &subproc->gone);
}

// How many have had blocks, of heaps and what is left of former ones.
static size_t gather_heaps(subproc_t* subproc, mi_stats_t* out) {
  size_t used = 0;
  for (heap_t* heap = subproc->heaps; heap != NULL; heap = heap->next) {
    heap_export(heap, &subproc->scratch);
    used += subproc->scratch.allocated.peak != 0;
    stats_merge(out, &subproc->scratch);
  }
  return used;
}

// Pages of deleted heaps, full ones and large blocks, are counted where they came from until a
// block in them is freed.
static size_t gather_retired(subproc_t* subproc, mi_stats_t* out) {
  size_t used = 0;
  for (heap_t* heap = retired_lock(); heap != NULL; heap = heap->next) {
    if (heap->subproc->main->subproc != subproc) { continue; }
    heap_export(heap, &subproc->scratch);
    used += subproc->scratch.allocated.peak != 0;
    stats_merge(out, &subproc->scratch);
  }
  retired_unlock();
  return used;
}

// The lock keeps heaps from coming and going; none is taken inside but those of the heaps.
static void gather(subproc_t* subproc, mi_stats_t* out) {
  if (TRACKED) { tracked_flush(); }
  lock_acquire(&subproc->lock);
  gather_gone(subproc, out);
  size_t used = out->allocated.peak != 0;
  used += gather_heaps(subproc, out);
  used += gather_retired(subproc, out);
  lock_release(&subproc->lock);
  complete(out);
  if (used > 1) { out->peaks_are_exact.total = 0; }
}

static void gather_one(heap_t* heap, mi_stats_t* out) {
  heap_export(heap, out);
  complete(out);
}

// ---- as a struct ----

typedef enum { LAYOUT_UNKNOWN, LAYOUT_5, LAYOUT_6 } layout_t;

static layout_t layout_of(const mi_stats_t* stats) {
  if (stats == NULL) { return LAYOUT_UNKNOWN; }
  if (stats->size == sizeof(stats5_t) && stats->version == STATS5_VERSION) { return LAYOUT_5; }
  const bool is_ours = stats->size == sizeof(mi_stats_t) && stats->version == MI_STAT_VERSION;
  return is_ours ? LAYOUT_6 : LAYOUT_UNKNOWN;
}

// What the program was compiled with says what `out` is.
static void hand_out(const mi_stats_t* stats, layout_t layout, mi_stats_t* out) {
  if (layout == LAYOUT_5) {
    stats5_from((stats5_t*)(void*)out, stats);
  } else {
    *out = *stats;
  }
}

API bool mi_subproc_stats_get(mi_subproc_id_t subproc_id, mi_stats_t* stats) {
  subproc_t* subproc = (subproc_t*)subproc_id._mi_subproc_id;
  const layout_t layout = layout_of(stats);
  if (subproc == NULL || layout == LAYOUT_UNKNOWN) { return false; }
  mi_stats_t found;
  gather(subproc, &found);
  hand_out(&found, layout, stats);
  return true;
}

API bool mi_subproc_stats_get_exclusive(mi_subproc_id_t subproc_id, mi_stats_t* stats) {
  subproc_t* subproc = (subproc_t*)subproc_id._mi_subproc_id;
  const layout_t layout = layout_of(stats);
  if (subproc == NULL || layout == LAYOUT_UNKNOWN) { return false; }
  mi_stats_t found;
  lock_acquire(&subproc->lock);
  gather_gone(subproc, &found);
  lock_release(&subproc->lock);
  complete(&found);
  hand_out(&found, layout, stats);
  return true;
}

API bool mi_stats_get(mi_stats_t* stats) {
  return mi_subproc_stats_get(mi_subproc_current(), stats);
}

API bool mi_heap_stats_get(mi_heap_t* heap, mi_stats_t* stats) {
  const layout_t layout = layout_of(stats);
  if (heap == NULL || layout == LAYOUT_UNKNOWN) { return false; }
  if (TRACKED) { tracked_flush(); }
  mi_stats_t found;
  gather_one(heap_whole(heap), &found);
  hand_out(&found, layout, stats);
  return true;
}

// The last entry is for large blocks, which have no one size.
API size_t mi_stats_get_bin_size(size_t bin) {
  return bin < BIN_COUNT ? bin_bytes((unsigned)bin) : 0;
}

// ---- as JSON ----

// Of pages of the class when it is in demand; 0: of no one size.
static size_t page_bytes_of(size_t bin) {
  return bin == 0 || bin >= BIN_COUNT ? 0 : page_slices((unsigned)bin, ROOM_MOST) * SLICE_BYTES;
}

static char* to_json(const mi_stats_t* stats, size_t buf_size, char* buf) {
  stats_about_t about = {.block_size = mi_stats_get_bin_size, .page_size = page_bytes_of};
  mi_process_info(&about.elapsed_msecs, &about.user_msecs, &about.system_msecs, &about.rss_current,
                  &about.rss_peak, &about.commit_current, &about.commit_peak, &about.page_faults);
  return stats_to_json(stats, &about, (stats_buffer_t){buf, buf_size, mi_malloc});
}

API char* mi_stats_as_json(mi_stats_t* stats, size_t buf_size, char* buf) {
  const layout_t layout = layout_of(stats);
  if (layout == LAYOUT_UNKNOWN) { return NULL; }
  if (layout == LAYOUT_6) { return to_json(stats, buf_size, buf); }
  mi_stats_t stats6;
  stats5_to((const stats5_t*)(const void*)stats, &stats6);
  complete_5(&stats6);
  return to_json(&stats6, buf_size, buf);
}

API char* mi_subproc_stats_get_json(mi_subproc_id_t subproc_id, size_t buf_size, char* buf) {
  mi_stats_t_decl(stats);
  return mi_subproc_stats_get(subproc_id, &stats) ? to_json(&stats, buf_size, buf) : NULL;
}

API char* mi_stats_get_json(size_t buf_size, char* buf) {
  return mi_subproc_stats_get_json(mi_subproc_current(), buf_size, buf);
}

API char* mi_heap_stats_get_json(mi_heap_t* heap, size_t buf_size, char* buf) {
  mi_stats_t_decl(stats);
  return mi_heap_stats_get(heap, &stats) ? to_json(&stats, buf_size, buf) : NULL;
}

// ---- as text ----

static void print_all(const mi_stats_t* stats, const out_t* out, const char* title) {
  stats_print(stats, out, title);
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    char name[32];
    format_text(name, sizeof(name), "blocks of %zu bytes", bin_bytes(bin));
    stats_print_row(out, name, &stats->malloc_bins[bin]);
  }
  if (!COUNT_EACH) {
    out_printf(out,
               "  (estimates: peaks of blocks, mostly too high; requested, as the blocks are)\n");
  } else if (stats->peaks_are_exact.total == 0) {
    out_printf(out, "  (estimates: peaks of blocks, of several heaps together)\n");
  }
}

API void mi_subproc_stats_print_out(mi_subproc_id_t subproc_id, mi_output_fun* out, void* arg) {
  const out_t sink = message_sink(out, arg);
  if (subproc_id._mi_subproc_id == NULL) { return; }
  mi_stats_t stats;
  gather((subproc_t*)subproc_id._mi_subproc_id, &stats);
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
  if (TRACKED) { tracked_flush(); }
  mi_stats_t stats;
  heap = heap_whole(heap);
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
  subproc_t* subproc = (subproc_t*)subproc_id._mi_subproc_id;
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
  tally_t* tally = (tally_t*)arg;
  const theap_t* theap = tally->thread->theaps;
  while (theap != NULL && theap->serial != load_relaxed(&page->last_owner)) { theap = theap->next; }
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
      tally_less_rows(&tally, theap);
    }
  }
  stats.pages = count_of(tally.pages);
  stats.page_committed = count_of(tally.committed_bytes);
  stats.malloc_normal = count_of(tally.normal_bytes);
  stats.malloc_huge = count_of(tally.huge_bytes);
  stats.allocated = count_of(tally.normal_bytes + tally.huge_bytes);
  stats_print(&stats, &sink, "thread");
}

// ---- theaps ----

static bool is_own(const theap_t* theap) {
  const thread_t* self = thread_self_or_null();
  return theap != NULL && self != NULL && theap->thread == self;
}

API bool mi_theap_stats_get(mi_theap_t* theap, mi_stats_t* stats) {
  const layout_t layout = layout_of(stats);
  if (layout == LAYOUT_UNKNOWN || !is_own(theap)) { return false; }
  mi_stats_t_decl(found);
  thread_gather_theap(theap);
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    found.malloc_bins[bin].total = (intptr_t)(theap->taken[bin] + theap->row[bin].taken);
  }
  found.malloc_bins[BIN_LARGE].total = (int64_t)theap->large_taken;
  found.malloc_huge.total = (int64_t)theap->large_taken_bytes;
  complete(&found);
  hand_out(&found, layout, stats);
  return true;
}

API void mi_theap_stats_merge_to_heap(mi_theap_t* theap) {
  if (is_own(theap)) { thread_tell_theap(theap); }
}

// ---- merging and starting anew ----

// Readings know what theaps have counted and not told; their heap's peak is as it should be then.
API void mi_stats_merge(void) {
  const thread_t* self = thread_self_or_null();
  for (theap_t* theap = self == NULL ? NULL : self->theaps; theap != NULL; theap = theap->next) {
    thread_tell_theap(theap);
  }
}

// What is in use stays with the heap, which will count it down.
API void mi_heap_stats_merge_to_subproc(mi_heap_t* heap) {
  if (heap == NULL) { return; }
  heap = heap_whole(heap);
  subproc_t* subproc = heap->subproc;
  mi_stats_t now;
  lock_acquire(&subproc->lock);
  heap_export(heap, &now);
  heap_stats_forget(heap, &now);
  stats_for_each(&now, count_leave_past);
  stats_merge(&subproc->gone, &now);
  lock_release(&subproc->lock);
}

static void forget_past(heap_t* heap) {
  mi_stats_t now;
  heap_export(heap, &now);
  heap_stats_forget(heap, &now);
}

API void mi_stats_reset(void) {
  subproc_t* subproc = subproc_current();
  lock_acquire(&subproc->lock);
  stats_clear(&memory_stats);
  memset(&subproc->gone, 0, sizeof(subproc->gone));
  for (heap_t* heap = subproc->heaps; heap != NULL; heap = heap->next) { forget_past(heap); }
  for (heap_t* heap = retired_lock(); heap != NULL; heap = heap->next) {
    if (heap->subproc->main->subproc == subproc) { forget_past(heap); }
  }
  retired_unlock();
  lock_release(&subproc->lock);
}
