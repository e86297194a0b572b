// Live bytes: see live.h.
#include "live.h"

#include "../heap/row.h"
#include "../heap/tracked.h"
#include "inspect.h"

RACY static bool page_count(page_t* page, void* arg) {
  live_t* live = (live_t*)arg;
  const size_t bytes = page->block_bytes, blocks = page_blocks_in_use(page);
  if (page->bin >= BIN_COUNT && page->span_arena == NULL) {
    live->direct_bytes += blocks * bytes;
    live->direct_blocks += blocks;
    return true;
  }
  live->bytes += blocks * bytes;
  live->blocks += blocks;
  if (page->bin >= BIN_COUNT) { return true; }
  const size_t spare = size_max(page->capacity, blocks) - blocks;
  live->free_bytes += spare * bytes;
  live->free_blocks += spare;
  live->free_in_bin[page->bin] += spare;
  return true;
}

// What is on rows is free, though its pages do not know.
RACY static bool heap_count_rows(heap_t* heap, void* arg) {
  live_t* live = (live_t*)arg;
  lock_acquire(&heap->lock);
  for (const theap_t* theap = heap->theaps; theap != NULL; theap = theap->heap_next) {
    for (unsigned bin = 1; bin < ROW_COUNT; bin++) {
      const row_view_t row = row_view(theap, bin);
      const size_t bytes = row_bytes(row, bin);
      live->bytes -= size_min(live->bytes, bytes);
      live->blocks -= size_min(live->blocks, row.length);
      live->free_bytes += bytes;
      live->free_blocks += row.length;
      if (bin < BIN_COUNT) { live->free_in_bin[bin] += row.length; }
    }
  }
  lock_release(&heap->lock);
  return true;
}

PRIVATE void live_count(live_t* out) {
  memset(out, 0, sizeof(*out));
  if (TRACKED) { tracked_flush(); }
  page_visit_all(page_count, out);
  if (CHECK_STATE) { return; }
  registry_lock();
  for (subproc_t* subproc = registry_subprocs(); subproc != NULL; subproc = subproc->next) {
    (void)subproc_visit_heaps(subproc, heap_count_rows, out);
  }
  registry_unlock();
  for (heap_t* heap = retired_lock(); heap != NULL; heap = heap->next) {
    (void)heap_count_rows(heap, out);
  }
  retired_unlock();
}
