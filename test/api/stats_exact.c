/* test: timeout=120 libs="pthread" when="release|debug|secure|guarded stacks" */
/* Counts are exact: what the program took and gave back, by class, in bytes, for each heap, by
   threads that live, rest and have ended; through realloc, other threads' frees, deleted and
   destroyed heaps. Peaks are exact in builds that count each request, else off by some pages. */
#define _GNU_SOURCE 1
#include "api.h"

#include <pthread.h>
#include <stdio.h>

static mi_stats_t read_all(void) { /* without telling the heap first */
  mi_stats_t_decl(stats);
  CHECK(mi_stats_get(&stats));
  return stats;
}

static mi_stats_t read_heap(mi_heap_t* heap) {
  mi_stats_t_decl(stats);
  CHECK(mi_heap_stats_get(heap, &stats));
  return stats;
}

static bool has_padding(void) { return mi_good_size(1) == 1; }

/* The class of a request; what is longer is in the last one. */
static size_t bin_of(size_t size) {
  const size_t bytes = size + (has_padding() || mi_good_size(16) != 16 ? 8 : 0);
  size_t bin = 1;
  while (bin < MI_BIN_HUGE && mi_stats_get_bin_size(bin) < bytes) { bin++; }
  return bin;
}

static int64_t others; /* blocks that the C library takes meanwhile, of threads */

static void check_since(const mi_stats_t* before, size_t bin, int64_t taken, int64_t freed) {
  const mi_stats_t now = read_all();
  const bool exact =
      now.malloc_count.total - before->malloc_count.total - others == taken &&
      now.free_count.total - before->free_count.total == freed &&
      now.malloc_bins[bin].total - before->malloc_bins[bin].total == taken &&
      now.malloc_bins[bin].current - before->malloc_bins[bin].current == taken - freed;
  CHECK(exact);
  if (exact) { return; }
  fprintf(stderr, "bin %zu: %lld taken, %lld freed; all %lld, %lld; want %lld, %lld\n", bin,
          (long long)(now.malloc_bins[bin].total - before->malloc_bins[bin].total),
          (long long)(now.malloc_bins[bin].total - before->malloc_bins[bin].total -
                      now.malloc_bins[bin].current + before->malloc_bins[bin].current),
          (long long)(now.malloc_count.total - before->malloc_count.total),
          (long long)(now.free_count.total - before->free_count.total), (long long)taken,
          (long long)freed);
}

/* As the page says it: a million pairs in one page. */
static void test_pairs(void) {
  enum { PAIRS = 1000000, SLOW_PAIRS = 20000 };
  const int64_t pairs = mi_good_size(100) == 112 ? PAIRS : SLOW_PAIRS;
  const size_t bin = bin_of(100);
  const mi_stats_t before = read_all();
  for (int64_t i = 0; i < pairs; i++) { mi_free(mi_malloc(100)); }
  check_since(&before, bin, pairs, pairs);
  const mi_stats_t now = read_all();
  const int64_t bytes = (int64_t)mi_stats_get_bin_size(bin);
  CHECK(now.allocated.total - before.allocated.total == pairs * bytes);
  CHECK(now.freed.total - before.freed.total == pairs * bytes);
  CHECK(now.malloc_normal.total - before.malloc_normal.total == pairs * bytes);
  CHECK(now.malloc_normal_count.total - before.malloc_normal_count.total == pairs);
  const int64_t asked = now.malloc_requested.total - before.malloc_requested.total;
  CHECK(asked == pairs * (now.requested_is_exact.total == 1 ? 100 : bytes));
}

enum { BLOCKS = 20000 };
static void* blocks[BLOCKS];

static void take_all(mi_heap_t* heap, size_t size) {
  for (size_t i = 0; i < BLOCKS; i++) { blocks[i] = mi_heap_malloc(heap, size); }
}

static void free_each(size_t first, size_t step) {
  for (size_t i = first; i < BLOCKS; i += step) { mi_free(blocks[i]); }
}

