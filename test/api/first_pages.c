/* test: timeout=60 when="release threads posix"
   The first page of a class waits when it falls empty, and goes when memory grows. Among several
   threads it stays while it is used now and then: all of them see memory grow, and those that gave
   back their pages would only have to take others, so that more memory is touched. */
#include "../clock.h"
#include "../system.h"
#include "api.h"

enum { IDLE_MS = 1000 }; /* without a request, until a page goes after all */
enum { BINS = 73, LEAST = 448, MOST = 8 * KIB, BLOCK = 16000, GROWTH = 24 * MIB };

static test_barrier_t both;

/* The classes from LEAST to MOST: the C library may have a few blocks of them. */
static bool is_looked_at(size_t bin) {
  const size_t bytes = mi_stats_get_bin_size(bin);
  return bytes >= LEAST && bytes <= MOST;
}

static int64_t pages(void) {
  const mi_stats_t now = stats_now();
  int64_t sum = 0;
  for (size_t bin = 0; bin < BINS; bin++) {
    sum += is_looked_at(bin) ? now.page_bins[bin].current : 0;
  }
  return sum;
}

/* How many classes are used once. */
static int64_t use_each(void) {
  int64_t count = 0;
  for (size_t bin = 0; bin < BINS; bin++) {
    if (!is_looked_at(bin)) { continue; }
    mi_free(mi_malloc(mi_stats_get_bin_size(bin)));
    count++;
  }
  return count;
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
  const int64_t live = pages(), classes = use_each();
  CHECK(live <= 3 && classes >= 20);
  grow();
  CHECK(pages() == classes);
  sleep_ms(IDLE_MS + 100);
  mi_free(mi_malloc(LEAST));
  grow();
  CHECK(pages() == live + 1);
  barrier_wait(&both);
  thread_join(thread);
}

static void test_alone(void) {
  mi_collect(true);
  const int64_t live = pages();
  use_each(); /* in its midst what has grown before is seen */
  const int64_t classes = use_each();
  CHECK(live <= 3 && pages() >= classes);
  grow();
  CHECK(pages() == live);
}

int main(void) {
  test_among_threads();
  test_alone();
  return check_done();
}
