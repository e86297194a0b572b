/* test: timeout=60 when="threads"
   Half of the threads only allocate, half only free, through a bounded queue each: contents arrive
   whole, and the memory stays flat, as what is freed by others is used again. */
#define _GNU_SOURCE 1
#include "stress.h"

enum { CAPACITY = 512 };

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  parcel_t* ring[CAPACITY];
  size_t head, count;
  size_t iterations;
  uint64_t seed;
} queue_t;

static void queue_put(queue_t* q, parcel_t* p) {
  pthread_mutex_lock(&q->lock);
  while (q->count == CAPACITY) { pthread_cond_wait(&q->changed, &q->lock); }
  q->ring[(q->head + q->count) % CAPACITY] = p;
  q->count++;
  if (q->count == 1 || q->count == CAPACITY) { pthread_cond_signal(&q->changed); }
  pthread_mutex_unlock(&q->lock);
}

static parcel_t* queue_get(queue_t* q) {
  pthread_mutex_lock(&q->lock);
  while (q->count == 0) { pthread_cond_wait(&q->changed, &q->lock); }
  parcel_t* p = q->ring[q->head];
  q->head = (q->head + 1) % CAPACITY;
  q->count--;
  if (q->count == 0 || q->count == CAPACITY - 1) { pthread_cond_signal(&q->changed); }
  pthread_mutex_unlock(&q->lock);
  return p;
}

static void* produce(void* arg) {
  queue_t* q = arg;
  uint64_t seed = q->seed;
  for (size_t i = 0; i < q->iterations; i++) {
    queue_put(q, parcel_new(NULL, stress_size(&seed, 13), i));
  }
  queue_put(q, NULL);
  return NULL;
}

static void* consume(void* arg) {
  queue_t* q = arg;
  for (size_t i = 0;; i++) {
    parcel_t* p = queue_get(q);
    if (p == NULL) { return NULL; }
    CHECK(p->tag == i);
    parcel_free(p);
  }
}

int main(int argc, char** argv) {
  const stress_args_t a = stress_args(argc, argv, 8, 250000);
  const size_t pairs = (a.threads + 1) / 2;
  static queue_t queues[STRESS_MAX_THREADS];
  pthread_t threads[2 * STRESS_MAX_THREADS];
  const size_t before = stress_resident();
  for (size_t i = 0; i < pairs; i++) {
    pthread_mutex_init(&queues[i].lock, NULL);
    pthread_cond_init(&queues[i].changed, NULL);
    queues[i].iterations = a.iterations;
    queues[i].seed = stress_seed(a.seed, i);
    threads[2 * i] = stress_start(produce, &queues[i]);
    threads[2 * i + 1] = stress_start(consume, &queues[i]);
  }
  for (size_t i = 0; i < 2 * pairs; i++) { pthread_join(threads[i], NULL); }
  stress_check_peak(before + (8 + 6 * pairs) * STRESS_MIB, "at most 1 MiB a queue was live");
  return check_done();
}
