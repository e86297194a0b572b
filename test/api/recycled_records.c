/* test: timeout=60 when="threads"
   What a thread leaves when it ends: the next one takes over its record and pages; and where none
   begins, what stays behind is little, goes back when it is wanted, and blocks in it can be
   freed. */
#include "../system.h"
#include "api.h"

enum { SIZES = 20, EACH = 40, THREADS = 120 };
/* Of all that end, and what this thread keeps by freeing in their full pages. */
enum { MOST_LEFT = 6 << 20, MOST_TAKEN = 4 << 20 };

static void* left[THREADS][SIZES * EACH]; /* by each thread, for another */
static test_barrier_t all_have;

static int64_t page_bytes(void) { return stats_now().page_committed.current; }
static int64_t abandoned(void) { return stats_now().pages_abandoned.total; }

static void free_what(size_t thread) {
  for (int i = 0; i < SIZES * EACH; i++) { mi_free(left[thread][i]); }
}

static void allocate(size_t thread) {
  for (int i = 0; i < SIZES * EACH; i++) {
    left[thread][i] = mi_malloc((size_t)(1 + i % SIZES) * 48);
    CHECK(left[thread][i] != NULL);
    memset(left[thread][i], 1, 48);
  }
}

/* One after the other: frees what the one before it has left, as a chain of connections does. */
static void* take_turn(void* number) {
  free_what((size_t)(uintptr_t)number);
  allocate((size_t)(uintptr_t)number);
  return NULL;
}

static void run_thread(void* (*work)(void*), size_t number) {
  test_thread_t thread;
  CHECK(thread_start(&thread, work, (void*)(uintptr_t)number));
  thread_join(thread);
}

static void test_chain(void) {
  run_thread(take_turn, 0);
  const int64_t abandoned_before = abandoned(), bytes = page_bytes();
  for (int i = 0; i < THREADS; i++) { run_thread(take_turn, 0); }
  printf("%lld pages abandoned\n", (long long)(abandoned() - abandoned_before));
  CHECK(abandoned() - abandoned_before <
        6 * THREADS);               /* else each of them abandons a page of each class */
  CHECK(page_bytes() <= 3 * bytes); /* of longer pages; 120 threads leave 70 times as much */
}

/* In the child of a fork it is the same. */
static int run_chain(void) {
  test_chain();
  return check_done();
}

static void test_child(void) {
  if (HAS_PROCESSES) { CHECK(os_run_child(run_chain, NULL, 0) == 0); }
}

static void* allocate_together(void* number) {
  barrier_wait(&all_have);
  allocate((size_t)(uintptr_t)number);
  barrier_wait(&all_have);
  return NULL;
}

/* They all end at once, and this thread frees their blocks. */
static void test_many(void) {
  test_thread_t threads[THREADS];
  mi_collect(true);
  const int64_t before = page_bytes();
  barrier_init(&all_have, THREADS);
  for (size_t i = 0; i < THREADS; i++) {
    CHECK(thread_start(&threads[i], allocate_together, (void*)(uintptr_t)i));
  }
  for (size_t i = 0; i < THREADS; i++) { thread_join(threads[i]); }
  const int64_t held = page_bytes();
  CHECK(held > before + 2 * (MOST_LEFT + MOST_TAKEN));
  for (size_t i = 0; i < THREADS; i++) { free_what(i); }
  printf("%lld KiB more while they had blocks, %lld when all are free\n",
         (long long)(held - before) / 1024, (long long)(page_bytes() - before) / 1024);
  CHECK(page_bytes() <= before + MOST_LEFT + MOST_TAKEN);
  mi_collect(true);
  /* Some of Emscripten's threads free a block after their ends: what they keep is for the next one
     that has the id. */
  CHECK(page_bytes() <= before + 2 * MIB);
}

int main(void) {
  if (os_pages_exceed(16384)) { return 77; }
  mi_free(mi_malloc(1));
  test_chain();
  test_child();
  free_what(0);
  test_many();
  return check_done();
}
