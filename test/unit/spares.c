/* test: timeout=60 when="threads" env="MIMALLOC_GUARDED_SAMPLE_RATE=0"
   Empty pages, also of large blocks, wait for the thread that had them last: sets of blocks that
   are built and freed again and again take no memory, a blocked thread's pages go to who needs
   memory, all threads together keep no more than one may, and what nobody has wanted for a second
   goes. Pages wait in the place of dirty memory that might stay, and not besides. */
#include "../../src/static.c"

#include <pthread.h>

#include "../check.h"

enum { LARGE = 100 * 1000, FEW = 24, SOME = 80, MANY = 200, ROUNDS = 20 };

static void *blocks[MANY], *of_other[FEW];

static spares_t* own_spares(void) { return spares_of(theap_current()->serial); }

static size_t all_slices(void) {
  size_t slices = 0;
  for (int i = 0; i < SPARES; i++) { slices += spares[i].slices; }
  return slices;
}

static void build(void** set, int count) {
  for (int i = 0; i < count; i++) { CHECK((set[i] = mi_malloc(LARGE)) != NULL); }
}

static void drop(void** set, int count) {
  for (int i = 0; i < count; i++) { mi_free(set[i]); }
}

static void begin_without(void) {
  mi_collect(true);
  page_release_spare();
  CHECK(all_slices() == 0 && !spares_hold);
}

static void test_built_again(int count) {
  build(blocks, count);
  drop(blocks, count);
  CHECK(own_spares()->slices > 0);
  const size_t taken = memory.taken_slices;
  for (int round = 0; round < ROUNDS; round++) {
    build(blocks, count);
    CHECK(memory.taken_slices == taken);
    drop(blocks, count);
    CHECK(memory.taken_slices == taken);
  }
}

static void check_together(void) {
  CHECK(own_spares()->slices + memory.dirty_slices <= SPARE_MOST + kept_slices());
}

static void test_in_place_of_dirty(void) {
  begin_without();
  test_built_again(SOME);
  CHECK(own_spares()->slices > SPARE_MOST);
  check_together();
  begin_without();
  build(blocks, MANY);
  drop(blocks, MANY); /* more than may stay */
  check_together();
}

/* A heap that swings has offered enough: all waits. */
static void test_withheld(void) {
  begin_without();
  build(blocks, MANY);
  memory.slack_slices = 1;
  memory.refault_ms = port_clock_ms();
  memory.offered_slices = SIZE_MAX / 2;
  drop(blocks, MANY);
  test_built_again(MANY);
  CHECK(own_spares()->slices + memory.dirty_slices > SPARE_MOST + kept_slices());
  memory.offered_slices = memory.slack_slices = 0;
}

/* A second passes, and many slow calls. */
static void look(void) {
  theap_t* theap = theap_current();
  own_spares()->looked_ms -= 2000;
  theap->slow_calls += (size_t)mi_option_get(mi_option_generic_collect);
  (void)slow_tick(theap);
}

static void test_unwanted(void) {
  enum { ALL = SOME / 2, HALF = ALL / 2 };
  begin_without();
  build(blocks, ALL);
  drop(blocks, ALL);
  look();
  const size_t half = HALF * large_slices(LARGE, 0);
  CHECK(own_spares()->slices > half);
  build(blocks, HALF);
  drop(blocks, HALF);
  const size_t slices = own_spares()->slices;
  page_release_unwanted(); /* too soon */
  CHECK(own_spares()->slices == slices);
  look();
  CHECK(own_spares()->slices <= half && own_spares()->slices > SPARE_LEAST);
  own_spares()->looked_ms -= 2000;
  mi_collect(false);
  CHECK(own_spares()->slices <= SPARE_LEAST && own_spares()->slices > 0);
}

static void build_aligned(size_t length, size_t align) {
  for (int i = 0; i < FEW; i++) {
    blocks[i] = mi_malloc_aligned(length, align);
    CHECK(blocks[i] != NULL && is_aligned(blocks[i], align));
  }
}

