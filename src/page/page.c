// Pages of blocks: making, extending, releasing. See page.h.
#include "page.h"

#include <errno.h>

#include "../base/track.h"
#include "../memory/meta.h"
#include "../port/lock.h"
#include "../service/message.h"
#include "../service/options.h"

SHARED_DATA_DEF _Atomic(uint32_t) page_extend_limit;

// ---- records ----

enum { CHUNK_PAGES = 31 };

// Records come in chunks, which are never freed, so that all pages can be visited.
typedef struct page_chunk {
  struct page_chunk* next;
  uint8_t padding[sizeof(page_t) - sizeof(void*)];
  page_t pages[CHUNK_PAGES];
} page_chunk_t;

static struct {
  lock_t lock;
  page_t* free;
  _Atomic(page_chunk_t*) chunks;
} records;

static void chunk_add(void) {
  page_chunk_t* chunk = meta_alloc(sizeof(page_chunk_t));
  if (chunk == NULL) { return; }
  chunk->next = load_relaxed(&records.chunks);
  for (int i = CHUNK_PAGES - 1; i >= 0; i--) {
    chunk->pages[i].next = records.free;
    records.free = &chunk->pages[i];
  }
  store_release(&records.chunks, chunk);  // [P1] out: the zeroed records
}

static page_t* record_take(void) {
  lock_acquire(&records.lock);
  if (records.free == NULL) { chunk_add(); }
  page_t* page = records.free;
  if (page != NULL) { records.free = page->next; }
  lock_release(&records.lock);
  return page;
}

static void record_give(page_t* page) {
  store_relaxed(&page->heap, NULL);
  store_relaxed(&page->owner, 0);
  lock_acquire(&records.lock);
  page->next = records.free;
  records.free = page;
  lock_release(&records.lock);
}

PRIVATE void page_visit_all(page_visit_fun* visit, void* arg) {
  page_chunk_t* chunk = load_acquire(&records.chunks);  // [P1] in
  for (; chunk != NULL; chunk = chunk->next) {
    for (int i = 0; i < CHUNK_PAGES; i++) {
      page_t* page = &chunk->pages[i];
      if (load_relaxed(&page->heap) != NULL && !visit(page, arg)) { return; }
    }
  }
}

PRIVATE void page_lock_for_fork(void) { lock_acquire(&records.lock); }

PRIVATE void page_unlock_after_fork(bool child) { lock_after_fork(&records.lock, child); }

// ---- sizes ----

// Slices of a page: the fewest that hold four blocks with at most 1/32 lost at the end. The first
// pages of a class are small, so that a small heap stays small; a class in demand gets 64 KiB and
// eight blocks.
PRIVATE size_t page_slices(unsigned bin, bool roomy) {
  enum { BLOCKS_LEAST = 4, BLOCKS_ROOMY = 8, ROOMY_SLICES = 4, LOSS_SHARE = 32 };
  const size_t block_bytes = bin_bytes(bin), blocks = roomy ? BLOCKS_ROOMY : BLOCKS_LEAST;
  size_t least = divide_up(blocks * block_bytes, SLICE_BYTES);
  if (roomy) { least = size_max(least, ROOMY_SLICES); }
  size_t best = least, best_loss = SIZE_MAX;
  for (size_t slices = least; slices <= PAGE_MAX_SLICES; slices++) {
    const size_t bytes = slices * SLICE_BYTES;
    const size_t loss = bytes % block_bytes;
    if (loss <= bytes / LOSS_SHARE) { return slices; }
    if (loss * best < best_loss) { best = slices, best_loss = loss * slices; }
  }
  return best;
}

// ---- making and releasing ----

