/* test: timeout=120 env="MIMALLOC_PURGE_DELAY=0" when="release|debug|secure|guarded"
   Zero means zero: for every size class, after memory was written, freed, collected, purged and
   taken again. */
#define _GNU_SOURCE 1
#include "api.h"

typedef enum { CALLOC, ZALLOC, REZALLOC, RECALLOC, ZALLOC_ALIGNED, HEAP_ZALLOC, FORMS } form_t;

static void* zero_allocate(form_t form, size_t size) {
  switch (form) {
    case CALLOC: return mi_calloc(1, size);
    case ZALLOC: return mi_zalloc(size);
    case REZALLOC: return mi_rezalloc(NULL, size);
    case RECALLOC: return mi_recalloc(NULL, size, 1);
    case ZALLOC_ALIGNED: return mi_zalloc_aligned(size, 64);
    default: return mi_heap_zalloc(mi_heap_main(), size);
  }
}

typedef enum { FREE_ONLY, COLLECT, COLLECT_FORCED, PAUSE, BETWEEN } between_t;

static void do_between(between_t between) {
  switch (between) {
    case FREE_ONLY: break;
    case COLLECT: mi_collect(false); break;
    case COLLECT_FORCED: mi_collect(true); break;
    default: usleep(200); break;
  }
}

static size_t count_for(size_t size) { /* more than one page of small blocks, few large ones */
  const size_t n = 100 * KIB / (size + 1);
  return n < 3 ? 3 : n > 500 ? 500 : n;
}

static void** dirty_and_free(size_t size, size_t n) {
  static void* blocks[700];
  for (size_t i = 0; i < n; i++) {
    blocks[i] = mi_malloc(size);
    memset(blocks[i], 0xDD, mi_usable_size(blocks[i]));
  }
  for (size_t i = 0; i < n; i++) { mi_free(blocks[i]); }
  return blocks;
}

static void test_class(size_t size, form_t form, between_t between) {
  const size_t n = count_for(size);
  void** blocks = dirty_and_free(size, n);
  do_between(between);
  bool zero = true;
  for (size_t i = 0; i < n; i++) {
    blocks[i] = zero_allocate(form, size);
    zero = zero && blocks[i] != NULL && is_zero(blocks[i], size);
    memset(blocks[i], 0xDD, size);
  }
  if (!zero) {
    fprintf(stderr, "size %zu form %d after %d is not zero\n", size, (int)form, (int)between);
  }
  CHECK(zero);
  for (size_t i = 0; i < n; i++) { mi_free(blocks[i]); }
}

/* Half of the blocks stay, so that pages are not given back whole. */
static void test_interleaved(size_t size) {
  static void* blocks[400];
  const size_t count = size <= 4 * KIB ? 400 : 40;
  for (size_t i = 0; i < count; i++) {
    blocks[i] = mi_malloc(size);
    memset(blocks[i], 0xDD, size);
  }
  for (size_t i = 0; i < count; i += 2) { mi_free(blocks[i]); }
  mi_collect(true);
  bool zero = true;
  for (size_t i = 0; i < count; i += 2) {
    blocks[i] = mi_calloc(size, 1);
    zero = zero && is_zero(blocks[i], size);
  }
  CHECK(zero);
  for (size_t i = 0; i < count; i++) { mi_free(blocks[i]); }
}

/* Memory of one class is taken by another: all that a split or a merge of runs may get wrong. */
static void test_mixed(uint64_t seed, int steps) {
  enum { SLOTS = 60 };
  static struct {
    void* p;
    size_t size;
  } slots[SLOTS];
  for (int step = 0; step < steps; step++) {
    const size_t i = random_below(&seed, SLOTS);
    mi_free(slots[i].p);
    const size_t size = 1 + random_below(&seed, (size_t)1 << (4 + random_below(&seed, 19)));
    const bool wants_zero = random_below(&seed, 2) == 0;
    slots[i].p = wants_zero ? mi_zalloc(size) : mi_malloc(size);
    CHECK(!wants_zero || is_zero(slots[i].p, size));
    memset(slots[i].p, 0xDD, size);
    if (random_below(&seed, 100) == 0) { mi_collect(true); }
  }
  for (size_t i = 0; i < SLOTS; i++) {
    mi_free(slots[i].p);
    slots[i].p = NULL;
  }
}

static void test_small_class(size_t size) {
  for (form_t form = CALLOC; form < FORMS; form = (form_t)(form + 1)) {
    test_class(size, form, (between_t)((size / 16 + (size_t)form) % BETWEEN));
  }
  test_class(size, CALLOC, COLLECT_FORCED);
  test_class(size, CALLOC, FREE_ONLY);
  test_interleaved(size);
}

int main(void) {
  size_t previous = 0;
  /* one size a class, its largest; few sizes of the large ones */
  for (size_t size = 1; size <= 128 * KIB; size += 1 + size / 24) {
    if (mi_good_size(size) != previous) {
      previous = mi_good_size(size);
      test_small_class(previous);
    }
  }
  for (size_t size = 128 * KIB; size <= 6 * MIB; size += size / 3) {
    test_class(size, CALLOC, FREE_ONLY);
    test_class(size, ZALLOC, COLLECT_FORCED);
    test_class(size, REZALLOC, PAUSE);
  }
  test_class(40 * MIB, CALLOC, FREE_ONLY);
  test_class(40 * MIB, ZALLOC, COLLECT_FORCED);
  test_mixed(4711, 3000);
  return check_done();
}