static void test_orders(void) {
  static const size_t sizes[] = {16, 48, 100, 1000, 5000};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    const mi_stats_t before = read_all();
    const size_t bin = bin_of(sizes[i]);
    take_all(mi_heap_main(), sizes[i]);
    check_since(&before, bin, BLOCKS, 0);
    free_each(0, 2);
    check_since(&before, bin, BLOCKS, BLOCKS / 2);
    for (size_t k = 0; k < BLOCKS; k += 2) { blocks[k] = mi_malloc(sizes[i]); }
    check_since(&before, bin, BLOCKS * 3 / 2, BLOCKS / 2);
    free_each(0, 1);
    check_since(&before, bin, BLOCKS * 3 / 2, BLOCKS * 3 / 2);
    mi_collect(true);
    check_since(&before, bin, BLOCKS * 3 / 2, BLOCKS * 3 / 2);
  }
}

static void test_large(void) {
  const mi_stats_t before = read_all();
  void* p[40];
  for (size_t i = 0; i < 40; i++) { p[i] = mi_malloc(70000 + i * 5000); }
  check_since(&before, MI_BIN_HUGE, 40, 0);
  for (size_t i = 0; i < 40; i++) { mi_free(p[i]); }
  check_since(&before, MI_BIN_HUGE, 40, 40);
  for (size_t i = 0; i < 1000; i++) { mi_free(mi_malloc(100000)); } /* set aside, and taken again */
  check_since(&before, MI_BIN_HUGE, 1040, 1040);
  const mi_stats_t now = read_all();
  CHECK(now.malloc_huge_count.total - before.malloc_huge_count.total == 1040);
  CHECK(now.allocated.total - before.allocated.total >= 1000 * 100000);
  CHECK(now.freed.total - before.freed.total == now.allocated.total - before.allocated.total);
}

/* What stays in place is no new block. */
static void test_realloc(void) {
  const mi_stats_t before = read_all();
  void* p = mi_malloc(100);
  p = mi_realloc(p, 101);
  p = mi_realloc(p, 90);
  check_since(&before, bin_of(100), 1, 0);
  mi_free(p);
  check_since(&before, bin_of(100), 1, 1);
  const mi_stats_t now = read_all();
  if (now.requested_is_exact.total == 1) {
    CHECK(now.malloc_requested.total - before.malloc_requested.total == 101);
    CHECK(now.requested.current == before.requested.current);
  }
}

static void test_requested(void) {
  const mi_stats_t before = read_all();
  if (before.requested_is_exact.total == 0) { return; }
  void* p[6] = {mi_malloc(0),
                mi_malloc(77),
                mi_malloc(99999),
                mi_malloc_aligned(333, 64),
                mi_malloc_aligned(7, 1 << 16),
                mi_zalloc_aligned_at(70, 32, 8)};
  const int64_t all = 0 + 77 + 99999 + 333 + 7 + 70;
  mi_stats_t now = read_all();
  CHECK(now.requested.current - before.requested.current == all);
  CHECK(now.malloc_requested.total - before.malloc_requested.total == all);
  p[2] = mi_realloc(p[2], 150000);
  now = read_all();
  CHECK(now.requested.current - before.requested.current == all + 150000 - 99999);
  for (int i = 0; i < 6; i++) { mi_free(p[i]); }
  CHECK(read_all().requested.current == before.requested.current);
}

/* ---- threads ---- */

typedef struct {
  pthread_barrier_t barrier;
  size_t size;
} meeting_t;

/* Takes blocks, waits while the first thread reads, frees half, waits, ends. */
static void* rest_between(void* arg) {
  meeting_t* meeting = arg;
  take_all(mi_heap_main(), meeting->size);
  pthread_barrier_wait(&meeting->barrier);
  pthread_barrier_wait(&meeting->barrier);
  free_each(0, 2);
  pthread_barrier_wait(&meeting->barrier);
  pthread_barrier_wait(&meeting->barrier);
  return NULL;
}

