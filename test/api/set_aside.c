/* test: timeout=60
   Freed blocks that a thread sets aside, and pages that it keeps: not visited, not counted as in
   use, handed out once, zero when zero is asked for, gone after a collection. */
#include "api.h"
#include "visit.h"

enum { COUNT = 24 };

static const size_t sizes[] = {128,   256,   512,   1024,   4096,   20000,
                               32768, 40000, 65536, 300000, 1048576};

static int64_t bytes_in_use(void) {
  mi_stats_t stats = {.size = sizeof(mi_stats_t), .version = MI_STAT_VERSION};
  CHECK(mi_stats_get(&stats));
  return stats.malloc_normal.current + stats.malloc_huge.current;
}

/* Every second block goes and another comes, several times over. In the thread's default heap:
   blocks of others are not set aside. */
static void test_visits(size_t size) {
  mi_heap_t* heap = mi_heap_main();
  const size_t before = count_blocks(heap);
  char* p[COUNT];
  for (int i = 0; i < COUNT; i++) { fill(p[i] = mi_malloc(size), size, (unsigned)i); }
  for (int round = 0; round < 3; round++) {
    for (int i = round % 2; i < COUNT; i += 2) { mi_free(p[i]); }
    CHECK(count_blocks(heap) == before + COUNT / 2);
    for (int i = round % 2; i < COUNT; i += 2) { fill(p[i] = mi_malloc(size), size, (unsigned)i); }
    CHECK(count_blocks(heap) == before + COUNT);
  }
  for (int i = 0; i < COUNT; i++) {
    CHECK(is_filled(p[i], size, (unsigned)i));
    mi_free(p[i]);
  }
  CHECK(count_blocks(heap) == before);
}

static void test_zero(size_t size) {
  for (int i = 0; i < 3; i++) {
    char* p[COUNT];
    for (int j = 0; j < COUNT; j++) { CHECK(is_zero(p[j] = mi_zalloc(size), size)); }
    for (int j = 0; j < COUNT; j++) { fill(p[j], size, 1), mi_free(p[j]); }
  }
}

static void test_statistics(size_t size) {
  const int64_t before = bytes_in_use();
  void* p[COUNT];
  for (int i = 0; i < COUNT; i++) { p[i] = mi_malloc(size); }
  CHECK(bytes_in_use() - before >= (int64_t)(COUNT * size));
  for (int i = 0; i < COUNT; i++) { mi_free(p[i]); }
  CHECK(bytes_in_use() == before);
}

static size_t areas_after_collection(void) {
  visit_t v = visit_start(NULL, 0);
  mi_collect(true);
  CHECK(mi_heap_visit_blocks(mi_heap_main(), true, visit_block, &v));
  return v.areas;
}

int main(void) {
  mi_free(mi_malloc(1)); /* the thread has its heap */
  const size_t areas = areas_after_collection();
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    test_visits(sizes[i]);
    test_zero(sizes[i]);
    test_statistics(sizes[i]);
    CHECK(areas_after_collection() == areas);
  }
  return check_done();
}
