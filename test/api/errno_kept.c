/* test: when="threads" timeout=120 */
/* What succeeds leaves errno as it was: each kind of call, with blocks of all sizes, the first time
   and later, beside other threads, and where memory is taken from the system and goes back. */
#include <string.h>

#include "../check.h"
#include "../system.h"
#include "mimalloc-stats.h"
#include "mimalloc.h"

enum { KEPT = 12345, BLOCKS = 3000, SIZES = 12 };

#define KEEPS(call)       \
  do {                    \
    errno = KEPT;         \
    call;                 \
    CHECK(errno == KEPT); \
  } while (0)

static const size_t sizes[SIZES] = {1,      64,      1000,    5000,    20000,    70000,
                                    200000, 1000000, 3000000, 9000000, 40000000, 100000000};

static void one_of_each(void) {
  for (int i = 0; i < SIZES; i++) {
    void *p = NULL, *zeros = NULL, *aligned = NULL;
    KEEPS(p = mi_malloc(sizes[i]));
    KEEPS(zeros = mi_calloc(1, sizes[i]));
    KEEPS(aligned = mi_malloc_aligned(sizes[i], 4096));
    KEEPS(p = mi_realloc(p, sizes[i] + sizes[i] / 2));
    KEEPS(p = mi_realloc(p, sizes[i] / 2));
    KEEPS(mi_free(p));
    KEEPS(mi_free(zeros));
    KEEPS(mi_free(aligned));
  }
}

static void many(size_t size) {
  void* blocks[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) { KEEPS(blocks[i] = mi_malloc(size)); }
  for (int i = 0; i < BLOCKS; i++) { KEEPS(mi_free(blocks[i])); }
  KEEPS(mi_collect(true));
}

static void heaps(void) {
  mi_heap_t* heap = NULL;
  const void* p = NULL;
  KEEPS(heap = mi_heap_new());
  for (int i = 0; i < SIZES; i++) { KEEPS(p = mi_heap_malloc(heap, sizes[i])); }
  CHECK(p != NULL);
  KEEPS(mi_heap_collect(heap, true));
  KEEPS(mi_heap_destroy(heap));
}

static void ignore(const char* text, void* arg) { (void)text, (void)arg; }

static void figures(void) {
  size_t elapsed = 0, user = 0, system = 0, now = 0, peak = 0, commit = 0, most = 0, faults = 0;
  KEEPS(mi_process_info(&elapsed, &user, &system, &now, &peak, &commit, &most, &faults));
  KEEPS(mi_stats_print_out(ignore, NULL));
}

static void* live(void* arg) {
  one_of_each();
  KEEPS(mi_free(arg));
  many(300);
  return NULL;
}

int main(void) {
  test_thread_t thread;
  one_of_each();
  many(16);
  many(30000);
  heaps();
  figures();
  void* p = mi_malloc(5000);
  CHECK(thread_start(&thread, live, p));
  many(500);
  thread_join(thread);
  one_of_each();
  return check_done();
}
