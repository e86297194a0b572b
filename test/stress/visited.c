/* test: timeout=120 when="threads"
   Everything is visited, while threads allocate, free each other's blocks, begin and end: the main
   heap, a thread's part of it, what ended threads left, heaps that others use. A heap that nobody
   changes meanwhile is seen exactly. */
#define _GNU_SOURCE 1
#include "stress.h"

#include <sched.h>

enum { SLOTS = 500, KEPT = 300, SHARED_HEAPS = 3 };

static stress_args_t args;
static _Atomic(int) running;
static _Atomic(bool) looking;
static _Atomic(void*) slots[SLOTS];
static mi_heap_t* shared[SHARED_HEAPS];

static size_t some_size(uint64_t* seed) {
  const size_t kind = random_below(seed, 100);
  if (kind < 80) { return 8 + random_below(seed, 600); }
  if (kind < 97) { return 1000 + random_below(seed, 60000); }
  return 100000 + random_below(seed, 3000000);
}

static void* allocate(uint64_t* seed) {
  const size_t size = some_size(seed), kind = random_below(seed, 8);
  if (kind < SHARED_HEAPS) { return mi_heap_malloc(shared[kind], size); }
  return kind == 7 ? mi_malloc_aligned(size, 64) : mi_malloc(size);
}

static void replace_one(uint64_t* seed) {
  char* p = allocate(seed);
  CHECK(p != NULL);
  if (random_below(seed, 2) == 0) { /* where lists that have changed lead to */
    memset(p, 0x41, 8);
  } else {
    memcpy(p, &p, sizeof(p));
  }
  mi_free(atomic_exchange(&slots[random_below(seed, SLOTS)], p));
}

static void* short_life(void* arg) {
  uint64_t seed = stress_seed(args.seed, 1000 + (size_t)(uintptr_t)arg);
  for (int i = 0; i < 200; i++) { replace_one(&seed); }
  return NULL;
}

/* Then arenas fall empty, and go. */
static void give_back(void) {
  for (size_t i = 0; i < SLOTS; i++) { mi_free(atomic_exchange(&slots[i], NULL)); }
  mi_collect(true);
}

static void* work(void* arg) {
  uint64_t seed = stress_seed(args.seed, (size_t)(uintptr_t)arg);
  for (size_t i = 0; i < args.iterations; i++) {
    for (int k = 0; k < 200; k++) { replace_one(&seed); }
    if (i % 4 == 3) { give_back(); }
    if (i % 8 == 0) { pthread_join(stress_start(short_life, (void*)(uintptr_t)i), NULL); }
  }
  atomic_fetch_sub(&running, 1);
  return NULL;
}

typedef struct {
  size_t areas, blocks, outside, kept;
} seen_t;

static bool count(const mi_heap_t* heap, const mi_heap_area_t* area, void* block, size_t size,
                  void* arg) {
  seen_t* seen = arg;
  const size_t offset = (size_t)((uintptr_t)block - (uintptr_t)area->blocks);
  CHECK(heap != NULL && (block == NULL || size <= area->reserved));
  seen->areas += block == NULL;
  seen->blocks += block != NULL;
  seen->outside += block != NULL && offset >= area->reserved;
  return true;
}

/* Of blocks that no other thread knows: how many of them are `look`'s. */
static bool count_and_read(const mi_heap_t* heap, const mi_heap_area_t* area, void* block,
                           size_t size, void* arg) {
  seen_t* seen = arg;
  if (block != NULL) { seen->kept += *(const char*)block == 'k'; }
  return count(heap, area, block, size, arg);
}

/* A heap that only this thread uses, or its part of one that all use. In the latter the C library
   may have blocks, as Emscripten's has. */
static void check_quiet(mi_heap_t* heap, size_t others) {
  seen_t seen = {0};
  CHECK(mi_heap_visit_blocks(heap, true, count_and_read, &seen));
  CHECK(seen.kept == KEPT && seen.blocks == KEPT + others && seen.outside == 0);
}

static bool visit_heap(mi_heap_t* heap, void* arg) {
  return mi_heap_visit_blocks(heap, true, count, arg);
}

static void* look(void* arg) {
  seen_t seen = {0}, before = {0};
  mi_heap_t* quiet = mi_heap_new();
  void *blocks[KEPT], *own[KEPT];
  CHECK(mi_heap_visit_blocks(mi_heap_get_default(), true, count, &before));
  for (size_t i = 0; i < KEPT; i++) {
    blocks[i] = memset(mi_heap_malloc(quiet, 16 + i * 20), 'k', 16);
    own[i] = memset(mi_malloc(16 + i * 400), 'k', 16);
  }
  atomic_store(&looking, true);
  while (atomic_load(&running) > 0) {
    check_quiet(quiet, 0);
    check_quiet(mi_heap_get_default(), before.blocks);
    CHECK(mi_heap_visit_blocks(mi_heap_main(), true, count, &seen));
    CHECK(mi_theap_visit_blocks(mi_theap_get_default(), true, count, &seen));
    CHECK(mi_heap_visit_abandoned_blocks(mi_heap_main(), true, count, &seen));
    CHECK(mi_abandoned_visit_blocks(mi_subproc_main(), -1, true, count, &seen));
    CHECK(mi_subproc_visit_heaps(mi_subproc_main(), visit_heap, &seen));
  }
  CHECK(seen.areas > 0 && seen.blocks > 0 && seen.outside == 0);
  for (size_t i = 0; i < KEPT; i++) { mi_free(blocks[i]), mi_free(own[i]); }
  mi_heap_delete(quiet);
  return arg;
}

int main(int argc, char** argv) {
  args = stress_args(argc, argv, 2, 60);
  pthread_t threads[STRESS_MAX_THREADS + 1];
  mi_option_enable(mi_option_visit_abandoned);
  for (size_t i = 0; i < SHARED_HEAPS; i++) { shared[i] = mi_heap_new(); }
  atomic_store(&running, (int)args.threads);
  threads[args.threads] = stress_start(look, NULL);
  while (!atomic_load(&looking)) { sched_yield(); } /* no page of its is one that others left */
  for (size_t i = 0; i < args.threads; i++) {
    threads[i] = stress_start(work, (void*)(uintptr_t)i);
  }
  for (size_t i = 0; i <= args.threads; i++) { pthread_join(threads[i], NULL); }
  give_back();
  for (size_t i = 0; i < SHARED_HEAPS; i++) { mi_heap_delete(shared[i]); }
  return check_done();
}
