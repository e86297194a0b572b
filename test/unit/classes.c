/* test: timeout=60 */
/* Each size has the least class that holds it, classes lose at most an eighth of what is asked for,
   from 16 KiB on a quarter, and a size that is a multiple of a power of two, up to a slice, has a
   class that is one, too. A page of each class, the first and those in demand, is no longer than
   a page may be and holds two blocks at least. */
#include "../../src/static.c"
#include "../check.h"

static void test_sizes(void) {
  size_t wrong = 0, lossy = 0, uneven = 0;
  for (size_t size = 1; size <= MEDIUM_MAX; size++) {
    const unsigned bin = bin_of(size);
    const size_t bytes = bin_bytes(bin), lowest = size & (0 - size);
    const size_t most = size <= 16 ? GRANULE - 1 : size / (size <= FINE_MAX ? 8 : 4) + GRANULE - 1;
    wrong += bin == 0 || bin >= BIN_COUNT || bytes < size || bin_bytes(bin - 1) >= size;
    lossy += bytes - size > most;
    uneven += bytes % (lowest < SLICE_BYTES ? lowest : SLICE_BYTES) != 0;
  }
  CHECK(wrong == 0);
  CHECK(lossy == 0);
  CHECK(uneven == 0);
  CHECK(bin_of(MEDIUM_MAX) == BIN_COUNT - 1 && bin_bytes(BIN_COUNT - 1) == MEDIUM_MAX);
}

static void test_pages(void) {
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    const size_t first = page_slices(bin, 1), later = page_slices(bin, ROOM_MOST);
    const size_t guard = divide_up(page_guard_bytes(), SLICE_BYTES);
    CHECK(first <= later && later <= PAGE_MAX_SLICES + guard);
    CHECK(first * SLICE_BYTES >= 2 * bin_bytes(bin) && later >= ROOM_MOST);
  }
}

int main(void) {
  test_sizes();
  test_pages();
  return check_done();
}
