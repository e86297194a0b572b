/* test: timeout=60 when="release linux" not-emulated="the emulator counts other page faults"
   Blocks that are barely touched, as buffers that nobody fills, do not become resident through huge
   pages: neither from the start, nor where the program has filled its blocks until then, nor if
   they are long. Nor do the pages of many threads that have a few blocks of each size. Blocks that
   are filled lie on huge pages, also where those before them were not. */
#include "api.h"
#include "../lifecycle/process.h"
#include "huge_advice.h"

#include <pthread.h>

enum { SIZE = 100 << 10, FEW = 2000, MANY = 10000, LONG = 5 << 20, LONG_COUNT = 200, BARELY = 100 };

static void* blocks[2 * FEW + MANY + LONG_COUNT];
static size_t count;

/* Bytes of memory that became resident by it. */
static size_t take(int blocks_more, size_t size, size_t touched) {
  const size_t before = resident_bytes();
  for (int i = 0; i < blocks_more; i++) { blocks[count++] = memset(mi_malloc(size), 1, touched); }
  return resident_bytes() - before;
}

static size_t advised(void) { return huge_advice_now().bytes; }

enum { THREADS = 200, EACH = 200, LARGEST = 1000 };
static pthread_barrier_t all_have_theirs, all_are_looked_at;

static void* use_little(void* arg) {
  uint64_t random = (uint64_t)(uintptr_t)arg + 1;
  void* mine[EACH];
  for (int i = 0; i < EACH; i++) {
    const size_t size = 1 + random_below(&random, LARGEST);
    mine[i] = memset(mi_malloc(size), 1, size);
  }
  pthread_barrier_wait(&all_have_theirs);
  pthread_barrier_wait(&all_are_looked_at);
  for (int i = 0; i < EACH; i++) { mi_free(mine[i]); }
  return NULL;
}

static int many_threads(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&all_have_theirs, NULL, THREADS + 1);
  pthread_barrier_init(&all_are_looked_at, NULL, THREADS + 1);
  for (uintptr_t i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, use_little, (void*)i) != 0) { return 2; }
  }
  pthread_barrier_wait(&all_have_theirs);
  const bool none = advised() == 0;
  pthread_barrier_wait(&all_are_looked_at);
  for (int i = 0; i < THREADS; i++) { pthread_join(threads[i], NULL); }
  return none ? 0 : 1;
}

int main(void) {
  CHECK(in_child(many_threads, 30) == 0);
  CHECK(take(FEW, SIZE, BARELY) < (size_t)FEW * SIZE / 8);
  CHECK(advised() == 0);
  (void)take(FEW, SIZE, SIZE);
  if (advised() == 0) { return skip("no huge pages here"); }
  CHECK(advised() >= (size_t)FEW * SIZE / 2);
  CHECK(take(MANY, SIZE, BARELY) < (size_t)MANY * SIZE / 2);
  CHECK(take(LONG_COUNT, LONG, BARELY) < (size_t)LONG_COUNT * LONG / 10);
  while (count > 0) { mi_free(blocks[--count]); }
  return check_done();
}