static void test_other_thread(void) {
  static const size_t sizes[] = {32, 600, 3000};
  for (size_t i = 0; i < 3; i++) {
    meeting_t meeting = {.size = sizes[i]};
    pthread_t thread;
    const size_t bin = bin_of(sizes[i]);
    CHECK(pthread_barrier_init(&meeting.barrier, NULL, 2) == 0);
    const mi_stats_t before = read_all();
    CHECK(pthread_create(&thread, NULL, rest_between, &meeting) == 0);
    pthread_barrier_wait(&meeting.barrier);
    others = read_all().malloc_count.total - before.malloc_count.total - BLOCKS;
    CHECK(others >= 0 && others <= 4);
    check_since(&before, bin, BLOCKS, 0);
    pthread_barrier_wait(&meeting.barrier);
    pthread_barrier_wait(&meeting.barrier);
    check_since(&before, bin, BLOCKS, BLOCKS / 2);
    free_each(1, 4); /* in another thread's pages */
    check_since(&before, bin, BLOCKS, BLOCKS * 3 / 4);
    pthread_barrier_wait(&meeting.barrier);
    pthread_join(thread, NULL);
    check_since(&before, bin, BLOCKS, BLOCKS * 3 / 4);
    free_each(3, 4); /* … and of one that has ended */
    check_since(&before, bin, BLOCKS, BLOCKS);
    mi_collect(true);
    check_since(&before, bin, BLOCKS, BLOCKS);
    others = 0;
  }
}

/* It does too little for its theap to have told the heap. */
static void* take_page(void* arg) {
  meeting_t* meeting = arg;
  void* p = mi_malloc(meeting->size);
  pthread_barrier_wait(&meeting->barrier);
  pthread_barrier_wait(&meeting->barrier);
  mi_free(p);
  mi_collect(true);
  pthread_barrier_wait(&meeting->barrier);
  pthread_barrier_wait(&meeting->barrier);
  return NULL;
}

static void test_pages_of_thread(void) {
  meeting_t meeting = {.size = 7000};
  const size_t bin = bin_of(meeting.size);
  pthread_t thread;
  CHECK(pthread_barrier_init(&meeting.barrier, NULL, 2) == 0);
  const mi_stats_t before = read_all();
  CHECK(pthread_create(&thread, NULL, take_page, &meeting) == 0);
  pthread_barrier_wait(&meeting.barrier);
  const mi_stats_t taken = read_all();
  CHECK(taken.page_bins[bin].current == before.page_bins[bin].current + 1);
  CHECK(taken.page_bins[bin].total == before.page_bins[bin].total + 1);
  CHECK(taken.pages.current > before.pages.current);
  CHECK(taken.page_committed.current >= before.page_committed.current + (int64_t)meeting.size);
  CHECK(taken.pages_extended.total > before.pages_extended.total);
  pthread_barrier_wait(&meeting.barrier);
  pthread_barrier_wait(&meeting.barrier);
  const mi_stats_t given = read_all();
  CHECK(given.page_bins[bin].current == before.page_bins[bin].current);
  CHECK(given.pages_retire.total > before.pages_retire.total);
  pthread_barrier_wait(&meeting.barrier);
  pthread_join(thread, NULL);
  CHECK(read_all().page_bins[bin].total == before.page_bins[bin].total + 1);
}

static void* pairs_in_thread(void* unused) {
  for (int i = 0; i < 1000; i++) { mi_free(mi_malloc(200)); }
  return unused;
}

static void test_many_threads(void) {
  enum { THREADS = 50 };
  const mi_stats_t before = read_all();
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, pairs_in_thread, NULL) == 0);
    pthread_join(thread, NULL);
  }
  const mi_stats_t now = read_all();
  CHECK(now.malloc_bins[bin_of(200)].total - before.malloc_bins[bin_of(200)].total ==
        1000 * THREADS);
  CHECK(now.malloc_bins[bin_of(200)].current == before.malloc_bins[bin_of(200)].current);
}

