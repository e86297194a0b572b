/* test: timeout=60 when="threads"
   Among several threads: full pages belong to nobody, so that what others free in them goes back
   while the thread that filled them is blocked; a thread that replaces blocks at random keeps the
   pages that this leaves partly free, however many; of pages that are mostly free it keeps few, so
   that others can use the rest, until it has seen that it empties them, or fills them again; and of
   pages that others filled, two where it fills none itself. */
#include "../system.h"
#include "api.h"

enum { BLOCK_BYTES = 100, MANY = 60000, ROUNDS = 300000 };
enum { ORDERED = 5000, ORDERED_SIZE = 1000 };
enum { SMALL_BYTES = 64, PAGE_MOST = 64 * KIB / SMALL_BYTES }; /* blocks that a page may have */

static test_barrier_t barrier;
static void* blocks[MANY];

static int64_t abandoned(void) { return stats_now().pages_abandoned.total; }
static int64_t page_bytes(void) { return stats_now().page_committed.current; }

/* The thread does one part of the test at a time, and is blocked while the main thread looks. */
static void pass(void) {
  barrier_wait(&barrier);
  barrier_wait(&barrier);
}

static int64_t abandoned_by_replacing;

static void replace_at_random(void) {
  uint64_t random = 1;
  const int64_t before = abandoned();
  for (int round = 0; round < ROUNDS; round++) {
    const size_t i = random_below(&random, MANY);
    mi_free(blocks[i]);
    blocks[i] = mi_malloc(BLOCK_BYTES);
  }
  abandoned_by_replacing = abandoned() - before;
}

/* The second time. */
static int64_t abandoned_at_random, abandoned_in_order, abandoned_but_few;

/* All pages are half empty at a time, and then all are empty. */
static void free_at_random(void) {
  uint64_t random = 1;
  for (int i = 0; i < ORDERED; i++) { blocks[i] = mi_malloc(ORDERED_SIZE); }
  for (size_t left = ORDERED; left > 0; left--) {
    const size_t i = random_below(&random, left);
    mi_free(blocks[i]);
    blocks[i] = blocks[left - 1];
  }
}

/* Each page is half empty at some time, and empty soon after. */
static void free_in_order(void) {
  for (int i = 0; i < ORDERED; i++) { blocks[i] = mi_malloc(ORDERED_SIZE); }
  for (int i = 0; i < ORDERED; i++) { mi_free(blocks[i]); }
}

/* Each page is nearly empty at some time, but for blocks that are freed the next time. */
static void free_but_few(void) {
  enum { ONE_IN = 20 };
  static void* few[ORDERED / ONE_IN];
  for (int i = 0; i < ORDERED; i++) { blocks[i] = mi_malloc(ORDERED_SIZE); }
  for (int i = 0; i < ORDERED; i++) {
    void* block = blocks[i];
    if (i % ONE_IN == 0) {
      block = few[i / ONE_IN];
      few[i / ONE_IN] = blocks[i];
    }
    mi_free(block);
  }
}

static int64_t abandoned_by_second(void (*part)(void)) {
  part();
  const int64_t before = abandoned();
  part();
  return abandoned() - before;
}

static void* work(void* unused) {
  for (int i = 0; i < MANY; i++) { blocks[i] = mi_malloc(BLOCK_BYTES); }
  pass();
  for (int i = 0; i < MANY; i++) { blocks[i] = mi_malloc(BLOCK_BYTES); }
  replace_at_random();
  pass();
  for (int i = 0; i < MANY; i++) {
    if (i % 8 != 0) { mi_free(blocks[i]); }
  }
  pass();
  for (int i = 0; i < MANY; i += 8) { mi_free(blocks[i]); }
  abandoned_at_random = abandoned_by_second(free_at_random);
  abandoned_in_order = abandoned_by_second(free_in_order);
  abandoned_but_few = abandoned_by_second(free_but_few);
  pass();
  for (int i = 0; i < MANY; i++) { blocks[i] = mi_malloc(SMALL_BYTES); }
  pass();
  return unused;
}

static void test_full(void) {
  const int64_t before = page_bytes();
  for (int i = 0; i < MANY; i++) { mi_free(blocks[i]); }
  mi_collect(true);
  CHECK(before - page_bytes() > (int64_t)MANY * BLOCK_BYTES - 4 * 64 * KIB);
}

/* A page of 64 KiB would come and go for every few of these rounds. */
static void test_partly_free(void) {
  printf("%lld pages abandoned in %d rounds\n", (long long)abandoned_by_replacing, ROUNDS);
  CHECK(abandoned_by_replacing < ROUNDS / 1000);
}

/* Seven of eight blocks are free, and most of them serve a thread that asks for as many. */
static void test_mostly_free(void) {
  static void* more[MANY / 2];
  const int64_t before = page_bytes();
  for (int i = 0; i < MANY / 2; i++) { more[i] = mi_malloc(BLOCK_BYTES); }
  printf("%lld KiB more for %d KiB\n", (long long)(page_bytes() - before) / 1024,
         MANY / 2 * BLOCK_BYTES / 1024);
  CHECK(page_bytes() - before < (int64_t)MANY / 2 * BLOCK_BYTES / 4);
  for (int i = 0; i < MANY / 2; i++) { mi_free(more[i]); }
}

/* Builds in which blocks wait before they are used again count what was asked for, or have more
   behind it. There pages become empty in another order. */
static bool blocks_may_wait(void) { return mi_good_size(1) == 1 || mi_good_size(16) != 16; }

static void test_emptied(void) {
  const int64_t pages = (int64_t)ORDERED * ORDERED_SIZE / (64 * KIB);
  printf("of %lld pages %lld abandoned at random, %lld in order, %lld of which few blocks stay\n",
         (long long)pages, (long long)abandoned_at_random, (long long)abandoned_in_order,
         (long long)abandoned_but_few);
  CHECK(abandoned_at_random < pages / 4 || blocks_may_wait());
  CHECK(abandoned_in_order < pages / 4 || blocks_may_wait());
  CHECK(abandoned_but_few < pages / 4 || blocks_may_wait());
}

/* One block of each page is freed. */
static void test_adopted(void) {
  enum { ADOPTED_MOST = 2 };
  const int64_t before = stats_now().pages_abandoned.current;
  int pages = 0;
  for (int i = 0; i + PAGE_MOST < MANY; i += PAGE_MOST) {
    mi_free(blocks[i]);
    blocks[i] = NULL;
    pages++;
  }
  const int64_t left = stats_now().pages_abandoned.current - before;
  printf("%lld pages left to others of %d\n", (long long)left, pages);
  CHECK(left >= pages - ADOPTED_MOST || blocks_may_wait());
  for (int i = 0; i < MANY; i++) { mi_free(blocks[i]); }
}

int main(void) {
  test_thread_t thread;
  mi_free(mi_malloc(BLOCK_BYTES));
  barrier_init(&barrier, 2);
  CHECK(thread_start(&thread, work, NULL));
  void (*const tests[])(void) = {test_full, test_partly_free, test_mostly_free, test_emptied,
                                 test_adopted};
  for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
    barrier_wait(&barrier);
    tests[i]();
    barrier_wait(&barrier);
  }
  thread_join(thread);
  return check_done();
}
