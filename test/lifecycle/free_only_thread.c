/* test: timeout=60 */
/* A thread that only frees what others allocate does not make memory pile up, neither with itself
   nor with those others. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

enum { PRODUCERS = 4, ROUNDS = 40, BATCH = 2000, SIZE = 1000, QUEUE = 64 };

/* A bounded queue of batches. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void** queue[QUEUE];
static int queued;
static int producing = PRODUCERS;

static void* produce(void* unused) {
  for (int r = 0; r < ROUNDS; r++) {
    void** batch = (void**)malloc(BATCH * sizeof(void*));
    for (int i = 0; i < BATCH; i++) { batch[i] = memset(malloc(SIZE), r, SIZE); }
    pthread_mutex_lock(&lock);
    while (queued >= 8) { pthread_cond_wait(&changed, &lock); }
    queue[queued++] = batch;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_lock(&lock);
  producing--;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return unused;
}

static void* only_free(void* unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (queued == 0 && producing > 0) { pthread_cond_wait(&changed, &lock); }
    void** batch = queued > 0 ? queue[--queued] : NULL;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (batch == NULL) { return unused; }
    for (int i = 0; i < BATCH; i++) { free(batch[i]); }
    free(batch);
  }
}

int main(void) {
  const size_t before = resident_kib();
  pthread_t producer[PRODUCERS], consumer;
  pthread_create(&consumer, NULL, only_free, NULL);
  for (int i = 0; i < PRODUCERS; i++) { pthread_create(&producer[i], NULL, produce, NULL); }
  size_t most = 0;
  for (bool more = true; more;) {
    pthread_mutex_lock(&lock);
    more = producing > 0;
    pthread_mutex_unlock(&lock);
    const size_t now = resident_kib();
    if (now > most) { most = now; }
    sleep_ms(2);
  }
  for (int i = 0; i < PRODUCERS; i++) { pthread_join(producer[i], NULL); }
  pthread_join(consumer, NULL);
  /* At most 8 queued batches, one in the making by each producer, one being freed: 13 × 2 MB. All
     in all 320 MB. */
  const size_t live_kib = (size_t)13 * BATCH * (SIZE + 24) / 1024;
  printf("at most %zu KiB live, %zu KiB resident\n", live_kib, most - before);
  CHECK(most - before < 3 * live_kib + 8 * 1024);
  return check_done();
}