/* ---- heaps ---- */

static void check_heap(mi_heap_t* heap, size_t bin, int64_t taken, int64_t freed) {
  const mi_stats_t stats = read_heap(heap);
  CHECK(stats.malloc_bins[bin].total == taken && stats.malloc_count.total == taken);
  CHECK(stats.malloc_bins[bin].current == taken - freed && stats.free_count.total == freed);
}

static void test_heaps(void) {
  const size_t bin = bin_of(300);
  for (int destroy = 0; destroy < 2; destroy++) {
    const mi_stats_t before = read_all();
    const mi_stats_t main_before = read_heap(mi_heap_main());
    mi_heap_t* heap = mi_heap_new();
    take_all(heap, 300);
    check_heap(heap, bin, BLOCKS, 0);
    free_each(0, 2);
    check_heap(heap, bin, BLOCKS, BLOCKS / 2);
    check_since(&before, bin, BLOCKS, BLOCKS / 2);
    if (destroy == 1) {
      mi_heap_destroy(heap);
    } else {
      mi_heap_delete(heap);
      check_since(&before, bin, BLOCKS, BLOCKS / 2);
      free_each(1, 2);
    }
    check_since(&before, bin, BLOCKS, BLOCKS);
    const mi_stats_t main_now = read_heap(mi_heap_main());
    CHECK(main_now.malloc_bins[bin].current == main_before.malloc_bins[bin].current);
  }
}

static void test_theap(void) {
  mi_heap_t* heap = mi_heap_new();
  mi_theap_t* theap = mi_heap_theap(heap);
  mi_stats_t_decl(stats);
  mi_theap_stats_merge_to_heap(theap);
  void* p = mi_theap_malloc(theap, 300);
  void* q = mi_theap_malloc(theap, 300);
  mi_free(q);
  CHECK(mi_theap_stats_get(theap, &stats));
  CHECK(stats.malloc_count.total == 2 && stats.malloc_bins[bin_of(300)].total == 2);
  check_heap(heap, bin_of(300), 2, 1);
  mi_theap_stats_merge_to_heap(theap);
  CHECK(mi_theap_stats_get(theap, &stats) && stats.malloc_count.total == 0);
  check_heap(heap, bin_of(300), 2, 1);
  stats.version = 1;
  CHECK(!mi_theap_stats_get(theap, &stats) && !mi_theap_stats_get(NULL, &stats));
  mi_free(p);
  mi_heap_destroy(heap);
}

/* Any of the blocks, one after another, is freed and another takes its place. */
static void replace_some(mi_heap_t* heap, size_t size, size_t times) {
  uint64_t random = 1;
  for (size_t i = 0; i < times; i++) {
    void** block = &blocks[random_below(&random, BLOCKS)];
    mi_free(*block);
    *block = mi_heap_malloc(heap, size);
  }
}

/* What rows served counts for their theap too. */
static void test_theap_with_rows(void) {
  enum { REPLACED = 100000, FEW = 1000 };
  const size_t bin = bin_of(1000);
  mi_theap_t* theap = mi_theap_get_default();
  mi_stats_t_decl(stats);
  take_all(mi_heap_main(), 1000);
  for (int64_t times = REPLACED; times >= FEW; times /= REPLACED / FEW) {
    mi_theap_stats_merge_to_heap(theap);
    replace_some(mi_heap_main(), 1000, (size_t)times);
    CHECK(mi_theap_stats_get(theap, &stats) && stats.malloc_bins[bin].total == times);
  }
  free_each(0, 1);
}

static void beat(bool force, unsigned long long heartbeat, void* arg) {
  (void)force, (void)heartbeat, (void)arg;
}

/* While heartbeats or samples are wanted malloc takes from rations, which go back to their pages
   between readings: what they leave was not taken. `rate` is high: nothing is sampled. */