static bool span_for(const page_want_t* want, span_t* span) {
  size_t slices = divide_up(want->bytes + want->shift, SLICE_BYTES);
  if (want->bin != BIN_LARGE) { slices = page_slices(want->bin, want->roomy); }
  const span_want_t span_want = {.slices = slices,
                                 .align = want->align,
                                 .arena = want->arena,
                                 .zeroed = want->zeroed,
                                 .dense = !want->zeroed,
                                 .numa_node = want->numa_node};
  return want->direct ? memory_take_direct(span_want, span) : memory_take(span_want, span);
}

// Bits that are 0 in the address of each block: those below the largest power of two that divides
// its size, as pages start on slices, and those that no address has.
static uintptr_t page_mask(const page_t* page) {
  const uintptr_t high = sizeof(void*) == 8 ? (uintptr_t)0 - ((uintptr_t)1 << 24 << 24) : 0;
  const size_t unit = page->block_bytes & (0 - page->block_bytes);
  return page_is_single(page) ? high : high | (size_min(unit, SLICE_BYTES) - 1);
}

// Its memory and the size of its blocks are known.
static void page_cut(page_t* page, unsigned bin) {
  const bool single = bin == BIN_LARGE;
  page->free = NULL;
  page->reserved = single ? 1 : (uint16_t)(page->span_slices * SLICE_BYTES / page->block_bytes);
  page->capacity = single ? 1 : 0;
  page->used = page->capacity;
  page->bin = (uint8_t)bin;
  page->just_extended = false;
  page->mask = page_mask(page);
}

static void page_fill(page_t* page, const page_want_t* want, const span_t* span) {
  const bool single = want->bin == BIN_LARGE;
  page->start = span->start + want->shift;
  page->block_bytes = single ? want->bytes : bin_bytes(want->bin);
  page->span_slices = (uint32_t)span->slices;
  page_cut(page, want->bin);
  page->fresh_zero = span->is_zero;
  page->held = false;
  page->theap = NULL;
  page->next = page->prev = page->heap_next = page->heap_prev = NULL;
  page->span_arena = span->arena;
  page->span_start = span->start;
  store_relaxed(&page->owner, 0);
  store_relaxed(&page->remote, single ? REMOTE_FULL : REMOTE_OWNED);
}

// Of a large block only the first slice is entered: nothing else in it is the start of a block.
static void page_map(const page_t* page, const page_t* entry) {
  const size_t in_first = (uintptr_t)page->start % SLICE_BYTES;
  const size_t heads = TRACKED ? (in_first + GRANULE) / SLICE_BYTES + 1 : 1;  // see heap/tracked.h
  map_enter(page->start, page->bin == BIN_LARGE ? heads : page->span_slices, entry);
}

PRIVATE page_t* page_new(page_want_t want) {
  page_t* page = record_take();
  span_t span;
  if (page == NULL) { return NULL; }
  if (!span_for(&want, &span)) {
    record_give(page);
    return NULL;
  }
  page_fill(page, &want, &span);
  page_map(page, page);
  track_hide(span.start, span.slices * SLICE_BYTES);
  return page;
}

PRIVATE void page_recut(page_t* page, unsigned bin) {
  page->block_bytes = bin_bytes(bin);
  page_cut(page, bin);
  page->fresh_zero = false;
  store_relaxed(&page->remote, REMOTE_OWNED);
}

PRIVATE void page_release(page_t* page) {
  const span_t span = page_span(page);
  page_map(page, NULL);
  record_give(page);
  memory_give(span);
}

// ---- blocks ----

static block_t* block_at(const page_t* page, size_t index) {
  return (block_t*)(void*)(page->start + index * page->block_bytes);
}

// About 4 KiB at a time, so that memory that is not needed yet stays untouched. Where it was in use
// before it costs nothing to go further.
static uint32_t extend_count(const page_t* page) {
  enum { EXTEND_BYTES = 4096, EXTEND_USED = 4 };
  const uint32_t limit = load_relaxed(&page_extend_limit);
  const uint32_t least = page->fresh_zero ? 1 : EXTEND_USED;
  uint32_t count = (uint32_t)size_max(EXTEND_BYTES / page->block_bytes, least);
  if (limit != 0 && count > limit) { count = limit; }
  const uint32_t left = (uint32_t)(page->reserved - page->capacity);
  return count < left ? count : left;
}