/* Pages of small blocks wait where large ones are looked for. */
static void test_aligned_among_small(void) {
  enum { SMALL_BYTES = 1000, LONGEST = 4 };
  void* small[MANY];
  begin_without();
  for (int i = 0; i < MANY; i++) { CHECK((small[i] = mi_malloc(SMALL_BYTES)) != NULL); }
  drop(small, MANY);
  CHECK(own_spares()->slices > 0);
  for (size_t slices = 1; slices <= LONGEST; slices++) {
    build_aligned(slices * SLICE_BYTES, 16 * SLICE_BYTES);
    drop(blocks, FEW);
  }
}

/* Pages that wait serve requests that need more than a slice's alignment too, if they happen to
   have it; so does the row of large blocks. */
static void test_aligned(void) {
  enum { ALIGN = 4 * SLICE_BYTES, LENGTH = 2 * ALIGN };
  size_t taken = 0;
  begin_without();
  for (int round = 0; round < ROUNDS; round++) {
    build_aligned(LENGTH, ALIGN);
    CHECK(round == 0 || memory.taken_slices == taken);
    taken = memory.taken_slices;
    drop(blocks, FEW);
    CHECK(memory.taken_slices == taken);
  }
  void* odd = mi_malloc(LENGTH - SLICE_BYTES); /* what comes next starts elsewhere */
  for (int i = 0; i < FEW; i++) { CHECK((blocks[i] = mi_malloc(LENGTH)) != NULL); }
  drop(blocks, FEW);
  build_aligned(LENGTH, 2 * ALIGN);
  drop(blocks, FEW);
  mi_free(odd);
}

/* What a spare page held does not show. */
static void test_zeroed(void) {
  build(blocks, FEW);
  for (int i = 0; i < FEW; i++) { memset(blocks[i], 1, LARGE); }
  drop(blocks, FEW);
  for (int i = 0; i < FEW; i++) {
    uint8_t* bytes = blocks[i] = mi_zalloc(LARGE);
    for (size_t at = 0; at < LARGE; at++) { CHECK(bytes[at] == 0); }
  }
  drop(blocks, FEW);
}

/* ---- with another thread ---- */

typedef enum { WAIT, FREE, BUILD_AND_FREE, END } order_t;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static order_t order;
static spares_t* others;

static void obey(void) {
  if (order == FREE) { drop(blocks, FEW); }
  if (order == BUILD_AND_FREE) {
    build(of_other, FEW);
    drop(of_other, FEW);
  }
  others = own_spares();
}

static void* other_main(void* arg) {
  pthread_mutex_lock(&mutex);
  while (order != END) {
    if (order != WAIT) {
      obey();
      order = WAIT;
      pthread_cond_broadcast(&changed);
    }
    pthread_cond_wait(&changed, &mutex);
  }
  pthread_mutex_unlock(&mutex);
  return arg;
}

static void tell(order_t what) {
  pthread_mutex_lock(&mutex);
  order = what;
  pthread_cond_broadcast(&changed);
  while (order != WAIT && order != END) { pthread_cond_wait(&changed, &mutex); }
  pthread_mutex_unlock(&mutex);
}

static void test_freed_by_another(void) {
  begin_without();
  build(blocks, FEW);
  tell(FREE);
  CHECK(own_spares()->slices > others->slices);
}

static void test_shared_limit(void) {
  begin_without();
  build(blocks, MANY);
  tell(BUILD_AND_FREE);
  drop(blocks, MANY);
  CHECK(spares_used == 2 && own_spares()->slices <= SPARE_MOST / 2);
  CHECK(all_slices() <= SPARE_MOST);
}

static void test_blocked(void) {
  begin_without();
  tell(BUILD_AND_FREE);
  CHECK(others->slices > SPARE_LEAST);
  build(blocks, MANY); /* more than there is */
  CHECK(others->slices == 0);
  drop(blocks, MANY);
}

int main(void) {
  pthread_t other;
  if (!SPARE_LARGE) { return check_done(); }
  test_built_again(FEW);
  test_zeroed();
  test_in_place_of_dirty();
  test_withheld();
  test_unwanted();
  test_aligned();
  test_aligned_among_small();
  CHECK(pthread_create(&other, NULL, other_main, NULL) == 0);
  tell(BUILD_AND_FREE);
  CHECK(others != own_spares());
  test_freed_by_another();
  test_shared_limit();
  test_blocked();
  tell(END);
  pthread_join(other, NULL);
  return check_done();
}
