/* test: timeout=60 env="MIMALLOC_VISIT_ABANDONED=1"
   Tags of heaps: kept, told to visitors, and asked for among what ended threads left. */
#define _GNU_SOURCE 1
#include "visit.h"

enum { TAGS = 4, BLOCKS = 200 };

static mi_heap_t* heaps[TAGS];
static void* blocks[TAGS][BLOCKS];

static void* leave_blocks(void* unused) {
  for (int tag = 0; tag < TAGS; tag++) {
    for (size_t i = 0; i < BLOCKS; i++) {
      blocks[tag][i] = mi_heap_malloc(heaps[tag], 16 + i * 30);
    }
  }
  return unused;
}

typedef struct {
  int tag;
  size_t areas, others, blocks;
} tally_t;

static bool tally(const mi_heap_t* heap, const mi_heap_area_t* area, void* block, size_t size,
                  void* arg) {
  tally_t* t = arg;
  (void)size;
  t->areas += block == NULL;
  t->blocks += block != NULL;
  t->others += area->heap_tag != t->tag;
  CHECK(heap != NULL);
  return true;
}

static void test_left_by_tag(void) {
  test_thread_t thread;
  for (int tag = 0; tag < TAGS; tag++) {
    heaps[tag] = mi_heap_new_ex(tag + 10, true, NULL);
    CHECK(heaps[tag] != NULL);
  }
  CHECK(thread_start(&thread, leave_blocks, NULL));
  (void)thread_join(thread);
  for (int tag = 0; tag < TAGS; tag++) {
    tally_t t = {.tag = tag + 10};
    CHECK(mi_abandoned_visit_blocks(mi_subproc_main(), tag + 10, true, tally, &t));
    CHECK(t.areas > 0 && t.others == 0 && t.blocks == BLOCKS);
    t = (tally_t){.tag = tag + 10};
    CHECK(mi_heap_visit_blocks(heaps[tag], true, tally, &t));
    CHECK(t.others == 0 && t.blocks == BLOCKS);
  }
  tally_t all = {.tag = 0};
  CHECK(mi_abandoned_visit_blocks(mi_subproc_main(), -1, true, tally, &all));
  CHECK(all.blocks >= TAGS * BLOCKS);
  all = (tally_t){.tag = 99};
  CHECK(mi_abandoned_visit_blocks(mi_subproc_main(), 99, true, tally, &all) && all.areas == 0);
  for (int tag = 0; tag < TAGS; tag++) { mi_heap_destroy(heaps[tag]); }
}

/* A heap that must not be destroyed is deleted: its blocks stay. */
static void test_never_destroy(void) {
  mi_heap_t* heap = mi_heap_new_ex(1, false, NULL);
  void* p = mi_heap_malloc(heap, 100);
  fill(p, 100, 1);
  mi_heap_destroy(heap);
  CHECK(mi_heap_of(p) == mi_heap_main() && is_filled(p, 100, 1));
  mi_free(p);
}

int main(void) {
  if (HAS_THREADS) { test_left_by_tag(); }
  test_never_destroy();
  return check_done();
}