static void check_rations(mi_theap_t* (*reading)(mi_heap_t*), long rate) {
  enum { ROUNDS = 60, TIMES = 50, LIVE = 100 };
  void* live[LIVE] = {NULL};
  uint64_t random = 7;
  mi_option_set(mi_option_guarded_sample_rate, rate);
  mi_heap_t* heap = mi_heap_new();
  for (int64_t round = 1; round <= ROUNDS; round++) {
    for (size_t i = 0; i < TIMES; i++) {
      void** block = &live[random_below(&random, LIVE)];
      mi_free(*block);
      *block = mi_heap_malloc(heap, random_below(&random, 200));
    }
    CHECK(read_heap(heap).malloc_count.total == round * TIMES);
    if (round == ROUNDS / 2) { mi_heap_collect(heap, true); }
    if (reading != NULL) { (void)reading(heap); }
    CHECK(read_heap(heap).malloc_count.total == round * TIMES);
  }
  for (size_t i = 0; i < LIVE; i++) { mi_free(live[i]); }
  CHECK(read_heap(heap).free_count.total == ROUNDS * TIMES);
  mi_heap_destroy(heap);
  mi_option_set(mi_option_guarded_sample_rate, 0);
}

static mi_theap_t* merge_all(mi_heap_t* heap) {
  mi_stats_merge();
  return mi_heap_theap(heap);
}

static mi_theap_t* read_theap(mi_heap_t* heap) {
  mi_theap_t* theap = mi_heap_theap(heap);
  mi_stats_t_decl(stats);
  CHECK(mi_theap_stats_get(theap, &stats));
  return theap;
}

static mi_theap_t* merge_theap(mi_heap_t* heap) {
  mi_theap_t* theap = mi_heap_theap(heap);
  mi_theap_stats_merge_to_heap(theap);
  return theap;
}

static void test_rations(void) {
  enum { RARE = 1000000000 };
  check_rations(NULL, RARE);
  check_rations(merge_all, RARE);
  check_rations(read_theap, RARE);
  check_rations(merge_theap, RARE);
  mi_register_deferred_free(beat, NULL);
  check_rations(NULL, 0);
  check_rations(merge_all, 0);
  mi_register_deferred_free(NULL, NULL);
}

static void test_reset(void) {
  const size_t bin = bin_of(100);
  void* p[100];
  for (int i = 0; i < 100; i++) { p[i] = mi_malloc(100); }
  const mi_stats_t before = read_all();
  mi_stats_reset();
  const mi_stats_t after = read_all();
  CHECK(after.malloc_bins[bin].total == before.malloc_bins[bin].current);
  CHECK(after.malloc_bins[bin].current == before.malloc_bins[bin].current);
  CHECK(after.free_count.total == 0 && after.freed.total == 0);
  for (int i = 0; i < 100; i++) { mi_free(p[i]); }
  check_since(&after, bin, 0, 100);
}

/* ---- peaks ---- */

static void test_peaks(void) {
  const size_t bin = bin_of(64);
  mi_heap_t* heap = mi_heap_new();
  for (int round = 0; round < 3; round++) {
    take_all(heap, 64);
    free_each(0, 1);
  }
  const int64_t peak = read_heap(heap).malloc_bins[bin].peak;
  const int64_t bytes = (int64_t)mi_stats_get_bin_size(bin);
  const int64_t off = read_heap(heap).requested_is_exact.total == 1 ? 0 : 2 * 64 * KIB / bytes;
  CHECK(peak >= BLOCKS - off && peak <= BLOCKS + off);
  const int64_t most = read_heap(heap).allocated.peak;
  CHECK(most >= (BLOCKS - off) * bytes && most <= (BLOCKS + off) * bytes);
  mi_heap_destroy(heap);
}

int main(void) {
  mi_option_set(mi_option_guarded_sample_rate, 0);
  test_pairs();
  test_orders();
  test_large();
  test_realloc();
  test_requested();
  test_other_thread();
  test_pages_of_thread();
  test_many_threads();
  test_heaps();
  test_theap();
  test_theap_with_rows();
  test_rations();
  test_reset();
  test_peaks();
  return check_done();
}
