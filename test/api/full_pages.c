/* test: timeout=60
   Full pages that a thread keeps: its frees into them claim nothing, and what other threads free
   in them while it is blocked is little. */
#include "api.h"

#include <pthread.h>

enum { SIZE = 100, FEW = 1400, MANY = 20000, ROUNDS = 20000 };

static int64_t claims(void) { return stats_now().pages_reclaim_on_free.total; }
static int64_t page_bytes(void) { return stats_now().page_committed.current; }

/* Replaces blocks at random in a few pages, which are 16 KiB long, or 64 where the OS's are. */
static int64_t claims_of_replacing(void) {
  const int64_t before = claims();
  const size_t few = sysconf(_SC_PAGESIZE) > 16 * KIB ? FEW : FEW / 4;
  uint64_t random = 1;
  void* p[FEW];
  for (size_t i = 0; i < few; i++) { p[i] = mi_malloc(SIZE); }
  for (int round = 0; round < ROUNDS; round++) {
    const size_t i = random_below(&random, few);
    mi_free(p[i]);
    p[i] = mi_malloc(SIZE);
  }
  for (size_t i = 0; i < few; i++) { mi_free(p[i]); }
  return claims() - before;
}

static pthread_barrier_t barrier;
static void* given[MANY];
static int64_t without, with;

static void* work(void* unused) {
  mi_option_set(mi_option_page_full_retain, 0);
  without = claims_of_replacing();
  mi_option_set(mi_option_page_full_retain, 2);
  with = claims_of_replacing();
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < MANY; i++) { given[i] = mi_malloc(SIZE); }
    pthread_barrier_wait(&barrier); /* they are the main thread's now, */
    pthread_barrier_wait(&barrier); /* which has freed them */
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  mi_free(mi_malloc(SIZE));
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
  for (int turn = 0; turn < 2; turn++) {
    pthread_barrier_wait(&barrier);
    if (turn == 0) {
      printf("%lld pages claimed, %lld where full ones are kept\n", (long long)without,
             (long long)with);
      CHECK(without > ROUNDS / 1000);
      CHECK(with < without * 3 / 4);
    }
    const int64_t held = page_bytes();
    for (int i = 0; i < MANY; i++) { mi_free(given[i]); }
    mi_collect(true);
    /* At most the kept pages and the one in use stay with who is blocked. */
    CHECK(held - page_bytes() > MANY * SIZE - 4 * 64 * KIB);
    pthread_barrier_wait(&barrier);
  }
  CHECK(pthread_join(thread, NULL) == 0);
  return check_done();
}