PRIVATE void page_extend(page_t* page) {
  const uint32_t count = extend_count(page);
  block_t* last = block_at(page, page->capacity + count - 1);
  for (uint32_t i = page->capacity; i < page->capacity + count - 1; i++) {
    block_at(page, i)->next = block_at(page, i + 1);
  }
  last->next = NULL;
  page->free = block_at(page, page->capacity);
  page->capacity = (uint16_t)(page->capacity + count);
  page->just_extended = true;
  stat_add(&memory_stats.pages_extended, 1);
}

// Puts a list in front of `free`.
static void page_prepend(page_t* page, block_t* list) {
  if (page->free != NULL && list != NULL) {
    block_t* last = list;
    while (last->next != NULL) { last = last->next; }
    last->next = page->free;
  }
  if (list != NULL) { page->free = list; }
}

PRIVATE void page_take_remote(page_t* page) {
  const uint32_t word = remote_take(&page->remote);
  if (word == REMOTE_OWNED) { return; }
  page_prepend(page, remote_head(word, page->start));
  page->used -= remote_count(word);
}

PRIVATE void page_restore(page_t* page, uint32_t claimed) {
  page_prepend(page, remote_head(claimed, page->start));
  page->used = remote_count(claimed);
}

PRIVATE uint32_t page_used(const page_t* page) {
  if (!page->held) { return page->used; }
  uint32_t used = page->capacity;
  for (const block_t* block = page->free; block != NULL; block = block->next) { used--; }
  return used;
}

typedef struct block_bits {
  uint64_t words[PAGE_BLOCKS_MAX / 64];
} block_bits_t;

static void bits_of_free(block_bits_t* bits, const page_t* page) {
  const uint32_t block_bytes = (uint32_t)page->block_bytes;
  memset(bits->words, 0, divide_up(page->capacity, 64) * sizeof(bits->words[0]));
  for (const block_t* block = page->free; block != NULL; block = block->next) {
    const uint32_t index = (uint32_t)((const uint8_t*)block - page->start) / block_bytes;
    bits->words[index / 64] |= (uint64_t)1 << (index % 64);
  }
}

PRIVATE void page_sort_free(page_t* page) {
  block_bits_t bits;
  block_t** link = &page->free;
  bits_of_free(&bits, page);
  for (size_t word = 0; word < divide_up(page->capacity, 64); word++) {
    for (uint64_t left = bits.words[word]; left != 0; left &= left - 1) {
      *link = block_at(page, word * 64 + low_bit(left));
      link = &(*link)->next;
    }
  }
  *link = NULL;
}

PRIVATE bool page_has_room(page_t* page) {
  if (page->free != NULL) { return true; }
  page_take_remote(page);
  if (page->free == NULL && page->capacity < page->reserved) { page_extend(page); }
  return page->free != NULL;
}

PRIVATE COLD void report_inside(const page_t* page, const void* p, const char* what) {
  message_error(EINVAL, "%s of %p, which is inside a block of %zu bytes, not at its start", what, p,
                page->block_bytes);
}

PRIVATE COLD void report_bad_free(const page_t* page, const void* p) {
  if (page_block_is_valid(page, p)) {
    message_error(EAGAIN, "double free of %zu-byte block %p", page->block_bytes, p);
  } else {
    report_inside(page, p, "free");
  }
}

PRIVATE bool block_may_be_freed(const page_t* page, const void* p) {
  const bool is_ours = load_relaxed(&page->owner) == port_thread_id();
  if (likely(page_block_is_valid(page, p) && !(is_ours && page->free == p))) { return true; }
  report_bad_free(page, p);
  return false;
}
