// The arithmetic of src/page/check.h: each offset of each class, against division.
#undef MI_SECURE
#define MI_SECURE 4
#include "../check.h"
#include "../../src/page/check.h"

enum { PAGE_BYTES = 256 << 10 };

static void check_class(size_t block_bytes) {
  const uint32_t count = PAGE_BYTES / (uint32_t)block_bytes;
  page_checks_t checks = {.limit = count};
  checks_set_size(&checks, block_bytes);
  for (size_t offset = 0; offset < PAGE_BYTES; offset++) {
    const bool is_start = offset % block_bytes == 0 && offset / block_bytes < count;
    const uint32_t number = is_start ? (uint32_t)(offset / block_bytes) + 1 : 0;
    CHECK(checks_number(&checks, offset) == number);
    CHECK(!is_start || checks_number_known(&checks, offset) == number);
  }
}

/* In front of the page, and where only the low half of the address looks like a block. */
static void check_far(size_t block_bytes) {
  page_checks_t checks = {.limit = PAGE_BYTES / (uint32_t)block_bytes};
  checks_set_size(&checks, block_bytes);
  for (size_t back = 1; back <= PAGE_BYTES; back++) {
    CHECK(checks_number(&checks, (size_t)0 - back) == 0);
  }
  for (unsigned bit = 18; bit < 8 * sizeof(size_t); bit++) {
    CHECK(checks_number(&checks, (size_t)1 << bit) == 0);
  }
}

static void check_single(void) {
  page_checks_t checks = {.limit = 1};
  checks_set_size(&checks, 1);
  CHECK(checks_number(&checks, 0) == 1 && checks_number_known(&checks, 0) == 1);
  for (size_t offset = 1; offset <= PAGE_BYTES; offset++) {
    CHECK(checks_number(&checks, offset) == 0 && checks_number(&checks, 0 - offset) == 0);
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
