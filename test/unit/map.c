/* test: timeout=60 */
/* The map from addresses to pages: each slice of a page leads to it and no other slice does, also
   where the page lies in two parts of the map; afterwards none does. */
#include "../../src/static.c"
#include "../check.h"

enum { SLICES = 6, BEFORE = 2 };

static page_t page;

/* So many slices from `start` on lead to the page, and those beside them do not. */
static void check_found(uint8_t* start, size_t expected) {
  for (size_t i = 0; i < SLICES + 2; i++) {
    const bool is_inside = i >= 1 && i <= expected;
    const uint8_t* slice = start - SLICE_BYTES + i * SLICE_BYTES;
    CHECK(page_of(slice) == (is_inside ? &page : page_none()));
    CHECK(page_of(slice + SLICE_BYTES - 1) == (is_inside ? &page : page_none()));
  }
}

static void test_at(uint8_t* start) {
  memory_lock();
  CHECK(map_cover(start - SLICE_BYTES, (SLICES + 2) * SLICE_BYTES) == 0);
  memory_unlock();
  check_found(start, 0);
  map_enter(start, SLICES, &page);
  check_found(start, SLICES);
  map_enter(start, SLICES, NULL);
  check_found(start, 0);
}

int main(void) {
  uint8_t* const border = (uint8_t*)((uintptr_t)4 << MAP_PART_SHIFT);
  mi_free(mi_malloc(1));
  test_at(border - BEFORE * SLICE_BYTES);
  test_at(border);
  test_at(border - SLICES * SLICE_BYTES);
  return check_done();
}
