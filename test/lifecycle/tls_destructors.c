/* test: timeout=60 */
/* Destructors of thread-specific data that allocate and free in every round they get, after the
   allocator may have finished with the thread already: 8 keys × 4 rounds × many threads, with a
   flat resident size. */
#define _GNU_SOURCE
#include "../check.h"
#include "process.h"
#include "workout.h"

#include <limits.h>

enum { KEYS = 8, THREADS = 400, ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS };
static pthread_key_t key[KEYS];
static long calls;
static long bad;

typedef struct {
  int key;
  int round;
  unsigned char* data;
} value_t;

static value_t* make_value(int k, int round) {
  value_t* v = (value_t*)malloc(sizeof(value_t));
  v->key = k;
  v->round = round;
  v->data = (unsigned char*)malloc((size_t)(k + 1) * 1000);
  memset(v->data, k + round, (size_t)(k + 1) * 1000);
  return v;
}

/* Called for each value; sets a new one until the rounds are used up. */
static void destroy(void* p) {
  value_t* v = (value_t*)p;
  const size_t size = (size_t)(v->key + 1) * 1000;
  bool fine = v->data[0] == v->key + v->round && v->data[size - 1] == v->key + v->round;
  void* z = calloc(10, 100);
  fine &= z != NULL && all_zero(z, 1000);
  z = realloc(z, 30000);
  void* big = malloc(200000);
  fine &= z != NULL && big != NULL;
  free(z);
  free(big);
  if (v->round + 1 < ROUNDS) { pthread_setspecific(key[v->key], make_value(v->key, v->round + 1)); }
  free(v->data);
  free(v);
  __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
  if (!fine) { __atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED); }
}

static void* run(void* unused) {
  for (int k = 0; k < KEYS; k++) { pthread_setspecific(key[k], make_value(k, 0)); }
  return unused;
}

int main(void) {
  for (int k = 0; k < KEYS; k++) { pthread_key_create(&key[k], destroy); }
  size_t early = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread[2];
    for (int t = 0; t < 2; t++) { CHECK(pthread_create(&thread[t], NULL, run, NULL) == 0); }
    for (int t = 0; t < 2; t++) { pthread_join(thread[t], NULL); }
    if (i == 50) { early = resident_kib(); }
  }
  CHECK(calls == 2L * THREADS * KEYS * ROUNDS);
  CHECK(bad == 0);
  CHECK(is_emulated() || resident_kib() < early + 8 * 1024);
  return check_done();
}
