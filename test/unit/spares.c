/* test: timeout=60 when="threads" env="MIMALLOC_GUARDED_SAMPLE_RATE=0"
   Empty pages, also of large blocks, wait for the thread that had them last: sets of blocks that
   are built and freed again and again take no memory, a blocked thread's pages go to who needs
   memory, and all threads together keep no more than one may. */
#include "../../src/static.c"

#include <pthread.h>

#include "../check.h"

enum { LARGE = 100 * 1000, FEW = 24, MANY = 200, ROUNDS = 20 };

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

static void test_built_again(void) {
  build(blocks, FEW);
  drop(blocks, FEW);
  CHECK(own_spares()->slices > 0);
  const size_t taken = memory.taken_slices;
  for (int round = 0; round < ROUNDS; round++) {
    build(blocks, FEW);
    CHECK(memory.taken_slices == taken);
    drop(blocks, FEW);
    CHECK(memory.taken_slices == taken);
  }
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

static void begin_without(void) {
  mi_collect(true);
  page_release_spare();
  CHECK(all_slices() == 0 && !spares_hold);
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
  test_built_again();
  test_zeroed();
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
