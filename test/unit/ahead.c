/* test: timeout=60 when="threads" env="MIMALLOC_GUARDED_SAMPLE_RATE=0"
   Among threads a theap tells its heap of more blocks than there are, so that it tells seldom: the
   heap is never told of fewer, its peaks are too high by a part and a few blocks, and once a thread
   has ended, or said all, what the heap was told is what there is. */
#include "../../src/static.c"

#include <pthread.h>

#include "../check.h"

enum { SMALL_BLOCKS = 4000, SMALL_BYTES = 1000, LARGE_BLOCKS = 40, LARGE_BYTES_EACH = 100 * 1000 };
enum { THREADS = 2, TOLD_ROUNDS = 20 };

static pthread_barrier_t barrier;

static intptr_t told(unsigned bin) { return heap_main()->bins.blocks[bin].current; }

/* What the pages of a class have had on their lists. */
static bool add_page(page_t* page, void* arg) {
  intptr_t* blocks = arg;
  blocks[page->bin] += page->capacity;
  return true;
}

static void set_build(void** set, int count, size_t size) {
  for (int i = 0; i < count; i++) { CHECK((set[i] = mi_malloc(size)) != NULL); }
}

static void set_drop(void** set, int count) {
  for (int i = 0; i < count; i++) { mi_free(set[i]); }
}

static void* work(void* arg) {
  static void* sets[THREADS][SMALL_BLOCKS + LARGE_BLOCKS];
  void** small = sets[*(int*)arg];
  void** large = small + SMALL_BLOCKS;
  for (int round = 0; round < TOLD_ROUNDS; round++) {
    set_build(small, SMALL_BLOCKS, SMALL_BYTES);
    set_build(large, LARGE_BLOCKS, LARGE_BYTES_EACH);
    pthread_barrier_wait(&barrier);
    CHECK(told(bin_of(SMALL_BYTES + PAD_BYTES)) >= THREADS * SMALL_BLOCKS);
    CHECK(told(BIN_LARGE) >= THREADS * LARGE_BLOCKS);
    pthread_barrier_wait(&barrier);
    set_drop(small, SMALL_BLOCKS);
    set_drop(large, LARGE_BLOCKS);
  }
  return NULL;
}

/* A quarter where threads shrink and grow in turn, and for each thread two steps and a page. */
static void check_peak(unsigned bin, intptr_t live) {
  const intptr_t peak = heap_main()->bins.blocks[bin].peak;
  const intptr_t few = THREADS * (2 * AHEAD_BLOCKS + 64);
  printf("bin %u: %ld live, %ld told at most\n", bin, (long)live, (long)peak);
  CHECK(peak >= live && peak <= live + live / 3 + few);
}

int main(void) {
  pthread_t threads[THREADS];
  int numbers[THREADS];
  intptr_t blocks[BIN_LARGE + 1] = {0};
  if (COUNT_EACH) { return check_done(); }
  CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) { pthread_join(threads[i], NULL); }
  check_peak(bin_of(SMALL_BYTES + PAD_BYTES), THREADS * SMALL_BLOCKS);
  check_peak(BIN_LARGE, THREADS * LARGE_BLOCKS);
  theap_tell(theap_current());
  page_visit_all(add_page, blocks);
  for (unsigned bin = 1; bin <= BIN_LARGE; bin++) { CHECK(told(bin) == blocks[bin]); }
  return check_done();
}
