/* test: timeout=60 when="threads"
   One thread has the allocator to itself, with blocks of many classes, and starts another one, over
   and over. Whatever the first does in the belief that it is alone (debug builds look at all pages
   now and then) the second, which has not asked for memory yet, may disturb. */
#define _GNU_SOURCE 1
#include "stress.h"

enum { BLOCKS = 4000, CLASSES = 40, EACH = 400 };

static void* blocks[BLOCKS];

static size_t size_of(size_t i) { return 16 + i % CLASSES * 48; }

/* Pages come and go. */
static void churn(void) {
  void* block[EACH];
  for (size_t k = 0; k < CLASSES; k++) {
    for (size_t i = 0; i < EACH; i++) {
      block[i] = mi_malloc(size_of(k));
      CHECK(block[i] != NULL);
    }
    for (size_t i = 0; i < EACH; i++) { mi_free(block[i]); }
  }
}

static void* beside(void* arg) {
  (void)arg;
  churn();
  return NULL;
}

int main(int argc, char** argv) {
  const stress_args_t args = stress_args(argc, argv, 1, 40);
  for (size_t i = 0; i < BLOCKS; i++) {
    blocks[i] = mi_malloc(size_of(i));
    CHECK(blocks[i] != NULL);
  }
  for (size_t round = 0; round < args.iterations; round++) {
    pthread_t thread[STRESS_MAX_THREADS];
    for (size_t i = 0; i < args.threads; i++) { thread[i] = stress_start(beside, NULL); }
    churn();
    for (size_t i = 0; i < args.threads; i++) { pthread_join(thread[i], NULL); }
    churn();
  }
  for (size_t i = 0; i < BLOCKS; i++) { mi_free(blocks[i]); }
  return check_done();
}
