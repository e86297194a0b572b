/* test: timeout=60 when="release threads"
   The first page of a class waits when it falls empty, and goes when memory grows. Among several
   threads it stays: all of them see memory grow, and those that gave back their pages would only
   have to take others, so that more memory is touched. */
#include "../system.h"
#include "api.h"

enum { LEAST = 320, MOST = 8 * KIB, BLOCK = 112, GROWTH = 24 * MIB };

static test_barrier_t both;

/* The classes from LEAST to MOST, which nothing else here uses. */
static bool is_used(size_t bin) {
  const size_t bytes = mi_stats_get_bin_size(bin);
  return bytes >= LEAST && bytes <= MOST;
}

static int64_t pages(void) {
  const mi_stats_t now = stats_now();
  int64_t sum = 0;
  for (size_t bin = 0; bin < 73; bin++) { sum += is_used(bin) ? now.page_bins[bin].current : 0; }
  return sum;
}

static int64_t fall_empty(void) {
  for (size_t bin = 0; bin < 73; bin++) {
    if (is_used(bin)) { mi_free(mi_malloc(mi_stats_get_bin_size(bin))); }
  }
  return pages();
}

/* The blocks stay alive, so that the next growth is growth again. */
static void grow(void) {
  for (size_t i = 0; i < GROWTH / BLOCK; i++) { CHECK(mi_malloc(BLOCK) != NULL); }
}

static void* wait_here(void* none) {
  mi_free(mi_malloc(BLOCK));
  barrier_wait(&both);
  barrier_wait(&both);
  return none;
}

static void test_among_threads(void) {
  test_thread_t thread;
  barrier_init(&both, 2);
  CHECK(thread_start(&thread, wait_here, NULL));
  barrier_wait(&both);
  const int64_t before = fall_empty();
  CHECK(before >= 20);
  grow();
  CHECK(pages() == before);
  barrier_wait(&both);
  thread_join(thread);
}

static void test_alone(void) {
  CHECK(fall_empty() >= 20);
  grow();
  CHECK(pages() == 0);
}

int main(void) {
  test_among_threads();
  test_alone();
  return check_done();
}
