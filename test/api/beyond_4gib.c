/* test: timeout=300 */
/* Blocks of more than 4 GiB: sizes and offsets in them need more than 32 bits. Little of them is
   touched. */
#include "api.h"

#include <mimalloc-stats.h>

static size_t gib(size_t count) { return (uint64_t)count << 30 <= SIZE_MAX ? count << 30 : 0; }

static int64_t page_committed(void) { return stats_now().page_committed.current; }

static void mark(char* block, size_t bytes) { block[0] = block[bytes - 1] = 'x'; }

static bool is_marked(const char* block, size_t bytes) {
  return block != NULL && block[0] == 'x' && block[bytes - 1] == 'x';
}

/* Cutting a block and lengthening it again within what it has leaves it where it is. */
static void test_resize(char* block) {
  CHECK(mi_usable_size(block) >= gib(5) && mi_usable_size(block) < gib(5) + MIB);
  mark(block, gib(5));
  char* cut = mi_realloc(block, gib(5) - MIB);
  CHECK(cut == block && cut[0] == 'x');
  char* longer = mi_realloc(cut, gib(5));
  CHECK(longer == block && longer[0] == 'x');
  mark(longer, gib(5));
  char* longest = mi_realloc(longer, gib(6));
  CHECK(longest == NULL || (is_marked(longest, gib(5)) && mi_usable_size(longest) >= gib(6)));
  mi_free(longest == NULL ? longer : longest);
}

static void test_zero(void) {
  char* block = mi_zalloc(gib(5));
  if (block == NULL) { return; }
  CHECK(block[0] == 0 && block[gib(4)] == 0 && block[gib(5) - 1] == 0);
  block = mi_rezalloc(block, gib(5) + MIB);
  CHECK(block != NULL && block[gib(5)] == 0 && block[gib(5) + MIB - 1] == 0);
  mi_free(block);
}

int main(void) {
#ifdef MI_TEST_TRACKED
  fprintf(stderr, "skipped: tools keep notes of every byte, for minutes\n");
  return 77;
#endif
  char* block = gib(5) == 0 ? NULL : mi_malloc(gib(5));
  if (block == NULL) {
    fprintf(stderr, "skipped: no memory of 5 GiB here\n");
    return 77;
  }
  test_resize(block);
  test_zero();
  CHECK(page_committed() < (int64_t)gib(1));
  return check_done();
}
