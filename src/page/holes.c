// Holes: whole OS pages inside a page of blocks that no block in use touches, without their memory.
//
//   | live | free   free |########## hole ##########|   free | live |
//                 ^^^^^^^^^^ the blocks that a hole touches ^^^^
//
// These blocks are free but on no list; which they are follows from the OS pages, of which the
// page's record has a bit each. They come back, a few at a time, before the page extends.
//
// O1 a block that a hole touches is free, and on no list.
// O2 nobody writes to the OS pages of a hole.
// The owner of the page, unless said otherwise. Tests: test/api/holes.c.
#include "../port/port.h"
#include "page.h"

_Static_assert((int)PAGE_MAX_SLICES*(int)SLICE_BYTES / 4096 <= 64, "each OS page has a bit");

// OS pages, and blocks, from `from` to `to`.
typedef struct extent {
  uint32_t from, to;
} extent_t;

static uint64_t extent_bits(extent_t extent) {
  if (extent.from >= extent.to) { return 0; }
  const uint64_t up_to = extent.to == 64 ? ~(uint64_t)0 : ((uint64_t)1 << extent.to) - 1;
  return up_to & (~(uint64_t)0 << extent.from);
}

// Of `holes`, which has some.
static extent_t first_hole(uint64_t holes) {
  const uint32_t from = low_bit(holes);
  const uint64_t others = ~(holes >> from);  // 0 is shifted in
  return (extent_t){from, others == 0 ? 64 : from + low_bit(others)};
}

static size_t hole_bytes(uint64_t holes) {
  return (size_t)__builtin_popcountll(holes) * port_page_bytes();
}

// The blocks up to the capacity that some OS pages touch.
RACY static extent_t blocks_of(const page_t* page, extent_t os_pages) {
  const size_t unit = port_page_bytes(), capacity = page->capacity;
  const size_t last = (os_pages.to * unit - 1) / page->block_bytes;
  return (extent_t){(uint32_t)size_min(os_pages.from * unit / page->block_bytes, capacity),
                    (uint32_t)size_min(last + 1, capacity)};
}

// The whole OS pages that only the blocks of a range touch. Behind the last one there is nothing,
// but it may have to stay zero.
static extent_t os_pages_of(const page_t* page, extent_t blocks) {
  const size_t unit = port_page_bytes(), bytes = page_bytes(page);
  const bool is_last = blocks.to == page->capacity && !page->fresh_zero;
  const size_t end = is_last ? bytes : blocks.to * page->block_bytes;
  const size_t from = divide_up(blocks.from * page->block_bytes, unit);
  return (extent_t){(uint32_t)from, (uint32_t)size_max(end / unit, from)};
}

RACY PRIVATE bool page_next_hole(const page_t* page, uint64_t* holes, uint32_t* first,
                                 uint32_t* end) {
  if (*holes == 0) { return false; }
  const extent_t os_pages = first_hole(*holes), blocks = blocks_of(page, os_pages);
  *holes &= ~extent_bits(os_pages);
  *first = blocks.from, *end = blocks.to;
  return true;
}

RACY PRIVATE COLD uint32_t page_hole_blocks(const page_t* page) {
  uint64_t holes = page_holes(page);
  uint32_t count = 0, first = 0, end = 0;
  while (page_next_hole(page, &holes, &first, &end)) { count += end - first; }
  return count;
}

// ---- they go ----

PRIVATE COLD void page_drop_holes(page_t* page) { memory_fill_hole(hole_bytes(page->holes)); }

PRIVATE COLD void page_take_hole(page_t* page) {
  enum { LEAST_BLOCKS = 4, LEAST_BYTES = 4 << 10 };
  const size_t wanted = size_max(LEAST_BYTES, LEAST_BLOCKS * page->block_bytes);
  const extent_t hole = first_hole(page->holes);
  const size_t os_pages = size_min(divide_up(wanted, port_page_bytes()), hole.to - hole.from);
  const extent_t taken = {hole.from, hole.from + (uint32_t)os_pages};
  const extent_t rest = blocks_of(page, (extent_t){taken.to, hole.to});
  const extent_t blocks = blocks_of(page, hole);
  const uint32_t end = taken.to == hole.to ? blocks.to : rest.from;
  page->holes &= ~extent_bits(taken);
  memory_fill_hole(hole_bytes(extent_bits(taken)));
  memory_refault_hole();
  if (blocks.from < end) { page_link_blocks(page, blocks.from, end - blocks.from); }
}

// ---- they are made ----

// The first block from `index` on that is free, or that is not.
static uint32_t bits_next(const block_bits_t* bits, uint32_t index, uint32_t end, bool is_free) {
  while (index < end && bits_has(bits, index) != is_free) { index++; }
  return index;
}

// The holes among all blocks that the page has free: more than there were, or the same.
static uint64_t holes_among(const page_t* page, const block_bits_t* bits) {
  uint64_t holes = 0;
  for (uint32_t first = 0, end = 0; end < page->capacity; first = end) {
    first = bits_next(bits, first, page->capacity, true);
    end = bits_next(bits, first, page->capacity, false);
    if (first < end) { holes |= extent_bits(os_pages_of(page, (extent_t){first, end})); }
  }
  return holes;
}

// Holes that go by one call.
enum { MOST_HOLES = 32 };
typedef struct hole_list {
  size_t count;
  port_range_t holes[MOST_HOLES];
} hole_list_t;

static void holes_flush(hole_list_t* list) {
  memory_make_holes(list->holes, list->count);
  list->count = 0;
}

static void holes_add(hole_list_t* list, const page_t* page, uint64_t wanted) {
  while (wanted != 0) {
    const uint64_t hole = extent_bits(first_hole(wanted));
    uint8_t* start = page->start + low_bit(hole) * port_page_bytes();
    if (list->count == MOST_HOLES) { holes_flush(list); }
    list->holes[list->count++] = (port_range_t){start, hole_bytes(hole)};
    wanted &= ~hole;
  }
}

static void bits_set_holes(block_bits_t* bits, const page_t* page, bool are_free) {
  uint64_t holes = page->holes;
  uint32_t first = 0, end = 0;
  while (page_next_hole(page, &holes, &first, &end)) {
    for (uint32_t i = first; i < end; i++) { bits_set(bits, i, are_free); }
  }
}

// The blocks leave the page's list before their memory goes. It needs 2 KiB of stack.
static NOINLINE void page_add_holes(page_t* page, hole_list_t* list) {
  if (page_is_single(page)) { return; }
  block_bits_t bits;
  page_free_bits(page, &bits);
  bits_set_holes(&bits, page, true);
  const uint64_t wanted = holes_among(page, &bits) & ~page->holes;
  if (wanted == 0 || !memory_may_have_holes(page->span_arena)) { return; }
  page->holes |= wanted;
  bits_set_holes(&bits, page, false);
  page_list_bits(page, &bits);
  holes_add(list, page, wanted);
}

PRIVATE void pages_make_holes(page_t* const* pages, size_t count) {
  if (!MAKES_HOLES) { return; }
  hole_list_t list = {.count = 0};
  for (page_t* const* page = pages; page < pages + count; page++) {
    if (*page != NULL) { page_add_holes(*page, &list); }
  }
  holes_flush(&list);
}

PRIVATE void list_make_holes(page_t* list) {
  if (!MAKES_HOLES) { return; }
  hole_list_t holes = {.count = 0};
  for (page_t* page = list; page != NULL; page = page->next) { page_add_holes(page, &holes); }
  holes_flush(&holes);
}
