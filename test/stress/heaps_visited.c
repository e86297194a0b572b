/* test: timeout=120 when="threads"
   Heaps and sub-processes are made and ended, while other threads visit all heaps, end some that
   they meet, and ask for statistics. The blocks of deleted heaps are freed afterwards: who looks
   walks all pages there are. */
#define _GNU_SOURCE 1
#include "stress.h"

#include <mimalloc-stats.h>

#ifndef __GLIBC__
#define __GLIBC_PREREQ(major, minor) 0
#endif
#if __GLIBC_PREREQ(2, 33)
#include <malloc.h>
#define count_live() ((void)mallinfo2())
#else
#define count_live() ((void)0)
#endif

enum { HEAPS = 8, BLOCKS = 20 };

static stress_args_t args;
static _Atomic(int) churning;

typedef struct {
  mi_heap_t* heap;
  void* blocks[BLOCKS];
} filled_t;

static void begin_heap(filled_t* filled) {
  filled->heap = mi_heap_new();
  CHECK(filled->heap != NULL);
  for (size_t n = 0; n < BLOCKS; n++) {
    filled->blocks[n] = mi_heap_malloc(filled->heap, 16 << (n % 6));
    CHECK(filled->blocks[n] != NULL);
  }
}

static void end_heap(uint64_t* seed, const filled_t* filled) {
  if (random_below(seed, 2) == 0) {
    mi_heap_delete(filled->heap);
    for (size_t n = 0; n < BLOCKS; n++) { mi_free(filled->blocks[n]); }
  } else {
    mi_heap_destroy(filled->heap);
  }
}

static void churn_heaps(uint64_t* seed) {
  filled_t heaps[HEAPS];
  for (size_t k = 0; k < HEAPS; k++) { begin_heap(&heaps[k]); }
  for (size_t k = HEAPS; k > 0; k--) {
    const size_t chosen = random_below(seed, k);
    end_heap(seed, &heaps[chosen]);
    heaps[chosen] = heaps[k - 1];
  }
  const mi_subproc_id_t subproc = mi_subproc_new();
  CHECK(subproc._mi_subproc_id != NULL);
  mi_subproc_destroy(subproc);
}

static void* churn(void* arg) {
  uint64_t seed = stress_seed(args.seed, (size_t)(uintptr_t)arg);
  for (size_t i = 0; i < args.iterations / args.threads; i++) { churn_heaps(&seed); }
  atomic_fetch_sub(&churning, 1);
  return NULL;
}

static bool visit(mi_heap_t* heap, void* arg) {
  mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
  CHECK(mi_heap_stats_get(heap, &stats));
  ++*(size_t*)arg;
  return true;
}

static bool end_visited(mi_heap_t* heap, void* arg) {
  size_t* left = (size_t*)arg;
  if (heap != mi_heap_main()) { mi_heap_delete(heap), --*left; }
  return *left > 0;
}

/* In a sub-process that only this thread knows. */
static void end_all_but(size_t kept) {
  const mi_subproc_id_t subproc = mi_subproc_new();
  CHECK(subproc._mi_subproc_id != NULL);
  mi_subproc_add_current_thread(subproc);
  for (size_t k = 0; k < HEAPS; k++) { CHECK(mi_heap_new() != NULL); }
  size_t left = HEAPS - kept, seen = 0;
  CHECK(!mi_subproc_visit_heaps(subproc, end_visited, &left) && left == 0);
  left = HEAPS;
  CHECK(mi_subproc_visit_heaps(subproc, end_visited, &left) && left == HEAPS - kept);
  CHECK(mi_subproc_visit_heaps(subproc, visit, &seen) && seen == 1);
  mi_subproc_add_current_thread(mi_subproc_main());
  mi_subproc_destroy(subproc);
}

static void* look(void* arg) {
  size_t visited = 0;
  const bool by_statistics = (uintptr_t)arg % 2 == 0;
  do {
    if (by_statistics) {
      mi_stats_t stats = {.size = sizeof(stats), .version = MI_STAT_VERSION};
      CHECK(mi_stats_get(&stats));
      count_live();
    } else {
      CHECK(mi_subproc_visit_heaps(mi_subproc_main(), visit, &visited));
    }
  } while (atomic_load(&churning) > 0); /* the others may have ended before this one began */
  CHECK(by_statistics || visited > 0);
  for (size_t kept = 1; kept < HEAPS; kept++) { end_all_but(kept); }
  return NULL;
}

int main(int argc, char** argv) {
  args = stress_args(argc, argv, 2, 1000);
  pthread_t threads[STRESS_MAX_THREADS + 2];
  atomic_store(&churning, (int)args.threads);
  for (size_t i = 0; i < args.threads; i++) {
    threads[i] = stress_start(churn, (void*)(uintptr_t)i);
  }
  for (size_t i = 0; i < 2; i++) {
    threads[args.threads + i] = stress_start(look, (void*)(uintptr_t)i);
  }
  for (size_t i = 0; i < args.threads + 2; i++) { pthread_join(threads[i], NULL); }
  return check_done();
}
