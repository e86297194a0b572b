/* test: timeout=60 when="release linux threads" not-emulated="the emulator ignores MADV_FREE"
   Four threads allocate and free 20 MB each, several times, and then wait for ever: what of it
   another thread's collection cannot have is 2 MiB at most in all, the threads' stacks and records
   included. */
#include "api.h"

#include <pthread.h>

enum { THREADS = 4, TOTAL = 20 * 1000 * 1000, TIMES = 5, MOST = 2 << 20 };

static pthread_barrier_t barrier;
static size_t size;

static void churn(void) {
  const size_t count = TOTAL / size;
  unsigned char** blocks = mi_malloc(count * sizeof(*blocks));
  for (int time = 0; time < TIMES; time++) {
    for (size_t i = 0; i < count; i++) {
      blocks[i] = mi_malloc(size);
      memset(blocks[i], 1, size);
    }
    for (size_t i = 0; i < count; i++) { mi_free(blocks[i]); }
  }
  mi_free(blocks);
}

static void* churn_and_wait(void* arg) {
  churn();
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return arg;
}

static size_t stranded(void) {
  pthread_t threads[THREADS];
  mi_collect(true);
  const size_t before = resident_bytes();
  CHECK(before > 0);
  for (int i = 0; i < THREADS; i++) {
    CHECK(pthread_create(&threads[i], NULL, churn_and_wait, NULL) == 0);
  }
  pthread_barrier_wait(&barrier);
  mi_collect(true);
  const size_t now = resident_bytes();
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < THREADS; i++) { CHECK(pthread_join(threads[i], NULL) == 0); }
  return now > before ? now - before : 0;
}

/* How the threads take turns has a part in it: the least of some times counts. */
static void test_stranded(void) {
  enum { TRIES = 4 };
  size_t least = SIZE_MAX;
  for (int i = 0; i < TRIES && least > MOST; i++) {
    const size_t bytes = stranded();
    if (bytes < least) { least = bytes; }
  }
  printf("blocks of %zu bytes: %zu KiB stranded\n", size, least / 1024);
  CHECK(least <= MOST);
}

int main(void) {
  static const size_t sizes[] = {100, 1000, 10000, 50000, 100000, 1000000};
  CHECK(pthread_barrier_init(&barrier, NULL, THREADS + 1) == 0);
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    size = sizes[i];
    test_stranded();
  }
  return check_done();
}
