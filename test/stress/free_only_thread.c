/* test: timeout=60 when="threads"
   Sixteen threads allocate, one thread only frees: what it frees goes back to the owners or on to
   others, and does not pile up. Each producer keeps to a number of live blocks, so the live total
   is known. */
#define _GNU_SOURCE 1
#include "stress.h"

enum { BLOCK = 1000, LIVE_EACH = 4000, BATCH = 200 };

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  parcel_t* list; /* handed to the freeing thread */
  size_t handed, freed, producers;
} exchange_t;

static exchange_t exchange = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .changed = PTHREAD_COND_INITIALIZER};
static size_t most_pending; /* blocks handed over and not yet freed */

typedef struct {
  size_t iterations, id;
  parcel_t* live[LIVE_EACH];
} producer_t;

static void hand_over(parcel_t* first, parcel_t* last, size_t count) {
  pthread_mutex_lock(&exchange.lock);
  while (exchange.handed - exchange.freed > most_pending) {
    pthread_cond_wait(&exchange.changed, &exchange.lock);
  }
  last->next = exchange.list;
  exchange.list = first;
  exchange.handed += count;
  pthread_cond_broadcast(&exchange.changed);
  pthread_mutex_unlock(&exchange.lock);
}

static void* produce(void* arg) {
  producer_t* me = arg;
  uint64_t seed = stress_seed(me->id, 7);
  for (size_t i = 0; i < LIVE_EACH; i++) { me->live[i] = parcel_new(NULL, BLOCK, i); }
  for (size_t done = 0; done < me->iterations; done += BATCH) {
    parcel_t* first = NULL;
    parcel_t* last = NULL;
    for (size_t i = 0; i < BATCH; i++) {
      const size_t k = random_below(&seed, LIVE_EACH);
      parcel_t* p = me->live[k];
      me->live[k] = parcel_new(NULL, BLOCK, k);
      p->next = first;
      last = first == NULL ? p : last;
      first = p;
    }
    hand_over(first, last, BATCH);
  }
  pthread_mutex_lock(&exchange.lock);
  exchange.producers--;
  pthread_cond_broadcast(&exchange.changed);
  pthread_mutex_unlock(&exchange.lock);
  return NULL;
}

static size_t free_list(parcel_t* p) {
  size_t count = 0;
  while (p != NULL) {
    parcel_t* next = p->next;
    parcel_free(p);
    p = next;
    count++;
  }
  return count;
}

static void* only_free(void* arg) {
  (void)arg;
  for (;;) {
    pthread_mutex_lock(&exchange.lock);
    while (exchange.list == NULL && exchange.producers != 0) {
      pthread_cond_wait(&exchange.changed, &exchange.lock);
    }
    parcel_t* list = exchange.list;
    exchange.list = NULL;
    pthread_mutex_unlock(&exchange.lock);
    if (list == NULL) { return NULL; }
    const size_t count = free_list(list);
    pthread_mutex_lock(&exchange.lock);
    exchange.freed += count;
    pthread_cond_broadcast(&exchange.changed);
    pthread_mutex_unlock(&exchange.lock);
  }
}

int main(int argc, char** argv) {
  const stress_args_t a = stress_args(argc, argv, 16, 60000);
  static producer_t producers[STRESS_MAX_THREADS];
  pthread_t threads[STRESS_MAX_THREADS];
  most_pending = BATCH * a.threads;
  exchange.producers = a.threads;
  const size_t before = stress_resident();
  const pthread_t freeing = stress_start(only_free, NULL);
  for (size_t i = 0; i < a.threads; i++) {
    producers[i].iterations = a.iterations;
    producers[i].id = i + a.seed;
    threads[i] = stress_start(produce, &producers[i]);
  }
  for (size_t i = 0; i < a.threads; i++) { pthread_join(threads[i], NULL); }
  pthread_join(freeing, NULL);
  CHECK(exchange.freed == exchange.handed);
  const size_t blocks = LIVE_EACH * a.threads + 2 * most_pending;
  const size_t live = blocks * (BLOCK + 1 + sizeof(parcel_t));
  stress_check_peak(before + live + live / 4 + 8 * STRESS_MIB, "live and a quarter");
  for (size_t i = 0; i < a.threads; i++) {
    for (size_t k = 0; k < LIVE_EACH; k++) { parcel_free(producers[i].live[k]); }
  }
  return check_done();
}
