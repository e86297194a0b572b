// The arithmetic of src/page/check.h: each offset of each class, against division.
#undef MI_SECURE
#define MI_SECURE 4
#include "../check.h"
#include "../../src/page/check.h"

enum { PAGE_BYTES = 256 << 10 };

static void check_class(size_t block_bytes) {
  const uint32_t count = PAGE_BYTES / (uint32_t)block_bytes;
  const page_checks_t checks = {.reciprocal = reciprocal_of(block_bytes),
                                .limit = count * (uint32_t)(block_bytes / GRANULE)};
  for (size_t offset = 0; offset < PAGE_BYTES; offset++) {
    uint32_t index = 0;
    const bool is_start = offset % block_bytes == 0 && offset / block_bytes < count;
    CHECK(checks_find(&checks, offset, &index) == is_start);
    CHECK(!is_start || index == offset / block_bytes);
    CHECK(!is_start || checks_index(&checks, offset) == index);
  }
}

/* In front of the page, and where only the low half of the address looks like a block. */
static void check_far(size_t block_bytes) {
  const page_checks_t checks = {.reciprocal = reciprocal_of(block_bytes),
                                .limit = PAGE_BYTES / GRANULE / (uint32_t)block_bytes * 16};
  uint32_t index;
  for (size_t back = 1; back <= PAGE_BYTES; back++) {
    CHECK(!checks_find(&checks, (size_t)0 - back, &index));
  }
  for (unsigned bit = 18; bit < 8 * sizeof(size_t); bit++) {
    CHECK(!checks_find(&checks, (size_t)1 << bit, &index));
  }
}

static void check_single(void) {
  const page_checks_t checks = {.reciprocal = RECIPROCAL_SINGLE, .limit = 1};
  uint32_t index = 1;
  CHECK(checks_find(&checks, 0, &index) && index == 0 && checks_index(&checks, 0) == 0);
  for (size_t offset = 1; offset <= PAGE_BYTES; offset++) {
    CHECK(!checks_find(&checks, offset, &index) && !checks_find(&checks, 0 - offset, &index));
  }
}

int main(void) {
  for (unsigned bin = 1; bin < BIN_COUNT; bin++) {
    check_class(bin_bytes(bin));
    check_far(bin_bytes(bin));
  }
  check_single();
  return check_done();
}
