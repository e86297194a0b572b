/* A visitor for the visiting functions: counts areas and blocks, and finds given blocks, each
 * exactly once. */
#ifndef TEST_VISIT_H
#define TEST_VISIT_H

#include "../system.h"
#include "api.h"

typedef struct {
  void** wanted; /* sorted */
  unsigned char* seen;
  size_t wanted_count, areas, area_used, blocks, calls, stop_after;
  bool twice, outside;
} visit_t;

static inline int visit_compare(const void* a, const void* b) {
  const uintptr_t x = (uintptr_t)*(void* const*)a;
  const uintptr_t y = (uintptr_t)*(void* const*)b;
  return x < y ? -1 : x > y;
}

/* Shell's sort: that of the C library may allocate. */
static inline void visit_sort(void** p, size_t count) {
  for (size_t gap = count / 2; gap > 0; gap /= 2) {
    for (size_t i = gap; i < count; i++) {
      for (size_t j = i; j >= gap && visit_compare(&p[j - gap], &p[j]) > 0; j -= gap) {
        void* const swapped = p[j];
        p[j] = p[j - gap];
        p[j - gap] = swapped;
      }
    }
  }
}

static inline void* visit_memory(size_t bytes) {
  void* p = os_memory(bytes);
  if (p == NULL) { abort(); }
  return p;
}

/* In memory of its own, so that it is in no heap that is visited and takes over no page. */
static inline visit_t visit_start(void** wanted, size_t count) {
  visit_t v = {.wanted_count = count};
  if (count != 0) {
    v.wanted = visit_memory(count * sizeof(void*));
    v.seen = visit_memory(count);
    memcpy(v.wanted, wanted, count * sizeof(void*));
    visit_sort(v.wanted, count);
  }
  return v;
}

static inline void visit_mark(visit_t* v, void* block) {
  if (v->wanted_count == 0) { return; }
  void** at = bsearch(&block, v->wanted, v->wanted_count, sizeof(void*), visit_compare);
  if (at != NULL) {
    v->twice = v->twice || v->seen[at - v->wanted] != 0;
    v->seen[at - v->wanted] = 1;
  }
}

static inline bool visit_block(const mi_heap_t* heap, const mi_heap_area_t* area, void* block,
                               size_t block_size, void* arg) {
  visit_t* v = arg;
  (void)heap;
  v->calls++;
  if (block == NULL) { /* once before the blocks of an area */
    v->areas++;
    v->area_used += area->used;
  } else {
    const char* start = area->blocks;
    v->blocks++;
    v->outside = v->outside || (char*)block < start ||
                 (char*)block + block_size > start + area->reserved ||
                 block_size > area->full_block_size;
    visit_mark(v, block);
  }
  return v->calls != v->stop_after;
}

/* Every wanted block was visited once, and every block lay in its area. */
static inline bool visit_found_all(visit_t* v) {
  bool all = !v->twice && !v->outside;
  for (size_t i = 0; i < v->wanted_count; i++) { all = all && v->seen[i] == 1; }
  os_memory_release(v->wanted, v->wanted_count * sizeof(void*));
  os_memory_release(v->seen, v->wanted_count);
  v->wanted = NULL;
  v->seen = NULL;
  v->wanted_count = 0;
  return all;
}

static inline size_t count_blocks(mi_heap_t* heap) {
  visit_t v = visit_start(NULL, 0);
  CHECK(mi_heap_visit_blocks(heap, true, visit_block, &v));
  CHECK(!v.outside);
  return v.blocks;
}

static inline size_t count_abandoned(mi_heap_t* heap) {
  visit_t v = visit_start(NULL, 0);
  CHECK(mi_heap_visit_abandoned_blocks(heap, true, visit_block, &v));
  CHECK(!v.outside);
  return v.blocks;
}

#endif
