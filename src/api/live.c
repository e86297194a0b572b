// Live bytes: see live.h.
#include "live.h"

#include "inspect.h"

RACY static bool page_count(page_t* page, void* arg) {
  live_t* live = arg;
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

PRIVATE void live_count(live_t* out) {
  memset(out, 0, sizeof(*out));
  page_visit_all(page_count, out);
}
